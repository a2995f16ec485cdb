"""Many releases of one plan at once: exact tables computed once, copied, and released as if they were one.

Noise is independent from number to number and coins from key to key, so n copies of every group, released
together by the real code, are n independent releases.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from discreet.asking.planning import ExactPlan, ExactTable, Plan, SetPlan
from discreet.asking.release import Outcome, release_invented
from discreet.errors import DiscreetError

Which: TypeAlias = tuple[Any, Any, Any]  # what tells the exact plans of one question apart

MOST_GROUPS = 100_000  # copied at once


@dataclass(frozen=True, eq=False)
class ExactSide:
    """The exact tables of a plan on one data set."""

    words: str
    tables: dict[Which, ExactTable] = field(repr=False)
    run: Callable[[ExactPlan], ExactTable] = field(repr=False)
    failure: DiscreetError | None = None  # that comes in place of tables

    def __repr__(self) -> str:
        return f"[{self.words}]"

    @classmethod
    def of(cls, plan: Plan, words: str, run: Callable[[ExactPlan], ExactTable]) -> "ExactSide":
        """Run the exact plans once; that they fail is an outcome too."""
        plans = [exact for each in plan.sets for exact in each.reads]
        try:
            return cls(words, {_which(exact): run(exact) for exact in plans}, cache(run))
        except DiscreetError as failure:
            return cls(words, {}, run, failure)

    def copied(self, copies: int) -> Callable[[ExactPlan], ExactTable]:
        """An engine that returns so many copies of every group, told apart by their number."""

        def run(plan: ExactPlan) -> ExactTable:
            table = self.tables[_which(plan)]
            groups = _numbered(table.groups, copies)
            return ExactTable(groups, table.totals * copies, table.tallies * copies)

        return run

    @property
    def groups(self) -> int:
        """The most groups of a set."""
        return max(len(table.groups) for table in self.tables.values())


def _which(plan: ExactPlan) -> Which:
    return plan.keys, plan.measures, plan.tally


def _numbered(groups: tuple[tuple[Any, ...], ...], copies: int) -> tuple[tuple[Any, ...], ...]:
    return tuple((number, *group) for number in range(copies) for group in groups)


@dataclass(frozen=True)
class Releases:
    """A target: n releases of a plan from exact tables."""

    plan: Plan

    def __call__(self, side: ExactSide, n: int) -> Any:
        """An array with a row for each release where groups are public, else what was shown of each."""
        if side.failure is not None:
            return [side.failure] * n
        if self.plan.weighs:  # a unit's weight depends on all groups: copies of them would change it
            return [release_invented(self.plan, side.run) for _ in range(n)]
        at_once = max(1, MOST_GROUPS // max(1, side.groups))
        sizes = [min(at_once, n - start) for start in range(0, n, at_once)]
        parts = [self._release(side, size) for size in sizes]
        if all(isinstance(part, np.ndarray) for part in parts):
            return np.concatenate(parts)
        return [output for part in parts for output in part]

    def _release(self, side: ExactSide, copies: int) -> Any:
        wide = replace(self.plan, sets=tuple(_widen(each, copies) for each in self.plan.sets))
        outcomes = release_invented(wide, side.copied(copies))
        public = not any(each.private for each in self.plan.sets)
        arrays = [_as_array(outcome, copies) for outcome in outcomes] if public else []
        if arrays and all(array.dtype == np.int64 for array in arrays):
            return np.concatenate(arrays, axis=1)
        return list(zip(*(_by_copy(outcome, copies) for outcome in outcomes), strict=True))


def _widen(each: SetPlan, copies: int) -> SetPlan:
    def widen(plan: ExactPlan) -> ExactPlan:
        return plan if plan.labels is None else replace(plan, labels=_numbered(plan.labels, copies))

    return replace(each, stages=tuple(replace(stage, plan=widen(stage.plan)) for stage in each.draws))


def _as_array(outcome: Outcome, copies: int) -> Any:
    return np.array(outcome.numbers).reshape(copies, -1)


def _by_copy(outcome: Outcome, copies: int) -> list[dict[Any, Any]]:
    """What was shown in each copy: groups with their numbers, in order."""
    found: list[dict[Any, Any]] = [{} for _ in range(copies)]
    for group, numbers in zip(outcome.groups, outcome.numbers, strict=True):
        number, *labels = group
        assert isinstance(number, int)
        found[number][tuple(labels)] = numbers
    return found
