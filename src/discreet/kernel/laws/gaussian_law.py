"""Gaussian noise: the continuous Gaussian rounded to a lattice, and the discrete Gaussian.

Tested by: tests/laws/test_lattice_laws.py
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb

from discreet.kernel.laws.lattice_law import LAW_BITS, LatticeLaw, show
from discreet.kernel.losses import (
    PrivacyLoss,
    Relation,
    discrete_gaussian as discrete_gaussian_loss,
    gaussian,
)
from discreet.kernel.numerics import Arb, ball, round_up, working_precision
from discreet.kernel.randomness import Source, discrete_gaussian, rounded_gaussian

_MOST_STEPS = 4096  # of a sigma whose weights are added one by one
_WIDE = 4  # steps of a sigma from which Poisson's formula needs no second term
_SMOOTH = 10  # steps of a sigma from which the lattice does not show in the variance


@dataclass(frozen=True)
class GaussianLaw(LatticeLaw):
    """noise = step · ⌊Y/step + 1/2⌋, Y ~ N(0, sigma²)."""

    sigma: Fraction
    step: Fraction = Fraction(1)

    @cached_property
    def spread(self) -> Fraction:
        """Return sigma in steps."""
        return self.sigma / self.step

    @property
    def length(self) -> Fraction:
        return self.sigma

    @property
    def symbol(self) -> str:
        return f"σ = {float(self.sigma):.4g}"

    def upper(self, k: int) -> Arb:
        return (ball(Fraction(2 * k - 1, 2)) / self._width).erfc() / 2

    @property
    def _width(self) -> Arb:
        return ball(2).sqrt() * ball(self.spread)

    def quantile(self, confidence: Arb) -> int:
        """Solve erfc((a + 1/2) / (√2 · spread)) = 1 - confidence for a."""
        steps = self._width * confidence.erfinv() - ball(Fraction(1, 2))
        return max(0, math.ceil(Fraction(round_up(steps))))

    def draw(self, source: Source, size: int | None = None) -> Any:
        return rounded_gaussian(source, self.spread, size)

    @property
    def variance(self) -> float:
        """Return sigma² + step²/12, but for a sigma of few steps."""
        spread = float(self.spread)
        if spread > _SMOOTH:  # the remainder is below exp(-2π² · 10²)
            return float(self.sigma**2 + self.step**2 / 12)
        # E[X²] = Σ (2k + 1) Pr[|X| > k]
        tails = (math.erfc((k + 0.5) / (spread * math.sqrt(2))) * (2 * k + 1) for k in range(400))
        return float(self.step) ** 2 * math.fsum(tails)

    def loss(self, distance: Fraction, relation: Relation) -> PrivacyLoss:
        """Return Gaussian DP with mu = distance/sigma: rounding to the lattice is post-processing."""
        return gaussian(sigma=self.sigma, sensitivity=distance, relation=relation)

    def describe(self) -> str:
        return f"Gaussian noise of sigma {show(self.sigma)} rounded to multiples of {show(self.step)}"


@dataclass(frozen=True)
class DiscreteGaussianLaw(GaussianLaw):
    """Pr[noise = k · step] ∝ exp(-(k · step)²/2σ²)."""

    @property
    def is_countable(self) -> bool:
        return self.spread <= _MOST_STEPS

    def weight(self, k: int) -> Arb:
        """Return exp(-(k · step)²/2σ²)."""
        return (-ball(Fraction(k * k) / (2 * self.spread**2))).exp()

    def mass(self, k: int) -> Arb:
        return self.weight(k) / self._total

    @property
    def _total(self) -> Arb:
        """Return Σ weight(k) over all k: by Poisson's formula, or added up where sigma is a few steps."""
        if self.spread < _WIDE:
            return 2 * self._above[1] + self.weight(0)
        aliases = (-2 * (arb.pi() * ball(self.spread)) ** 2).exp()  # and fewer than twice as many beyond
        return (2 * arb.pi()).sqrt() * ball(self.spread) * (1 + (3 * aliases).union(2 * aliases))

    @property
    def _last(self) -> int:
        return math.ceil(20 * self.spread) + 20

    @cached_property
    def _above(self) -> list[Arb]:
        """Return Σ weight(j) over j >= k, for k = 0 ... last + 1; the rest is in the last ball."""
        with working_precision(LAW_BITS + 32):
            last = self._last
            # beyond `last` weights fall at least by this ratio
            ratio = (-ball(Fraction(2 * last + 1) / (2 * self.spread**2))).exp()
            sums = [(self.weight(last) * ratio / (1 - ratio)).union(ball(0))]
            for k in range(last, -1, -1):
                sums.append(sums[-1] + self.weight(k))
            return sums[::-1]

    def upper(self, k: int) -> Arb:
        return self._above[min(k, self._last + 1)] / self._total

    def quantile(self, confidence: Arb) -> int:
        """Bound by the continuous Gaussian: Pr[|noise| > a] <= Pr[|N(0, σ²)| >= a]."""
        return max(0, math.ceil(Fraction(round_up(self._width * confidence.erfinv()))))

    def draw(self, source: Source, size: int | None = None) -> Any:
        return discrete_gaussian(source, self.spread, size)

    @cached_property
    def variance(self) -> float:
        """Return σ², but for a σ of few steps, where it is less: Σ k²·mass(k)."""
        if self.spread > _SMOOTH:
            return float(self.sigma**2)
        with working_precision(LAW_BITS):
            squares = sum((k * k * self.weight(k) for k in range(1, self._last)), ball(0))
            return float(2 * squares / self._total * ball(self.step) ** 2)

    def loss(self, distance: Fraction, relation: Relation) -> PrivacyLoss:
        return discrete_gaussian_loss(
            sigma=self.spread, sensitivity=math.ceil(distance / self.step), relation=relation
        )

    def describe(self) -> str:
        return f"discrete Gaussian noise of sigma {show(self.sigma)} on multiples of {show(self.step)}"
