"""NumericSparse: the values above a threshold, each released with noise of its own."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from discreet.errors import InvalidParameter
from discreet.losses import PrivacyLoss, pure
from discreet.mechanisms.above_threshold import stream_draw
from discreet.mechanisms.example import Example
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sparse_noise import (
    TOLERANCE,
    SparseNoise,
    optimal_noise,
    seeds_noise,
    textbook_sigma,
)
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.numerics import ball, least_passing, round_down, working_precision

_SHARE = Fraction(1, 9)  # of the price, for the values: the textbook's share at delta = 0


class NumericSparse(SparseVector):
    """Sparse with ε₁, and for each "above" the value with fresh Laplace noise of scale σ(ε₂)Δ.

    δ = 0: ε₁ = 8ε/9, ε₂ = 2ε/9, σ(e) = 2c/e. δ > 0: ε₁ = √512/(√512+1)·ε, ε₂ = 2/(√512+1)·ε, σ(e) = √(32·c·ln(2/δ))/e.

    Privacy: (ε, δ)-DP (Dwork and Roth 2014, Theorem 3.28). ε₁ + ε₂ > ε is no mistake: σ was made for a threshold and
    a query together, so a value alone costs ε₂/2. `loss` is that of what is sampled; for δ > 0 it is checked.
    Accuracy: `margin` for the comparisons, `values.error()` for a released number.

    >>> stream = NumericSparse(epsilon=9, threshold=1000)
    >>> stream.noise.round_epsilon, 1 / stream.values.scale  # 8 + 1: no more than was asked for
    (Fraction(8, 1), Fraction(1, 1))
    """

    values: Laplace

    def _calibrate(self) -> SparseNoise:
        noise, price = self._shares()
        self.values = Laplace(
            epsilon=price, sensitivity=self.sensitivity, step=self._declared_step, relation=self.relation
        )
        return noise

    def _shares(self) -> tuple[SparseNoise, Fraction]:
        """The noise of the comparisons, and the price of each released value."""
        if self.split == "seeds":
            return self._textbook()
        if self.delta == 0 or self.count == 1:
            compared = optimal_noise(
                epsilon=(1 - _SHARE) * self.epsilon, delta=Fraction(0), count=self.count
            )
            return compared, _SHARE * self.epsilon / self.count
        each = composed_price(self.epsilon, self.delta, self.count)
        return optimal_noise(epsilon=(1 - _SHARE) * each, delta=Fraction(0), count=1).repeat(
            self.count
        ), _SHARE * each

    def _textbook(self) -> tuple[SparseNoise, Fraction]:
        compared, valued = (1 - _SHARE) * self.epsilon, 2 * _SHARE * self.epsilon
        if self.delta > 0:
            with working_precision(128):  # rounded down: the noise only grows
                root = ball(512).sqrt()
                compared = Fraction(round_down(root / (root + 1))) * self.epsilon
                valued = Fraction(round_down(2 / (root + 1))) * self.epsilon
        noise = seeds_noise(epsilon=compared, delta=self.delta, count=self.count, failures=2)
        sigma = textbook_sigma(epsilon=valued, delta=self.delta, count=self.count, failures=2)
        return noise, 1 / sigma

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole stream costs: its comparisons, and up to `count` released values."""
        return self.noise.loss(self.relation) + self.count * self.values.loss

    def test(self, value: Any) -> Any:
        """The value with noise if it is above, else None; after the last number the stream is finished."""
        with self._lock:
            self._check_open()
            if isinstance(value, float | np.floating) and self.values.step >= 1:
                raise InvalidParameter(
                    f"value must be whole on a step of {self.values.step}, got a float. Declare a step below 1.",
                    parameter="value",
                )
            return self.values._release(value, self._source) if self._compare(value) else None

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Cases for the shared checks."""
        seeds = cls(epsilon=9, threshold=1, step=1)
        optimal = cls(epsilon=9, threshold=1, step=1, split="optimal")
        return (
            Example(seeds, ((0, 1), (1, 0)), stream_draw(seeds)),
            Example(optimal, ((0, 1), (1, 0)), stream_draw(optimal)),
        )


@lru_cache(maxsize=256)
def composed_price(epsilon: Fraction, delta: Fraction, count: int) -> Fraction:
    """The most that each of `count` rounds, value included, may cost for (ε, δ)-DP by exact composition."""

    def passes(scale: Fraction) -> bool:
        # On whole numbers a value's noise is as bad as any of its price, so both are charged as pure.
        compared, valued = pure(epsilon=(1 - _SHARE) / scale), pure(epsilon=_SHARE / scale)
        return (count * compared + count * valued).delta(epsilon=epsilon) <= delta

    return 1 / least_passing(passes, start=count / epsilon, tolerance=TOLERANCE)
