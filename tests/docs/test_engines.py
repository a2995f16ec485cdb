"""The page on engines says of every allowed function how each engine does it."""

import re
from pathlib import Path

from discreet.asking.engines import ENGINES
from discreet.asking.queries.functions import FUNCTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "engines.md").read_text()


def test_every_function_has_its_row_and_no_other_does():
    table = PAGE.split("function by function")[1].split("Beside functions")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[1])}
    assert named == set(FUNCTIONS)
    assert all(len(row) == 6 and all(cell.strip() for cell in row[2:5]) for row in rows)


def test_every_engine_is_named():
    overview = PAGE.split("## What is tested")[0]
    assert [name for name in ENGINES if name not in overview] == []
