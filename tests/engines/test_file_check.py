"""Files as the world writes them: declared forms are read, and everything wrong is found at once, by line."""

import csv
import gzip
import io
import itertools
import random

import duckdb
import polars
import pytest

import discreet as dp
from discreet.asking.engines.duckdb.text_files import BadValues, TextFiles
from discreet.asking.engines.duckdb.times import read_example
from discreet.asking.engines.file_check import check_data
from discreet.asking.policy import from_arguments, from_toml
from discreet.asking.policy.column import WRITTEN

NUMBERS = itertools.count()
CANARY = "xyzzy-canary-4711"


def policy(sources, **options):
    return from_arguments(
        **{"sources": sources, "id": "t", "unit": "person", "budget": {"epsilon": 1}} | options
    )


def found(given):
    return [(each.table, each.column, each.said) for each in check_data(given)]


def ask(path, sql, folder, **options):
    curator = dp.Curator.open(
        path,
        **{
            "unit": "person",
            "budget": 10_000,
            "name": "t",
            "ledger": folder / f"{next(NUMBERS)}.ledger",
            **options,
        },
    )
    with curator:
        return curator.ask(sql, epsilon=5000).records()


# --- forms that are declared -----------------------------------------------------------------------------


def test_a_day_is_written_as_its_example_says(tmp_path):
    rows = [(i, f"{1 + i % 28}/{1 + i % 12:02}/2024") for i in range(300)]
    (tmp_path / "t.csv").write_text("person,day\n" + "".join(f"{i},{day}\n" for i, day in rows))
    sql = "SELECT COUNT(*) AS n FROM t WHERE day BETWEEN DATE '2024-03-01' AND DATE '2024-03-15'"
    march = sum(day.split("/")[1] == "03" and int(day.split("/")[0]) <= 15 for _, day in rows)
    assert ask(tmp_path / "t.csv", sql, tmp_path, types={"day": "date 31/12/2024"}) == [{"n": march}]
    american = sum(day.split("/")[0] == "3" and int(day.split("/")[1]) <= 15 for _, day in rows)
    with pytest.raises(dp.PolicyViolation, match=r"Column 'day' .* line 14 of t.csv"):  # the 13th of a month
        ask(tmp_path / "t.csv", sql, tmp_path, types={"day": "date 12/31/2024"})
    assert march != american


@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_every_form_reads_what_it_writes_and_nothing_else(kind, tmp_path):
    for number, written in enumerate(WRITTEN[kind]):
        form, _ = read_example(written)
        iso = "2024-12-31" + (
            "" if kind == "date" else "T" + written[-8 if written.count(":") == 2 else -5 :]
        )
        iso += ":00" if written.count(":") == 1 else ""
        path = tmp_path / f"{number}.csv"
        path.write_text(f"person,day\n1,{written}\n2,{written.replace('2024', '1999')}\n")
        typed = "DATE" if kind == "date" else "TIMESTAMP"
        sql = f"SELECT COUNT(*) AS n FROM t WHERE day = {typed} '{iso}'"
        types = {"day": f"{kind} {written}"}
        assert ask(path, sql, tmp_path, types=types) == [{"n": 1}], form
        for wrong in (
            "2024-12-31X",
            written + " ",
            written.replace("2024", "24"),
            written.replace("31", "32"),
        ):
            path.write_text(f"person,day\n1,{written}\n2,{wrong}\n")
            with pytest.raises(dp.PolicyViolation, match=r"line 3 of"):
                ask(path, sql, tmp_path, types=types)


@pytest.mark.parametrize("written", ["date 31/12/24", "date 1/2/2024", "date 31/12/2024 23:58",
    "text 31/12/2024", "timestamp 31/12/2024", "date  31/12/2024"])  # fmt: skip
def test_an_example_that_is_none_is_told_the_right_ones(written):
    with pytest.raises(dp.InvalidParameter, match=r"31/12/2024"):
        policy({"t": "t.csv"}, types={"day": written})


