"""The state of a sparse vector: a noisy threshold, a count of answers, and no way to run it twice."""

import math
import os
import threading
from fractions import Fraction
from typing import Any, NoReturn

from discreet.errors import Finished, InvalidParameter
from discreet.losses import PrivacyLoss, Relation, check_relation
from discreet.mechanisms.additive import show
from discreet.mechanisms.lattice import choose_step
from discreet.mechanisms.sparse_noise import (
    SparseNoise,
    Split,
    check_total,
    optimal_noise,
    seeds_noise,
)
from discreet.mechanisms.steps import fine_step, to_steps
from discreet.numerics import (
    Arb,
    Real,
    ball,
    exact,
    exact_delta,
    exact_epsilon,
    exact_positive,
    exact_probability,
    exact_whole,
    round_up,
    working_precision,
)
from discreet.randomness import Source, discrete_laplace, fresh_source

_ONCE = "a sparse vector cannot be copied or stored: a second run would be a second release"


class SparseVector:
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
        split: Split = "seeds",
        step: Real | None = None,
        relation: Relation = "add/remove",
    ) -> None:
        self.epsilon = exact_epsilon(epsilon)
        self.delta = exact_delta(delta)
        self.threshold = exact(threshold, name="threshold")
        self.sensitivity = exact_positive(sensitivity, name="sensitivity")
        self.count = exact_whole(count, name="count", least=1)
        if split not in ("seeds", "optimal"):
            raise InvalidParameter(
                f'split must be "seeds" or "optimal", got {str(split)[:60]}.', parameter="split"
            )
        self.split = split
        self.relation = check_relation(relation)
        self._declared_step = step
        self.noise = self._calibrate()
        # Only comparisons leave, so a fine lattice costs nothing.
        scale = self.sensitivity * min(self.noise.threshold, self.noise.query)
        fine = fine_step(scale=scale, sensitivity=self.sensitivity)
        self.step = choose_step(fine if step is None else step, scale=scale, sensitivity=self.sensitivity)
        if self.split == "seeds":
            check_total(self.noise, epsilon=self.epsilon, delta=self.delta)
        self._lock = threading.Lock()
        self._open(fresh_source())

    def _calibrate(self) -> SparseNoise:
        """The noise of the comparisons."""
        if self.split == "optimal":
            return optimal_noise(epsilon=self.epsilon, delta=self.delta, count=self.count)
        return seeds_noise(epsilon=self.epsilon, delta=self.delta, count=self.count)

    @property
    def loss(self) -> PrivacyLoss:
        """What the whole stream costs, however long it runs."""
        return self.noise.loss(self.relation)

    @property
    def finished(self) -> bool:
        """Whether the last "above" has been given."""
        return self._left == 0

    # --- the stream ----------------------------------------------------------------------------------------

    def _open(self, source: Source) -> None:
        self._process = os.getpid()
        self._source = source
        self._left = self.count
        self._left_in_round = self.noise.answers
        self._draw_threshold()

    def _moves(self) -> int:
        """The sensitivity in steps, after rounding."""
        return math.ceil(self.sensitivity / self.step)

    def _draw_threshold(self) -> None:
        noise = discrete_laplace(self._source, self._moves() * self.noise.threshold)
        self._noisy_threshold = to_steps(self.threshold, self.step) + noise

    def _compare(self, value: Any) -> bool:
        steps = to_steps(value, self.step)
        noisy = steps + discrete_laplace(self._source, self._moves() * self.noise.query)
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

    # --- accuracy ------------------------------------------------------------------------------------------

    def margin(self, *, queries: Real, confidence: Real = 0.95) -> float:
        """How far from the threshold a value must lie so that, at this confidence, all answers are right.

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
        """The least m whose tail is at most `missed`, in steps."""
        scale = self._moves() * multiple
        with working_precision(128):
            tail: Arb = 2 / (ball(missed) * (1 + (-ball(1 / scale)).exp()))
            return max(1, math.ceil(round_up(tail.log() * ball(scale))))

    def describe(self) -> str:
        """One sentence for a receipt."""
        return (
            f"{type(self).__name__} with epsilon {show(self.epsilon)}, delta {show(self.delta)}, "
            f"threshold {show(self.threshold)}, sensitivity {show(self.sensitivity)}, "
            f"at most {self.count} above, {self.split} split ({self.relation})."
        )

    def __repr__(self) -> str:
        return f"<{self.describe()[:-1]}>"

    # --- once only -----------------------------------------------------------------------------------------

    def __copy__(self) -> NoReturn:
        raise TypeError(_ONCE)

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError(_ONCE)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(_ONCE)

    def __getstate__(self) -> NoReturn:
        raise TypeError(_ONCE)
