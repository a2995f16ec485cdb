"""The table of the first course is what the registry says, and the registry names only what exists."""

import ast
import runpy
from functools import reduce
from pathlib import Path
from types import SimpleNamespace

import pytest

import discreet

ROOT = Path(__file__).parents[2]
TABLE = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "make-course-table")))
ROWS = TABLE.rows()
LABELS = [f"{kind}{i}" for kind, last in (("N", 13), ("M", 15), ("E", 12)) for i in range(1, last + 1)]


def functions(path):
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def test_the_page_is_what_the_registry_generates():
    assert TABLE.PAGE.read_text(encoding="utf-8") == TABLE.render(ROWS), "run scripts/make-course-table"


def test_every_row_of_the_course_is_listed_once():
    assert [row["label"] for row in ROWS] == LABELS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["label"])
def test_a_row_names_only_what_exists(row):
    assert row["api"]
    for name in row["api"]:
        first, *path = name.split(".")
        assert first == "dp"
        assert reduce(getattr, path, discreet) is not None
    for example in row["examples"]:
        assert (ROOT / "examples" / f"{example}.py").is_file()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["label"])
def test_a_row_names_tests_that_exist(row):
    assert row["tests"]
    for name in row["tests"]:
        path, function = name.split("::")
        assert function in functions(ROOT / path)
