"""Declared bounds, and the numbers of a data set."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.mechanisms.additive import show
from discreet.numerics import Real, exact


def exact_bounds(bounds: tuple[Real, Real]) -> tuple[Fraction, Fraction]:
    """Declared bounds, lower first.

    >>> exact_bounds((0, 0.5))
    (Fraction(0, 1), Fraction(1, 2))
    """
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise InvalidParameter("bounds must be two numbers, (lower, upper).", parameter="bounds")
    low, high = (exact(bound, name="bounds") for bound in bounds)
    if low >= high:
        raise InvalidParameter(
            f"bounds must have lower < upper, got ({show(low)}, {show(high)}).", parameter="bounds"
        )
    return low, high


def as_numbers(values: Any) -> NDArray[Any]:
    """One-dimensional finite numbers of the data: float64, or exact Python ints."""
    array = values if isinstance(values, np.ndarray) else _array_of(values)
    if array.ndim != 1 or array.dtype.kind not in "iufO":
        raise InvalidParameter("values must be a list of numbers.", parameter="values")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidParameter("values must be finite.", parameter="values")
    if array.dtype.kind == "f" or (array.dtype.kind in "iu" and np.all(np.abs(array) < 1 << 53)):
        return array.astype(np.float64)
    return array.astype(object)


def _array_of(values: Sequence[Any]) -> NDArray[Any]:
    kinds = {type(value) for value in values}
    if not kinds <= {int, float}:
        kinds = {_kind(value) for value in values}
    if kinds == {int} and max(map(abs, values)) >= 1 << 53:
        return np.array([int(value) for value in values], dtype=object)
    if kinds == {int, float} and any(abs(value) >= 1 << 53 for value in values):
        return np.array([Fraction(value) for value in values], dtype=object)
    return np.array([float(value) for value in values], dtype=np.float64)


def _kind(value: Any) -> type:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise InvalidParameter("values must be a list of numbers.", parameter="values")
    return int if isinstance(value, int | np.integer) else float
