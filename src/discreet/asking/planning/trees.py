"""Least squares on a tree of counts, whose levels are measured each with noise of its own.

Where all nodes of level l are measured with precision q_l, the best estimate of a node from its own subtree
and its variance u follow upwards, s being the sum of its children's u:

    u = 1/(q_l + 1/s),   z = u·(q_l·y + Σ z_children / s);

what the rest of the tree says comes back downwards,

    x_child = z_child + u_child/s · (x_parent - Σ z_children),
    V_child = u_child - (u_child/s)²·(s - V_parent).

This is the least squares estimate of all
levels together, in time linear in the nodes, and children add up to their parents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.asking.planning.marginals import Floats

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Tree:
    """How many children each node of each level has; level 0 is the root, siblings stand side by side.

    >>> Tree((np.array([2]), np.array([1, 3]))).sizes
    (1, 2, 4)
    """

    families: tuple[Places, ...]

    @classmethod
    def of(cls, starts: Sequence[Sequence[int]]) -> "Tree":
        """Return the tree whose levels, coarse to fine, begin new nodes at these positions of one order.

        >>> Tree.of([(0, 2), (0, 2, 3, 5)]).sizes
        (1, 2, 4)
        """
        levels = [np.array([0]), *(np.asarray(each) for each in starts)]
        families = []
        for above, below in pairwise(levels):
            ends = np.searchsorted(below, above)
            families.append(np.diff(ends, append=below.size))
        return cls(tuple(families))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many nodes each level has."""
        return (1, *(int(each.sum()) for each in self.families))

    @cached_property
    def firsts(self) -> tuple[Places, ...]:
        """Where the children of each node begin in the level below."""
        return tuple(np.cumsum(each) - each for each in self.families)

    def add_up(self, level: int, below: NDArray[Any]) -> NDArray[Any]:
        """Return, on the last axis, the sums over the children of each node of a level."""
        found: NDArray[Any] = np.add.reduceat(below, self.firsts[level], axis=-1)
        return found

    def spread(self, level: int, above: Floats) -> Floats:
        """Return, on the last axis, each child's parent's number."""
        found: Floats = np.repeat(above, self.families[level], axis=-1)
        return found

    def variances(self, precisions: Sequence[float]) -> list[Floats]:
        """Return the variances of all nodes, level by level, down to the deepest one that is measured."""
        own, sums = self._upward(precisions)
        found = [own[0]]
        for level, total in enumerate(sums):
            above, whole = self.spread(level, found[-1]), self.spread(level, total)
            found.append(own[level + 1] - (own[level + 1] / whole) ** 2 * (whole - above))
        return found

    def _upward(self, precisions: Sequence[float]) -> tuple[list[Floats], list[Floats]]:
        """Return each node's variance from its own subtree, and the sum of its children's."""
        depth = deepest(precisions)
        own: list[Floats] = [np.full(self.sizes[depth], 1 / precisions[depth])]
        sums: list[Floats] = []
        for level in range(depth - 1, -1, -1):
            sums.insert(0, np.asarray(self.add_up(level, own[0]), dtype=float))
            own.insert(0, sums[0] / (1 + precisions[level] * sums[0]))
        return own, sums

    def estimate(self, precisions: Sequence[float], measured: Sequence[Floats]) -> list[Floats]:
        """Return the estimates of all nodes, level by level: on the last axis of what each level measured."""
        own, sums = self._upward(precisions)
        below: list[Floats] = [measured[len(sums)]]
        totals: list[Floats] = []
        for level in range(len(sums) - 1, -1, -1):
            totals.insert(0, np.asarray(self.add_up(level, below[0]), dtype=float))
            said = precisions[level] * measured[level] + totals[0] / sums[level]
            below.insert(0, own[level] * said)
        found = [below[0]]
        for level, total in enumerate(sums):
            part = own[level + 1] / self.spread(level, total)
            found.append(below[level + 1] + part * self.spread(level, found[-1] - totals[level]))
        return found

    def judge(self, precisions: Sequence[float], weights: Sequence[float]) -> tuple[float, Floats]:
        """Return Σ_l weight_l · Σ variances of level l, and how fast it falls with each level's precision.

        All leaves of one node have the same variance, so the deepest level is not written out.
        """
        depth = deepest(precisions)
        count = len(precisions)
        if depth == 0:
            value = weights[0] / precisions[0]
            return value, np.array([value / precisions[0], *([0.0] * (count - 1))])
        own, sums, own_d, sums_d = self._upward_with_slopes(precisions, depth)
        value, slopes = 0.0, np.zeros(count)
        above, above_d = own[0], own_d[0]
        for level in range(depth):
            value += weights[level] * float(above.sum())
            slopes += weights[level] * above_d.sum(axis=-1)
            last = level == depth - 1
            whole, whole_d = sums[level], sums_d[level]
            if not last:
                above, above_d, whole, whole_d = (
                    self.spread(level, each) for each in (above, above_d, whole, whole_d)
                )
            part = own[level + 1] / whole
            part_d = own_d[level + 1] / whole - part * whole_d / whole
            gap, gap_d = whole - above, whole_d - above_d
            above_d = own_d[level + 1] - 2 * part * part_d * gap - part**2 * gap_d
            above = own[level + 1] - part**2 * gap
        children = self.families[depth - 1]
        value += weights[depth] * float(above @ children)
        slopes += weights[depth] * (above_d @ children)
        return value, -slopes

    def _upward_with_slopes(
        self, precisions: Sequence[float], depth: int
    ) -> tuple[list[Floats], list[Floats], list[Floats], list[Floats]]:
        """Return what `_upward` does, with one number for all leaves, and its slopes by each precision."""
        count, leaf = len(precisions), 1 / precisions[depth]
        slope = np.zeros((count, 1))
        slope[depth] = -(leaf**2)
        own: list[Floats] = [np.array([leaf])]
        own_d: list[Floats] = [slope]
        sums: list[Floats] = []
        sums_d: list[Floats] = []
        for level in range(depth - 1, -1, -1):
            if level == depth - 1:
                children = self.families[level].astype(float)
                total, total_d = leaf * children, slope * children
            else:
                total = np.asarray(self.add_up(level, own[0]), dtype=float)
                total_d = np.asarray(self.add_up(level, own_d[0]), dtype=float)
            scale = 1 / (1 + precisions[level] * total)
            up_d = total_d * scale**2
            up_d[level] -= (total * scale) ** 2
            for listed, each in ((sums, total), (sums_d, total_d), (own, total * scale), (own_d, up_d)):
                listed.insert(0, each)
        return own, sums, own_d, sums_d


def deepest(precisions: Sequence[float]) -> int:
    """Return the deepest level that is measured."""
    return max(level for level, precision in enumerate(precisions) if precision > 0)
