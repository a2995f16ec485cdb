"""How an aggregate is read from released numbers: its value, and an interval around the bounded truth.

Everything here is post-processing: it sees noisy numbers and public facts alone.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.planning.noise import Noise
from discreet.asking.policy import Value
from discreet.asking.queries import Domain
from discreet.kernel.mechanisms import CountedKeys
from discreet.kernel.numerics import Interval

Released: TypeAlias = tuple[int, ...]  # of one group: the noised numbers, then the chosen ones


@dataclass(frozen=True)
class Noised:
    """One released number: where it stands, and the noise on it."""

    index: int
    noise: Noise | CountedKeys

    def value(self, released: Released) -> int:
        return released[self.index]

    def interval(self, released: Released, confidence: Fraction) -> tuple[int, int]:
        """Whole numbers between which the exact one lies; of a number that showed its key, given that."""
        if isinstance(self.noise, CountedKeys):
            return self.noise.between(released[self.index], confidence)
        reach = math.ceil(self.noise.error(confidence=confidence))
        return released[self.index] - reach, released[self.index] + reach


@dataclass(frozen=True)
class Total:
    """COUNT and SUM: a released number times the step of its lattice."""

    number: Noised
    step: Fraction
    whole: bool

    def value(self, released: Released) -> int | float:
        return _plain(self.number.value(released) * self.step, whole=self.whole)

    def interval(self, released: Released, confidence: Fraction) -> Interval:
        low, high = self.number.interval(released, confidence)
        return Interval(_double(low * self.step), _double(high * self.step))

    def expected_error(self, confidence: Fraction, population: int | None) -> float | None:
        return self.number.noise.error(confidence=confidence) * float(self.step)


@dataclass(frozen=True)
class Average:
    """AVG: the centre plus sum over count, both noisy; the centre itself where the count is below 1."""

    total: Noised
    count: Noised
    step: Fraction
    centre: int
    ends: tuple[int, int]  # of the values, in steps

    def value(self, released: Released) -> float:
        mean = Fraction(self.total.value(released), max(1, self.count.value(released)))
        return float(self._within(mean) * self.step)

    def interval(self, released: Released, confidence: Fraction) -> Interval:
        each = 1 - (1 - confidence) / 2  # both parts hold together
        low, high = self.total.interval(released, each)
        fewest, most = (max(1, count) for count in self.count.interval(released, each))
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
        off = self.total.noise.error(confidence=each) + (high - low) / 2 * self.count.noise.error(
            confidence=each
        )
        return min(off / population, float(high - low)) * float(self.step)


@dataclass(frozen=True)
class Variance:
    """VARIANCE and STDDEV of a sample, from noisy squares, sum and count around the centre of the range."""

    squares: Noised
    total: Noised
    count: Noised
    step: Fraction
    width: int
    root: bool

    def value(self, released: Released) -> float:
        squares, total = self.squares.value(released), self.total.value(released)
        count = max(2, self.count.value(released))
        return self._finish((squares - Fraction(total * total, count)) / (count - 1))

    def interval(self, released: Released, confidence: Fraction) -> Interval:
        each = 1 - (1 - confidence) / 3
        squares = self.squares.interval(released, each)
        totals = self.total.interval(released, each)
        fewest, most = (max(2, count) for count in self.count.interval(released, each))
        smallest = 0 if totals[0] <= 0 <= totals[1] else min(abs(total) for total in totals)
        largest = max(abs(total) for total in totals)
        low = (squares[0] - Fraction(largest * largest, fewest)) / (most - 1)
        high = (squares[1] - Fraction(smallest * smallest, most)) / (fewest - 1)
        return Interval(self._finish(low), self._finish(max(low, high)))

    def _finish(self, variance: Fraction) -> float:
        limit = Fraction(self.width * self.width, 2)  # two values at the ends of the range
        number = float(min(max(variance, Fraction(0)), limit) * self.step**2)
        return math.sqrt(number) if self.root else number

    def expected_error(self, confidence: Fraction, population: int | None) -> float | None:
        return None


@dataclass(frozen=True)
class Chosen:
    """MODE, QUANTILE, MIN, MAX: a chosen label, or a chosen step of the lattice."""

    index: int
    labels: Domain | None
    step: Fraction
    whole: bool

    def value(self, released: Released) -> Value:
        chosen = released[self.index]
        return _plain(chosen * self.step, whole=self.whole) if self.labels is None else self.labels[chosen]

    def interval(self, released: Released, confidence: Fraction) -> None:
        """A choice has an error in rank or in count, which the receipt states; not one in value."""

    def expected_error(self, confidence: Fraction, population: int | None) -> float | None:
        return None


Reading: TypeAlias = Total | Average | Variance | Chosen


def _plain(number: Fraction, *, whole: bool) -> int | float:
    """A number of the column's type, whatever its value."""
    return int(number) if whole else _double(number)


def _double(number: Fraction) -> float:
    """The nearest double, an infinity beyond all of them: noise has no largest value."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)
