"""Tidy tables of a book: whole numbers, none below 0, whose totals still agree. Post-processing, and biased.

Totals come first: each is settled before its parts, and the parts are the nearest numbers from 0 on that add
up to it (Norm-Sub), rounded so that they still do. Tables of at most two columns keep both of their margins:
the nearest such table is found by Dykstra's projections, and rounded by filling what its floors leave open.
A whole table of three columns with all of its margins given need not exist. So books with larger tables are
made tidy only where one table holds all others: it is settled column after column, and the others are its
sums.

No interval of the raw estimates holds for these numbers.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.asking.answers.consistent import Whole
from discreet.asking.planning import Columns, Floats, NestedWorkload, Workload
from discreet.errors import UnsupportedQuery

_ROUNDS = 60


def check_tidy(workload: Workload) -> None:
    """Refuse a book that cannot be made tidy, whatever its numbers are."""
    asked = list(workload.tables)
    if isinstance(workload, NestedWorkload):
        plain = max(workload.residuals, key=len)
        deepest = max(workload.split(each)[1] for each in workload.sets)
        holds = workload.joined(plain, deepest) in workload.sets
        holds = holds and all(set(each) <= set(plain) for each in workload.residuals)
    else:
        widest = max(asked, key=len)
        holds = len(widest) <= 2 or all(set(each) <= set(widest) for each in asked)
    if not holds:
        raise UnsupportedQuery(
            "A tidy book must have one table that holds all others, or, without levels, tables of at most "
            "two columns: other whole tables that agree with each other need not exist.",
            reason="tidy",
        )


def make_tidy(tables: Mapping[Columns, Floats], asked: list[Columns]) -> dict[Columns, Whole]:
    """Return whole tables from 0 on, such that every total is the sum of its parts.

    `tables` holds, with each table, all its totals.

    >>> near = {(): np.array(5.2), (0,): np.array([-1.4, 3.3, 3.3])}
    >>> {columns: table.tolist() for columns, table in make_tidy(near, [(0,)]).items()}
    {(): 5, (0,): [0, 3, 2]}
    """
    finest = max(asked, key=len)
    if max(map(len, asked)) > 2:
        cells = _settle_all(tables, finest)
        away = {each: tuple(axis for axis, one in enumerate(finest) if one not in each) for each in tables}
        return {each: cells.sum(axis=axes) for each, axes in away.items()}
    found: dict[Columns, Whole] = {}
    for columns in sorted(tables, key=len):
        if not columns:
            found[columns] = np.maximum(np.rint(tables[columns]), 0).astype(np.int64)
        elif len(columns) == 1:
            found[columns] = settle(tables[columns][None, :], found[()].reshape(1))[0]
        else:
            first, second = columns
            found[columns] = settle_both(tables[columns], found[first,], found[second,])
    return found


def _settle_all(tables: Mapping[Columns, Floats], finest: Columns) -> Whole:
    whole = np.maximum(np.rint(tables[()]), 0).astype(np.int64).reshape(1)
    for size in range(1, len(finest) + 1):
        rows = tables[finest[:size]]
        whole = settle(rows.reshape(whole.size, -1), whole.reshape(-1)).reshape(-1)
    return whole.reshape(tables[finest].shape)


def settle(rows: Floats, totals: Whole) -> Whole:
    """Return rows of whole numbers from 0 on that add up to the totals, near the given ones."""
    return _round_rows(project(rows, totals), totals)


def project(rows: Floats, totals: NDArray[np.int64]) -> Floats:
    """Return the nearest rows without numbers below 0 that add up to the totals.

    >>> project(np.array([[3.0, 1.0, -2.0]]), np.array([2])).tolist()
    [[2.0, 0.0, 0.0]]
    """
    descending = -np.sort(-rows, axis=1)
    places = np.arange(1, rows.shape[1] + 1)
    cuts = (np.cumsum(descending, axis=1) - totals[:, None]) / places
    kept = np.maximum((descending > cuts).sum(axis=1), 1)
    cut = np.take_along_axis(cuts, kept[:, None] - 1, axis=1)
    found: Floats = np.maximum(rows - cut, 0.0)
    return found


def _round_rows(rows: Floats, totals: Whole) -> Whole:
    """Return rows rounded down, and up where the most was cut off until they add up to the totals."""
    down = np.floor(rows)
    missing = totals - down.sum(axis=1).astype(np.int64)
    ranks = np.argsort(np.argsort(down - rows, axis=1, kind="stable"), axis=1, kind="stable")
    found: Whole = down.astype(np.int64) + (ranks < missing[:, None])
    return found


def settle_both(table: Floats, rows: Whole, columns: Whole) -> Whole:
    """Return a table of whole numbers from 0 on with both margins, near the given one."""
    near, first, second = table, np.zeros_like(table), np.zeros_like(table)
    for _ in range(_ROUNDS):
        other = project((near + second).T, columns).T
        second = near + second - other
        near = project(other + first, rows)
        first = other + first - near
    whole = np.floor(near + 1e-9).astype(np.int64)
    for axis, margin in ((0, columns), (1, rows)):
        _lower(whole if axis == 1 else whole.T, margin)
    _fill(whole, near - whole, rows - whole.sum(axis=1), columns - whole.sum(axis=0))
    return whole


def _lower(whole: Whole, totals: Whole) -> None:
    """Take from the largest numbers of rows that add up to more than their totals."""
    for row, extra in zip(whole, whole.sum(axis=1) - totals, strict=True):
        for _ in range(max(0, int(extra))):
            row[row.argmax()] -= 1


def _fill(whole: Whole, cut: Floats, rows: Whole, columns: Whole) -> None:
    """Add ones until both margins are right, where the columns lack most, then where most was cut off."""
    for row in range(rows.size):
        while (missing := int(rows[row])) > 0:
            order = np.lexsort((-cut[row], -columns))
            chosen = order[: min(missing, int((columns > 0).sum()))]
            whole[row, chosen] += 1
            columns[chosen] -= 1
            rows[row] -= chosen.size
