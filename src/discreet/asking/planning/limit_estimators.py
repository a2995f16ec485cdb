"""Estimators of aggregates under one limit for each unit, from the numbers of a group and facts about them.

Everything here is post-processing. COUNT and SUM of values >= 0: the lower end holds the real truth at its
confidence, since scaling only takes away; the upper end is about the truth under the limit
(docs/theory/limits.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from discreet.asking.planning.contribution import is_signed
from discreet.asking.planning.estimate import Estimator, Row
from discreet.asking.planning.exact import Bernstein
from discreet.asking.planning.limit_stages import Limited, what_of
from discreet.asking.planning.spill import raised_by
from discreet.asking.planning.weights import Limit
from discreet.kernel.numerics import Interval, readable

WEIGHED = (
    "in means and variances a unit's rows weigh as one row together: the mean over rows only if rows of "
    "units with many rows are like others"
)

OPEN = (
    "most units are, and how much more there is stays unknown: take the numbers for lower ends, and ask "
    "at a higher price, or declare a limit"
)
SURE = Fraction(4, 5)  # so that one time in ten noise alone says that units are above


class LimitFacts(NamedTuple):
    """What was released about a limit: where it is, and noisy numbers of units within and above it."""

    limit: Fraction  # in the aggregate's own unit
    within: int
    above: int

    @property
    def share(self) -> float:
        """About which part of units is above the limit."""
        everyone = max(1, self.within + max(0, self.above))
        return min(1.0, max(0, self.above) / everyone)

    def most_are_above(self, reach: float) -> bool:
        """Return whether the limit is too low to tell of the rest; `reach` is how far noise takes a count."""
        return self.above >= self.within and self.above > reach


@lru_cache(maxsize=4096)
def _reach(limited: Limited, limit: int, groups: int, confidence: Fraction) -> float:
    """Return how far the noise takes a number, in 2^-bits of a step."""
    return limited.noise(limit, groups).error(confidence=confidence)


@lru_cache(maxsize=256)
def _spill_reach(limited: Limited, confidence: Fraction) -> float:
    """Return how far the noise takes what is above the limit."""
    return limited.spill_noise().error(confidence=confidence)


@lru_cache(maxsize=256)
def _count_reach(limited: Limited) -> float:
    """Return how far the noise takes the number of units above the limit."""
    return limited.count_noise().error(confidence=SURE)


@dataclass(frozen=True)
class LimitedTotal(Estimator):
    """COUNT and SUM under a limit."""

    limited: Limited
    position: int  # of the measure among those under the limit
    step: Fraction
    whole: bool

    def _facts(self, row: Row) -> tuple[int, int, int, int]:
        first = self._first_fact
        limit, groups, within, above = row[first : first + 4]
        return limit, groups, within, above

    @property
    def _first_fact(self) -> int:
        return self.limited.column + len(self.limited.plan.measures)

    def _raised(self, row: Row, confidence: Fraction) -> Fraction:
        """Return by how much the upper end is raised for what the limit may have cut, in steps."""
        most, groups, *_ = self._facts(row)
        if not self.limited.measures_spill(groups):
            return Fraction(0)
        spill, shown = row[self._first_fact + 4 : self._first_fact + 6]
        number = max(0, row[self.limited.column + self.position])
        one_sided = max(Fraction(0), 2 * confidence - 1)
        reach = _spill_reach(self.limited, one_sided) if one_sided else 0.0
        crowded = 2 if self.limited.limit is not None else 1  # a limit that was found leaves little above it
        return raised_by(spill, reach, most, Fraction(crowded * number, max(1, shown)))

    def facts(self, row: Row) -> LimitFacts:
        """Return what was released about the limit."""
        limit, _, within, above = self._facts(row)
        return LimitFacts(limit * self.step, within, above)

    def _is_open(self, row: Row) -> bool:
        """Return whether so many units are above the limit that nothing is known of what it cut."""
        return self.facts(row).most_are_above(_count_reach(self.limited))

    def value(self, row: Row) -> int | float:
        limit = Limit.of(self._facts(row)[0])
        number = Fraction(row[self.limited.column + self.position], limit.one) * self.step
        return math.floor(number + Fraction(1, 2)) if self.whole else _double(number)

    def interval(self, row: Row, confidence: Fraction) -> Interval:
        most, groups, *_ = self._facts(row)
        limit, reach = Limit.of(most), _reach(self.limited, most, groups, confidence)
        number, around = row[self.limited.column + self.position], math.ceil(reach)
        if self._is_open(row) and is_signed(self.limited.plan):
            return Interval(-math.inf, math.inf)
        low = Fraction(number - around, limit.one) * self.step
        high = (Fraction(number + around, limit.one) + self._raised(row, confidence)) * self.step
        if self.whole:  # as the value is: the truth is a whole number, or below one that is
            low, high = Fraction(math.floor(low)), Fraction(math.ceil(high))
        return Interval(_double(low), math.inf if self._is_open(row) else _double(high))

    def note(self, rows: Sequence[Row]) -> str:
        row = rows[0]  # what is said holds for all
        facts, what = self.facts(row), what_of(self.limited.plan)
        said = (
            f"a unit adds at most {readable(float(facts.limit))} to {what}, over all groups: above it rows "
            f"count less than fully; about {100 * facts.share:.0f}% of units are above"
        )
        if self._is_open(row):
            return f"{said}; {OPEN}"
        if self.limited.measures_spill(self._facts(row)[1]):
            return f"{said}; lower ends of intervals hold, upper ends are estimated"
        return said

    def expected_error(self, confidence: Fraction, population: int | None) -> float | None:
        labels, most = self.limited.plan.labels, self.limited.limit
        if most is None or labels is None:
            return None
        return _reach(self.limited, most, len(labels), confidence) / Limit.of(most).one * float(self.step)

    def multiple(self, confidence: Fraction) -> float | None:
        """Return the expected error as a multiple of the limit, before it is found."""
        labels, rungs = self.limited.plan.labels, self.limited.rungs
        if labels is None or not rungs:
            return None
        return _reach(self.limited, rungs[0], len(labels), confidence) / Limit.of(rungs[0]).total


@dataclass(frozen=True)
class Basis(Estimator):
    """An aggregate from parts that a row moves together by one: a polynomial over [low, low + width].

    The width that the widest range has in the end is the number that follows the parts; then what percentage
    of the price the parts had, and by how many halves the group's range is shorter. `left` is the least that
    this percentage may be.
    """

    limited: Limited
    lowest: int
    step: Fraction
    left: int

    @property
    def _degree(self) -> int:
        return len(self.limited.plan.measures) - 1

    def _parts(self, row: Row) -> tuple[int, ...]:
        return row[self.limited.column : self.limited.column + self._degree + 1]

    def _width(self, row: Row) -> int:
        return row[self.limited.column + self._degree + 1]

    def _own_width(self, row: Row) -> Fraction:
        """Return the width of the group's own range, which its values were enlarged from."""
        return Fraction(self._width(row), 1 << row[self.limited.column + self._degree + 3])

    def _one(self, row: Row) -> int:
        """Return what one unit adds to all parts together."""
        return Limit.of(self._width(row) ** self._degree).total

    def _around(self, row: Row, confidence: Fraction) -> int:
        """Return how far noise takes each part, if all hold together."""
        each = 1 - (1 - confidence) / (self._degree + 1)
        left = Fraction(row[self.limited.column + self._degree + 2], 100)
        limited = replace(self.limited, share=self.limited.share.times(left))
        return math.ceil(_reach(limited, self._width(row) ** self._degree, 1, each))

    def note(self, rows: Sequence[Row]) -> str:
        ends = sorted({(self.lowest + self._own_width(row)) * self.step for row in rows})
        low, high = (readable(float(end)) for end in (ends[0], ends[-1]))
        if low == high:
            return f"values above {high} count as {high}; {WEIGHED}"
        return f"values above an end of each group, from {low} to {high}, count as that end; {WEIGHED}"


