"""Stages of a question with one limit for each unit: the limit is chosen, units above it are counted, and all
numbers get noise that grows with the limit alone.

Privacy: the norms of units, and their parts scaled to the limit, are functions of each unit's own rows
(docs/theory/limits.md). Every stage fits its exact plan, and promises before the charge what it loses
whatever limit is found.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt, sqrt
from typing import Any, TypeAlias

from discreet.asking.planning.choose_noise import largest_epsilon, least_noise
from discreet.asking.planning.contribution import Contribution, WeightedReach, is_signed, weighted_reach_of
from discreet.asking.planning.exact import Bernstein, ExactPlan, ExactTable, Sum
from discreet.asking.planning.price import Share
from discreet.asking.planning.spill import PLAIN, MeasureSpill, above as spill_above, one_number
from discreet.asking.planning.stages import Noise, Stage, TableStage, name_measure
from discreet.asking.planning.weights import Excess, Limit
from discreet.kernel.accounting import Notion
from discreet.kernel.losses import ZCDP, PrivacyLoss, PureDP, Relation, bounded_range
from discreet.kernel.mechanisms import Ladder
from discreet.kernel.mechanisms.ladder import ONE
from discreet.kernel.numerics import readable, readable_up
from discreet.kernel.plan import Later, Move, Output, Released, move
from discreet.kernel.randomness import Source

Masses: TypeAlias = tuple[int, ...]

WEIGHED = "Weighed: the rows of a unit that have a value weigh as one row together, over all groups."
CUT = Fraction(1, 20)  # of the price: how many units are above the limit
_LEVEL = Fraction(1, 4)  # of all noise: what a rung may cut, as that moves all numbers one way
_SLOPE = Fraction(9, 8)  # a rung lower in a price for few units is worse than a rung higher
_LEAST, _MOST = Fraction(1, 20), Fraction(2, 5)  # of the price, that goes into finding the limit
JUDGED = Fraction(19, 20)  # the confidence at which noises are compared: a stored answer is read at any


def ladder(first: int, top: int) -> tuple[int, ...]:
    """Return rungs by half octaves, from the first to at least the top.

    >>> ladder(1, 20)
    (1, 2, 3, 4, 6, 8, 11, 16, 23)
    """
    rungs, power = [first], 1
    while rungs[-1] < top:
        square = first * first << power
        root = isqrt(square)
        rung = root + (square - root * root > root)  # the nearest whole number
        rungs += [rung] if rung > rungs[-1] else []
        power += 1
    return tuple(rungs)


def finding_part(cells: int) -> Fraction:
    """Return the part of a price that finding the limit is worth: more where few numbers share the rest.

    It minimises 1/(1 - p) + 0.6/(p·cells), the error by noise and by the choice of the limit.

    >>> float(finding_part(1)), float(finding_part(15)), float(finding_part(1000))
    (0.4, 0.166667, 0.05)
    """
    ratio = sqrt(0.6 / cells)
    return min(max(Fraction(round(ratio / (1 + ratio) * 10**6), 10**6), _LEAST), _MOST)


@dataclass(frozen=True)
class ChooseLimit(TableStage):
    """The choice of a limit from a public ladder, by how much of the units' norms is above each rung."""

    kind = "limit"

    mechanism: Ladder
    rungs: tuple[int, ...]

    @property
    def loss(self) -> PrivacyLoss:
        return self.mechanism.loss

    @property
    def needs_delta(self) -> bool:
        return False

    @property
    def sentence(self) -> str:
        return self.mechanism.describe()

    def fits(self, relation: Relation) -> bool:
        """Return whether each mass counts a unit by at most one, which grows with its norm alone."""
        masses = self.plan.excess
        fine = len(masses) == len(self.rungs) == self.mechanism.rungs and self.plan.limit is None
        return fine and all(each.one <= ONE for each in masses) and self.mechanism.relation == relation

    def take(self, tables: Sequence[ExactTable], released: Released) -> tuple[int, ...]:
        (table,) = tables
        return table.totals[0]

    def draw(self, given: tuple[int, ...], source: Source) -> Output:
        return Output(numbers=(self.rungs[self.mechanism.draw(given, source)],))

    def exact(self, given: Any, groups: Sequence[Any]) -> list[int]:
        raise NotImplementedError("what it releases is no number of a group")

    def moves(self, first: Sequence[Masses], second: Sequence[Masses], name: str) -> Iterator[Move]:
        moved = [0, *(a - b for one, other in zip(first, second, strict=True)
                      for a, b in zip(one, other, strict=True))]  # fmt: skip
        yield Move(f"the range of {name}", max(moved) - min(moved), ONE)


