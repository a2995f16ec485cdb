"""The exact half of a plan: what an engine computes, in whole numbers, before any noise.

A question becomes one `ExactPlan` for the counts and sums of each grouping set, and one for each MODE,
quantile, minimum and maximum (a tally of values). An engine runs each plan in this order, and no other
(bounding is last):

1.  read, filter and join the rows; drop rows without a unit, and rows whose key is no public label;
2.  compute each measure's whole number for each row: clamped after the expression, on its lattice;
3.  keep at most `max_rows` rows of each unit in each group, the first in the order of (salted hash, values),
    where the hash is of the values and of the row's ordinal among equal ones;
4.  keep at most `max_groups` groups of each unit, the first in a salted order of its groups;
5.  add up.

The orders depend on the unit's own rows and the salt alone, and are total: rows that tie are equal in all
that is added up. So adding or removing one unit changes at most max_groups groups, each by at most max_rows
of its rows (docs/theory/exact-half.md).

With a `limit` steps 3 and 4 are one: each unit's parts of all groups are multiplied by its weight
(`discreet.asking.planning.weights`), and no row is left out. With `excess` the units' norms are added up, and
not their parts.
"""

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal as OneOf, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.asking.planning.weights import Excess, Limit
from discreet.asking.policy import Value
from discreet.asking.queries import Domain, Expression, Key, Relation
from discreet.kernel.numerics import largest_power_of_two

Whole: TypeAlias = NDArray[np.int64]

_FAR = 2**63  # steps from zero: where the lattice of whole numbers ends, at most
_FAR_IN_TALLIES = 2**60  # the same where they are tallied or squared
_FAR_IN_DOUBLES = 2**50  # the same for numbers, before a step is rounded down to a power of two
_LARGEST = Fraction(sys.float_info.max)
MOST_GROUPS = 100_000  # public labels of one grouping set


@dataclass(frozen=True)
class Lattice:
    """Where a measure's values lie: whole multiples of `step` between `lowest` and `highest` steps.

    A value x is clamped to the two ends and becomes floor(x / step + 1/2), computed in doubles for numbers.
    Those have at most 2^51 steps from zero: there a half more is a double too, so that the ends are their own
    steps, and clamping afterwards would be the same.

    >>> Lattice.over((Fraction(0), Fraction(100)), "number").step
    Fraction(1, 16384)
    """

    step: Fraction
    lowest: int
    highest: int
    type: OneOf["integer", "number"]

    @classmethod
    def over(
        cls, bounds: tuple[Fraction, Fraction], kind: OneOf["integer", "number"], *, steps: int = 2**20
    ) -> "Lattice":
        """Return the lattice of a range: whole numbers for integers (coarser beyond 64 bits, so that no sum
        of a table leaves 128), else the largest power of two that cuts the range into `steps` steps or more
        (coarser far from zero, so that every step is a double's own)."""
        low, high = bounds
        far = max(abs(low), abs(high))
        if kind == "integer":
            return cls._cut(_whole_step(far, _FAR), bounds, kind)
        width = max(high - low, Fraction(1, 2**900), far * steps / _FAR_IN_DOUBLES)
        return cls._cut(largest_power_of_two(width / steps), bounds, kind)

    @classmethod
    def coarse(cls, bounds: tuple[Fraction, Fraction], kind: OneOf["integer", "number"]) -> "Lattice":
        """As `over`, but integers too get at most 2^21 steps, none far from zero: squares stay small, and
        so does every number that is tallied."""
        low, high = bounds
        if kind == "number":
            return cls.over(bounds, kind)
        step = _whole_step(max(abs(low), abs(high)), _FAR_IN_TALLIES)
        if high - low > 2**20:
            step = max(step, largest_power_of_two((high - low) / 2**20))
        return cls._cut(step, bounds, kind)

    @classmethod
    def _cut(
        cls, step: Fraction, bounds: tuple[Fraction, Fraction], kind: OneOf["integer", "number"]
    ) -> "Lattice":
        """Return the range in steps, at least one: far from zero a narrow one may lie on a single point."""
        lowest, highest = (_nearest(end / step) for end in bounds)
        return cls(step, lowest, max(highest, lowest + 1), kind)

    def place(self, value: Value) -> int | None:
        """Return the step that a value is on; a missing value is on none.

        >>> Lattice(Fraction(1, 2), 0, 10, "number").place(2.3)
        5
        """
        if value is None:
            return None
        assert isinstance(value, int | float)
        if isinstance(value, int):
            steps = math.floor(value / self.step + Fraction(1, 2))
            return min(max(steps, self.lowest), self.highest)
        low, high = self.ends
        return math.floor(min(max(value, low), high) * float(1 / self.step) + 0.5)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The doubles on the first and the last step, or next to them where those are beyond all doubles."""
        low, high = (
            float(min(max(steps * self.step, -_LARGEST), _LARGEST)) for steps in (self.lowest, self.highest)
        )
        return low, high

    @property
    def largest(self) -> int:
        """The most that one row moves a sum, in steps."""
        return max(abs(self.lowest), abs(self.highest))

    @property
    def middle(self) -> int:
        """The step from which no value is far: sums of distances from it need half the noise."""
        return (self.lowest + self.highest) // 2

    @property
    def width(self) -> int:
        """The most that replacing one row's value moves a sum, in steps."""
        return self.highest - self.lowest


