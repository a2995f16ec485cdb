import json
import re
import tomllib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.apps.cli import main
from discreet.asking.policy import from_policy, from_toml
from discreet.errors import InvalidParameter, PolicyViolation

CANARY = "xyzzy-canary-4711"


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "accounts.csv"
    path.write_text(f'person,city,"odd ""name"""\n1,{CANARY},3\n')
    return path


def run(*words):
    try:
        main([str(word) for word in words])
    except SystemExit as stop:
        return stop.code or 0
    return 0


def test_a_skeleton_names_the_columns_and_nothing_of_the_rows(csv, capsys):
    assert run("policy", "init", csv) == 0
    shown = capsys.readouterr().out
    assert CANARY not in shown
    assert '# "city" = { type = "text" }' in shown
    assert tomllib.loads(shown)["tables"]["accounts"]["source"] == "accounts.csv"


def test_a_skeleton_names_the_unit_that_it_is_told(csv, capsys):
    assert run("policy", "init", csv, "--unit", "person") == 0
    assert tomllib.loads(capsys.readouterr().out)["tables"]["accounts"]["unit"] == "person"
    assert run("policy", "init", csv, "--unit", "nobody") == InvalidParameter.exit_code
    assert "There are: person, city" in capsys.readouterr().err


def test_a_filled_in_skeleton_is_a_policy(csv, capsys):
    run("policy", "init", csv)
    text = capsys.readouterr().out.replace('unit = "?"', 'unit = "person"')
    lines = [line.removeprefix("# ") if line.startswith('# "') else line for line in text.splitlines()]
    policy = from_toml("\n".join(lines))
    assert [column.name for column in policy.tables[0].columns] == ["person", "city", 'odd "name"']


def test_a_schema_names_types(tmp_path, capsys):
    table = pa.table({"person": [1], "debt": [1.5], "parts": [[1]], "day": pa.array([0], pa.date32())})
    pq.write_table(table, tmp_path / "my data.parquet")
    assert run("policy", "init", tmp_path / "my data.parquet") == 0
    shown = capsys.readouterr().out
    assert '# "debt" = { type = "number" }' in shown
    assert '# "parts": of a type that questions cannot be about' in shown
    assert list(tomllib.loads(shown)["tables"]) == ["my data"]


def test_a_skeleton_overwrites_nothing(csv, tmp_path, capsys):
    output = tmp_path / "accounts.toml"
    assert run("policy", "init", csv, "--output", output) == 0
    assert run("policy", "init", csv, "--output", output) == InvalidParameter.exit_code
    assert "exists" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["none.csv", "accounts.xlsx"])
def test_only_files_with_a_header_or_schema_are_described(name, tmp_path):
    (tmp_path / "accounts.xlsx").write_text("x")
    assert run("policy", "init", tmp_path / name) == InvalidParameter.exit_code


def test_check_says_what_is_missing_for_which_questions(csv, tmp_path, capsys):
    policy = tmp_path / "accounts.toml"
    policy.write_text(
        '[dataset]\nid = "bank"\nbudget = { rho = 1 }\n[tables.accounts]\nsource = "accounts.csv"\n'
        'unit = "person"\nmax_groups = 1\n[tables.accounts.columns]\ndebt = { type = "number" }\n'
    )
    assert run("policy", "check", policy, "--json") == 0
    shown = capsys.readouterr().out
    found = {(each["column"], each["missing"]) for each in json.loads(shown)["findings"]}
    assert CANARY not in shown
    assert found == {
        ("", "no population"),
        ("", "max_groups and max_rows are 1"),
        ("debt", "no bounds"),
        ("city", "no keys"),
        ('odd "name"', "no keys"),
    }
    assert run("policy", "check", policy) == 0
    assert "accounts.debt: no bounds -> SUM" in capsys.readouterr().out