@dataclass(frozen=True)
class BasisMean(Basis):
    """AVG from A = Σ(x - low) and B = Σ(high - x), each row of a unit weighing 1/n: low + width·A/(A + B).

    With the parts of a variance, 2a·width is 2a² + 2ab, and likewise for b. Where there is less than one
    unit, by the noise, it tends to the middle of the range.
    """

    def value(self, row: Row) -> float:
        return self._at(row, *self._pair(self._parts(row)))

    def _pair(self, parts: tuple[int, ...]) -> tuple[int, int]:
        if self._degree == 1:
            return parts[0], parts[1]
        top, middle, bottom = parts
        return 2 * top + middle, 2 * bottom + middle

    def _at(self, row: Row, above: int, below: int) -> float:
        turn = Fraction(above - below, max(above + below, self._degree * self._one(row)))
        part = (1 + min(max(turn, Fraction(-1)), Fraction(1))) / 2
        return _double((self.lowest + self._own_width(row) * part) * self.step)

    def interval(self, row: Row, confidence: Fraction) -> Interval:
        above, below = self._pair(self._parts(row))
        reach = self._around(row, confidence) * (1 if self._degree == 1 else 3)
        low = self._at(row, max(0, above - reach), max(0, below + reach))
        return Interval(low, self._at(row, max(0, above + reach), max(0, below - reach)))

    def expected_error(self, confidence: Fraction, population: int | None) -> float | None:
        if population is None or self.limited.rungs:
            return None
        first = self.limited.plan.measures[0]
        assert isinstance(first, Bernstein)
        row = (0,) * (self.limited.column + self._degree + 1) + (first.lattice.width, self.left, 0)
        off = self._around(row, confidence) / self._one(row)
        return min(off / population, 1.0) * first.lattice.width * float(self.step)


