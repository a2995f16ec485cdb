"""Frames of every library are read; another one under a known name is noticed by the object alone."""

import subprocess
import sys
import warnings

import duckdb
import pandas
import polars
import pyarrow
import pytest

import discreet as dp

ROWS = {"person": list(range(400)), "ward": ["a", "b"] * 200, "cost": [7] * 400}
PANDAS = pandas.DataFrame(ROWS)
FRAMES = {
    "pandas": PANDAS.copy,
    "polars": lambda: polars.DataFrame(ROWS),
    "lazy": lambda: polars.DataFrame(ROWS).lazy().filter(polars.col("cost") == 7),
    "arrow": lambda: pyarrow.table(ROWS),
    "relation": lambda: duckdb.connect().from_arrow(pyarrow.table(ROWS)).filter("cost = 7"),
}
SUM = "SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM t GROUP BY ward"


def opened(frame, folder, **more):
    return dp.Curator.open(
        frame,
        name="t",
        unit="person",
        budget=10_000,
        keys={"ward": ["a", "b"]},
        bounds={"cost": (0, 10)},
        max_rows=1,
        ledger=folder / "t.ledger",
        **more,
    )


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_holds_the_same_rows(kind, tmp_path):
    answer = opened(FRAMES[kind](), tmp_path).ask(SUM, epsilon=2000)  # noise is 0 but for e^-300
    assert answer.records() == [
        {"ward": "a", "n": 200, "total": 1400},
        {"ward": "b", "n": 200, "total": 1400},
    ]


def test_no_frame_needs_pyarrow_but_those_of_pyarrow(tmp_path):
    code = """
import sys; sys.modules["pyarrow"] = None
import duckdb, discreet as dp
relation = duckdb.connect().sql("SELECT i AS person, 1 AS cost FROM range(100) AS t(i)")
curator = dp.Curator.open(relation, name="t", unit="person", budget=9000, ledger="t.ledger")
answer = curator.ask("SELECT COUNT(DISTINCT person) AS n FROM t", epsilon=2000)
stream = answer.__arrow_c_stream__()
print(answer[0], type(stream).__name__)
"""
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "{'n': 100} PyCapsule"


def test_what_is_no_frame_is_refused_by_its_type(tmp_path):
    with pytest.raises(dp.InvalidParameter, match=r"Polars or Arrow frame, or a DuckDB relation, got int"):
        opened(3, tmp_path).ask(SUM, epsilon=1)


@pytest.mark.parametrize("kind", FRAMES)
def test_another_frame_under_the_same_name_is_noticed(kind, tmp_path):
    first = FRAMES[kind]()
    opened(first, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(first, tmp_path)  # the same object
        opened(FRAMES[kind](), tmp_path, version="2")  # another version
        opened(FRAMES[kind](), tmp_path / "elsewhere")  # another ledger
    with pytest.warns(dp.FrameWarning, match="another object"):
        opened(FRAMES[kind](), tmp_path)


def test_the_warning_does_not_depend_on_the_values(tmp_path):
    frame = PANDAS.copy()
    opened(frame, tmp_path)
    frame["cost"] = 9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(frame, tmp_path)  # the same object, whatever is in it
