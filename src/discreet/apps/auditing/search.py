"""Where values lie among sorted points: a table instead of a binary search for each value."""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.apps.auditing.outcomes import Column

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