@dataclass(frozen=True)
class BasisVariance(Basis):
    """VARIANCE and STDDEV from Σa², Σ2ab and Σb², where a = x - low and b = high - x.

    With y from -1 to 1 over the range, the parts (1 + y)²/4, (1 - y²)/2 and (1 - y)²/4 add up to 1 a row.
    """

    root: bool

    def value(self, row: Row) -> float:
        top, middle, bottom = self._parts(row)
        whole = max(top + middle + bottom, 2 * self._one(row))
        mean, square = Fraction(top - bottom, whole), Fraction(top + bottom - middle, whole)
        return self._finish(row, square - mean**2, whole)

    def interval(self, row: Row, confidence: Fraction) -> Interval:
        reach = self._around(row, confidence)
        ends = [(max(0, part - reach), max(0, part + reach)) for part in self._parts(row)]
        (top, tops), (middle, middles), (bottom, bottoms) = ends
        least = max(top + middle + bottom, 2 * self._one(row))
        most = max(tops + middles + bottoms, 2 * self._one(row))
        means = [Fraction(end, whole) for end in (top - bottoms, tops - bottom) for whole in (least, most)]
        squares = [
            Fraction(end, whole)
            for end in (top + bottom - middles, tops + bottoms - middle)
            for whole in (least, most)
        ]
        far = max(map(abs, means))
        near = Fraction(0) if min(means) <= 0 <= max(means) else min(map(abs, means))
        low, high = min(squares) - far**2, max(squares) - near**2
        return Interval(self._finish(row, low, most), self._finish(row, max(low, high), least))

    def _finish(self, row: Row, variance: Fraction, whole: int) -> float:
        count = Fraction(whole, self._one(row))
        sample = min(max(variance, Fraction(0)), Fraction(1)) * count / (count - 1)
        number = _double(min(sample / 4, Fraction(1, 2)) * (self._own_width(row) * self.step) ** 2)
        return math.sqrt(number) if self.root else number


def _double(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)
