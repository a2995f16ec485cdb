"""Finest cells of books: every engine gives what the naive reference gives."""

import numpy as np
import pytest

from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import plan_book
from engines.people import crowd
from engines.registry import MAKERS
from engines.test_agreement import EMPTY
from queries.bank import BANK

BOOKS = [
    plan_book(each, BANK, table=name, rho=1, **terms)
    for each, name, terms in (
        (["city", ("city", "active"), "age"], "accounts", {"limit": 1}),
        (["city", ("active", "children"), ()], "accounts", {"limit": 7}),
        (["SELECT MONTH(opened) AS m, COUNT(*) AS n FROM accounts WHERE age > 20 GROUP BY m"], None, {}),
        (["score", ()], "survey", {}),
        (["branch"], "visits", {"limit": 2}),
    )
]


@pytest.fixture(scope="module", params=[name for name in MAKERS if "numbered" not in name])
def opened(request):
    return lambda policy, rows: MAKERS[request.param](request, policy, rows)


def cells(table):
    order = np.argsort(table.cells.codes)
    kept = table.cells.totals[order] > 0
    return table.cells.codes[order][kept].tolist(), table.cells.totals[order][kept].tolist()


@pytest.mark.parametrize("rows", [crowd(1), crowd(2, 60), EMPTY], ids=["crowd", "few", "none"])
def test_engines_give_the_same_cells(opened, rows):
    reference = MemoryEngine(BANK, rows)
    with opened(BANK, rows) as engine:
        for plan in {id(stage.plan): stage.plan for book in BOOKS for stage in book.stages}.values():
            assert cells(engine.run(plan)) == cells(reference.run(plan))


def test_all_rows_of_a_unit_are_in_some_cell():
    rows = crowd(2, 60)
    stage = BOOKS[0].stages[0]
    total = int(MemoryEngine(BANK, rows).run(stage.plan).cells.totals.sum())
    units = {row["person"] for row in rows["accounts"] if row["person"] is not None}
    one = stage.plan.limit.one
    # A unit above the limit weighs one over its rows, rounded down.
    assert len(units) * one * 0.999 < total <= len(units) * one
