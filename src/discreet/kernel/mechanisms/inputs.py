"""Checks of what a mechanism is given: numbers, lists, arrays, and declared public values."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.laws import show
from discreet.kernel.mechanisms.lattice import FINENESS, SMALLEST_PRICE
from discreet.kernel.numerics import Real, exact, largest_power_of_two

_SAFE = 2.0**62  # whole numbers below it leave room for noise in int64


def exact_bounds(bounds: tuple[Real, Real]) -> tuple[Fraction, Fraction]:
    """Return declared bounds, lower first.

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
    """Return one-dimensional finite numbers of the data: float64, or exact Python ints."""
    array = values if isinstance(values, np.ndarray) else _array_of(values)
    if array.ndim != 1 or array.dtype.kind not in "iufO":
        raise InvalidParameter("values must be a list of numbers.", parameter="values")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidParameter("values must be finite. Drop NaN and infinities.", parameter="values")
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


def fine_step(*, scale: Fraction, sensitivity: Fraction) -> Fraction:
    """Return a step where only comparisons leave: 2^20 in a scale, and at least 2^10 in a sensitivity.

    >>> fine_step(scale=Fraction(2), sensitivity=Fraction(1)) == Fraction(1, 2**19)
    True
    """
    return largest_power_of_two(min(scale / FINENESS, sensitivity * SMALLEST_PRICE))


def to_steps(value: Any, step: Fraction, *, name: str = "value") -> int:
    """Return one number of the data in steps; a float stands for its binary value, and nothing is quoted.

    >>> to_steps(0.5, Fraction(1)), to_steps(-0.5, Fraction(1)), to_steps(3, Fraction(1, 4))
    (1, 0, 12)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Rational | float):
        raise InvalidParameter(f"{name} must be a number, got {type(value).__name__}.", parameter=name)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidParameter(f"{name} must be finite.", parameter=name)
    return math.floor(Fraction(value) / step + Fraction(1, 2))


def all_to_steps(
    values: NDArray[Any] | Sequence[Any], step: Fraction, *, name: str = "values"
) -> NDArray[Any]:
    """Return many numbers in steps: int64 where they fit with room to spare, else exact Python ints."""
    array = values if isinstance(values, np.ndarray) else None
    if (
        array is None
        and (kinds := {type(value) for value in values})
        and len(kinds) == 1
        and kinds <= {int, float}
    ):
        array = np.asarray(values)
    if array is not None and array.ndim == 1 and array.dtype.kind in "if" and array.dtype.itemsize <= 8:
        fast = _vector_to_steps(array, step, name)
        if fast is not None:
            return fast
    each = [to_steps(value, step, name=name) for value in values]
    out = np.empty(len(each), dtype=object)
    out[:] = each
    if each and max(map(abs, each)) < _SAFE:
        return out.astype(np.int64)
    return out if each else out.astype(np.int64)


def _vector_to_steps(array: NDArray[Any], step: Fraction, name: str) -> NDArray[np.int64] | None:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise InvalidParameter(f"{name} must be finite.", parameter=name)
    if array.dtype.kind == "i" and step == 1:
        return array.astype(np.int64) if _largest(array) < _SAFE else None
    if step != 1 and (step.numerator & (step.numerator - 1) or step.denominator & (step.denominator - 1)):
        return None
    if array.dtype.kind == "i" and _largest(array) >= 2.0**53:
        return None  # not every whole number up there is a float
    exponent = step.numerator.bit_length() - step.denominator.bit_length()
    with np.errstate(over="ignore"):
        scaled = np.ldexp(array.astype(np.float64), -exponent)
    if not _largest(scaled) < _SAFE or (exponent > 0 and (np.ldexp(scaled, exponent) != array).any()):
        return None
    steps = np.floor(scaled)
    steps += scaled - steps >= 0.5  # ⌊x + 1/2⌋ without the rounding error of x + 1/2
    return steps.astype(np.int64)


def _largest(values: NDArray[Any]) -> float:
    return max(abs(float(values.max())), abs(float(values.min()))) if values.size else 0.0


# Declared public values, and which of them a given one is.

_PLAIN = (bool, int, float, str)  # types that an array of numpy may hold without loss


def check_values(values: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Check that there are at least two values, no two equal; NaN, which equals nothing, is refused."""
    try:
        listed = tuple(values)
        different = len(set(listed)) == len(listed)
    except TypeError:
        raise InvalidParameter("values must be a list of hashable values.", parameter="values") from None
    if len(listed) < 2 or not different or any(isinstance(v, float) and math.isnan(v) for v in listed):
        raise InvalidParameter("values must be at least two, all different.", parameter="values")
    return listed


@dataclass(frozen=True)
class Labels:
    """Declared values, each with its place. A given value is the declared one that it equals.

    To Python True equals 1, so the type of an input does not tell which value is meant, and
    nothing that leaves may depend on it: what leaves is a declared value.

    >>> Labels((0, 1, 2)).places([True, 0]), Labels((True, False, None)).places([None, True])
    ([1, 0], [2, 0])
    """

    values: tuple[Hashable, ...]

    @cached_property
    def are_bits(self) -> bool:
        """Return whether they are 0 and 1, or False and True."""
        return self.values == (0, 1) and self._alike

    @cached_property
    def _alike(self) -> bool:
        return len({type(value) for value in self.values}) == 1

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {value: place for place, value in enumerate(self.values)}

    def places(self, given: Iterable[Any]) -> list[int]:
        """Return the place of each given value; what was not declared is refused without being quoted."""
        try:
            return [self._place[value] for value in given]
        except (KeyError, TypeError):
            raise InvalidParameter("value must be one of the declared values.", parameter="value") from None

    def table(self, kind: np.dtype[Any]) -> NDArray[Any]:
        """Return the values as an array of this type, or of the first that holds them all: none is cut
        short."""
        plain = np.array(self.values if self._alike and isinstance(self.values[0], _PLAIN) else [None])
        for held in (kind, plain.dtype):
            try:
                array: NDArray[Any] = plain.astype(held)
            except (ValueError, TypeError, OverflowError):
                continue
            if array.tolist() == list(self.values):
                return array
        objects = np.empty(len(self.values), dtype=object)
        for place, value in enumerate(self.values):
            objects[place] = value
        return objects
