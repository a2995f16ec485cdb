"""Discrete Laplace noise, whole and truncated.

Tested by: tests/laws/test_lattice_laws.py, tests/laws/test_truncated_law.py
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.kernel.laws.lattice_law import LatticeLaw, show
from discreet.kernel.losses import (
    PrivacyLoss,
    Relation,
    discrete_laplace as discrete_laplace_loss,
    truncated_laplace,
)
from discreet.kernel.numerics import Arb, ball, round_up, working_precision
from discreet.kernel.randomness import Source, discrete_laplace

_BITS = 256
_SMALL = 1 << 62  # noise that numpy holds in int64 stays below it


@dataclass(frozen=True)
class LaplaceLaw(LatticeLaw):
    """Pr[noise = k · step] = (1-q)/(1+q) · q^|k|, q = exp(-step/scale)."""

    scale: Fraction
    step: Fraction = Fraction(1)

    @cached_property
    def spread(self) -> Fraction:
        """Return the scale in steps."""
        return self.scale / self.step

    @property
    def length(self) -> Fraction:
        return self.scale

    @property
    def symbol(self) -> str:
        return f"b = {float(self.scale):.4g}"

    def power(self, exponent: int) -> Arb:
        """Return q^exponent."""
        return ball(-exponent / self.spread).exp()

    def upper(self, k: int) -> Arb:
        return self.power(k) / (1 + self.power(1))

    def quantile(self, confidence: Arb) -> int:
        """Solve 2·upper(a + 1) = 1 - confidence for a."""
        outside = (1 - confidence) * (1 + self.power(1)) / 2
        return max(0, math.ceil(Fraction(round_up(-ball(self.spread) * outside.log() - 1))))

    def draw(self, source: Source, size: int | None = None) -> Any:
        return discrete_laplace(source, self.spread, size)

    @property
    def variance(self) -> float:
        """Return 2q/(1-q)² · step²."""
        with working_precision(_BITS):
            half = 1 / (2 * ball(self.spread))
            return float((ball(self.step) / half.sinh()) ** 2 / 2)

    def loss(self, distance: Fraction, relation: Relation) -> PrivacyLoss:
        return discrete_laplace_loss(
            scale=self.spread, sensitivity=math.ceil(distance / self.step), relation=relation
        )

    def describe(self) -> str:
        return f"discrete Laplace noise of scale {show(self.scale)} on multiples of {show(self.step)}"


@dataclass(frozen=True)
class TruncatedLaplaceLaw(LaplaceLaw):
    """Pr[noise = k · step] ∝ q^|k| for |k| <= most: it surely stays within a public distance."""

    most: int = 0

    def upper(self, k: int) -> Arb:
        """Return (q^k - q^(most+1)) / (1 + q - 2·q^(most+1))."""
        if k > self.most:
            return ball(0)
        beyond = self.power(self.most + 1)
        return (self.power(k) - beyond) / (1 + self.power(1) - 2 * beyond)

    def quantile(self, confidence: Arb) -> int:
        """Solve 2·upper(a + 1) = 1 - confidence for a."""
        beyond = self.power(self.most + 1)
        allowed = (1 - confidence) * (1 + self.power(1) - 2 * beyond) / 2 + beyond
        return max(0, math.ceil(Fraction(round_up(-ball(self.spread) * allowed.log() - 1))))

    def draw(self, source: Source, size: int | None = None) -> Any:
        if size is None:
            return int(self.draw(source, 1)[0])
        found, kept = self._fold(source, size)
        while not kept.all():
            again = np.flatnonzero(~kept)
            found[again], kept[again] = self._fold(source, again.size)
        return found

    def _fold(self, source: Source, size: int) -> tuple[Any, Any]:
        """Draw Laplace noise, reduce its size modulo the period most + 1, and say which of it to keep.

        Every size j < period collects q^j + q^(j+period) + ... ∝ q^j on either side. Multiples of the period
        all become 0: of these the negative ones are not kept, so that 0 too collects 1 + q^period + ...
        """
        noise = super().draw(source, size)
        period = self.most + 1 if noise.dtype == object else min(self.most + 1, _SMALL)
        negative = noise < 0
        sizes = np.where(negative, -noise, noise) % period
        return np.where(negative, -sizes, sizes), np.asarray(~(negative & (sizes == 0)), dtype=np.bool_)

    @property
    def variance(self) -> float:
        """Return 2·Σ k²q^k / (1 + 2·Σ q^k) · step², k = 1 ... most, from geometric sums."""
        with working_precision(_BITS):
            q, first, beyond = self.power(1), self.most + 1, self.power(self.most + 1)
            ones, linear, squares = 1 / (1 - q), q / (1 - q) ** 2, q * (1 + q) / (1 - q) ** 3
            inside = squares - beyond * (first**2 * ones + 2 * first * linear + squares)
            return float(2 * inside / (1 + 2 * (q - beyond) * ones) * ball(self.step) ** 2)

    def loss(self, distance: Fraction, relation: Relation) -> PrivacyLoss:
        moved = math.ceil(distance / self.step)
        return truncated_laplace(scale=self.spread, sensitivity=moved, most=self.most, relation=relation)

    def describe(self) -> str:
        return (
            f"discrete Laplace noise of scale {show(self.scale)} on multiples of {show(self.step)}, "
            f"truncated at {show(self.most * self.step)}"
        )
