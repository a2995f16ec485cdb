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


@dataclass(frozen=True)
class Gaps:
    """factor · (best - score) of every candidate: floats, right to a relative 2^-50 or 2^-1000."""

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
    if factor < 0:
        array, factor = -array if array.dtype != np.int64 else -array.astype(object), -factor
    if array.dtype == object:
        best = max(array)
        values = np.array([float(factor * (best - score)) for score in array])
        return Gaps(values, array, Fraction(best), factor)
    top = array.max()
    if array.dtype == np.int64:  # the difference of two int64 fits uint64, and wraps to it
        distance = (top.view(np.uint64) - array.view(np.uint64)).astype(np.float64)
    else:
        with np.errstate(over="ignore"):  # an infinite gap is only read as a large one
            distance = top - array
    return Gaps(_scale(distance, factor), array, _fraction(top), factor)


def _scale(distance: NDArray[np.float64], factor: Fraction) -> NDArray[np.float64]:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        try:
            distance *= float(factor)
        except OverflowError:
            distance *= np.inf
    return np.nan_to_num(distance, copy=False, nan=0.0, posinf=np.inf)  # 0 · ∞: the best itself


def _fraction(score: Any) -> Fraction:
    return (
        Fraction(score)
        if isinstance(score, Fraction)
        else Fraction(score.item() if hasattr(score, "item") else score)
    )


def _array(scores: Scores) -> NDArray[Any]:
    array = scores if isinstance(scores, np.ndarray) else _from_sequence(scores)
    if array.ndim != 1 or array.size == 0:
        raise InvalidParameter("scores must be a list of at least one number.", parameter="scores")
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        if not np.isfinite(array).all():
            raise InvalidParameter("scores must be finite numbers.", parameter="scores")
        return array.astype(np.float64)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64)
    if array.dtype.kind in "uO":
        return np.array([_exact_score(score) for score in array], dtype=object)
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
    array[:] = scores
    return array


def _exact_score(score: Any) -> Fraction:
    """A float here is data: its binary value."""
    if isinstance(score, bool | np.bool_) or not isinstance(
        score, Rational | float | np.floating | np.integer
    ):
        raise InvalidParameter("scores must be whole, float or rational numbers.", parameter="scores")
    if isinstance(score, float | np.floating) and not np.isfinite(score):
        raise InvalidParameter("scores must be finite numbers.", parameter="scores")
    return Fraction(score.item() if isinstance(score, np.generic) else score)
