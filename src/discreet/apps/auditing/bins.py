"""A column cut into bins: frequent values by themselves, intervals between the others, one search for all."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.apps.auditing.outcomes import Column

# Where values lie among sorted points: a table instead of a binary search for each value.

Places: TypeAlias = NDArray[np.int64]

WORTHWHILE = 4000  # values: fewer are faster by binary search
AT_ONCE = 1 << 14  # values: few enough to stay close to the processor
CELLS = 1 << 14
CLIMBED = 2  # points of one cell that are passed one by one; crowded cells are searched


@dataclass(frozen=True)
class Search:
    """How many of the sorted `points` lie at or below each value, as numpy.searchsorted(side="right") counts.

    A cell number that never falls as a value grows is computed for points and values alike. So the points of
    earlier cells lie below a value, those of later cells above it, and the few of its own are compared.

    >>> Search(np.array([1.0, 2.0]))(np.array([0.5, 1.0, 7.0])).tolist()
    [0, 1, 2]
    """

    points: Column

    def __call__(self, values: Column) -> Places:
        if len(values) < WORTHWHILE or not np.isfinite(self._cells_per_unit):
            return np.searchsorted(self.points, values, side="right")
        parts = [self._look_up(values[start : start + AT_ONCE]) for start in range(0, len(values), AT_ONCE)]
        return np.concatenate(parts)

    def _look_up(self, values: Column) -> Places:
        before, crowded, following = self._table
        cell = self._cell(values)
        found = before[cell]
        for _ in range(CLIMBED):
            found += values >= following[found]
        rest = np.flatnonzero(crowded[cell])
        found[rest] = np.searchsorted(self.points, values[rest], side="right")
        return found

    @cached_property
    def _cells_per_unit(self) -> float:
        """Not finite where there is no table: for a single point, infinite points, points too close."""
        with np.errstate(all="ignore"):
            first, last = self.points[[0, -1]].astype(np.float64) if len(self.points) else (0.0, 0.0)
            return float(np.float64(CELLS - 1) / (last - first))

    def _cell(self, values: Column) -> Places:
        with np.errstate(all="ignore"):
            cell = (values.astype(np.float64) - np.float64(self.points[0])) * self._cells_per_unit
            return np.fmax(np.fmin(cell, CELLS - 1), 0).astype(np.int64)  # NaN goes to the last

    @cached_property
    def _table(self) -> tuple[Places, NDArray[np.bool_], Column]:
        """By cell: the points before it, and whether to search; by count: the point that follows."""
        cells = self._cell(self.points)
        held = np.bincount(cells, minlength=CELLS)
        crowded = held > CLIMBED
        crowded[cells[-1] :] = True  # beyond the last point no other follows; NaN is there too
        following = np.concatenate((self.points, self.points[-1:].repeat(CLIMBED)))
        return np.cumsum(held) - held, crowded, following


Counts: TypeAlias = NDArray[np.float64]

MOST_ATOMS = 512
LEAST_OF_AN_ATOM = 3
TAILS = (1e-4, 3e-4, 1e-3, 3e-3)


@dataclass(frozen=True)
class Bins:
    """Sorted `points`; `single` marks those that are bins of their own; `ordered`: with intervals between.

    In order: the interval below the first point, then for each point itself (if single) and the interval
    above it. The last bin holds what is not a number, and labels that were not among the points.
    """

    points: Column
    single: NDArray[np.bool_]
    ordered: bool

    def __len__(self) -> int:
        return len(self.points) + 2 + int(self.single.sum())

    @cached_property
    def _interval(self) -> Places:
        """The bin of the interval with i points at or below it."""
        if not self.ordered:
            return np.full(len(self.points) + 1, len(self) - 1)
        return np.arange(len(self.points) + 1) + np.concatenate(([0], np.cumsum(self.single)))

    def place(self, values: Column) -> Places:
        """The bin of each value."""
        if self._starts is not None:
            place = self._passed(values)
        else:
            above = self._above(values)
            place = self._interval[above]
            if self.single.any():
                near = np.maximum(above - 1, 0)
                hit = (self.points[near] == values) & self.single[near]
                place = np.where(hit, self._single_bin[near], place)
        if values.dtype.kind == "f":
            place[np.isnan(values)] = len(self) - 1
        return place

    @cached_property
    def _starts(self) -> Column | None:
        """Where each bin but the first begins, in order; None for labels, and where nothing lies beyond the
        last point, so that no bin can begin there."""
        if not self.ordered or not len(self.points):
            return None
        real = self.points.dtype.kind == "f"
        after = np.nextafter(self.points, np.inf) if real else self.points + 1
        if not after[-1] > self.points[-1]:
            return None
        both = np.stack((self.points, after), axis=1)
        return both[np.stack((np.full_like(self.single, True), self.single), axis=1)]

    @cached_property
    def _passed(self) -> Search:
        assert self._starts is not None
        return Search(self._starts)

    @cached_property
    def _above(self) -> Search:
        return Search(self.points)

    @cached_property
    def _single_bin(self) -> Places:
        """The bin of a single point: in order, just before the interval above it."""
        if self.ordered:
            return self._interval[1:] - 1
        return np.cumsum(self.single) - 1

    def count(self, *columns: Column) -> Counts:
        """How many values of each column fall in each bin: a row for each column."""
        place = self.place(np.concatenate(columns))
        place += np.repeat(np.arange(len(columns)) * len(self), [len(column) for column in columns])
        counts = np.bincount(place, minlength=len(columns) * len(self))
        return counts.reshape(len(columns), len(self)).astype(np.float64)

    def ends(self) -> list[tuple[Any, Any]]:
        """Where each bin begins and ends, in order, without the last; a single value does both at once."""
        if not self.ordered:
            return [(point, point) for point in self.points[self.single]]
        borders = [-np.inf, *self.points.tolist(), np.inf]
        found = [(borders[0], borders[1])]
        for i, alone in enumerate(self.single, start=1):
            if alone:
                found.append((borders[i], borders[i]))
            found.append((borders[i], borders[i + 1]))
        return found

    def turns(self, inside: NDArray[np.bool_]) -> Column | None:
        """Where a set of bins begins and ends, in turns: a value is inside if it has passed an odd number of
        them. None where bins have no such ends: for labels, and with nothing beyond the last point."""
        if self._starts is None:
            return None
        flips = np.flatnonzero(np.diff(np.concatenate(([False], inside[:-1])).astype(np.int8)))
        whole = self.points.dtype.kind == "i"
        lowest = np.iinfo(np.int64).min if whole else -np.inf
        return np.concatenate(([lowest], self._starts)).astype(self.points.dtype)[flips]

    def coarsen(self, counts: Counts, groups: int) -> Places:
        """Neighbouring bins joined into about `groups` of equal count: the group of each; the last alone."""
        middle = np.cumsum(counts[:-1]) - counts[:-1] / 2
        joined = np.floor(middle / max(float(counts[:-1].sum()), 1.0) * groups).astype(np.int64)
        return np.append(np.minimum(joined, groups - 1), groups)


def partition(values: Column, *, fineness: int) -> Bins:
    """Bins for pooled training values: frequent single values, quantiles of the rest, finer in the tails."""
    distinct, counts = np.unique(_without_missing(values), return_counts=True)
    often = np.maximum(LEAST_OF_AN_ATOM, len(values) / 4000)
    if np.count_nonzero(counts >= often) > MOST_ATOMS:
        often = np.sort(counts)[-MOST_ATOMS]
    single = counts >= often
    single[np.flatnonzero(single)[2 * MOST_ATOMS :]] = False
    if values.dtype.kind == "u" or not distinct.size:  # labels have no order, hence no intervals
        atoms = distinct[single]
        return Bins(atoms, np.ones(len(atoms), dtype=np.bool_), ordered=False)
    heights = np.concatenate((np.linspace(0, 1, fineness + 1), TAILS, 1 - np.array(TAILS)))
    up_to = np.cumsum(counts)
    edges = np.searchsorted(up_to, np.minimum((heights * up_to[-1]).astype(np.int64), up_to[-1] - 1), "right")
    chosen = single.copy()
    chosen[edges] = True
    return Bins(distinct[chosen], single[chosen], ordered=True)


def _without_missing(values: Column) -> Column:
    missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(1, dtype=np.bool_)
    return values[~missing] if missing.any() else values
