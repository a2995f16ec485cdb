"""JSON lines and folders of Parquet hold the same table as one CSV; no value is quoted in a refusal."""

import gzip
import json

import polars
import pytest

import discreet as dp
from discreet.asking.engines.duckdb.registration import describe_file

ROWS = [
    {"person": i, "ward": "ab"[i % 2], "cost": i % 7 + 0.5, "note": "ß" if i % 3 else None}
    for i in range(300)
]
SQL = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM t WHERE note = 'ß' GROUP BY ward"
BOUNDS, KEYS = {"cost": (0, 8)}, {"ward": ["a", "b"]}


def written(folder, kind):
    frame = polars.DataFrame(ROWS)
    if kind == "csv":
        frame.write_csv(folder / "t.csv")
        return folder / "t.csv"
    if kind == "folder":
        (folder / "t [1]").mkdir()
        for part in range(3):
            frame[part * 100 : (part + 1) * 100].write_parquet(folder / "t [1]" / f"{part}.parquet")
        return folder / "t [1]"
    lines = "".join(json.dumps(row, ensure_ascii=part % 2 == 0) + "\n" for part, row in enumerate(ROWS))
    if kind == "jsonl.gz":
        (folder / "t.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    else:
        (folder / f"t.{kind}").write_text(lines, encoding="utf-8")
    return folder / f"t.{kind}"


def asked(path, folder, **more):
    terms = {
        "unit": "person",
        "budget": 10_000,
        "name": "t",
        "max_rows": 1,
        "ledger": folder / "t.ledger",
        **more,
    }
    return dp.Curator.open(path, bounds=BOUNDS, keys=KEYS, **terms).ask(SQL, epsilon=5000).records()


@pytest.mark.parametrize("kind", ["jsonl", "ndjson", "jsonl.gz", "folder"])
def test_every_kind_of_file_holds_the_same_table(kind, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    expected = asked(written(tmp_path / "one", "csv"), tmp_path / "one")
    found = asked(written(tmp_path / "other", kind), tmp_path / "other")
    assert [row["n"] for row in found] == [row["n"] for row in expected] == [100, 100]
    assert [round(row["total"]) for row in found] == [round(row["total"]) for row in expected]
    source = tmp_path / "other" / "t [1]" if kind == "folder" else tmp_path / "other" / f"t.{kind}"
    assert set(describe_file(source)) == {"person", "ward", "cost", "note"}


def test_a_field_that_a_line_lacks_is_missing_and_one_that_the_first_lacks_is_no_column(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"person": 1, "x": 1}\n{"person": 2}\n{"person": 3, "x": 2, "y": 5}\n')
    curator = dp.Curator.open(tmp_path / "t.jsonl", unit="person", budget=9000, bounds={"x": (0, 9)})
    answer = curator.ask("SELECT COUNT(*) AS n, COUNT(x) AS known FROM t", epsilon=5000)
    assert answer.records() == [{"n": 3, "known": 2}]
    with pytest.raises(dp.UnsupportedQuery):
        curator.explain("SELECT COUNT(y) AS n FROM t", epsilon=1)


@pytest.mark.parametrize(
    "text", ["", "[1]\n", "{}\n", "person,x\n", '{"person": 1}\nCANARY\n', '{"person": 1}\n{"x"']
)
def test_what_is_no_json_lines_is_refused_without_being_quoted(text, tmp_path):
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(dp.PolicyViolation) as refused:
        dp.Curator.open(tmp_path / "t.jsonl", unit="person", budget=1).ask(
            "SELECT COUNT(*) AS n FROM t", epsilon=0.1
        )
    assert "CANARY" not in str(refused.value)
    assert "JSON lines" in str(refused.value)


def test_a_value_of_another_type_is_named_by_its_line(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"person": 1, "x": 1}\n{"person": 2, "x": "CANARY"}\n')
    curator = dp.Curator.open(tmp_path / "t.jsonl", unit="person", budget=1, bounds={"x": (0, 9)})
    with pytest.raises(dp.PolicyViolation, match=r"Column 'x' .* line 2 of t.jsonl") as refused:
        curator.ask("SELECT SUM(x) AS s FROM t", epsilon=0.1)
    assert "CANARY" not in str(refused.value)


def test_an_empty_folder_is_no_source(tmp_path):
    with pytest.raises(dp.InvalidParameter, match="must be a file"):
        dp.Curator.open(tmp_path, unit="person", budget=1, name="t", ledger=tmp_path / "l").ask(
            "SELECT COUNT(*) FROM t", epsilon=0.1
        )
