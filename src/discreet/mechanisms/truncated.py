"""Discrete Laplace noise that is cut off: it surely stays within a public distance."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.mechanisms.additive import Additive
from discreet.numerics import Arb, ball
from discreet.randomness import Source, discrete_laplace

_SMALL = 1 << 62  # noise that numpy holds in int64 stays below it


@dataclass(frozen=True)
class TruncatedLaplace(Additive):
    """Pr[noise = k] ∝ exp(-|k|/scale) for |k| <= most, on whole numbers.

    Accuracy: `error` holds exactly for this law, and never exceeds `most`.

    >>> TruncatedLaplace(Fraction(2), 4).error(confidence=0.999)
    4.0
    """

    scale: Fraction
    most: int
    step: Fraction = Fraction(1)

    @cached_property
    def _fall(self) -> Fraction:
        return -1 / self.scale

    def power(self, exponent: int) -> Arb:
        """q^exponent, q = exp(-1/scale)."""
        return ball(self._fall * exponent).exp()

    def tail(self, k: int) -> Arb:
        """Pr[noise >= k] = (q^k - q^(most+1)) / (1 + q - 2·q^(most+1)) for 1 <= k <= most."""
        if k > self.most:
            return ball(0)
        if k <= 0:
            return 1 - self.tail(1 - k)
        beyond = self.power(self.most + 1)
        return (self.power(k) - beyond) / (1 + self.power(1) - 2 * beyond)

    def _reach(self, confidence: Arb) -> Arb:
        # 2·tail(a + 1) <= 1 - confidence
        beyond = self.power(self.most + 1)
        allowed = (1 - confidence) * (1 + self.power(1) - 2 * beyond) / 2 + beyond
        return -ball(self.scale) * allowed.log() - 1

    @property
    def _length(self) -> Fraction:
        return self.scale

    def _noise(self, source: Source, size: int | None) -> Any:
        if size is None:
            return int(self._noise(source, 1)[0])
        found, kept = self._folded(source, size)
        while not kept.all():
            again = np.flatnonzero(~kept)
            found[again], kept[again] = self._folded(source, again.size)
        return found

    def _folded(self, source: Source, size: int) -> tuple[Any, Any]:
        """Laplace noise with its size reduced modulo the period most + 1, and which of it to keep.

        Every size j < period collects q^j + q^(j+period) + ... ∝ q^j on either side. Multiples of the period
        all become 0: of these the negative ones are not kept, so that 0 too collects 1 + q^period + ...
        """
        noise = discrete_laplace(source, self.scale, size)
        period = self.most + 1 if noise.dtype == object else min(self.most + 1, _SMALL)
        negative = noise < 0
        sizes = np.where(negative, -noise, noise) % period
        return np.where(negative, -sizes, sizes), np.asarray(~(negative & (sizes == 0)), dtype=np.bool_)
