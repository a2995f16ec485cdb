"""Values on a lattice of public step, in exact whole numbers of steps, and back.

A value x becomes ⌊x/step + 1/2⌋ steps. A float is data here: it stands for its binary value. Rounding can
move two values apart, so the sensitivity is counted after it (docs/theory/lattice.md).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_positive, exponent_of_two, largest_power_of_two

Draw: TypeAlias = Callable[[int | None], Any]  # None: one exact int; n: an array of n whole numbers

FINENESS = 1 << 20  # steps in one scale, where data are not whole
SMALLEST_PRICE = Fraction(1, 1 << 10)  # cheaper releases keep this price's step: 2^10 steps in a sensitivity
FINEST = 64  # steps in a sensitivity up to which laws of several noisy numbers are listed
_CHUNK = 1 << 14  # values at a time: they stay in cache
WIDE = 1 << 55  # noise that falls off by e in less passes 2^62 with probability < e^-127
_SAFE = 1 << 62  # two whole numbers below it add up within int64


def choose_step(step: Real | None, *, scale: Fraction, sensitivity: Fraction) -> Fraction:
    """Return the declared step, else 1 for whole sensitivity, else the largest power of two <= scale/2^20.

    >>> choose_step(None, scale=Fraction(10), sensitivity=Fraction(1, 2))
    Fraction(1, 131072)
    """
    if step is None:
        return Fraction(1) if sensitivity.denominator == 1 else largest_power_of_two(scale / FINENESS)
    chosen = exact_positive(step, name="step")
    if chosen != largest_power_of_two(chosen):
        raise InvalidParameter(f"step must be a power of two, got {step}.", parameter="step")
    return chosen


@dataclass(frozen=True)
class Lattice:
    """The multiples of a power of two."""

    step: Fraction
    wide: bool = False  # whether the noise outgrows int64

    @cached_property
    def exponent(self) -> int:
        """Return log2 of the step."""
        return exponent_of_two(self.step)

    @property
    def moves(self) -> bool:
        """Return whether rounding can move a value. On step 1 floats are refused and whole numbers stay."""
        return self.step != 1

    def moves_several(self, value: Any) -> bool:
        """Return whether rounding can move more than one of the numbers in a list or array, by its type
        alone."""
        return self.moves and several(value) and (self.step > 1 or _holds_floats(value))

    def add(self, value: Any, draw: Draw) -> Any:
        """Add noise in steps to the value on the lattice, in the value's own type and shape.

        The type of an array that leaves depends on the one that came and on the lattice, never on a value:
        whole numbers are int64, cut off at its ends, which is post-processing; under wide noise, and where
        they came so, Python's ints.
        """
        if isinstance(value, np.ndarray):
            return self._add_array(value, draw)
        if isinstance(value, list):
            numbers = [self._check(number) for number in flatten(value)]
            return _rebuild(value, iter(self._add_each(numbers, draw(len(numbers)))))
        return self._finish(self._check(value), draw(None))

    def _check(self, value: Any) -> int | float:
        """Return a number of the data as int or float; anything else is refused without being quoted."""
        if type(value) is int or (isinstance(value, int | np.integer) and not isinstance(value, bool)):
            return int(value)
        if not isinstance(value, float | np.float32 | np.float16):
            raise InvalidParameter(
                f"value must be made of ints or floats, got {type(value).__name__}. "
                "Several are a list, a tuple, an array or a series of numbers.",
                parameter="value",
            )
        self._allow_floats()
        if not math.isfinite(value):
            raise InvalidParameter("value must be finite.", parameter="value")
        return float(value)

    def _allow_floats(self) -> None:
        if self.step >= 1:
            raise InvalidParameter(
                f"value must be whole on a step of {self.step}, got floats. Declare a step below 1, such as "
                "step=2**-20, or a sensitivity that is not whole.",
                parameter="value",
            )

    def _finish(self, value: int | float, noise: int) -> int | float:
        steps = self._round(value) + noise
        return self._whole(steps) if isinstance(value, int) else self._float(steps)

    def _round(self, value: int | float) -> int:
        """Return ⌊value/step + 1/2⌋, exactly."""
        exponent = self.exponent
        if isinstance(value, float):  # the step is below 1
            above, below = value.as_integer_ratio()
            return ((above << (1 - exponent)) + below) // (2 * below)
        return value << -exponent if exponent <= 0 else (value + (1 << (exponent - 1))) >> exponent

    def _whole(self, steps: int) -> int:
        """Return steps as a whole number; on a step below 1 the nearest one, which is post-processing."""
        exponent = self.exponent
        return steps << exponent if exponent >= 0 else (steps + (1 << (-exponent - 1))) >> -exponent

    def _float(self, steps: int) -> float:
        """Return steps as a float: exact where it fits, else the nearest, which is post-processing."""
        try:
            return steps / (1 << -self.exponent)  # a quotient of ints is correctly rounded
        except OverflowError:
            return math.inf if steps > 0 else -math.inf

    def _add_each(self, values: list[int | float], noise: Any) -> list[int | float]:
        return [self._finish(value, int(extra)) for value, extra in zip(values, noise, strict=True)]

    def _add_array(self, values: NDArray[Any], draw: Draw) -> NDArray[Any]:
        kind, flat = values.dtype.kind, values.reshape(-1)
        if kind == "f" and values.dtype.itemsize <= 8:
            self._allow_floats()
            released: NDArray[Any] = self._add_floats(flat.astype(np.float64), draw)
        elif kind in "iu":
            released = self._add_whole(flat, draw)
        elif kind == "O":
            checked = [self._check(value) for value in flat]
            released = _objects(self._add_each(checked, draw(flat.size)))
        else:
            raise InvalidParameter(f"value must hold ints or floats, got {values.dtype}.", parameter="value")
        return released.reshape(values.shape)

    def _add_floats(self, values: NDArray[np.float64], draw: Draw) -> NDArray[np.float64]:
        if not np.isfinite(values).all():
            raise InvalidParameter("value must be finite.", parameter="value")
        noise = draw(values.size)
        room = math.ldexp(_SAFE, self.exponent) if self.exponent > -1000 else 0.0
        if noise.dtype == object or _largest(values) >= room or _largest(noise) >= _SAFE:
            return np.array(self._add_each(values.tolist(), noise), dtype=np.float64)
        for start in range(0, values.size, _CHUNK):
            chunk = slice(start, start + _CHUNK)
            noise[chunk] += self._round_floats(values[chunk])
            np.multiply(noise[chunk], 2.0**self.exponent, out=values[chunk])
        return values

    def _round_floats(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return ⌊value/step + 1/2⌋ for values of less than 2^62 steps, whose product with 1/step is
        exact."""
        scaled = values * 2.0**-self.exponent
        below = np.floor(scaled)
        # A fraction that is rounded is far from 1/2: no error like that of ⌊x + 1/2⌋ in floating point.
        return below.astype(np.int64) + (scaled - below >= 0.5)

    def _add_whole(self, values: NDArray[Any], draw: Draw) -> NDArray[Any]:
        noise = draw(values.size)
        room = _SAFE >> abs(self.exponent) if abs(self.exponent) < 60 else 0
        # On step 1 only the data can be too large: noise in int64 stays below 2^61.
        fits = not self.wide and noise.dtype != object and (self.exponent == 0 or _stays_below(noise, room))
        if not fits or not _stays_below(values, room):
            released = self._add_each(values.tolist(), noise)
            return _objects(released) if self.wide else _saturated(released)
        return self._add_small(values.astype(np.int64, copy=False), noise)

    def _add_small(self, values: NDArray[np.int64], noise: NDArray[np.int64]) -> NDArray[np.int64]:
        """Finish many whole numbers that stay far inside int64."""
        exponent = self.exponent
        if exponent == 0:
            noise += values
            return noise
        if exponent > 0:
            half = np.int64(1) << (exponent - 1)
            return ((values + half >> exponent) + noise) << exponent
        half = np.int64(1) << (-exponent - 1)
        return (values << -exponent) + noise + half >> -exponent


