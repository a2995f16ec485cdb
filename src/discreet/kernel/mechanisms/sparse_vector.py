"""Sparse vectors: which values of a stream are above a threshold? Paid for whole, run once.

Tested by: tests/mechanisms/test_sparse.py
"""

import inspect
import math
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn, Self

import numpy as np

from discreet.errors import Finished, InvalidParameter
from discreet.kernel.laws import FiniteLaw, LaplaceLaw, add_values, compute_transcripts, plain, show
from discreet.kernel.losses import PrivacyLoss, Relation, check_relation
from discreet.kernel.mechanisms.inputs import fine_step, to_steps
from discreet.kernel.mechanisms.laplace import Laplace
from discreet.kernel.mechanisms.lattice import FINEST, choose_step
from discreet.kernel.mechanisms.mechanism import Case, Pair, law_html
from discreet.kernel.mechanisms.sparse_noise import (
    SparseNoise,
    Split,
    check_total,
    optimal_noise,
    textbook_noise,
    textbook_sigma,
)
from discreet.kernel.numerics import (
    Real,
    ball,
    exact,
    exact_delta,
    exact_epsilon,
    exact_positive,
    exact_probability,
    exact_whole,
    round_down,
    round_up,
    working_precision,
)
from discreet.kernel.randomness import Source, fresh_source

_LENGTH = 6  # of the neighbouring streams
_ONCE = "a sparse vector cannot be copied or stored: a second run would be a second release"


class SparseVector(ABC):
    """A stream of adaptively chosen values, each compared with one noisy threshold.

    The whole price is paid when the object is made. It cannot be copied, stored or carried into a forked
    process: a second run on the same noisy threshold would be a second release.
    """

    def __init__(
        self,
        *,
        epsilon: Real,
        threshold: Real,
        sensitivity: Real = 1,
        count: Real = 1,
        delta: Real = 0,
        split: Split = "textbook",
        step: Real | None = None,
        relation: Relation = "add/remove",
    ) -> None:
        self.epsilon = exact_epsilon(epsilon)
        self.delta = exact_delta(delta)
        self.threshold = exact(threshold, name="threshold")
        self.sensitivity = exact_positive(sensitivity, name="sensitivity")
        self.count = exact_whole(count, name="count", least=1)
        self.split: Split = "textbook" if str(split) == "seeds" else split  # its name until the first release
        if self.split not in ("textbook", "optimal"):
            raise InvalidParameter(
                f'split must be "textbook" or "optimal", got {str(split)[:60]}.', parameter="split"
            )
        self.relation = check_relation(relation)
        self._declared_step = step
        self.noise = self._calibrate()
        # Only comparisons leave, so a fine lattice costs nothing.
        scale = self.sensitivity * min(self.noise.threshold, self.noise.query)
        fine = fine_step(scale=scale, sensitivity=self.sensitivity)
        self.step = choose_step(fine if step is None else step, scale=scale, sensitivity=self.sensitivity)
        if self.split == "textbook":
            check_total(self.noise, epsilon=self.epsilon, delta=self.delta)
        self._lock = threading.Lock()
        self._open(fresh_source())

    def _calibrate(self) -> SparseNoise:
        """Return the noise of the comparisons."""
        if self.split == "optimal":
            return optimal_noise(epsilon=self.epsilon, delta=self.delta, count=self.count)
        return textbook_noise(epsilon=self.epsilon, delta=self.delta, count=self.count)

    @property
    def loss(self) -> PrivacyLoss:
        """Return what the whole stream costs, however long it runs."""
        return self.noise.loss(self.relation)

    @property
    def finished(self) -> bool:
        """Return whether the last "above" has been given."""
        return self._left == 0

    # --- the stream ----------------------------------------------------------------------------------------

    def _open(self, source: Source) -> None:
        self._process = os.getpid()
        self._source = source
        self._left = self.count
        self._left_in_round = self.noise.answers
        self._draw_threshold()

    def _law(self, multiple: Fraction) -> LaplaceLaw:
        """Return the law, in steps, of noise whose scale is this multiple of the sensitivity after
        rounding."""
        return LaplaceLaw(math.ceil(self.sensitivity / self.step) * multiple)

    def _draw_threshold(self) -> None:
        noise = self._law(self.noise.threshold).draw(self._source)
        self._noisy_threshold = to_steps(self.threshold, self.step) + noise

    def _compare(self, value: Any) -> bool:
        steps = to_steps(value, self.step)
        noisy = steps + self._law(self.noise.query).draw(self._source)
        if noisy < self._noisy_threshold:
            return False
        self._left -= 1
        self._left_in_round -= 1
        if self._left and not self._left_in_round:
            self._left_in_round = self.noise.answers
            self._draw_threshold()
        return True

    def _check_open(self) -> None:
        if os.getpid() != self._process:
            raise Finished("this stream belongs to the process that opened it. Open another and charge it.")
        if self.finished:
            raise Finished(f"this stream has given all its {self.count} answers. Open another and charge it.")

    # --- the whole stream at once --------------------------------------------------------------------------

    @abstractmethod
    def test(self, value: Any) -> Any:
        """Answer for the next value."""

    def _fresh(self) -> Self:
        """Return another stream of the same parameters, which nothing has charged: for audits and tests."""
        declared = inspect.signature(type(self)).parameters
        return type(self)(**{name: getattr(self, name) for name in declared})

    def _run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(self.test(value) for value in values if not self.finished)

    def draw(self, values: Sequence[Any], source: Source) -> tuple[Any, ...]:
        """Run another stream on fixed values, with randomness from `source`; return all its answers."""
        stream = self._fresh()
        stream._open(source)
        return stream._run(values)

    def sample(self, values: Sequence[Any], n: int) -> list[tuple[Any, ...]]:
        """Run n other streams on fixed values."""
        return [self._fresh()._run(values) for _ in range(n)]

    def law(self, values: Sequence[Any]) -> FiniteLaw | None:
        """Return the probability of each sequence of answers; None on a fine lattice."""
        if self.sensitivity / self.step > FINEST:
            return None
        threshold = to_steps(self.threshold, self.step)
        return compute_transcripts(
            [to_steps(value, self.step) - threshold for value in values],
            threshold=self._law(self.noise.threshold),
            query=self._law(self.noise.query),
            answers=self.noise.answers,
            count=self.count,
        )

    def neighbours(self) -> Sequence[Pair]:
        """Return streams whose values are at the threshold or one sensitivity below it, and cross."""
        half = _LENGTH // 2
        low, high = plain(self.threshold - self.sensitivity), plain(self.threshold)
        return [
            ([low] * half + [high] * half, [high] * half + [low] * half),
            ([low] * _LENGTH, [high] * _LENGTH),
            ([low] * (_LENGTH - 1) + [high], [high] * (_LENGTH - 1) + [low]),
        ]

    # --- accuracy ------------------------------------------------------------------------------------------

    def margin(self, *, queries: Real, confidence: Real = 0.95) -> float:
        """Return how far from the threshold a value must be so that, at this confidence, all answers are
        right.

        Accuracy: half of the missing confidence for the thresholds drawn, half for the queries, by their
        exact tails Pr[|X| >= m] = 2·e^(-m/s)/(1 + e^(-1/s)) and a union bound.
        """
        asked = exact_whole(queries, name="queries", least=1)
        missed = 1 - exact_probability(confidence, name="confidence")
        if missed == 0:
            return math.inf
        thresholds = self._tail(self.noise.threshold, missed / 2 / self.noise.rounds)
        return round_up((thresholds + self._tail(self.noise.query, missed / 2 / asked) + 1) * self.step)

    def _tail(self, multiple: Fraction, missed: Fraction) -> int:
        """Return the least m >= 1 with Pr[|X| >= m] at most `missed`, in steps."""
        return 1 + self._law(multiple).reach(1 - missed)

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        return (
            f"{type(self).__name__} with epsilon {show(self.epsilon)}, delta {show(self.delta)}, "
            f"threshold {show(self.threshold)}, sensitivity {show(self.sensitivity)}, "
            f"at most {self.count} above, {self.split} split ({self.relation})."
        )

    def __repr__(self) -> str:
        return f"<{self.describe()[:-1]}>"

    def _repr_html_(self) -> str:
        return law_html(self)

    # --- once only -----------------------------------------------------------------------------------------

    def __copy__(self) -> NoReturn:
        raise TypeError(_ONCE)

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError(_ONCE)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(_ONCE)

    def __getstate__(self) -> NoReturn:
        raise TypeError(_ONCE)