def test_check_without_the_data_file_still_checks(tmp_path, capsys):
    policy = tmp_path / "accounts.toml"
    policy.write_text(
        '[dataset]\nid = "bank"\npopulation = 5\nbudget = { rho = 1 }\n'
        '[tables.accounts]\nsource = "none.csv"\neach_row = true\n'
    )
    assert run("policy", "check", policy) == 0
    assert "the source is not there" in capsys.readouterr().out


def test_check_with_the_data_names_every_line_that_the_first_question_would_be_refused_for(
    csv, tmp_path, capsys
):
    policy = tmp_path / "accounts.toml"
    text = (
        '[dataset]\nid = "bank"\npopulation = 5\nbudget = { rho = 1 }\n[tables.accounts]\n'
        'source = "accounts.csv"\nunit = "person"\n[tables.accounts.columns]\n'
        'city = { type = "integer", bounds = [0, 9] }\n'
    )
    policy.write_text(text)
    assert run("policy", "check", policy) == 0
    capsys.readouterr()
    assert run("policy", "check", policy, "--data") == PolicyViolation.exit_code
    shown = " ".join(capsys.readouterr().out.split())
    assert "line 2 of accounts.csv does not" in shown
    assert "--types city=number" in shown
    assert CANARY not in shown
    assert run("policy", "check", policy, "--data", "--json") == PolicyViolation.exit_code
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert (problem["table"], problem["column"]) == ("accounts", "city")
    policy.write_text(text.replace("integer", "text").replace(", bounds = [0, 9]", ""))
    assert run("policy", "check", policy, "--data") == 0
    assert "The data opens as the policy says." in capsys.readouterr().out


def test_a_skeleton_of_a_latin_1_file_says_so(tmp_path, capsys):
    (tmp_path / "t.csv").write_bytes("person,città\n1,a\n".encode("latin-1"))
    assert run("policy", "init", tmp_path / "t.csv") == PolicyViolation.exit_code
    assert "another encoding" in capsys.readouterr().err
    assert run("policy", "init", tmp_path / "t.csv", "--encoding", "latin-1") == 0
    shown = capsys.readouterr().out
    assert tomllib.loads(shown)["tables"]["t"]["encoding"] == "latin-1"
    assert '"città" = {' in shown


def test_check_says_which_labels_of_a_public_table_are_paid_for(csv, tmp_path, capsys):
    regions = ['"the ""old"" east"', "west", ""]
    rows = [f"c{n},{region},{n}" for n, region in enumerate(regions)]
    many = [f"d{n},west,{n}" for n in range(60)]
    (tmp_path / "cities.csv").write_text("\n".join(["city,region,code", *rows, *many]) + "\n")
    text = """
[dataset]
id = "accounts"
population = 100
budget = { epsilon = 1 }
[tables.accounts]
source = "accounts.csv"
unit = "person"
[public.cities]
source = "cities.csv"
key = "city"
[public.cities.columns]
city = { type = "text", keys = ["c0"] }
"""
    policy = tmp_path / "accounts.toml"
    policy.write_text(text)
    assert run("policy", "check", policy, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    said = {each["column"]: each["questions"] for each in found["findings"] if each["table"] == "cities"}
    assert set(said) == {"region", "code"}
    assert "write" not in said["code"]  # more labels than one would paste
    line = re.search(r"write (.*) under \[public", said["region"])[1]
    policy.write_text(text + line + "\n")
    assert from_policy(policy).public[0].column("region").keys == ('the "old" east', "west")
    assert run("policy", "check", policy) == 0
    assert "cities.region" not in capsys.readouterr().out


def test_a_skeleton_of_a_file_with_any_name_is_toml(tmp_path, capsys):
    data = tmp_path / "caf\u00e9 \U0001f600\x7f.csv"
    data.write_text("person,debt\n1,2\n")
    run("policy", "init", data, "--unit", "person")
    assert tomllib.loads(capsys.readouterr().out)["dataset"]["id"] == "caf\u00e9 \U0001f600\x7f"
