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

_LARGEST_FACTOR = Fraction(2**900)  # beyond, products of floats are not trusted


@dataclass(frozen=True)
class Gaps:
    """factor · (best - score) of every candidate, in floats with an error of 2^-50 of it or 2^-1000."""

    values: NDArray[np.float64]
    scores: NDArray[Any]
    best: Fraction
    factor: Fraction

    def exact(self, index: int) -> Fraction:
        """The gap of one candidate, exactly."""
        return self.factor * (self.best - _fraction(self.scores[index]))


def gaps_of(scores: Scores, factor: Fraction) -> Gaps:
    """The gaps of finite scores; a negative factor prefers the least score.

    >>> gaps_of([3, 1, 2], Fraction(1, 2)).values.tolist()
    [0.0, 1.0, 0.5]
    """
    array = _array(scores)
    top = _fraction(array.max() if factor >= 0 else array.min())
    values = _float_gaps(array, factor)
    if values is None:
        values = np.array([_nearest(factor * (top - _fraction(score))) for score in array])
    return Gaps(values, array, top, factor)


def _float_gaps(array: NDArray[Any], factor: Fraction) -> NDArray[np.float64] | None:
    """The gaps by three roundings each; None where floats could go astray."""
    if array.dtype == object or not 1 / _LARGEST_FACTOR < abs(factor) < _LARGEST_FACTOR:
        return None
    low, high = (array.min(), array) if factor < 0 else (array, array.max())
    with np.errstate(over="ignore"):
        distance = high - low
    if array.dtype == np.int64:
        # The difference of two int64 fits uint64 and wraps to it; int64, where it fits, is converted faster.
        fits = int(array.max()) - int(array.min()) < 1 << 63
        distance = (distance if fits else distance.view(np.uint64)).astype(np.float64)
    elif not np.isfinite(distance).all():
        return None
    with np.errstate(over="ignore", under="ignore"):
        gaps: NDArray[np.float64] = np.multiply(distance, float(abs(factor)))
    return gaps


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
        if not np.isfinite(array).all():
            raise InvalidParameter("scores must be finite numbers.", parameter="scores")
        return array.astype(np.float64)
    if kind == "i" or (kind == "u" and array.max() < 1 << 63):
        return array.astype(np.int64)
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
    """A score as a rational; a float here is data and stands for its binary value."""
    number = score.item() if isinstance(score, np.generic) else score
    if isinstance(number, bool) or not isinstance(number, Rational | float):
        raise InvalidParameter("scores must be whole, float or rational numbers.", parameter="scores")
    if isinstance(number, float) and not np.isfinite(number):
        raise InvalidParameter("scores must be finite numbers.", parameter="scores")
    return Fraction(number)