def _whole_step(far: Fraction, most: int) -> Fraction:
    """1, or the power of two that leaves values `far` from zero within so many steps."""
    return largest_power_of_two(2 * far / most) if far > most else Fraction(1)


def _nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


@dataclass(frozen=True)
class RowCount:
    """How many rows there are (where the condition is true and `argument` is not missing)."""

    condition: Expression | None = None
    argument: Expression | None = None


@dataclass(frozen=True)
class UnitCount:
    """How many units have at least one row there (where the condition is true)."""

    condition: Expression | None = None


@dataclass(frozen=True)
class Sum:
    """The sum, in steps of the lattice, of the values that are not missing; or of the squares of their
    distance, in steps, from `centre`."""

    argument: Expression
    lattice: Lattice
    condition: Expression | None = None
    power: OneOf[1, 2] = 1
    centre: int = 0  # in steps

    @property
    def largest(self) -> int:
        """The most that one row moves it."""
        ends = (abs(self.lattice.lowest - self.centre), abs(self.lattice.highest - self.centre))
        return max(ends) * (max(ends) if self.power == 2 else 1)


@dataclass(frozen=True)
class Bernstein:
    """The sum of one part of the values that are not missing: C(degree, power)·aᵖ·bᵈ⁻ᵖ, where a and b are a
    value's distances, in steps, from the lower and the upper end of the lattice.

    The parts of all powers are at least 0, and add up to width^degree for each row: a row moves them all
    together by no more than that. Degree 1 gives a mean, degree 2 a variance too.

    >>> ends = Lattice(Fraction(1), 0, 10, "integer")
    >>> [Bernstein(Expression(), ends, degree=2, power=power).of(3) for power in range(3)]
    [49, 42, 9]
    """

    argument: Expression
    lattice: Lattice
    condition: Expression | None = None
    degree: OneOf[1, 2] = 1
    power: OneOf[0, 1, 2] = 1

    @property
    def largest(self) -> int:
        """The most that one row moves it, or all parts of its degree together."""
        return int(self.lattice.width**self.degree)

    def of(self, steps: int) -> int:
        """Return what a row adds whose value is on this step."""
        above, below = steps - self.lattice.lowest, self.lattice.highest - steps
        return int(
            math.comb(self.degree, self.power) * above**self.power * below ** (self.degree - self.power)
        )


@dataclass(frozen=True)
class Tally:
    """How many rows have each value: a step of the lattice, or a position among the labels."""

    argument: Expression
    lattice: Lattice | None = None
    labels: Domain | None = None
    condition: Expression | None = None


ExactMeasure: TypeAlias = RowCount | UnitCount | Sum | Bernstein


@dataclass(frozen=True)
class ExactPlan:
    """What an engine runs. With `labels`, those are the groups, all of them; else they are found in the data.

    `measures` are added up side by side; or `tally` is counted, and there are no measures. With a `limit`
    they are weighted, and with `excess` their norms are added up, in one row without a group: max_groups and
    max_rows then bound nothing. `labels` may then be any tuple of groups, such as keys that were released
    before; with `other` the rows outside them are one more group, the last one, written as ().

    With `cells` the groups are all combinations of the keys' labels, and only those with rows come back, as
    arrays: a group is then the whole number whose digits are the positions of its labels, the last key's
    last. `cells` says for each key whether the rows without one of its labels are one label more, the last.

    The field after `excess` has the measures of all plans over the same pairs of unit and group in one
    question: an engine may compute those pairs once. No result depends on it.
    """

    rows: Relation
    keys: tuple[Key, ...]
    labels: tuple[tuple[Value, ...], ...] | None
    measures: tuple[ExactMeasure, ...]
    tally: Tally | None
    max_groups: int
    max_rows: int
    each_row: bool
    salt: int
    limit: Limit | None = None
    excess: tuple[Excess, ...] = ()
    beside: tuple[ExactMeasure, ...] = ()
    other: bool = False
    cells: tuple[bool, ...] | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many labels each key has, the rest of its rows included where they are counted."""
        rests = self.cells or (False,) * len(self.keys)
        return tuple(len(key.domain or ()) + rest for key, rest in zip(self.keys, rests, strict=True))

    @property
    def weighs(self) -> bool:
        """Whether units are weighed as wholes, and not cut."""
        return self.limit is not None or bool(self.excess)


@dataclass(frozen=True)
class Part:
    """Where an aggregate's exact numbers are: in which plan, and which of its measures (a tally has none)."""

    plan: int
    measures: tuple[int, ...]


