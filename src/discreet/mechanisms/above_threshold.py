"""AboveThreshold: which is the first value above a threshold?"""

from collections.abc import Sequence
from typing import Any

from discreet.losses import Relation
from discreet.mechanisms.example import Example
from discreet.mechanisms.sparse_noise import Split
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.numerics import Real
from discreet.randomness import Source


class AboveThreshold(SparseVector):
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
        split: Split = "seeds",
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

    def test(self, value: Any) -> bool:
        """Whether the value is above, by the noise; after the first True the stream is finished."""
        with self._lock:
            self._check_open()
            return self._compare(value)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Cases for the shared checks."""
        seeds = cls(epsilon=2, threshold=1, step=1)
        optimal = cls(epsilon=2, threshold=0, step=1, split="optimal", relation="replace")
        return (
            Example(seeds, ((0, 0, 1, 1), (1, 1, 0, 0)), stream_draw(seeds)),
            Example(optimal, ((0, 1, 0), (1, 0, 1)), stream_draw(optimal)),
        )


def stream_draw(stream: Any) -> Any:
    """Run a stream anew on fixed values and report all its answers."""

    def _draw(values: Sequence[Any], source: Source) -> tuple[Any, ...]:
        stream._open(source)
        return tuple(stream.test(value) for value in values if not stream.finished)

    return _draw
