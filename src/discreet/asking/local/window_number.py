"""A bounded number, by windows: report a level near the truth more often than any other; or, as the simple
alternative, with Laplace noise that its owner adds."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.asking.local.report import (
    AGAIN,
    WORD,
    BoundedNumber,
    Mean,
    listed,
    mean_estimate,
    miss,
    word_threshold,
)
from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss, pure
from discreet.kernel.mechanisms import Laplace
from discreet.kernel.numerics import (
    Estimate,
    Interval,
    Real,
    exact_confidence,
    largest_power_of_two,
    mean_limits,
)
from discreet.kernel.randomness import Source, bernoulli, fresh_source, uniform_below

_MOST_LEVELS = 256


@dataclass(frozen=True, init=False)
class WindowNumber(BoundedNumber):
    """Round at random to one of G+1 levels, then report a place y of 0 ... G+w-1: each of the w places of the
    level's window x ... x+w-1 with probability e^ε/Z, each other place with 1/Z, Z = w·e^ε + G.

    E[y] is linear in x, so the mean is estimated without bias. G and w have the least worst-case variance: G
    = w = 1 (one bit: Duchi, Jordan and Wainwright 2018) for small ε, a fine grid (the piecewise mechanism of
    Wang et al., ICDE 2019) for larger.

    Privacy: ε-DP for each report: two levels change the probability of a place by at most e^ε. The window has
    the probability threshold/2^64, rounded down, so that a client in any language draws the same.
    Accuracy: Bernstein's inequality with the worst-case variance; exact binomial limits for one bit.

    >>> WindowNumber(bounds=(0, 15), epsilon=4).places
    10
    """

    protocol: ClassVar[str] = "window"

    levels: int
    window: int

    def __init__(self, *, bounds: tuple[Real, Real], epsilon: Real) -> None:
        super().__init__(bounds=bounds, epsilon=epsilon)
        levels, window = best_shape(self.epsilon)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "window", window)

    @property
    def places(self) -> int:
        """How many different reports there are."""
        return self.levels + self.window

    @property
    def loss(self) -> PrivacyLoss:
        """What one report costs its sender."""
        return pure(epsilon=self.epsilon, relation="local")

    @property
    def _span(self) -> float:
        return float(self.bounds[1] - self.bounds[0])

    @property
    def variance(self) -> float:
        """The largest variance of a single report's estimate, over all true numbers."""
        return worst_variance(float(self.epsilon), self.levels, self.window) * self._span**2

    # --- the client ----------------------------------------------------------------------------------------

    def randomize(self, value: Any) -> Any:
        """The report of one person, or a list for a list of people. Each call costs epsilon again."""
        people = listed(value)
        reports = self._randomize([value] if people is None else people, fresh_source())
        return reports[0] if people is None else reports

    def randomize_many(self, values: Any) -> NDArray[np.int64]:
        """Return the reports of many people as an array. Each call costs epsilon again for each of them."""
        return self._randomize_many(values, fresh_source())

    def _randomize(self, truths: list[Any], source: Source) -> list[int]:
        reports: list[int] = self._randomize_many(truths, source).tolist()
        return reports

    def _randomize_many(self, truths: Any, source: Source) -> NDArray[np.int64]:
        levels = self._levels(truths, source)
        inside = source.words(levels.size) < np.uint64(self.threshold)
        near = levels + uniform_below(source, self.window, levels.size)
        far = uniform_below(source, self.levels, levels.size)
        far += self.window * (far >= levels)
        reports: NDArray[np.int64] = np.where(inside, near, far)
        return reports

    @cached_property
    def threshold(self) -> int:
        """⌊2^64 · w·e^ε/(w·e^ε + G)⌋: a report lies in the window where a random word lies below it."""
        return word_threshold(Fraction(self.levels, self.window), self.epsilon)

    def _levels(self, truths: Any, source: Source) -> NDArray[np.int64]:
        """Round each number at random to one of the levels next to it, so that its mean stays."""
        different, back = self._parts(truths)
        exact_levels = [part * self.levels for part in different]
        floors = np.array([math.floor(level) for level in exact_levels], dtype=np.int64)
        rests = [(level - math.floor(level)) * WORD for level in exact_levels]
        thresholds = np.array([math.floor(rest) for rest in rests], dtype=np.uint64)[back]
        words = source.words(thresholds.size)
        levels: NDArray[np.int64] = floors[back] + (words < thresholds)
        for i in np.flatnonzero(words == thresholds).tolist():  # U and the rest agree in 64 bits: draw on
            levels[i] += bernoulli(source, rests[back[i]] - math.floor(rests[back[i]]))
        return levels

    def _parts(self, truths: Any) -> tuple[list[Fraction], NDArray[np.int64]]:
        """The different numbers in parts of the width of the bounds, exactly, and which of them each is."""
        low, high = self.bounds
        if isinstance(truths, np.ndarray) and truths.dtype.kind in "iuf":
            different, back = np.unique(truths, return_inverse=True)
            return [(self._clamp(truth) - low) / (high - low) for truth in different], back.reshape(-1)
        listed_parts: dict[tuple[type, Any], int] = {}
        try:
            places = [listed_parts.setdefault((type(truth), truth), len(listed_parts)) for truth in truths]
        except TypeError:  # what cannot be hashed is no number
            raise InvalidParameter("value must be a number.", parameter="value") from None
        parts = [(self._clamp(truth) - low) / (high - low) for _, truth in listed_parts]
        return parts, np.array(places, dtype=np.int64)

    # --- the collector -------------------------------------------------------------------------------------

    def _estimate_mean(self, sums: Mean, confidence: Real) -> Estimate:
        n, centre = sums.reports, self._mean(float(sums.centre))
        if self.places == 2:
            level = exact_confidence(confidence)
            limits = mean_limits(successes=sums.total, trials=n, confidence=level)
            ends = Interval(*(self._mean(end) for end in limits))
            return Estimate(centre, self._slope * sums.spread / math.sqrt(n), ends, float(confidence))
        log = miss(confidence)
        reach = math.sqrt(2 * self.variance * log / n) + self._slope * self.places * log / (3 * n)
        return mean_estimate(centre, self._slope * sums.spread, reach, n, confidence)

    def _reach_of_one(self) -> float:
        return (self.places - 1) * self._slope

    @property
    def _slope(self) -> float:
        """The change of the estimate with the mean report."""
        price = float(self.epsilon)
        total = self.window + self.places * math.exp(-price) / -math.expm1(-price)
        return total / self.window * self._span / self.levels

    def _mean(self, place: float) -> float:
        """The mean behind a mean report: the middle of the places stands for the middle of the bounds."""
        low, high = self.bounds
        return float((low + high) / 2) + (place - (self.places - 1) / 2) * self._slope

    def _read(self, reports: Any) -> list[int]:
        received = listed(reports)
        received = list(reports) if received is None else received
        if any(isinstance(place, bool) or not isinstance(place, int) for place in received) or (
            received and not (min(received) >= 0 and max(received) < self.places)
        ):
            raise InvalidParameter(
                f"a report must be a whole number below {self.places}.", parameter="reports"
            )
        return received

    def from_tally(self, tally: dict[str, Any]) -> Any:
        """Return the mean that `Mean.to_json` wrote."""
        found = super().from_tally(tally)
        if not 0 <= found.total <= found.squares <= found.total * (self.places - 1):
            raise InvalidParameter("a tally must hold sums of reports of this protocol.", parameter="tally")
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the public protocol, exactly, with all that a client in another language needs."""
        shape = {"levels": self.levels, "window": self.window, "threshold": str(self.threshold)}
        return super().to_json() | shape

    def describe(self) -> str:
        """One sentence for those who are asked."""
        return (
            f"Each report is one of {self.places} whole numbers and "
            f"{self.epsilon}-differentially private by itself. {AGAIN}"
        )


@lru_cache(maxsize=256)
def best_shape(epsilon: Fraction) -> tuple[int, int]:
    """Levels and window with the least worst-case variance; privacy does not depend on them."""
    price = min(float(epsilon), 700.0)
    return min(_shapes(price), key=lambda shape: worst_variance(price, *shape))


def _shapes(epsilon: float) -> Iterator[tuple[int, int]]:
    levels = 1
    while levels <= _MOST_LEVELS:
        ideal = levels * math.exp(-epsilon / 2)
        for window in {max(1, math.floor(ideal)), max(1, math.ceil(ideal))}:
            yield levels, window
        levels *= 2


def worst_variance(epsilon: float, levels: int, window: int) -> float:
    """The largest variance of a report's estimate of t in [0, 1], over all t.

    Rounding adds f(1-f) levels²; between two levels the variance is a concave parabola, so its middle is
    looked at too.
    """
    at = [_level_variance(epsilon, levels, window, x) for x in range(levels + 1)]
    worst = max(at)
    for left, right in pairwise(at):
        # f ↦ (1-f)·left + f·right + f(1-f)/levels², greatest at f = 1/2 + (right-left)·levels²/2
        f = min(max(0.5 + (right - left) * levels**2 / 2, 0.0), 1.0)
        worst = max(worst, (1 - f) * left + f * right + f * (1 - f) / levels**2)
    return worst


def _level_variance(epsilon: float, levels: int, window: int, x: int) -> float:
    places, miss_each = levels + window, math.exp(-epsilon)
    gain = -math.expm1(-epsilon)
    total = window * gain + places * miss_each  # Z·e^-ε

    def moment(power: int) -> float:
        near = _power_sum(x + window, power) - _power_sum(x, power)
        return (gain * near + miss_each * _power_sum(places, power)) / total

    slope = total / (gain * window * levels)
    variance: float = (moment(2) - moment(1) ** 2) * slope**2
    return variance


@lru_cache(maxsize=4096)
def _power_sum(n: int, power: int) -> int:
    return sum(i**power for i in range(n))


_FINENESS = 1 << 20  # steps between the bounds


@dataclass(frozen=True, init=False)
class LaplaceNumber(BoundedNumber):
    """Report the number plus Laplace noise of scale (U - L)/ε, on a lattice.

    Privacy: ε-DP for each report; the only record of a data set of one is replaced, so the sensitivity is U -
    L.
    Accuracy: the mean of n reports lies within 2b√(l/n) + b·l/n of the mean of the numbers, l = ln(2/(1 -
    confidence)): Bernstein's inequality, because E[exp(λX)] ≤ 1/(1 - λ²b²) on the lattice too
    (docs/theory/randomized-response.md).

    >>> LaplaceNumber(bounds=(0, 15), epsilon=0.5).noise.scale
    Fraction(30, 1)
    """

    protocol: ClassVar[str] = "laplace"

    @cached_property
    def noise(self) -> Laplace:
        """The noise that each person adds."""
        low, high = self.bounds
        span = high - low
        return Laplace(
            epsilon=self.epsilon,
            sensitivity=span,
            step=largest_power_of_two(span / _FINENESS),
            relation="local",
        )

    @property
    def loss(self) -> PrivacyLoss:
        """What one report costs its sender."""
        return self.noise.loss

    @property
    def variance(self) -> float:
        """The variance of a single report."""
        return self.noise.variance

    def randomize(self, value: Any) -> Any:
        """The report of one person, or a list for a list of people. Each call costs epsilon again."""
        people = listed(value)
        reports = self._randomize([value] if people is None else people, fresh_source())
        return reports[0] if people is None else reports

    def _randomize(self, truths: list[Any], source: Source) -> list[float]:
        # A clamped float is a float; bounds that are none are the owner's to declare, and are rounded like
        # data.
        numbers = [float(self._clamp(truth)) for truth in truths]
        released: list[float] = self.noise.draw(numbers, source)
        return released

    def _read(self, reports: Any) -> list[int]:
        received = listed(reports)
        try:
            steps = [_exact_report(report) / self.noise.step for report in received or list(reports)]
        except (TypeError, ValueError, OverflowError):
            steps = [Fraction(1, 2)]
        if any(step.denominator != 1 for step in steps):
            raise InvalidParameter(f"a report must be a multiple of {self.noise.step}.", parameter="reports")
        return [step.numerator for step in steps]

    def _estimate_mean(self, sums: Mean, confidence: Real) -> Estimate:
        n, log, scale, step = sums.reports, miss(confidence), float(self.noise.scale), self.noise.step
        reach = 2 * scale * math.sqrt(log / n) + scale * log / n + float(step)
        return mean_estimate(float(sums.centre * step), sums.spread * float(step), reach, n, confidence)

    def _reach_of_one(self) -> float:
        raise InvalidParameter(
            'liars can move a mean of Laplace reports without bound. Ask with noise="window".',
            parameter="liars",
        )

    def describe(self) -> str:
        """One sentence for those who are asked."""
        law = self.noise.describe()
        return f"Each report is {self.epsilon}-differentially private by itself: {law}. {AGAIN}"


def _exact_report(report: Any) -> Fraction:
    """A number as it was sent."""
    if isinstance(report, bool) or not isinstance(report, int | float):
        raise TypeError
    return Fraction(report)
