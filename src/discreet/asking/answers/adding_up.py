"""Totals that are the sums of their parts: the best estimate of the finest groups from all grouping sets.

Each released number is the sum of some finest groups plus noise of a known variance v. The finest groups x
that fit all of them best, minimising Σ (released - Σx)²/v, are rounded to whole numbers; every total is
then the sum of its own.

Where totals are not sums by construction the fit would pull numbers away from their truth: it is refused.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.asking.planning import AddNoise, ExactMeasure, RowCount, SetPlan, Sum, is_covered
from discreet.asking.policy import Value
from discreet.asking.queries import (
    to_text,
)
from discreet.errors import InvalidParameter


def check_labels(sets: Sequence[SetPlan], finest: SetPlan) -> None:
    """Refuse where a row may have another label than those of the finest groups: totals alone count it."""
    if any(each.limited or not each.reads for each in sets):
        raise InvalidParameter(
            "totals must be of the same limit as their parts to add up, and each grouping set has its own."
        )
    plan = finest.reads[0]
    for position, key in zip(finest.keys, plan.keys, strict=True):
        if not all(position in each.keys for each in sets) and not is_covered(key, plan.rows):
            raise InvalidParameter(
                "totals must be the sums of what is shown to add up, but rows whose "
                f"{to_text(key.expression)} is missing or has another label are in totals alone. Name the "
                "labels in WHERE (x IN ('a', 'b'), for true and false x IS NOT NULL), or group by CASE ... "
                "ELSE ... END."
            )


def check_rows(sets: Sequence[SetPlan], measure: ExactMeasure) -> None:
    """Refuse where a unit may have other rows in a total than in its parts."""
    plans = [each.reads[0] for each in sets]
    if all(plan.each_row for plan in plans):
        return
    one = all(plan.max_groups == 1 and plan.max_rows == 1 for plan in plans)
    if not one or measure != RowCount():  # of one row each it does not matter which, if they are just counted
        raise InvalidParameter(
            "totals must be of the same rows as their parts to add up, but a unit's rows are limited in each "
            "grouping set by itself. Ask for COUNT(*) with max_groups = 1 and max_rows = 1, or of a table "
            "whose rows are the units."
        )


Groups: TypeAlias = tuple[tuple[Value, ...], ...]
Released: TypeAlias = tuple[tuple[Groups, tuple[tuple[int, ...], ...]], ...]
Places: TypeAlias = NDArray[np.intp]

_NEAR = 1e-12  # of the starting distance: where the conjugate gradients stop


def add_up(sets: Sequence[SetPlan], released: Released) -> Released:
    """Return the released numbers of every set, changed as little as it takes for totals to add up."""
    finest = _finest(sets)
    check_labels(sets, sets[finest])
    places = [_places(each, groups, sets[finest], released[finest][0])
              for each, (groups, _) in zip(sets, released, strict=True)]  # fmt: skip
    numbers = [[list(row) for row in rows] for _, rows in released]
    additive = _additive(sets[finest])
    if not additive:
        raise InvalidParameter(
            "a question must count rows or add up values for its totals to add up: a person in many groups "
            "is one person in their total."
        )
    for column in additive:
        check_rows(sets, additive[column])
        measured = [np.array([row[column] for row in rows], dtype=float) for rows in numbers]
        weights = [1 / _variance(each, column) for each in sets]
        fitted = _fit(places, measured, weights, len(released[finest][0]))
        cells = np.rint(fitted)
        for rows, place in zip(numbers, places, strict=True):
            for row, total in zip(rows, _totals(cells, place, len(rows)), strict=True):
                row[column] = int(total)
    return tuple((groups, tuple(map(tuple, rows)))
                 for (groups, _), rows in zip(released, numbers, strict=True))  # fmt: skip


def _finest(sets: Sequence[SetPlan]) -> int:
    every = {key for each in sets for key in each.keys}
    found = [index for index, each in enumerate(sets) if set(each.keys) == every]
    if len(sets) < 2 or not found or any(each.private for each in sets):
        raise InvalidParameter(
            "totals can add up only where a question has ROLLUP or GROUPING SETS over public keys, one set "
            "having all of them."
        )
    return found[0]


def _additive(each: SetPlan) -> dict[int, RowCount | Sum]:
    """Return the columns of which a total is the sum of its parts, with what they are of: not so numbers of
    people or of values.
    """
    measures = {stage.column: stage.measure for stage in each.draws if isinstance(stage, AddNoise)}
    return {
        column: measure
        for column, measure in measures.items()
        if column is not None and isinstance(measure, RowCount | Sum)
    }


def _variance(each: SetPlan, column: int) -> float:
    stage = each.columns[column]
    assert isinstance(stage, AddNoise)  # keys are public: no draw shows them
    return stage.variance


def _places(each: SetPlan, groups: Groups, finest: SetPlan, cells: Groups) -> Places:
    """Return, for every finest group, the group of this set that it is part of."""
    order = {group: place for place, group in enumerate(groups)}
    positions = [finest.keys.index(key) for key in each.keys]
    return np.array([order[tuple(cell[position] for position in positions)] for cell in cells], dtype=np.intp)


def _totals(cells: NDArray[np.float64], place: Places, count: int) -> NDArray[np.float64]:
    return np.bincount(place, weights=cells, minlength=count).astype(np.float64)


def _fit(
    places: list[Places], measured: list[NDArray[np.float64]], weights: list[float], cells: int
) -> NDArray[np.float64]:
    """Return the weighted least squares by conjugate gradients: as many rounds as there are kinds of set
    suffice.
    """

    def spread(values: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        found = np.zeros(cells)
        for place, value, weight in zip(places, values, weights, strict=True):
            found += weight * value[place]
        return found

    def applied(guess: NDArray[np.float64]) -> NDArray[np.float64]:
        totals = [_totals(guess, place, len(value)) for place, value in zip(places, measured, strict=True)]
        return spread(totals)

    guess = np.zeros(cells)
    rest = spread(measured)
    step, size = rest.copy(), float(rest @ rest)
    start = size
    for _ in range(cells + len(places)):
        if size <= _NEAR**2 * start:
            break
        moved = applied(step)
        length = size / float(step @ moved)
        guess += length * step
        rest -= length * moved
        size, before = float(rest @ rest), size
        step = rest + size / before * step
    return guess