@dataclass(frozen=True)
class CountAbove(TableStage):
    """How many units are within the limit, and how many above it, with noise."""

    kind = "noise"

    mechanism: Noise

    @property
    def loss(self) -> PrivacyLoss:
        return self.mechanism.loss

    @property
    def needs_delta(self) -> bool:
        return False

    @property
    def sentence(self) -> str:
        return f"Noise on how many units are within and above the limit: {self.mechanism.describe()}."

    def fits(self, relation: Relation) -> bool:
        noise, above = self.mechanism, self.plan.excess
        counts = len(above) == 2 and all(each.span == each.one == 1 for each in above)
        moved = two_counts(relation).length(noise.norm)
        return counts and noise.sensitivity >= moved and noise.step == 1 and noise.relation == relation

    def take(self, tables: Sequence[ExactTable], released: Released) -> tuple[int, ...]:
        (table,) = tables
        everyone, above = table.totals[0]
        return everyone - above, above

    def draw(self, given: tuple[int, ...], source: Source) -> Output:
        return Output(numbers=tuple(int(number) for number in self.mechanism.draw(list(given), source)))

    def exact(self, given: Any, groups: Sequence[Any]) -> list[int]:
        raise NotImplementedError("what it releases is no number of a group")

    def moves(self, first: Sequence[Masses], second: Sequence[Masses], name: str) -> Iterator[Move]:
        yield from noise_moves(self.mechanism, first, second, name)


def two_counts(relation: Relation) -> Contribution:
    """Return how far a unit moves two counts of which it is in one."""
    return Contribution(1, 1, 1, relation, labels=2)