def test_the_same_in_a_policy_file_and_kept_in_what_a_policy_is():
    text = (
        '[dataset]\nid = "t"\nbudget = { epsilon = 1 }\n[tables.t]\nunit = "person"\nencoding = "latin-1"\n'
        '[tables.t.columns]\nday = { type = "date 31/12/2024", bounds = ["2024-01-01", "2024-12-31"] }\n'
    )
    stated = from_toml(text)
    opened = policy({"t": None}, types={"day": "date 31/12/2024"}, encoding="latin-1",
                    bounds={"day": ("2024-01-01", "2024-12-31")})  # fmt: skip
    assert stated == opened == type(opened).from_json(opened.to_json())
    plain = from_toml(text.replace(" 31/12/2024", ""))
    assert "written" not in str(plain.to_json())
    assert plain.digest != stated.digest
    with pytest.raises(dp.InvalidParameter, match=r"encoding of table 't' must be one of utf-8, latin-1"):
        policy({"t": None}, encoding="utf-7")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_latin_1_is_read_where_declared_and_named_where_not(name, tmp_path):
    body = "person,città\n" + "".join(f"{i},{'Montréal' if i % 2 else 'Québec'}\n" for i in range(200))
    raw = body.encode("latin-1")
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    sql = "SELECT COUNT(*) AS n FROM t WHERE \"città\" = 'Montréal'"
    assert ask(tmp_path / name, sql, tmp_path, encoding="latin-1") == [{"n": 100}]
    with pytest.raises(dp.PolicyViolation, match="in UTF-8 unless another encoding is declared"):
        ask(tmp_path / name, sql, tmp_path)
    raw = body.replace("città", "city").encode("latin-1")
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    with pytest.raises(
        dp.PolicyViolation, match=rf"line 2 of {name} is not in UTF-8.*encoding = \"latin-1\""
    ):
        ask(tmp_path / name, sql.replace('"città"', "city"), tmp_path)


# --- several files ---------------------------------------------------------------------------------------


def test_files_whose_columns_stand_in_another_order_are_refused(tmp_path):
    """Read by place they would mix columns: cities would be people."""
    (tmp_path / "a.csv").write_text("person,city\n1,Ottawa\n")
    (tmp_path / "b.csv").write_text("city,person\nOttawa,2\n")
    with pytest.raises(dp.PolicyViolation, match=r"same columns in the same order, and b.csv has others"):
        ask(tmp_path / "*.csv", "SELECT COUNT(*) AS n FROM t", tmp_path)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_list_of_files_is_one_table(kind, tmp_path):
    paths = []
    for part in range(3):
        frame = polars.DataFrame({"person": range(part * 100, part * 100 + 100), "cost": [1.5] * 100})
        paths.append(tmp_path / f"{part} [x].{kind}")
        {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[kind](paths[-1])
    assert ask(paths, "SELECT COUNT(*) AS n FROM t", tmp_path) == [{"n": 300}]
    text = '[dataset]\nid = "t"\nbudget = { epsilon = 9000 }\n[tables.t]\nunit = "person"\nsource = '
    text += str([each.name for each in paths])
    (tmp_path / "t.toml").write_text(text)
    with dp.Curator.from_policy(tmp_path / "t.toml", ledger=tmp_path / "u.ledger") as curator:
        assert curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=5000).records() == [{"n": 300}]
    with pytest.raises(dp.InvalidParameter, match="of one kind"):
        ask([*paths, __file__], "SELECT COUNT(*) AS n FROM t", tmp_path)
    with pytest.raises(dp.InvalidParameter, match="name must be given"):
        dp.Curator.open(paths, unit="person", budget=1)


