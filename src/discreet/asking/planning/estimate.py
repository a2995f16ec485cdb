"""Estimators, and the pass that gives every aggregate one: a value, and an interval around the bounded truth.

All estimates are post-processing: they see noisy numbers and public facts alone.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.planning.choices import Choose
from discreet.asking.planning.draft import Draft, SetDraft
from discreet.asking.planning.exact import ExactPlans, Part, Sum
from discreet.asking.planning.stages import NumberStage
from discreet.asking.policy import Value
from discreet.asking.queries import Domain, Measure
from discreet.kernel.numerics import Interval
from discreet.kernel.plan import Output

Row: TypeAlias = tuple[int, ...]  # what was released of one group: noisy numbers, then chosen ones


@dataclass(frozen=True)
class NoisyNumber:
    """One released number: its place in a row, and the stage that drew it."""

    index: int
    stage: NumberStage

    def value(self, row: Row) -> int:
        """Return the number itself."""
        return row[self.index]

    def interval(self, row: Row, confidence: Fraction) -> tuple[int, int]:
        """Return whole numbers between which the exact one is; for a number that showed its key, given
        that."""
        return self.stage.between(row[self.index], confidence)

    def error(self, confidence: Fraction) -> float:
        """Return how far from the exact number it may be."""
        return self.stage.error(confidence)


class Estimator(ABC):
    """How one aggregate is read from what was released of a group."""

    @abstractmethod
    def value(self, row: Row) -> Value:
        """Return the estimate."""

    @abstractmethod
    def interval(self, row: Row, confidence: Fraction) -> Interval | None:
        """Return an interval around the bounded truth; None where there is none."""

    def expected_error(self, confidence: Fraction, population: int | None) -> float | None:
        """Return how far the estimate may be from the bounded truth, if that is known before."""
        return None

    def choice_error(self, confidence: Fraction) -> float | None:
        """Return how far a choice may be from the best one; None for what is no choice."""
        return None

    def note(self, rows: Sequence[Row]) -> str | None:
        """Return what the numbers of all these groups leave out, in one line; None where nothing is."""
        return None

    def after(self, released: tuple[Output, ...]) -> "Estimator":
        """Return the estimator that knows what the stages of its set released in addition to columns."""
        return self


@dataclass(frozen=True)
class Total(Estimator):
    """COUNT and SUM: a released number times the step of its lattice."""

    number: NoisyNumber
    step: Fraction
    whole: bool

    def value(self, row: Row) -> int | float:
        return _plain(self.number.value(row) * self.step, whole=self.whole)

    def interval(self, row: Row, confidence: Fraction) -> Interval:
        low, high = self.number.interval(row, confidence)
        return Interval(_double(low * self.step), _double(high * self.step))

    def expected_error(self, confidence: Fraction, population: int | None) -> float | None:
        return self.number.error(confidence) * float(self.step)


@dataclass(frozen=True)
class Present(Total):
    """COUNT(DISTINCT x): how many of the public labels are there: none at least, and all of them at most."""

    most: int

    def value(self, row: Row) -> int | float:
        return min(max(super().value(row), 0), self.most)

    def interval(self, row: Row, confidence: Fraction) -> Interval:
        ends = super().interval(row, confidence)
        return Interval(*(min(max(end, 0.0), float(self.most)) for end in ends))


@dataclass(frozen=True)
class Average(Estimator):
    """AVG: the centre plus sum over count, both noisy; the centre itself where the count is below 1."""

    total: NoisyNumber
    count: NoisyNumber
    step: Fraction
    centre: int
    ends: tuple[int, int]  # of the values, in steps

    def value(self, row: Row) -> float:
        mean = Fraction(self.total.value(row), max(1, self.count.value(row)))
        return float(self._within(mean) * self.step)

    def interval(self, row: Row, confidence: Fraction) -> Interval:
        each = 1 - (1 - confidence) / 2  # both parts hold together
        low, high = self.total.interval(row, each)
        fewest, most = (max(1, count) for count in self.count.interval(row, each))
        corners = [Fraction(total, count) for total in (low, high) for count in (fewest, most)]
        return Interval(
            float(self._within(min(corners)) * self.step), float(self._within(max(corners)) * self.step)
        )

    def _within(self, mean: Fraction) -> Fraction:
        low, high = self.ends
        return min(max(mean + self.centre, Fraction(low)), Fraction(high))

    def expected_error(self, confidence: Fraction, population: int | None) -> float | None:
        if population is None:
            return None
        each = 1 - (1 - confidence) / 2
        low, high = self.ends
        off = self.total.error(each) + (high - low) / 2 * self.count.error(each)
        return min(off / population, float(high - low)) * float(self.step)


@dataclass(frozen=True)
class Variance(Estimator):
    """VARIANCE and STDDEV of a sample, from noisy squares, sum and count around the centre of the range."""

    squares: NoisyNumber
    total: NoisyNumber
    count: NoisyNumber
    step: Fraction
    width: int
    root: bool

    def value(self, row: Row) -> float:
        squares, total = self.squares.value(row), self.total.value(row)
        count = max(2, self.count.value(row))
        return self._finish((squares - Fraction(total * total, count)) / (count - 1))

    def interval(self, row: Row, confidence: Fraction) -> Interval:
        each = 1 - (1 - confidence) / 3
        squares = self.squares.interval(row, each)
        totals = self.total.interval(row, each)
        fewest, most = (max(2, count) for count in self.count.interval(row, each))
        smallest = 0 if totals[0] <= 0 <= totals[1] else min(abs(total) for total in totals)
        largest = max(abs(total) for total in totals)
        low = (squares[0] - Fraction(largest * largest, fewest)) / (most - 1)
        high = (squares[1] - Fraction(smallest * smallest, most)) / (fewest - 1)
        return Interval(self._finish(low), self._finish(max(low, high)))

    def _finish(self, variance: Fraction) -> float:
        limit = Fraction(self.width * self.width, 2)  # two values at the ends of the range
        number = float(min(max(variance, Fraction(0)), limit) * self.step**2)
        return math.sqrt(number) if self.root else number


@dataclass(frozen=True)
class Chosen(Estimator):
    """MODE, QUANTILE, MIN, MAX: a chosen label, or a chosen step of the lattice."""

    index: int
    stage: Choose
    labels: Domain | None
    step: Fraction
    whole: bool

    def value(self, row: Row) -> Value:
        chosen = row[self.index]
        return _plain(chosen * self.step, whole=self.whole) if self.labels is None else self.labels[chosen]

    def interval(self, row: Row, confidence: Fraction) -> None:
        """Return None: a choice has an error in rank or in count, not one in value."""

    def choice_error(self, confidence: Fraction) -> float:
        return self.stage.error(confidence)


def _plain(number: Fraction, *, whole: bool) -> int | float:
    """Return a number of the column's type, whatever its value."""
    return int(number) if whole else _double(number)


