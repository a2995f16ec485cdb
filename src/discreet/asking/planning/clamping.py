"""Bounds that are far too wide, narrowed privately before a mean: where values end, by halves of the range.

Each unit's rows weigh 1/n in a histogram of halves, so that its part of the mass above any end is between 0
and 1. The end is chosen as a limit is (docs/theory/limits.md).
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any

from discreet.asking.planning.choose_noise import largest_epsilon
from discreet.asking.planning.exact import Bernstein, ExactPlan, ExactTable, RowCount
from discreet.asking.planning.limit_stages import Limited, Masses, noise_for_one, promise_of, what_of
from discreet.asking.planning.stages import Stage, TableStage
from discreet.asking.planning.weights import Limit
from discreet.asking.queries import Call, Case, Expression, Key, Literal
from discreet.kernel.accounting import Notion
from discreet.kernel.losses import PrivacyLoss, Relation, bounded_range
from discreet.kernel.mechanisms import Ladder
from discreet.kernel.mechanisms.ladder import ONE
from discreet.kernel.plan import Later, Move, Output, Released
from discreet.kernel.randomness import Source

PART = Fraction(3, 20)  # of the price of a mean, that goes into finding where its values end
_HALVES, _NARROW = 12, 64  # how often the range is halved; in so many steps there is little to gain


def is_wide(stage: Limited) -> bool:
    """Return whether a mean's range may be narrowed: not under replace, where masses move both ways."""
    first = stage.plan.measures[0]
    wide = isinstance(first, Bernstein) and first.lattice.width >= _NARROW
    return wide and stage.terms.relation == "add/remove" and not stage.terms.gaussian


@dataclass(frozen=True)
class ChooseEnd(TableStage):
    """The choice of where values end, among halves of the declared range."""

    kind = "limit"

    mechanism: Ladder

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
        plan = self.plan
        one = plan.limit == Limit.of(1) and len(plan.measures) == 1 and isinstance(plan.measures[0], RowCount)
        groups = plan.labels is not None and len(plan.labels) == self.mechanism.rungs
        return one and groups and relation == "add/remove" == self.mechanism.relation

    def take(self, tables: Sequence[ExactTable], released: Released) -> tuple[int, ...]:
        """Return the mass above each end: a sum of whole numbers, then cut to parts that divide one."""
        (table,) = tables
        assert self.plan.limit is not None
        masses = list(accumulate(total for (total,) in reversed(table.totals)))[::-1]
        return tuple(mass * ONE // self.plan.limit.one for mass in (*masses[1:], 0))

    def draw(self, given: tuple[int, ...], source: Source) -> Output:
        return Output(numbers=(self.mechanism.draw(given, source),))

    def exact(self, given: Any, groups: Sequence[Any]) -> list[int]:
        raise NotImplementedError("what it releases is no number of a group")

    def moves(self, first: Sequence[Masses], second: Sequence[Masses], name: str) -> Iterator[Move]:
        moved = [0, *(a - b for one, other in zip(first, second, strict=True)
                      for a, b in zip(one, other, strict=True))]  # fmt: skip
        yield Move(f"the range of {name}", max(moved) - min(moved), ONE)


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
        return [f"{ends}, with {float(PART):.0%} of its part of the price.", *self.mean.sentences]

    def ready(self, released: Released) -> tuple[Stage, ...]:
        labels = released.groups if self.plan.labels is None else self.plan.labels
        if not labels:
            return ()
        mean = replace(
            self.mean, plan=replace(self.plan, labels=labels), share=self.mean.share.times(1 - PART)
        )
        return self._choose(len(labels)), AfterEnd(mean)

    def _choose(self, groups: int) -> ChooseEnd:
        terms, first = self.mean.terms, self.plan.measures[0]
        assert isinstance(first, Bernstein)
        share = self.mean.share
        epsilon = largest_epsilon(
            share.times(PART), lambda each: bounded_range(epsilon=each, relation=terms.relation)
        )
        chooser = Ladder(
            epsilon=epsilon,
            rungs=_HALVES + 1,
            level=groups * noise_for_one(share.times(1 - PART), terms.relation),
            method="permute-and-flip" if terms.adding else "exponential",
            relation=terms.relation,
        )
        return ChooseEnd(self.mean.part, None, _histogram(self.plan, first), chooser)


@dataclass(frozen=True)
class AfterEnd(Later[ExactPlan, ExactTable]):
    """The mean in the range that was chosen."""

    mean: Limited

    @property
    def price(self) -> Notion:  # type: ignore[override]
        return promise_of(self.mean.share, self.mean.terms.relation)

    @property
    def scope(self) -> Hashable:  # type: ignore[override]
        return self.mean.scope

    def ready(self, released: Released) -> tuple[Stage, ...]:
        (chosen,) = released.outputs[-1].numbers
        measures = tuple(narrowed(each, int(chosen)) for each in self.mean.plan.measures)
        first = measures[0]
        mean = replace(self.mean, plan=replace(self.mean.plan, measures=measures), limit=first.largest)
        return mean.under(first.largest)


def narrowed(measure: object, chosen: int) -> Bernstein:
    """Return the part over the range whose end was chosen: the place 0 is the narrowest."""
    assert isinstance(measure, Bernstein)
    lattice = measure.lattice
    width = max(1, lattice.width >> (_HALVES - chosen))
    return replace(measure, lattice=replace(lattice, highest=lattice.lowest + width))


def _histogram(plan: ExactPlan, measure: Bernstein) -> ExactPlan:
    """Return the plan that counts rows by the first half of the range that holds their values."""
    lattice = measure.lattice
    ends = [narrowed(measure, place).lattice.highest * lattice.step for place in range(_HALVES)]
    labels = tuple(range(_HALVES + 1))
    return replace(
        plan,
        keys=(Key(_place(measure.argument, ends), labels),),
        labels=tuple((label,) for label in labels),
        measures=(RowCount(measure.condition, measure.argument),),
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
