"""The same question from the command line, on a database."""

import json
from pathlib import Path

import psycopg
import pytest

from cli.test_ask import run
from servers.postgres import PASSWORD

SQL = "SELECT city, COUNT(DISTINCT person) AS people FROM accounts GROUP BY city"
POLICY = """
[dataset]
id = "bank"
budget = { epsilon = 1 }
ENGINE
[tables.accounts]
source = "bank.accounts"
unit = "person"
[tables.accounts.columns]
person = { type = "text" }
city = { type = "text", keys = ["Ottawa", "Toronto"] }
"""


@pytest.fixture
def bank(postgres_database, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(postgres_database) as connection:
        connection.execute("CREATE SCHEMA bank; CREATE TABLE bank.accounts (person text, city text)")
        connection.execute(
            "INSERT INTO bank.accounts SELECT 'p' || g, 'Ottawa' FROM generate_series(1, 300) g"
        )
    return postgres_database


def test_a_policy_and_an_engine_by_option(bank, capsys):
    Path("bank.toml").write_text(POLICY.replace("ENGINE", ""))
    words = ("ask", "bank.toml", SQL, "--engine", bank, "--epsilon", "0.5", "--json")
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert abs(json.loads(out)["rows"][0]["people"] - 300) < 100
    assert PASSWORD not in Path("bank.ledger").read_bytes().decode(errors="ignore")


def test_a_table_by_name(bank, capsys):
    words = ("ask", "bank.accounts", SQL, "--engine", bank, "--unit", "person", "--epsilon", "0.5")
    code, out, _ = run(capsys, *words, "--keys", "city=Ottawa,Toronto", "--budget", "1")
    assert code == 0
    assert "Ottawa" in out
    assert Path("accounts.ledger").exists()


def test_the_policy_names_the_engine_and_libpq_knows_the_password(bank, capsys, monkeypatch):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    Path("bank.toml").write_text(POLICY.replace("ENGINE", f'engine = "{bank.replace(":" + PASSWORD, "")}"'))
    code, out, _ = run(capsys, "ask", "bank.toml", SQL, "--epsilon", "0.5", "--csv")
    assert code == 0
    assert "\ncity,people" in out


def test_a_database_out_of_reach_can_be_explained_but_not_asked(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nowhere = "postgresql://me:hush@127.0.0.1:1/bank"
    Path("bank.toml").write_text(POLICY.replace("ENGINE", ""))
    code, out, _ = run(capsys, "explain", "bank.toml", SQL, "--engine", nowhere, "--epsilon", "0.5")
    assert code == 0
    assert "Ottawa" in out or "city" in out
    code, out, err = run(capsys, "ask", "bank.toml", SQL, "--engine", nowhere, "--epsilon", "0.5")
    assert code == 9
    assert "could not be opened" in err
    assert "hush" not in out + err
