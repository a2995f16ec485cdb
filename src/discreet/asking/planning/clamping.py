"""Bounds that are far too wide, narrowed privately before a mean: where values end, by halves of the range.

Each unit's rows weigh 1/n in a histogram of halves, so that its part of the mass above any end is between 0
and 1. The end is chosen as a limit is (docs/theory/limits.md). Groups that hold enough units have ends of
their own, where these are shorter by an order of magnitude: a unit's parts of all groups add up to 1, so that
each choice has the whole price.
"""

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

from discreet.asking.planning.choose_noise import largest_epsilon, least_noise
from discreet.asking.planning.contribution import weighted_reach_of
from discreet.asking.planning.exact import Bernstein, ExactPlan, ExactTable, RowCount
from discreet.asking.planning.limit_stages import JUDGED, Limited, Masses, noise_for_one, promise_of, what_of
from discreet.asking.planning.price import Share
from discreet.asking.planning.scaling import enlarge
from discreet.asking.planning.stages import AddNoise, Stage, TableStage
from discreet.asking.planning.weights import Limit
from discreet.asking.queries import Call, Case, Expression, Key, Literal
from discreet.kernel.accounting import Notion
from discreet.kernel.losses import PrivacyLoss, Relation, bounded_range
from discreet.kernel.mechanisms import Ladder
from discreet.kernel.mechanisms.ladder import ONE, SLOPE
from discreet.kernel.plan import Later, Move, Output, Released
from discreet.kernel.randomness import Source

PART = Fraction(3, 20)  # of the price of a mean: where its values end
JOINT, WEIGHED, OWN = Fraction(3, 25), Fraction(1, 50), Fraction(3, 50)  # by groups: of all; units; of each
_HALVES, _NARROW = 12, 64  # how often the range is halved; in so many steps there is little to gain
_GROUPS = 64  # at most that may have ends of their own
_SPARE = 3  # an own end is eight times the one that was chosen: what it cuts has to be less than the noise
_CLIMBS = (
    2  # a group that has one holds twice the units that its choice takes from the lowest rung to the highest
)
_SURE = Fraction(9, 10)


def is_wide(stage: Limited) -> bool:
    """Return whether a mean's range may be narrowed: not under replace, where masses move both ways."""
    first = stage.plan.measures[0]
    wide = isinstance(first, Bernstein) and first.lattice.width >= _NARROW
    return wide and stage.terms.relation == "add/remove" and not stage.terms.gaussian


def least_left(stage: Limited) -> int:
    """Return what percentage of its price a mean's numbers have at least, where its range is narrowed."""
    return _left(JOINT + WEIGHED + OWN if stage.plan.keys else PART)


def _left(spent: Fraction) -> int:
    return int(100 * (1 - spent))


