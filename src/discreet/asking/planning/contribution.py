"""How far one unit moves the exact numbers of a plan: the sensitivities that noise is calibrated to."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.asking.planning.exact import Bernstein, ExactMeasure, ExactPlan, RowCount, Sum, UnitCount
from discreet.kernel.losses import Relation
from discreet.kernel.numerics import ball, round_up, working_precision

BITS = 128


@dataclass(frozen=True)
class Contribution:
    """How far one unit moves a vector of whole numbers: `groups` of them at most, each by at most `most`.

    `swap` is the most by which replacing a unit's part moves one number, so most ≤ swap ≤ 2·most. `labels` is
    how many numbers there are, where that is public; a single number has one group and one label.

    Privacy: under replace a unit leaves some groups, enters others and changes its part of c of them; proved
    in docs/theory/bounding.md.
    """

    groups: int
    most: int
    swap: int
    relation: Relation = "add/remove"
    labels: int | None = None

    @property
    def total(self) -> int:
        """The l1 sensitivity.

        >>> Contribution(3, 10, 10).total, Contribution(3, 10, 10, "replace").total
        (30, 60)
        >>> [Contribution(n, 10, 10, "replace", labels=k).total for n, k in ((3, 4), (1, 1))]
        [40, 10]
        """
        if self.relation == "add/remove":
            return self._entered * self.most
        return self._changed * self.swap + 2 * (self._entered - self._changed) * self.most

    @property
    def distance(self) -> Fraction:
        """The l2 sensitivity, rounded up.

        >>> Contribution(4, 10, 10).distance, Contribution(2, 10, 10, "replace").distance
        (Fraction(20, 1), Fraction(20, 1))
        """
        return _root_up(self._squares)

    def length(self, norm: int) -> Fraction:
        """Return the sensitivity in l1 or l2 norm: as a mechanism of that `norm` needs it."""
        return self.distance if norm == 2 else Fraction(self.total)

    @property
    def _squares(self) -> int:
        if self.relation == "add/remove":
            return self._entered * self.most**2
        apart = self._changed * self.swap**2 + 2 * (self._entered - self._changed) * self.most**2
        return max(apart, self._entered * self.swap**2)

    @property
    def _entered(self) -> int:
        """How many groups a unit may be in."""
        return self.groups if self.labels is None else min(self.groups, self.labels)

    @property
    def _changed(self) -> int:
        """How many groups a unit must be in before and after, when it is in as many as it may."""
        return 0 if self.labels is None else max(0, 2 * self._entered - self.labels)

    @property
    def moved(self) -> int:
        """How many numbers move.

        >>> Contribution(3, 1, 1).moved, Contribution(3, 1, 1, "replace").moved
        (3, 6)
        >>> Contribution(3, 1, 1, "replace", labels=4).moved
        4
        """
        return self._entered if self.relation == "add/remove" else 2 * self._entered - self._changed


@dataclass(frozen=True)
class WeightedReach:
    """How far one unit moves all totals of a plan with a limit: by at most `most` in the sum of sizes,
    whatever the groups.

    `signed` says whether a part may be below 0; `numbers` how many totals there are, where that is public.

    Privacy: proved in docs/theory/weights.md. One number that is never below 0 moves by `most` under replace.
    """

    most: int
    signed: bool
    relation: Relation = "add/remove"
    numbers: int | None = None

    @property
    def total(self) -> int:
        """The l1 sensitivity.

        >>> [WeightedReach(10, False, "replace", numbers).total for numbers in (1, 2, None)]
        [10, 20, 20]
        """
        return self.most if self._is_one_way else 2 * self.most

    @property
    def distance(self) -> Fraction:
        """The l2 sensitivity, rounded up.

        >>> float(WeightedReach(10, False, "replace").distance), WeightedReach(10, True, "replace").distance
        (14.142135623730951, Fraction(20, 1))
        """
        if self._is_one_way:
            return Fraction(self.most)
        return Fraction(2 * self.most) if self.signed else _root_up(2 * self.most**2)

    def length(self, norm: int) -> Fraction:
        """Return the sensitivity in l1 or l2 norm: as a mechanism of that `norm` needs it."""
        return self.distance if norm == 2 else Fraction(self.total)

    @property
    def _is_one_way(self) -> bool:
        return self.relation == "add/remove" or (self.numbers == 1 and not self.signed)


@lru_cache(maxsize=1024)
def _root_up(square: int) -> Fraction:
    with working_precision(BITS):
        return Fraction(round_up(ball(square).sqrt()))


def contribution_of(plan: ExactPlan, measure: ExactMeasure | None, relation: Relation) -> Contribution:
    """Return how far a unit moves one measure of all groups; without one, the rows of every tally."""
    low, high = (0, plan.max_rows) if measure is None else _part(plan, measure)
    return Contribution(
        groups=plan.max_groups,
        most=max(abs(low), abs(high), 1),
        swap=max(max(0, high) - min(0, low), 1),
        relation=relation,
        labels=None if plan.labels is None else max(1, len(plan.labels)),
    )


def weighted_reach_of(plan: ExactPlan, relation: Relation) -> WeightedReach:
    """Return how far a unit moves all measures of all groups of a plan with a limit, together."""
    assert plan.limit is not None
    groups = None if plan.labels is None else len(plan.labels) + plan.other
    return WeightedReach(
        most=plan.limit.total,
        signed=is_signed(plan),
        relation=relation,
        numbers=None if groups is None else groups * len(plan.measures),
    )


def is_signed(plan: ExactPlan) -> bool:
    """Return whether a part of a unit may be below 0."""
    return any(min(_signs(measure)) < 0 for measure in plan.measures)


def _signs(measure: ExactMeasure) -> tuple[int, int]:
    return (0, 1) if isinstance(measure, UnitCount | RowCount) else _row(measure)


def rows_counted(plan: ExactPlan, measure: ExactMeasure) -> int:
    """Return the most that one unit adds to a count of a group: 1 of units, and all its rows of rows."""
    return 1 if isinstance(measure, UnitCount) else plan.max_rows


def _part(plan: ExactPlan, measure: ExactMeasure) -> tuple[int, int]:
    """Return the least and the most that one unit adds to a group, if it is there."""
    if isinstance(measure, UnitCount | RowCount):
        return 0, rows_counted(plan, measure)
    low, high = _row(measure)
    return low * plan.max_rows, high * plan.max_rows


def _row(measure: Sum | Bernstein) -> tuple[int, int]:
    """Return the least and the most that one row adds."""
    if isinstance(measure, Bernstein) or measure.power == 2:
        return 0, measure.largest
    return measure.lattice.lowest - measure.centre, measure.lattice.highest - measure.centre
