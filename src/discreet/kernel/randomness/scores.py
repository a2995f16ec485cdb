"""Scores of candidates, as exact gaps to the best one."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter

Scores: TypeAlias = NDArray[Any] | Sequence[Any]

_LARGEST_FACTOR = Fraction(2**900)  # beyond these, products and differences of floats are not trusted
_LARGEST_SPAN = Fraction(2**1023)


@dataclass(frozen=True)
class Gaps:
    """factor · (best - score) of every candidate."""

    scores: NDArray[Any]
    best: Fraction
    factor: Fraction
    known: NDArray[np.float64] | None  # the gaps as floats, where they cannot be had by float arithmetic

    @property
    def size(self) -> int:
        """Return how many candidates there are."""
        return self.scores.size

    def exact(self, index: int) -> Fraction:
        """Return the gap of one candidate, exactly."""
        return self.factor * (self.best - _fraction(self.scores[index]))

    def floats(self, part: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the gaps of some candidates, with an error of at most 2^-50 of them or 2^-1000."""
        if self.known is not None:
            return self.known[part]
        scores = self.scores[part]
        best = scores.dtype.type(self.best.numerator if scores.dtype == np.int64 else float(self.best))
        with np.errstate(over="ignore", under="ignore"):
            distance = best - scores if self.factor > 0 else scores - best
            if scores.dtype == np.int64 and distance.size and distance.min() < 0:
                distance = distance.view(np.uint64)  # the difference of two int64 wraps to its uint64
            gaps: NDArray[np.float64] = distance * float(abs(self.factor))
        return gaps


def gaps_of(scores: Scores, factor: Fraction) -> Gaps:
    """Return the gaps of finite scores; a negative factor prefers the least score.

    >>> gaps_of([3, 1, 2], Fraction(1, 2)).floats(slice(None)).tolist()
    [0.0, 1.0, 0.5]
    """
    array = _array(scores)
    low, high = _fraction(array.min()), _fraction(array.max())
    best = high if factor >= 0 else low
    known = None
    if not _floats_suffice(array, high - low, factor):
        known = np.array([_nearest(factor * (best - _fraction(score))) for score in array])
    return Gaps(array, best, factor, known)


def _floats_suffice(array: NDArray[Any], span: Fraction, factor: Fraction) -> bool:
    """Return whether no difference overflows and no product loses more than its last bits."""
    usual = 1 / _LARGEST_FACTOR < abs(factor) < _LARGEST_FACTOR
    return array.dtype != object and usual and span < _LARGEST_SPAN


def _nearest(gap: Fraction) -> float:
    try:
        return float(gap)
    except OverflowError:
        return float("inf")


def _array(scores: Scores) -> NDArray[Any]:
    array = scores if isinstance(scores, np.ndarray) else _from_sequence(scores)
    if array.ndim != 1 or array.size == 0:
        raise InvalidParameter("scores must be a list of at least one number.", parameter="scores")
    kind, small = array.dtype.kind, array.dtype.itemsize <= 8
    if kind == "f" and small:
        if not np.isfinite([array.min(), array.max()]).all():  # NaN is the minimum of any array that holds it
            raise InvalidParameter("scores must be finite numbers.", parameter="scores")
        return array.astype(np.float64, copy=False)
    if kind == "i" or (kind == "u" and array.max() < 1 << 63):
        return array.astype(np.int64, copy=False)
    if kind in "uO":
        exact = np.empty(array.size, dtype=object)
        exact[:] = [_fraction(score) for score in array]
        return exact
    raise InvalidParameter(
        f"scores must be whole, float or rational numbers, got {array.dtype}.", parameter="scores"
    )


def _from_sequence(scores: Sequence[Any]) -> NDArray[Any]:
    kinds = {type(score) for score in scores}
    if kinds == {float}:
        return np.array(scores, dtype=np.float64)
    if kinds == {int} and all(-(1 << 63) <= score < 1 << 63 for score in scores):
        return np.array(scores, dtype=np.int64)
    array = np.empty(len(scores), dtype=object)
    array[:] = list(scores)
    return array


def _fraction(score: Any) -> Fraction:
    """Return a score as a rational; a float here is data and stands for its binary value."""
    number = score.item() if isinstance(score, np.generic) else score
    if isinstance(number, bool) or not isinstance(number, Rational | float):
        raise InvalidParameter("scores must be whole, float or rational numbers.", parameter="scores")
    if isinstance(number, float) and not np.isfinite(number):
        raise InvalidParameter("scores must be finite numbers.", parameter="scores")
    return Fraction(number)
