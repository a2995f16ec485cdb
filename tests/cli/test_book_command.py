import json
from pathlib import Path

import pytest

from cli.test_ask import run

POLICY = """
[dataset]
id = "ship"
version = "1"
budget = { rho = 1 }
[tables.ship]
source = "ship.csv"
each_row = true
[tables.ship.columns]
cabin = { type = "text", keys = ["1st", "2nd", "3rd", "crew"] }
sex = { type = "text", keys = ["female", "male"] }
"""
BOOK = """
policy = "ship.toml"
price = { rho = 0.25 }
tables = [["cabin", "sex"], "cabin", []]
"""


@pytest.fixture
def ship(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{cabin},{sex}" for cabin, n in (("1st", 325), ("2nd", 285), ("3rd", 706), ("crew", 885))
            for sex in ["male"] * (n // 2) + ["female"] * (n - n // 2)]  # fmt: skip
    Path("ship.csv").write_text("\n".join(["cabin,sex", *rows]) + "\n")
    Path("ship.toml").write_text(POLICY)
    Path("book.toml").write_text(BOOK)
    return tmp_path


def test_a_book_is_explained_asked_saved_and_free_again(ship, capsys):
    code, out, _ = run(capsys, "book", "book.toml", "--explain")
    assert (code, "Price: rho 0.25." in out, Path("ship.ledger").exists()) == (0, True, False)
    code, out, err = run(capsys, "book", "book.toml", "--save", "tables", "--tidy")
    assert (code, err) == (0, "")
    assert "cabin x sex: 15 cells" in out
    assert "remaining delta 0, rho 0.75" in out
    assert (ship / "tables" / "001-cabin-sex.csv").read_text().startswith("cabin,sex,count,")
    assert (ship / "tables" / "tidy" / "002-cabin.csv").read_text().startswith("cabin,count\n")
    code, out, _ = run(capsys, "book", "book.toml")
    assert "from the ledger, free" in out


def test_json_is_for_programs(ship, capsys):
    plan = json.loads(run(capsys, "book", "book.toml", "--explain", "--json")[1])
    assert set(plan["errors"]) == {"cabin x sex", "cabin", "total"}
    found = json.loads(run(capsys, "book", "book.toml", "--json")[1])
    total, first = found["tables"][2]["values"], found["tables"][1]["values"]
    assert sum(first) == total
    assert found["receipt"]["price"]["rho"] == "0.25"


def test_tables_have_weights(ship, capsys):
    Path("book.toml").write_text(BOOK.replace('"cabin", []', '{ by = "cabin", weight = 100 }, []'))
    weighted = json.loads(run(capsys, "book", "book.toml", "--explain", "--json")[1])["errors"]
    Path("book.toml").write_text(BOOK)
    even = json.loads(run(capsys, "book", "book.toml", "--explain", "--json")[1])["errors"]
    assert weighted["cabin"] < even["cabin"]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (BOOK, "tables = ", "TOML"),
        ("policy", "policies", "at most"),
        ('"ship.toml"', "3", "policy must"),
        ("{ rho = 0.25 }", "0.25", "price must"),
        ("rho", "xi", "price must"),
        ('"cabin", []]', '{ weight = 3 }]', "a table must"),
        ('[["cabin", "sex"], "cabin", []]', '"cabin"', "tables must"),
    ],
)  # fmt: skip
def test_what_a_file_must_say(ship, capsys, old, new, told):
    Path("book.toml").write_text(BOOK.replace(old, new))
    code, _, err = run(capsys, "book", "book.toml")
    assert code == 2
    assert told in err
    assert not Path("ship.ledger").exists()


def test_a_book_that_cannot_be_made_tidy_is_refused_before_it_is_charged(ship, capsys):
    Path("ship.toml").write_text(
        POLICY
        + '[tables.ship.hierarchies]\n"who > cabin" = [["some", "1st"], ["some", "2nd"], ["others", "3rd"], '
        '["others", "crew"]]\n'
    )
    tables = 'tables = [["who", "sex"], "cabin"]\n'
    Path("book.toml").write_text(f'policy = "ship.toml"\nprice = {{ mu = 0.5 }}\n{tables}')
    code, _, told = run(capsys, "book", "book.toml", "--save", "tables", "--tidy")
    assert (code, "holds all others" in told, Path("tables").exists()) == (3, True, False)
    code, out, _ = run(capsys, "book", "book.toml", "--save", "tables")
    assert (code, "rho 0.125" in out, "remaining rho 0.875" in out.replace("delta 0, ", "")) == (
        0,
        True,
        True,
    )
    lines = Path("tables/001-sex-who.csv").read_text().splitlines()
    assert lines[0] == "sex,who,count,count_lower,count_upper"
    assert lines[1].startswith("female,some,")