def _stays_below(values: NDArray[Any], room: int) -> bool:
    """Return whether all whole numbers are strictly between -room and room."""
    return values.size == 0 or (int(values.max()) < room and int(values.min()) > -room)


def _largest(values: NDArray[Any]) -> float:
    return max(abs(float(values.max())), abs(float(values.min()))) if values.size else 0.0


def _objects(values: list[int | float]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _saturated(values: list[int | float]) -> NDArray[np.int64]:
    ends = np.iinfo(np.int64)
    return np.array([min(max(value, ends.min), ends.max) for value in values], dtype=np.int64)


def as_given(value: Any) -> Any:
    """Return a tuple as a list, and a pandas or Polars series as an array; anything else as it is.

    >>> as_given(((1, 2), [3]))
    [[1, 2], [3]]
    """
    if isinstance(value, list | tuple):
        return [as_given(each) for each in value]
    return value.to_numpy() if hasattr(value, "to_numpy") else value


def several(value: Any) -> bool:
    """Return whether there is more than one number in a list or array."""
    if isinstance(value, np.ndarray):
        return value.size > 1
    return isinstance(value, list) and len(list(islice(flatten(value), 2))) > 1


def _holds_floats(value: Any) -> bool:
    """Return whether the numbers of a list or array may be other than whole, by their types."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        return value.dtype.kind not in "iu"
    numbers = value.reshape(-1) if isinstance(value, np.ndarray) else flatten(value)
    return any(not isinstance(number, int | np.integer) for number in numbers)


def flatten(values: list[Any]) -> Iterator[Any]:
    """Return the numbers of a list of lists, from left to right."""
    for value in values:
        if isinstance(value, list):
            yield from flatten(value)
        else:
            yield value


def _rebuild(values: list[Any], released: Iterator[Any]) -> list[Any]:
    return [_rebuild(value, released) if isinstance(value, list) else next(released) for value in values]
