"""Sparse: which values are above a threshold, up to a number of them?"""

from typing import Any

from discreet.mechanisms.above_threshold import stream_draw
from discreet.mechanisms.example import Example
from discreet.mechanisms.sparse_vector import SparseVector


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
        """Whether the value is above, by the noise; after the last True the stream is finished."""
        with self._lock:
            self._check_open()
            return self._compare(value)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Cases for the shared checks."""
        seeds = cls(epsilon=3, threshold=1, count=2, step=1)
        optimal = cls(epsilon=3, threshold=1, count=2, step=1, split="optimal")
        return (
            Example(seeds, ((0, 1, 1), (1, 0, 0)), stream_draw(seeds)),
            Example(optimal, ((0, 1, 1), (1, 0, 0)), stream_draw(optimal)),
        )
