"""Workloads in which one column has levels, each a total of the next: regions, their states, their counties.

A table is by some plain columns S and at most one level l; without a level it is by the root. Nothing of
`marginals` changes for plain columns: for each set B of them, all that measured tables say of residual B is
precision

    q_{B,l} = Σ_{S ⊇ B} t_{S,l} / N_{S∖B}

on every node of level l, independently for different B. So for each B there is one tree of counts to estimate
(`trees`), and a cell of table (W, l) at node v has the variance

    Σ_{B ⊆ W} V_{B,l}(v) · Π_{i∈B} (1 - 1/n_i) / N_{W∖B}².

Nodes need not have equally many children, and then cells of one table differ in variance.

Privacy: a table by a level adds up cells of the table by the finest one, each in one node: what one unit
moves is what it moves in any table of `marginals`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from discreet.asking.planning.marginals import (
    MOST_SETS,
    Aim,
    Columns,
    Design,
    Floats,
    Workload,
    descend,
    too_many_sets,
)
from discreet.asking.planning.trees import Tree
from discreet.errors import InvalidParameter, UnsupportedQuery

_ROUNDS, _NEAR = 400, 1e-3
_MOST_STEPS, _MOST_STEP = 2 * 10**7, 2 * 10**6  # nodes that a search, and one round of it, may look at


@dataclass(frozen=True, eq=False)
class NestedWorkload(Workload):
    """The tables of a book, of which one column has levels.

    `levels` are the positions of the levels among the columns, coarse to fine: they come after all others.
    """

    levels: Columns = ()
    tree: Tree = field(kw_only=True)

    def split(self, columns: Columns) -> tuple[Columns, int]:
        """Return the plain columns of a table, and its level; 0 where it has none."""
        if columns and columns[-1] in self.levels:
            return columns[:-1], self.levels.index(columns[-1]) + 1
        return columns, 0

    def joined(self, plain: Columns, level: int) -> Columns:
        """Return the columns of a table by plain ones and a level."""
        return (*plain, self.levels[level - 1]) if level else plain

    @cached_property
    def sets(self) -> tuple[Columns, ...]:
        """All tables and all their totals."""
        found: set[Columns] = set()
        for table in self.tables:
            plain, deepest = self.split(table)
            if 2 ** len(plain) * (deepest + 1) > MOST_SETS:
                too_many_sets()
            for part in _subsets(plain):
                found.update(self.joined(part, level) for level in range(deepest + 1))
            if len(found) > MOST_SETS:
                too_many_sets()
        return tuple(sorted(found, key=lambda each: (len(each), each)))

    @cached_property
    def residuals(self) -> tuple[Columns, ...]:
        """The sets of plain columns."""
        return tuple(dict.fromkeys(self.split(each)[0] for each in self.sets))

    def depth(self, residual: Columns) -> int:
        """Return the deepest level at which tables tell of a residual."""
        split = map(self.split, self.sets)
        return max(level for plain, level in split if set(residual) <= set(plain))

    @cached_property
    def reached(self) -> Floats:
        """q_{B,l} from the precisions of all sets: an axis for residuals, for levels, and for sets."""
        found = np.zeros((len(self.residuals), len(self.levels) + 1, len(self.sets)))
        for place, columns in enumerate(self.sets):
            plain, level = self.split(columns)
            for index, residual in enumerate(self.residuals):
                if set(residual) <= set(plain):
                    found[index, level, place] = self.cells(residual) / self.cells(plain)
        return found

    @cached_property
    def shown(self) -> Floats:
        """How much of a residual's variance is in the cells of each set: by residual and set."""
        found = np.zeros((len(self.residuals), len(self.sets)))
        for place, columns in enumerate(self.sets):
            plain, _ = self.split(columns)
            for index, residual in enumerate(self.residuals):
                if set(residual) <= set(plain):
                    parts = math.prod(1 - 1 / self.sizes[each] for each in residual)
                    found[index, place] = parts * (self.cells(residual) / self.cells(plain)) ** 2
        return found

    @cached_property
    def wanted(self) -> Floats:
        """What the sum of variances of a residual's tree counts for: by residual and level."""
        found = np.zeros((len(self.residuals), len(self.levels) + 1))
        for columns, weight in self.tables.items():
            plain, level = self.split(columns)
            found[:, level] += float(weight) * self.cells(plain) * self.shown[:, self.sets.index(columns)]
        return found

    def judge(self, shares: Floats) -> tuple[float, Floats]:
        """Return the weighted sum of variances, and how fast it falls with the precision of each set."""
        value, slopes = 0.0, np.zeros(len(self.sets))
        for index in range(len(self.residuals)):
            own, falls = self.tree.judge(list(self.reached[index] @ shares), list(self.wanted[index]))
            value += own
            slopes += falls @ self.reached[index]
        return value, slopes

    def design(self, aim: Aim = "sum") -> "NestedDesign":
        """Return the tables to measure, and their shares, for the least weighted sum of variances."""
        if aim != "sum":
            raise InvalidParameter(
                'aim must be "sum" where a book has levels of a hierarchy.', parameter="aim"
            )
        start = np.full(len(self.sets), 0.1 / len(self.sets))
        start[[self.sets.index(each) for each in self.tables]] += 0.9 / len(self.tables)
        shares, lower = descend(self.judge, start, self._rounds, _NEAR)
        found = self.planned(self.rounded(shares), 0.0)
        return self.planned(found.shares, max(0.0, found.total / lower - 1))

    @property
    def _rounds(self) -> int:
        """How many rounds a search may have: fewer where each looks at more nodes."""
        nodes = sum(self.tree.sizes[:-1]) * len(self.tree.sizes)  # leaves are not written out
        step = len(self.residuals) * (nodes + len(self.sets))
        if step > _MOST_STEP:
            raise UnsupportedQuery(
                "The tables of a book must take less work to plan. Ask for fewer columns next to the levels.",
                reason="work",
            )
        return min(_ROUNDS, _MOST_STEPS // step)

    def enough(self, measured: Floats) -> bool:
        """Return whether measured tables tell of everything that is asked."""
        precisions = self.reached @ measured
        return all(
            precisions[index, self.depth(residual) :].any() for index, residual in enumerate(self.residuals)
        )

    def planned(self, shares: Mapping[Columns, Fraction], excess: float) -> "NestedDesign":
        """Return the design of these shares."""
        return NestedDesign(self, shares, excess)


@dataclass(frozen=True)
class NestedDesign(Design):
    """Which tables are measured, where one column has levels."""

    workload: NestedWorkload

    @cached_property
    def by_residual(self) -> dict[Columns, list[float]]:
        """q_{B,l}: for each residual a precision for each level."""
        found = self.workload.reached @ self.measured
        return dict(zip(self.workload.residuals, found.tolist(), strict=True))

    @cached_property
    def _trees(self) -> dict[Columns, list[Floats]]:
        return {each: self.workload.tree.variances(q) for each, q in self.by_residual.items()}

    def variance(self, columns: Columns) -> Floats:
        """Return the variances of a table's cells, one for each node of its level."""
        plain, level = self.workload.split(columns)
        place = self.workload.sets.index(columns)
        parts = [
            self._trees[residual][level] * self.workload.shown[index, place]
            for index, residual in enumerate(self.workload.residuals)
            if set(residual) <= set(plain)
        ]
        found: Floats = np.sum(parts, axis=0)
        return found if level else found[0]

    @property
    def total(self) -> float:
        """The weighted sum of the variances of all cells of the book."""
        return self.workload.judge(self.measured)[0]


def _subsets(columns: Sequence[int]) -> list[Columns]:
    return [part for size in range(len(columns) + 1) for part in combinations(columns, size)]
