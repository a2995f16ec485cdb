"""NumericSparse: the values above a threshold, each released with noise of its own.

Tested by: tests/mechanisms/test_sparse.py
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, add_values
from discreet.kernel.mechanisms.inputs import to_steps
from discreet.kernel.mechanisms.laplace import Laplace
from discreet.kernel.mechanisms.mechanism import Case
from discreet.kernel.mechanisms.sparse_noise import SparseNoise, optimal_noise, textbook_noise, textbook_sigma
from discreet.kernel.mechanisms.sparse_vector import SparseVector
from discreet.kernel.numerics import ball, round_down, working_precision

_SHARE = Fraction(1, 9)  # of the price, for the values: the textbook's share at delta = 0


class NumericSparse(SparseVector):
    """Sparse with ε₁, and for each "above" the value with fresh Laplace noise of scale σ(ε₂)Δ.

    δ = 0: ε₁ = 8ε/9, ε₂ = 2ε/9, σ(e) = 2c/e.
    δ > 0: ε₁ = √512/(√512+1)·ε, ε₂ = 2/(√512+1)·ε, σ(e) = √(32·c·ln(2/δ))/e.

    Privacy: (ε, δ)-DP (Dwork and Roth 2014, Theorem 3.28). ε₁ + ε₂ > ε is no mistake: σ was made for a
    threshold and a query together, so a value alone costs ε₂/2. `loss` is that of what is sampled; for δ > 0
    it is checked.
    Accuracy: `margin` for the comparisons, `values.error()` for a released number.

    >>> stream = NumericSparse(epsilon=9, threshold=1000)
    >>> stream.noise.value_epsilon, stream.noise.round_epsilon  # 1 of 9: no more than was asked for
    (Fraction(1, 1), Fraction(9, 1))
    """

    values: Laplace

    def _calibrate(self) -> SparseNoise:
        noise = self._textbook() if self.split == "textbook" else self._optimal()
        self.values = Laplace(
            epsilon=noise.value_epsilon,
            sensitivity=self.sensitivity,
            step=self._declared_step,
            relation=self.relation,
        )
        return noise

    def _optimal(self) -> SparseNoise:
        return optimal_noise(epsilon=self.epsilon, delta=self.delta, count=self.count, share=_SHARE)

    def _textbook(self) -> SparseNoise:
        compared, valued = (1 - _SHARE) * self.epsilon, 2 * _SHARE * self.epsilon
        if self.delta > 0:
            with working_precision(128):  # rounded down: the noise only grows
                root = ball(512).sqrt()
                compared = Fraction(round_down(root / (root + 1))) * self.epsilon
                valued = Fraction(round_down(2 / (root + 1))) * self.epsilon
        noise = textbook_noise(epsilon=compared, delta=self.delta, count=self.count, failures=2)
        sigma = textbook_sigma(epsilon=valued, delta=self.delta, count=self.count, failures=2)
        return replace(noise, value_epsilon=1 / sigma)

    def test(self, value: Any) -> Any:
        """Return the value with noise if it is above, else None; after the last number the stream is
        finished."""
        with self._lock:
            self._check_open()
            if isinstance(value, float | np.floating) and self.values.step >= 1:
                raise InvalidParameter(
                    f"value must be whole on a step of {self.values.step}, got a float. "
                    "Declare a step below 1.",
                    parameter="value",
                )
            return self.values.draw(value, self._source) if self._compare(value) else None

    def law(self, values: Sequence[Any]) -> FiniteLaw | None:
        """Return the probability of each sequence of answers; None on a fine lattice, or for several."""
        transcripts = super().law(values) if self.count == 1 else None
        if transcripts is None:
            return None
        step, noise = self.values.step, self.values.noise
        last = to_steps(self.threshold, step)
        first = last - math.ceil(self.sensitivity / step)
        noisy = [noise.blocks(to_steps(value, step), first=first, last=last) for value in values]
        return add_values(transcripts, noisy)

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        stream = {"epsilon": 9, "threshold": 1, "step": 1}
        return Case(stream, ((0, 1), (1, 0))), Case({**stream, "split": "optimal"}, ((0, 1), (1, 0)))