@dataclass(frozen=True)
class AddNoiseToAll(TableStage):
    """Noise on all measures of all groups of a plan with a limit, which one unit moves together.

    Its numbers are those of `column` and the columns after it: each measure of every group, then for every
    group the facts about the limit that were released before, and the sum of all numbers above 0.
    """

    kind = "noise"

    mechanism: Noise
    facts: tuple[
        int, ...
    ]  # the limit and how many groups there are; of a mean, its width and percent of price
    counted: int  # how many stages before told of the limit: units above it, and how much is there
    shifts: tuple[int, ...] = ()  # of a mean: by how many halves each group's range is shorter

    @property
    def loss(self) -> PrivacyLoss:
        return self.mechanism.loss

    @property
    def needs_delta(self) -> bool:
        return False

    @property
    def sentence(self) -> str:
        limit = f"Limit: {say_limit(self.plan)}. " if self.counted else ""
        return limit + say_noise(self.plan, self.mechanism)

    def fits(self, relation: Relation) -> bool:
        noise = self.mechanism
        if self.plan.limit is None or noise.step != 1 or noise.relation != relation:
            return False
        return noise.sensitivity >= length(weighted_reach_of(self.plan, relation), noise.norm)

    def take(self, tables: Sequence[ExactTable], released: Released) -> tuple[tuple[int, ...], ...]:
        (table,) = tables
        found = dict(zip(table.groups, table.totals, strict=True))
        parts = (found[group] for group in self.groups(released))
        told = [each.numbers for each in released.outputs[len(released.outputs) - self.counted :]]
        counted = tuple(int(number) for numbers in told for number in numbers)
        spill = () if self.counted != 1 else (0,)  # nothing was measured
        return (*zip(*parts, strict=True), (*self.facts, *counted, *spill))

    @property
    def _own(self) -> int:
        """How many numbers each group has in addition to those of measures and facts of all groups."""
        return 4 if self.counted else 1

    def draw(self, given: tuple[tuple[int, ...], ...], source: Source) -> Output:
        *parts, facts = given
        drawn = self.mechanism.draw([number for part in parts for number in part], source)
        noisy = [int(number) for number in drawn]
        shown = (sum(max(0, number) for number in noisy),) if self.counted else ()
        return self._output(noisy, len(parts[0]), (*facts, *shown))

    def _output(self, numbers: list[int], groups: int, facts: Sequence[int]) -> Output:
        return Output(numbers=(*numbers, *(fact for fact in facts for _ in range(groups)), *self.shifts))

    def columns_of(self, output: Output) -> Mapping[int, tuple[int | Fraction, ...]]:
        many = len(self.plan.measures) + len(self.facts) + self._own
        groups = len(output.numbers) // many
        assert self.column is not None
        parts = [output.numbers[place * groups : (place + 1) * groups] for place in range(many)]
        return dict(enumerate(parts, start=self.column))

    def exact(self, given: tuple[tuple[int, ...], ...], groups: Sequence[Any]) -> list[int]:
        return list(given[0])

    def exact_columns(
        self, given: tuple[tuple[int, ...], ...], groups: Sequence[Any]
    ) -> dict[int, list[int]]:
        *parts, facts = given
        assert self.column is not None
        shown = (sum(max(0, number) for part in parts for number in part),) if self.counted else ()
        columns = [*map(list, parts), *([fact] * len(parts[0]) for fact in (*facts, *shown))]
        columns += [list(self.shifts)] if self.shifts else []
        return dict(enumerate(columns, start=self.column))

    def moves(self, first: Sequence[Masses], second: Sequence[Masses], name: str) -> Iterator[Move]:
        yield from noise_moves(self.mechanism, first, second, name)


def noise_moves(noise: Noise, first: Sequence[Masses], second: Sequence[Masses], name: str) -> Iterator[Move]:
    """Return how much of its sensitivity the numbers that got noise use."""
    left, right = ([number for values in each for number in values] for each in (first, second))
    if len(left) != len(right):
        yield Move(f"how many numbers {name} is given", abs(len(left) - len(right)), 0)
        return
    yield move(name, [a - b for a, b in zip(left, right, strict=True)], noise.sensitivity, norm=noise.norm)


def length(reach: WeightedReach, norm: int) -> Fraction:
    """Return the sensitivity in l1 or l2 norm."""
    return reach.distance if norm == 2 else Fraction(reach.total)


def what_of(plan: ExactPlan) -> str:
    """Return what the measures of a plan are, for texts."""
    return " and ".join(dict.fromkeys(name_measure(plan, each) for each in plan.measures))


def step_of(plan: ExactPlan) -> Fraction:
    """Return the step that all measures of a plan are in."""
    first = plan.measures[0]
    return first.lattice.step if isinstance(first, Sum | Bernstein) else Fraction(1)


def say_limit(plan: ExactPlan) -> str:
    """Say what a unit adds at most."""
    assert plan.limit is not None
    most = readable(float(plan.limit.most * step_of(plan)))
    return f"a unit adds at most {most} to {what_of(plan)}, over all groups"


def say_noise(plan: ExactPlan, noise: Noise) -> str:
    """Say what noise all numbers get, in their own unit; the parts of means in units."""
    assert plan.limit is not None
    first, one = plan.measures[0], Fraction(plan.limit.one)
    one = one * first.largest if isinstance(first, Bernstein) else one / step_of(plan)
    law = "Gaussian" if noise.norm == 2 else "Laplace"
    spread = readable(sqrt(noise.variance) / float(one))
    return f"Noise on {what_of(plan)}: {law} of standard deviation {spread}, on a lattice ({noise.relation})."