def _double(number: Fraction) -> float:
    """Return the nearest double, or an infinity beyond all of them: noise has no largest value."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


def estimate(draft: Draft) -> Draft:
    """Add an estimator for every aggregate of every grouping set."""
    measures = draft.question.measures
    return replace(
        draft,
        sets=tuple(
            replace(
                each,
                estimators=tuple(
                    _estimator(measure, part, each)
                    for measure, part in zip(measures, each.exact.parts, strict=True)
                ),
            )
            for each in draft.sets
        ),
    )


def _estimator(measure: Measure, part: Part, each: SetDraft) -> Estimator:
    function, whole = measure.aggregate.function, measure.aggregate.type == "integer"
    if function == "count_distinct":
        labels = len(measure.domain or ())
        return Present(_number(each, part.plan, None), Fraction(1), whole, labels)
    if not part.measures:
        return _chosen(each, part.plan, whole=whole)
    numbers = [_number(each, part.plan, position) for position in part.measures]
    if function in ("count_rows", "count", "count_units"):
        return Total(numbers[0], Fraction(1), whole)
    summed = _sum_at(each.exact, part.measures[0])
    if function == "average":
        ends = (summed.lattice.lowest, summed.lattice.highest)
        total, count = numbers
        return Average(total, count, summed.lattice.step, summed.centre, ends)
    if function in ("variance", "deviation"):
        squares, total, count = numbers
        lattice = summed.lattice
        return Variance(squares, total, count, lattice.step, lattice.width, function == "deviation")
    return Total(numbers[0], summed.lattice.step, whole)


def _number(each: SetDraft, plan: int, position: int | None) -> NoisyNumber:
    exact = each.exact.plans[plan]
    stage = next(
        stage
        for stage in each.stages
        if isinstance(stage, NumberStage) and stage.plan is exact and stage.position == position
    )
    assert stage.column is not None
    return NoisyNumber(stage.column, stage)


def _chosen(each: SetDraft, plan: int, *, whole: bool) -> Chosen:
    exact = each.exact.plans[plan]
    stage = next(stage for stage in each.stages if isinstance(stage, Choose) and stage.plan is exact)
    tally = exact.tally
    assert tally is not None
    assert stage.column is not None
    step = Fraction(1) if tally.lattice is None else tally.lattice.step
    return Chosen(stage.column, stage, tally.labels, step, whole)


def _sum_at(exact: ExactPlans, position: int) -> Sum:
    measure = exact.plans[0].measures[position]
    assert isinstance(measure, Sum)
    return measure