@dataclass(frozen=True)
class ChooseEnd(TableStage):
    """The choice of where values end, among halves of a range: of all rows, or in each of some groups.

    Privacy: a unit moves the masses of a group one way, by at most its own part of them, rounded up to a part
    of 2^-20; its parts of all groups add up to one. So all choices together lose what one does, and a part in
    a million for each group more.
    """

    kind = "limit"

    mechanism: Ladder
    cells: tuple[int, ...]  # the places of the groups in the plan

    @property
    def loss(self) -> PrivacyLoss:
        epsilon = self.mechanism.epsilon * Fraction(_moved(self.cells), ONE)
        return replace(self.mechanism, epsilon=epsilon).loss

    @property
    def needs_delta(self) -> bool:
        return False

    @property
    def sentence(self) -> str:
        return self.mechanism.describe()

    def fits(self, relation: Relation) -> bool:
        plan = self.plan
        one = plan.limit == Limit.of(1) and len(plan.measures) == 1 and isinstance(plan.measures[0], RowCount)
        apart = len(set(self.cells)) == len(self.cells)
        whole = plan.labels is not None and len(plan.labels) % self.mechanism.rungs == 0
        return one and apart and whole and relation == "add/remove" == self.mechanism.relation

    def take(self, tables: Sequence[ExactTable], released: Released) -> tuple[int, ...]:
        """Return for each group the mass above each end: a sum of whole numbers, then cut to parts that
        divide one."""
        (table,) = tables
        assert self.plan.limit is not None
        found = dict(zip(table.groups, table.totals, strict=True))
        totals = [found[label][0] for label in self.plan.labels or ()]
        rungs, masses = self.mechanism.rungs, list[int]()
        for cell in self.cells:
            above = list(accumulate(reversed(totals[cell * rungs : (cell + 1) * rungs])))[::-1]
            masses += [mass * ONE // self.plan.limit.one for mass in (*above[1:], 0)]
        return tuple(masses)

    def draw(self, given: tuple[int, ...], source: Source) -> Output:
        return Output(numbers=tuple(self.mechanism.draw(masses, source) for masses in self._apart(given)))

    def _apart(self, given: Masses) -> list[Masses]:
        """Return the masses of each group."""
        rungs = self.mechanism.rungs
        return [given[first : first + rungs] for first in range(0, len(given), rungs)]

    def exact(self, given: Any, groups: Sequence[Any]) -> list[int]:
        raise NotImplementedError("what it releases is no number of a group")

    def moves(self, first: Sequence[Masses], second: Sequence[Masses], name: str) -> Iterator[Move]:
        if len(first) != len(second):
            yield Move(f"how often {name} is chosen", abs(len(first) - len(second)), 0)
            return
        moved = sum(
            _range(one, other)
            for pair in zip(first, second, strict=True)
            for one, other in zip(*map(self._apart, pair), strict=True)
        )
        yield Move(f"the range of {name}", moved, _moved(self.cells))


def _range(one: Masses, other: Masses) -> int:
    """Return how far apart the moves of masses are, of which that of the last rung is none."""
    moved = [0, *(a - b for a, b in zip(one, other, strict=True))]
    return max(moved) - min(moved)


def _moved(cells: Sequence[int]) -> int:
    """Return how far a unit moves the masses of all groups together: its parts are rounded in each."""
    return ONE + len(cells) - 1


@dataclass(frozen=True)
class Clamped(Later[ExactPlan, ExactTable]):
    """A mean or a variance whose range is narrowed first; its promise is that of the whole."""

    mean: Limited

    @property
    def plan(self) -> ExactPlan:
        """The exact plan in the declared range."""
        return self.mean.plan

    @property
    def price(self) -> Notion:  # type: ignore[override]
        return self.mean.price

    @property
    def scope(self) -> Hashable:  # type: ignore[override]
        return self.mean.scope

    @property
    def sentences(self) -> list[str]:
        """What will be done, as far as is known before."""
        ends = f"The end of the range of {what_of(self.plan)} is found privately among halves of it"
        found = f"{ends}, with {float(PART):.0%} of its part of the price."
        if self.plan.keys:
            spent = f"with {float(JOINT + WEIGHED + OWN):.0%} of its part of the price"
            found = f"{ends}, in groups of many units each its own, {spent}."
        left = Fraction(least_left(self.mean), 100)
        return [found, *replace(self.mean, share=self.mean.share.times(left)).sentences]

    def ready(self, released: Released) -> tuple[Stage, ...]:
        labels = released.groups if self.plan.labels is None else self.plan.labels
        if not labels:
            return ()
        part = JOINT if 1 < len(labels) <= _GROUPS else PART
        mean = replace(self.mean, plan=replace(self.plan, labels=labels))
        level = len(labels) * noise_for_one(mean.share.times(1 - part), mean.terms.relation)
        choose = _choose(mean, mean.share.times(part), level, None)
        return choose, AfterEnd(mean, mean.share.times(1 - part))


def _choose(mean: Limited, share: Share, level: Fraction, cells: tuple[int, ...] | None) -> ChooseEnd:
    """Return the choice of an end in each of these groups; without groups, of one for all rows."""
    relation, places = mean.terms.relation, cells or (0,)
    epsilon = largest_epsilon(share, lambda each: bounded_range(epsilon=each, relation=relation))
    chooser = Ladder(
        epsilon=epsilon * Fraction(ONE, _moved(places)),
        rungs=_HALVES + 1,
        level=level,
        method="permute-and-flip" if mean.terms.adding else "exponential",
        relation=relation,
    )
    histogram = _histogram(mean.plan, by_group=cells is not None)
    return ChooseEnd(mean.part, None, histogram, chooser, places)


@dataclass(frozen=True)
class AfterEnd(Later[ExactPlan, ExactTable]):
    """The mean in the range that was chosen for all rows; by groups, shorter ranges are looked for first."""

    mean: Limited
    rest: Share

    @property
    def price(self) -> Notion:  # type: ignore[override]
        return promise_of(self.rest, self.mean.terms.relation)

    @property
    def scope(self) -> Hashable:  # type: ignore[override]
        return self.mean.scope

    def ready(self, released: Released) -> tuple[Stage, ...]:
        (chosen,) = released.outputs[-1].numbers
        measures = tuple(narrowed(each, int(chosen)) for each in self.mean.plan.measures)
        mean = replace(self.mean, plan=replace(self.mean.plan, measures=measures), limit=measures[0].largest)
        if 1 < len(mean.plan.labels or ()) <= _GROUPS and measures[0].lattice.width >= _NARROW:
            return weigh(mean), AfterWeights(mean)
        spent = JOINT if 1 < len(mean.plan.labels or ()) <= _GROUPS else PART
        return replace(mean, share=self.rest).under(measures[0].largest, left=_left(spent))


def weigh(mean: Limited) -> AddNoise:
    """Return the noisy count of units in each group, where a unit's rows weigh as one together."""
    plan = replace(mean.plan, measures=(_rows(mean.plan),), limit=Limit.of(1))
    reach = weighted_reach_of(plan, mean.terms.relation)
    noise = least_noise(reach, mean.share.times(WEIGHED), confidence=JUDGED)  # type: ignore[arg-type]
    return AddNoise(mean.part, None, plan, noise, 0)


@dataclass(frozen=True)
class AfterWeights(Later[ExactPlan, ExactTable]):
    """Own ends for the groups that hold enough units, beyond the noise. The others have that of all rows."""

    mean: Limited  # with its whole share

    @property
    def price(self) -> Notion:  # type: ignore[override]
        return promise_of(self.mean.share.times(1 - JOINT - WEIGHED), self.mean.terms.relation)

    @property
    def scope(self) -> Hashable:  # type: ignore[override]
        return self.mean.scope

    def ready(self, released: Released) -> tuple[Stage, ...]:
        mean, own = self.mean, self.mean.share.times(OWN)
        left = mean.share.times(1 - JOINT - WEIGHED - OWN)
        level = noise_for_one(left, mean.terms.relation)
        epsilon = _choose(mean, own, level, None).mechanism.epsilon
        least = math.ceil(weigh(mean).mechanism.error(confidence=_SURE))
        least += math.ceil(_CLIMBS * _HALVES * SLOPE / epsilon) * Limit.of(1).one
        cells = tuple(cell for cell, units in enumerate(released.outputs[-1].numbers) if units >= least)
        if not cells:
            rest = replace(mean, share=mean.share.times(1 - JOINT - WEIGHED))
            return rest.under(mean.limit or 1, left=_left(JOINT + WEIGHED))
        return _choose(mean, own, level, cells), AfterOwnEnds(replace(mean, share=left), cells)


@dataclass(frozen=True)
class AfterOwnEnds(Later[ExactPlan, ExactTable]):
    """The mean, with values of groups whose ranges end early enlarged to the widest."""

    mean: Limited
    cells: tuple[int, ...]

    @property
    def price(self) -> Notion:  # type: ignore[override]
        return promise_of(self.mean.share, self.mean.terms.relation)

    @property
    def scope(self) -> Hashable:  # type: ignore[override]
        return self.mean.scope

    def ready(self, released: Released) -> tuple[Stage, ...]:
        mean, plan = self.mean, self.mean.plan
        first = plan.measures[0]
        assert isinstance(first, Bernstein)
        shorter = dict.fromkeys(range(len(plan.labels or ())), 0)
        for cell, chosen in zip(self.cells, released.outputs[-1].numbers, strict=True):
            shorter[cell] = min(max(_HALVES - int(chosen) - _SPARE, 0), first.lattice.width.bit_length() - 1)
        shifts = tuple(shorter.values())
        scaled = tuple(enlarge(each, plan, shifts) for each in plan.measures)  # type: ignore[arg-type]
        return replace(mean, plan=replace(plan, measures=scaled)).under(
            first.largest, shifts, _left(JOINT + WEIGHED + OWN)
        )


def narrowed(measure: object, chosen: int) -> Bernstein:
    """Return the part over the range whose end was chosen: the place 0 is the narrowest."""
    assert isinstance(measure, Bernstein)
    lattice = measure.lattice
    width = max(1, lattice.width >> (_HALVES - chosen))
    return replace(measure, lattice=replace(lattice, highest=lattice.lowest + width))


def _rows(plan: ExactPlan) -> RowCount:
    """Return the count of rows that have a value."""
    first = plan.measures[0]
    assert isinstance(first, Bernstein)
    return RowCount(first.condition, first.argument)


def _histogram(plan: ExactPlan, *, by_group: bool) -> ExactPlan:
    """Return the plan that counts rows by the first half of the range that holds their values, of all groups
    or of each."""
    first = plan.measures[0]
    assert isinstance(first, Bernstein)
    ends = [narrowed(first, place).lattice.highest * first.lattice.step for place in range(_HALVES)]
    places = tuple(range(_HALVES + 1))
    keys, groups = (plan.keys, plan.labels or ()) if by_group else ((), ((),))
    return replace(
        plan,
        keys=(*keys, Key(_place(first.argument, ends), places)),
        labels=tuple((*group, place) for group in groups for place in places),
        measures=(_rows(plan),),
        limit=Limit.of(1),
    )


def _place(argument: Expression, ends: Sequence[Fraction], first: int = 0) -> Expression:
    """Return how many of the ends a value is above."""
    if not ends:
        return Literal(first, type="integer")
    whole = argument.type == "integer"
    middle = len(ends) // 2
    end = Literal(int(ends[middle]) if whole else float(ends[middle]), type=argument.type)
    below = Call("at_most", (argument, end), type="boolean")
    left, right = (
        _place(argument, ends[:middle], first),
        _place(argument, ends[middle + 1 :], first + middle + 1),
    )
    return Case(((below, left),), right, type="integer")