@dataclass(frozen=True)
class ExactPlans:
    """The plans of one grouping set. `parts[i]` serves measure i of the question:

    COUNT: one count. SUM: the sum. AVG: sum, count. VARIANCE and STDDEV: squares, sum, count, all around the
    centre of the range; AVG next to them reads the same sum. MODE, QUANTILE, MIN, MAX, COUNT(DISTINCT x): a
    plan with a tally. Where keys are found in the data, `units` names the count of units that selects them.
    """

    plans: tuple[ExactPlan, ...]
    parts: tuple[Part, ...]
    units: Part | None


@dataclass(frozen=True, repr=False)
class ExactTable:
    """What an engine found: one row per group, exact. It shows nothing of itself.

    `totals[i][j]` is measure j of group i; `tallies[i]` maps a value to its number of rows (`TallyArrays`
    where there may be many). Public groups come in the plan's order, found ones in the order of their keys,
    missing keys last.
    """

    groups: tuple[tuple[Value, ...], ...]
    totals: tuple[tuple[int, ...], ...]
    tallies: tuple[Mapping[int, int], ...] = field(default=())
    cells: "CellArrays | None" = None

    def __repr__(self) -> str:
        return "ExactTable(...)"


@dataclass(frozen=True, eq=False, repr=False)
class CellArrays:
    """The groups of a plan with `cells` that have rows, in any order, and the total of each. It shows nothing
    of itself."""

    codes: Whole
    totals: Whole

    @classmethod
    def of(cls, codes: Any, totals: Any) -> "CellArrays":
        """Return the cells of two columns of whole numbers."""
        return cls(np.asarray(codes, dtype=np.int64), np.asarray(totals, dtype=np.int64))

    def table(self, sizes: tuple[int, ...], axes: tuple[int, ...]) -> Whole:
        """Return the table by some of the keys, all of its cells: the totals added up over the others.

        >>> CellArrays.of([0, 5, 4], [1, 2, 3]).table((2, 3), (1,)).tolist()
        [1, 3, 2]
        """
        places, rest = np.zeros_like(self.codes), self.codes
        within, times = set(axes), 1
        for axis in range(len(sizes) - 1, -1, -1):
            rest, position = np.divmod(rest, sizes[axis])
            if axis in within:
                places += position * times
                times *= sizes[axis]
        found = np.zeros(times, dtype=np.int64)
        np.add.at(found, places, self.totals)
        return found.reshape([sizes[axis] for axis in axes])

    def __repr__(self) -> str:
        return "CellArrays(...)"


@dataclass(frozen=True, eq=False, repr=False)
class TallyArrays(Mapping[int, int]):
    """How many rows have each number: two columns, the numbers ascending. It shows nothing of itself.

    It reads as a mapping from number to rows, too.

    >>> dict(TallyArrays.of({5: 2, 3: 1}))
    {3: 1, 5: 2}
    """

    numbers: Whole
    rows: Whole

    @classmethod
    def of(cls, tally: Mapping[int, int]) -> "TallyArrays":
        """Return the columns of any mapping."""
        if isinstance(tally, TallyArrays):
            return tally
        numbers = np.array(sorted(tally), dtype=np.int64)
        return cls(numbers, np.array([tally[number] for number in numbers.tolist()], dtype=np.int64))

    @classmethod
    def by_group(cls, size: int, groups: Any, numbers: Any, rows: Any) -> "tuple[TallyArrays, ...]":
        """Return the tallies of groups 0 to size - 1, from three columns in any order: group, number, rows.

        >>> [dict(each) for each in TallyArrays.by_group(3, [2, 0, 2], [9, 5, 1], [1, 1, 4])]
        [{5: 1}, {}, {1: 4, 9: 1}]
        """
        mine, found, times = (np.asarray(each, dtype=np.int64) for each in (groups, numbers, rows))
        order = np.lexsort((found, mine)) if size > 1 else np.argsort(found)
        mine, found, times = mine[order], found[order], times[order]
        ends = np.searchsorted(mine, np.arange(1, max(1, size)))
        return tuple(map(cls, np.split(found, ends), np.split(times, ends)))[:size]

    def among(self, size: int) -> Whole:
        """Return the rows of each number from 0 to size - 1, most of which may be absent.

        >>> TallyArrays.of({1: 7}).among(3).tolist()
        [0, 7, 0]
        """
        spread = np.zeros(size, dtype=np.int64)
        spread[self.numbers] = self.rows
        return spread

    def __getitem__(self, number: int) -> int:
        place = int(np.searchsorted(self.numbers, number))
        if place == self.numbers.size or self.numbers[place] != number:
            raise KeyError(number)
        return int(self.rows[place])

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers.tolist())

    def __len__(self) -> int:
        return self.numbers.size

    def __repr__(self) -> str:
        return "TallyArrays(...)"