class Sparse(SparseVector):
    """Up to `count` times "above": noise Lap(σΔ) on the threshold, drawn anew each time, Lap(2σΔ) on each
    value.

    σ = 2c/ε, or √(32·c·ln(1/δ))/ε for δ > 0; split="optimal" proves less noise enough for the same price.
    Privacy: (ε, δ)-DP for any number of adaptive queries (Dwork and Roth 2014, Theorem 3.25); for δ > 0 the
    noise is checked by exact composition and refused where the book's bound does not hold.
    Accuracy: `margin`.

    >>> stream = Sparse(epsilon=1, threshold=1000, count=2)
    >>> [stream.test(value) for value in (10**6, -(10**6), 10**6)], stream.finished
    ([True, False, True], True)
    """

    def test(self, value: Any) -> bool:
        """Return whether the value is above, by the noise; after the last True the stream is finished."""
        with self._lock:
            self._check_open()
            return self._compare(value)

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        stream = {"epsilon": 3, "threshold": 1, "count": 2, "step": 1}
        pair = ((0, 1, 1), (1, 0, 0))
        return Case(stream, pair), Case({**stream, "split": "optimal"}, pair)


class AboveThreshold(Sparse):
    """Noise Lap(2Δ/ε) on the threshold once, Lap(4Δ/ε) on each value; ends with the first "above".

    Privacy: ε-DP for any number of adaptive queries (Dwork and Roth 2014, Theorem 3.23; on the lattice and
    for the "optimal" split: docs/theory/sparse-vector.md).
    Accuracy: `margin`.

    >>> stream = AboveThreshold(epsilon=1, threshold=1000)
    >>> stream.test(-(10**6)), stream.test(10**6), stream.finished
    (False, True, True)
    """

    def __init__(
        self,
        *,
        epsilon: Real,
        threshold: Real,
        sensitivity: Real = 1,
        split: Split = "textbook",
        step: Real | None = None,
        relation: Relation = "add/remove",
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            threshold=threshold,
            sensitivity=sensitivity,
            split=split,
            step=step,
            relation=relation,
        )

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        optimal = {"epsilon": 2, "threshold": 0, "step": 1, "split": "optimal", "relation": "replace"}
        return (
            Case({"epsilon": 2, "threshold": 1, "step": 1}, ((0, 0, 1, 1), (1, 1, 0, 0))),
            Case(optimal, ((0, 1, 0), (1, 0, 1))),
        )


# NumericSparse: the values above a threshold, each released with noise of its own.

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
