"""A bounded number with Laplace noise, added by its owner."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.errors import InvalidParameter
from discreet.local.bounded import BoundedNumber
from discreet.local.report import AGAIN, listed, mean_estimate, miss
from discreet.losses import PrivacyLoss
from discreet.mechanisms import Laplace
from discreet.numerics import Estimate, Real, largest_power_of_two
from discreet.randomness import Source, fresh_source

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

    def estimate(self, reports: Any, *, confidence: Real = 0.95) -> Estimate:
        """The mean among those who reported: unbiased, with error and interval."""
        received = listed(reports)
        if not received or any(
            isinstance(report, bool) or not isinstance(report, int | float) or not math.isfinite(report)
            for report in received
        ):
            raise InvalidParameter(
                "reports must be a list of at least one finite number.", parameter="reports"
            )
        n, log, scale = len(received), miss(confidence), float(self.noise.scale)
        reach = 2 * scale * math.sqrt(log / n) + scale * log / n + float(self.noise.step)
        return mean_estimate(math.fsum(received) / n, float(np.std(received)), reach, n, confidence)

    def describe(self) -> str:
        """One sentence for those who are asked."""
        law = self.noise.describe()
        return f"Each report is {self.epsilon}-differentially private by itself: {law}. {AGAIN}"
