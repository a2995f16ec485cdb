"""What a book may be at most: cells that are shown and drawn, and work before it is charged and after.

All of it is counted from the tables alone, and checked before anything is searched for: planning is free,
and few threads plan for all who ask.

Tested by: tests/planning/test_book_plan.py
"""

from typing import NoReturn

from discreet.asking.planning.book_noise import BookNoise
from discreet.asking.planning.marginals import Workload
from discreet.errors import InvalidParameter, UnsupportedQuery

MOST_CELLS = 4_000_000  # of all tables together, those that are measured included
_MOST_ADDED = 5 * 10**8  # cells that are added up, each as often as it is a part of an estimate
_MOST_TERMS = 2**18  # cells of different weight in all estimates, where the law of their sum is computed
_MOST_VARIANCE = 2.0**72  # of a measured cell, in rows: noise then has 62 bits, or nearly always


def check_tables(workload: Workload) -> Workload:
    """Return the tables of a book, if they are not too large."""
    cells = sum(map(workload.cells, workload.tables))
    if cells > MOST_CELLS:
        raise UnsupportedQuery(
            f"A book must have at most {MOST_CELLS:,} cells, got {cells:,}. Ask for fewer or smaller tables.",
            reason="cells",
        )
    if sum(2 ** len(columns) * workload.cells(columns) for columns in workload.sets) > _MOST_ADDED:
        _refuse_work()
    return workload


def check_noise(noise: BookNoise) -> None:
    """Refuse a book whose measured tables are too large: totals may be better than the tables themselves."""
    if noise.laplace and _terms(noise) > _MOST_TERMS:
        _refuse_work()
    cells = sum(map(noise.workload.cells, noise.mechanisms))
    if cells > MOST_CELLS:
        raise UnsupportedQuery(
            f"The measured tables of a book must have at most {MOST_CELLS:,} cells, got {cells:,}. Ask for "
            "fewer tables.",
            reason="cells",
        )
    if max(noise.variances.values()) > _MOST_VARIANCE:
        raise InvalidParameter(
            "the price must be large enough for an error below 2^40 rows. Name a larger one.",
            parameter="epsilon",
        )


def _terms(noise: BookNoise) -> int:
    """Return how many cells of different weight the estimates of all tables have: of a measured table, one
    for each set of the columns that it shares."""
    measured = [set(columns) for columns in noise.mechanisms]
    return sum(2 ** len(each.intersection(table)) for table in noise.workload.tables for each in measured)


def _refuse_work() -> NoReturn:
    raise UnsupportedQuery(
        "The tables of a book must take less work to plan and to estimate. Ask for tables of fewer columns, "
        "for fewer tables, or name a delta: Gaussian noise is planned faster.",
        reason="work",
    )