def test_parquet_files_of_different_types_are_refused(tmp_path):
    """DuckDB would make 2.5 a 2, and say nothing."""
    polars.DataFrame({"person": [1, 2], "x": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    for other, said in (
        ({"person": [3], "x": [2.5]}, "b.parquet has another"),
        ({"person": [3]}, "no such column"),
    ):
        polars.DataFrame(other).write_parquet(tmp_path / "b.parquet")
        with pytest.raises(dp.PolicyViolation, match=rf"Column 'x' .* {said}"):
            ask(tmp_path, "SELECT SUM(x) AS n FROM t", tmp_path, bounds={"x": (0, 9)})
    polars.DataFrame({"x": [7], "person": [3]}).write_parquet(tmp_path / "b.parquet")
    assert ask(tmp_path, "SELECT SUM(x) AS n FROM t", tmp_path, bounds={"x": (0, 9)}) == [{"n": 10}]


# --- everything that is wrong, at once -------------------------------------------------------------------


def test_all_that_is_wrong_is_found_before_the_first_question(tmp_path):
    bad = {5: "lots", 6: "2.5"}
    rows = "".join(
        f"{i},{bad.get(i, i)},2024-01-0{1 + i % 9},{'yes' if i == 9 else 'true'}\n" for i in range(1, 20)
    )
    (tmp_path / "visits.csv").write_text(f"person,cost,day,paid\n{rows.replace('2024-01-04', CANARY)}")
    (tmp_path / "cities.csv").write_text("city,size\nOttawa,1\nOttawa,2\n")
    polars.DataFrame({"person": ["a"], "age": ["old"], "m": [1]}).write_parquet(tmp_path / "people.parquet")
    given = policy(
        {"visits": str(tmp_path / "visits.csv"), "people": str(tmp_path / "people.parquet")},
        unit={"visits": "person", "people": "person"},
        types={
            "visits": {"cost": "integer", "day": "date", "paid": "boolean"},
            "people": {"age": "number", "x": "text"},
        },
        public={"cities": ("city", str(tmp_path / "cities.csv"))},
    )  # fmt: skip
    problems = found(given)
    assert {(table, column) for table, column, _ in problems} == {
        ("visits", "cost"), ("visits", "day"), ("visits", "paid"), ("people", "age"), ("people", "x"),
        ("cities", ""),
    }  # fmt: skip
    said = " ".join(said for *_, said in problems)
    assert "line 6 of visits.csv, line 7 of visits.csv do not" in said
    assert "line 4 of visits.csv, line 13 of visits.csv do not" in said
    assert "--types cost=number" in said
    assert CANARY not in said


def test_after_a_clean_check_the_first_question_opens_the_data(tmp_path):
    (tmp_path / "t.csv").write_text("person,cost\n1,2\n2,\n")
    given = {"types": {"cost": "integer"}, "bounds": {"cost": (0, 9)}}
    assert found(policy({"t": str(tmp_path / "t.csv")}, **given)) == []
    assert ask(tmp_path / "t.csv", "SELECT SUM(cost) AS s FROM t", tmp_path, **given) == [{"s": 2}]


def test_lines_that_break_the_form_are_all_named(tmp_path):
    text = f'person,city\n1,Ottawa\n\n2,"a\nb"\n3\n4,{CANARY},x\n5,"un"q\n6,ok\n'
    (tmp_path / "t.csv").write_text(text)
    ((_, _, said),) = found(policy({"t": str(tmp_path / "t.csv")}))
    for line, what in ((6, "too few fields"), (7, "too many fields"), (8, "a quote")):
        assert f"line {line} of t.csv has {what}" in said
    assert CANARY not in said
    (tmp_path / "t.jsonl").write_text(f'{{"person": 1}}\n\n{CANARY}\n[2]\n{{"person": 3}}\n')
    ((_, _, said),) = found(policy({"t": str(tmp_path / "t.jsonl")}))
    assert "line 3 of t.jsonl is not one object" in said
    assert "line 4 of t.jsonl is not one object" in said
    assert CANARY not in said


def test_columns_are_checked_in_lines_that_can_be_read_also_beside_those_that_cannot(tmp_path):
    (tmp_path / "t.csv").write_text("person,cost\n1,2\n3\n4,lots\n")
    said = [each for *_, each in found(policy({"t": str(tmp_path / "t.csv")}, types={"cost": "integer"}))]
    assert len(said) == 2
    assert "line 3 of t.csv has too few fields" in said[0]
    assert "but 1 row does not" in said[1]  # lines were left out: a line would be the wrong one


def test_a_name_that_stands_twice_in_a_header_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("person,city,City\n1,a,b\n")
    ((_, _, said),) = found(policy({"t": str(tmp_path / "t.csv")}))
    assert "'city' twice" in said


def test_the_line_that_is_named_is_the_one_that_is_wrong(tmp_path):
    """On files with blank lines, quoted line ends and commas, over several files, by a slow walk."""
    chance = random.Random(7)
    for trial in range(60):
        single, paths, expected = trial % 5 == 0, [], []
        for part in range(chance.randint(1, 3)):
            out, path = io.StringIO(), tmp_path / f"{trial}-{part}.csv"
            end = chance.choice(["\n", "\r\n"])
            writer = csv.writer(out, lineterminator=end)
            writer.writerow(["x"] if single else ["x", "note"])
            for _ in range(chance.randint(1, 12)):
                if chance.random() < 0.2 and not single:
                    out.write(end)
                wrong = chance.random() < 0.3
                if wrong:
                    expected.append(f"line {out.getvalue().count(chr(10)) + 1} of {path.name}")
                note = chance.choice(["", "a,b", "a\nb", 'say "x"', "é\n\n"])
                writer.writerow(["lots" if wrong else "5"] if single else ["lots" if wrong else "5", note])
            path.write_text(out.getvalue(), encoding="utf-8", newline="")
            paths.append(str(path))
        table = policy({"t": paths[0]}, types={"x": "integer"}).tables[0]
        with duckdb.connect() as connection:
            files = TextFiles(connection, table, paths)
            files.copy()
            bad = list(files.find_bad_values("x", most=100))
            assert sum(each.count for each in bad) == len(expected)
            for each in bad:
                assert [files._place(row) for row in each.rows] == expected


def test_a_planted_fault_in_the_walk_is_seen(tmp_path):
    """If quoted line ends were lines of their own, the line that is named would be another one."""
    (tmp_path / "t.csv").write_text('x,note\n5,"a\nb"\nlots,\n')
    (table,) = policy({"t": str(tmp_path / "t.csv")}, types={"x": "integer"}).tables
    with duckdb.connect() as connection:
        files = TextFiles(connection, table, [str(tmp_path / "t.csv")])
        files.copy()
        (bad,) = files.find_bad_values("x", most=1)
        assert files.say(bad).count("line 4 of t.csv") == 1
        assert files.say(BadValues(bad.column, 1, (0,))).count("line 2 of t.csv") == 1


def test_a_column_called_rowid_hides_no_line(tmp_path):
    (tmp_path / "t.csv").write_text(f"person,rowid,age\n1,{CANARY},3\n2,b,lots\n")
    given = {"types": {"age": "integer"}}
    ((_, column, said),) = found(policy({"t": str(tmp_path / "t.csv")}, **given))
    assert (column, "line 3 of t.csv" in said, CANARY in said) == ("age", True, False)
    (tmp_path / "t.csv").write_text("person,rowid,age\n1,a,3\n2,,4\n")
    assert ask(tmp_path / "t.csv", "SELECT COUNT(rowid) AS n FROM t", tmp_path, **given) == [{"n": 1}]


def test_a_file_that_is_replaced_while_it_is_read_is_refused(tmp_path, monkeypatch):
    """Its names would be those of one file, and its rows those of another: cities would be people."""
    path, copy = tmp_path / "t.csv", TextFiles.copy
    path.write_text("person,city\n1,Ottawa\n")

    def replace_and_copy(files):
        path.write_text("city,person\nOttawa,2\n")
        copy(files)

    monkeypatch.setattr(TextFiles, "copy", replace_and_copy)
    with pytest.raises(dp.PolicyViolation, match="one of its files has changed"):
        ask(path, "SELECT COUNT(*) AS n FROM t", tmp_path)


def test_a_first_line_that_is_deep_is_refused_in_words(tmp_path):
    for line in ("[" * 100_000, '{"a":' * 100_000):
        (tmp_path / "t.jsonl").write_text(line)
        with pytest.raises(dp.PolicyViolation, match="must begin with an object"):
            ask(tmp_path / "t.jsonl", "SELECT COUNT(*) AS n FROM t", tmp_path)