@dataclass(frozen=True)
class Terms:
    """What decides mechanisms in addition to the share: all of it public."""

    relation: Relation
    confidence: Fraction
    adding: bool  # whether the budget adds up epsilons
    gaussian: bool  # whether it takes Gaussian noise alone


@dataclass(frozen=True)
class Limited(Later[ExactPlan, ExactTable]):
    """Measures under one limit: declared in steps (`limit`), or found on a ladder of `rungs`.

    `plan` has the measures, without a limit; its labels are None where groups are shown by an earlier stage.
    """

    part: int
    column: int
    plan: ExactPlan
    share: Share
    terms: Terms
    limit: int | None
    rungs: tuple[int, ...] = ()
    counting: bool = True  # whether units above the limit are counted

    @property
    def price(self) -> Notion:  # type: ignore[override]
        return promise_of(self.share, self.terms.relation)

    @property
    def scope(self) -> Hashable:  # type: ignore[override]
        return self.plan.rows, self.plan.each_row

    @property
    def numbers(self) -> int:
        """How many numbers each group gets."""
        return len(self.plan.measures) + (6 if self.counting else 3)

    def ready(self, released: Released) -> tuple[Stage, ...]:
        labels = released.groups if self.plan.labels is None else self.plan.labels
        if not labels:
            return ()
        stage = replace(self, plan=replace(self.plan, labels=labels))
        return stage._begin()

    def _begin(self) -> tuple[Stage, ...]:
        if self.limit is not None:
            return self.under(self.limit)
        finding, rest = self.parts(self._cells, len(self.plan.labels or ()))
        masses = replace(self.plan, excess=tuple(Excess(rung, rung) for rung in self.rungs))
        adding, relation = self.terms.adding, self.terms.relation
        epsilon = largest_epsilon(finding, lambda each: bounded_range(epsilon=each, relation=relation))
        choose = Ladder(
            epsilon=epsilon,
            rungs=len(self.rungs),
            level=_LEVEL * self._cells * noise_for_one(rest, relation),
            slope=_SLOPE,
            method="permute-and-flip" if adding else "exponential",
            relation=relation,
        )
        return (
            ChooseLimit(self.part, None, masses, choose, self.rungs),
            UnderLimit(self, promise_of(self.share.times(1 - self._finding(self._cells)), relation)),
        )

    @property
    def _cells(self) -> int:
        return len(self.plan.measures) * max(1, len(self.plan.labels or ()))

    def _finding(self, cells: int) -> Fraction:
        return Fraction(0) if self.limit is not None else finding_part(cells)

    def parts(self, cells: int, groups: int) -> tuple[Share, Share]:
        """Return the parts of the price for finding the limit, and for the numbers themselves."""
        finding, counting = self._finding(cells), CUT if self.counting else Fraction(0)
        counting *= 2 if self.measures_spill(groups) else 1
        return self.share.times(finding), self.share.times(1 - finding - counting)

    def measures_spill(self, groups: int) -> bool:
        """Return whether what is above the limit is measured: for many groups of numbers >= 0."""
        return self.counting and groups > PLAIN and not is_signed(self.plan)

    def spill_noise(self) -> Noise:
        """Return the noise on what is above the limit."""
        return self._least(one_number(self.terms.relation), self.share.times(CUT))

    def count_noise(self) -> Noise:
        """Return the noise on how many units are within and above the limit."""
        return self._least(two_counts(self.terms.relation), self.share.times(CUT))

    def under(self, limit: int, shifts: tuple[int, ...] = (), left: int = 100) -> tuple[Stage, ...]:
        """Return the stages once the limit is known, in steps; of a mean also where groups end, and what
        percentage of its price the share is."""
        plan = replace(self.plan, limit=Limit.of(limit))
        noise = self.noise(limit, len(self.plan.labels or ()))
        if not self.counting:
            (width,) = {each.lattice.width for each in plan.measures if isinstance(each, Bernstein)}
            even = (0,) * len(plan.labels or ())
            return (AddNoiseToAll(self.part, self.column, plan, noise, (width, left), 0, shifts or even),)
        facts = (limit, len(self.plan.labels or ()))
        above = replace(self.plan, excess=(Excess(0, 1, bits=0), Excess(limit, 1, bits=0)))
        told: list[Stage] = [CountAbove(self.part, None, above, self.count_noise())]
        if self.measures_spill(facts[1]):
            masses = replace(self.plan, excess=(spill_above(limit),))
            told.append(MeasureSpill(self.part, None, masses, self.spill_noise()))
        return *told, AddNoiseToAll(self.part, self.column, plan, noise, facts, counted=len(told))

    def noise(self, limit: int, groups: int) -> Noise:
        """Return the noise on every number under this limit, in 2^-bits of a step."""
        labels = self.plan.labels if self.plan.labels is not None else ((),) * groups
        plan = replace(self.plan, labels=labels, limit=Limit.of(limit))
        _, rest = self.parts(len(self.plan.measures) * max(1, groups), groups)
        return self._least(weighted_reach_of(plan, self.terms.relation), rest)

    def _least(self, reach: Contribution | WeightedReach, share: Share) -> Noise:
        return least_noise(reach, share, confidence=JUDGED, gaussian=self.terms.gaussian)  # type: ignore[arg-type]

    @property
    def sentences(self) -> list[str]:
        """What will be done, as far as is known before."""
        what, groups = what_of(self.plan), len(self.plan.labels or ((),))
        if not self.counting:
            assert self.limit is not None
            under = replace(self.plan, limit=Limit.of(self.limit))
            return [WEIGHED, say_noise(under, self.noise(self.limit, groups))]
        if self.limit is not None:
            under = replace(self.plan, limit=Limit.of(self.limit))
            return [
                f"Limit: {say_limit(under)}, as declared.",
                say_noise(under, self.noise(self.limit, groups)),
            ]
        if self.plan.labels is None:
            return [f"Limit: the most that a unit adds to {what} over all groups, found privately."]
        one = self.noise(self.rungs[0], groups)
        times = one.error(confidence=self.terms.confidence) / Limit.of(self.rungs[0]).total
        return [
            f"Limit: the most that a unit adds to {what} over all groups, found privately with "
            f"{float(finding_part(self._cells)):.0%} of its part of the price.",
            f"Expected error of {what}: at most {readable_up(times)} times the limit that is found, with "
            f"{float(self.terms.confidence):.0%} confidence.",
        ]


@dataclass(frozen=True)
class UnderLimit(Later[ExactPlan, ExactTable]):
    """What follows the choice of a limit; its loss does not depend on which was chosen."""

    limited: Limited
    price: Notion

    @property
    def scope(self) -> Hashable:  # type: ignore[override]
        return self.limited.scope

    def ready(self, released: Released) -> tuple[Stage, ...]:
        (limit,) = released.outputs[-1].numbers
        return self.limited.under(int(limit))


def promise_of(share: Share, relation: Relation) -> PureDP | ZCDP:
    """Return the notion that a share without delta promises."""
    if share.rho is not None:
        return ZCDP(share.rho, relation=relation)
    assert share.epsilon is not None
    return PureDP(share.epsilon, relation=relation)


def noise_for_one(share: Share, relation: Relation) -> Fraction:
    """Return about how far noise takes a number, in limits: 1/ε, or 1/√(2ρ); twice that under replace."""
    once = 1 / share.epsilon if share.epsilon is not None else Fraction(1 / sqrt(2 * float(share.rho or 1)))
    return once * (1 if relation == "add/remove" else 2)
