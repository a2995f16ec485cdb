"""What every mechanism that adds noise shares: release, error and interval."""

import math
import warnings
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.mechanisms.lattice import WIDE, Lattice, flatten, several
from discreet.numerics import (
    Arb,
    Interval,
    Real,
    ball,
    exact_confidence,
    exact_whole,
    round_down,
    round_up,
    working_precision,
)
from discreet.randomness import Source, fresh_source

Value = TypeVar("Value", int, float, list[Any], NDArray[Any])

_ERROR_BITS = 256


def show(value: Fraction) -> str:
    """A parameter as a reader wants it: whole, short decimal, or fraction.

    >>> show(Fraction(10_000)), show(Fraction(1, 8)), show(Fraction(1, 3))
    ('10,000', '0.125', '1/3')
    """
    if value.denominator == 1 or Fraction(repr(float(value))) != value:
        shown = f"{value.numerator:,}" if value.denominator == 1 else str(value)
        return shown if len(shown) <= (32 if value.denominator == 1 else 12) else f"{float(value):.6g}"
    return repr(float(value))


class DimensionWarning(UserWarning):
    """Several numbers were rounded, and nobody said how many of them one unit can change at once."""


_ASSUMED = (
    "one unit is taken to change one of these numbers, because dimension was not given. If it can change "
    "more, declare dimension=: rounding then counts for each of them."
)

_NEEDED = (
    "dimension must be given to release several numbers: the loss depends on how many of them one unit can "
    "change at once. Declare dimension=."
)


class Additive(ABC):
    """Noise on the multiples of a public step, added to whatever is released."""

    step: Fraction
    _assumed: bool = False  # whether `dimension` was left to its default
    _loss_needs_dimension: ClassVar[bool] = False  # whether it decides more than how rounding counts

    def _fix(self, **fields: object) -> None:
        """Set the fields of a frozen mechanism, once, when it is made."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def release(self, value: Value) -> Value:
        """The value plus noise: int for int, float for float, lists and arrays in their own shape.

        The type that is given is public. Arrays of whole numbers come back as int64, cut off at its ends
        (as Python's ints where the noise itself is wider); lists hold whatever there is. NaN and infinity
        are refused by an error, which tells that they are there: clean the data first.
        """
        if self._assumed and self._loss_needs_dimension and several(value):
            raise InvalidParameter(_NEEDED, parameter="dimension")
        if self._assumed and self._lattice.moves_several(value):
            warnings.warn(_ASSUMED, DimensionWarning, stacklevel=2)
        return self._release(value, fresh_source())

    def _release(self, value: Value, source: Source) -> Value:
        released: Value = self._lattice.add(value, partial(self._noise, source))
        return released

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice(self.step, wide=self._length >= WIDE)

    @property
    @abstractmethod
    def _length(self) -> Fraction:
        """A length in which the noise falls off by a factor of e, or more."""

    @abstractmethod
    def _noise(self, source: Source, size: int | None) -> Any:
        """Noise in steps."""

    @abstractmethod
    def _reach(self, confidence: Arb) -> Arb:
        """Steps that the noise exceeds in size with probability at most 1 - confidence."""

    def error(self, *, confidence: Real = 0.95, dimension: Real = 1) -> float:
        """The distance from the truth within which `dimension` released numbers all lie, at this confidence.

        Rounding a value to the lattice counts (half a step, nothing for whole numbers on step 1).
        """
        level = exact_confidence(confidence, bits=100)
        return _error_of(self, level, exact_whole(dimension, name="dimension", least=1))

    def _error(self, confidence: Fraction, dimension: int) -> Fraction:
        with working_precision(_ERROR_BITS):
            each = (ball(confidence).log() / dimension).exp()  # independent coordinates, all inside
            steps = max(0, math.ceil(Fraction(round_up(self._reach(each)))))
        rounding = Fraction(1, 2) if self._lattice.moves else 0
        return (steps + rounding) * self.step

    def interval(self, value: Any, *, confidence: Real = 0.95) -> Any:
        """Where the truth lies, given what was released: an Interval, for lists and arrays one for each.

        The intervals of a list or array hold all at once with this confidence.
        """
        if isinstance(value, list | np.ndarray):
            numbers = list(value.reshape(-1) if isinstance(value, np.ndarray) else flatten(value))
            reach = Fraction(self.error(confidence=confidence, dimension=max(1, len(numbers))))
            return [self._around(number, reach) for number in numbers]
        return self._around(value, Fraction(self.error(confidence=confidence)))

    def _around(self, value: Any, reach: Fraction) -> Interval:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole and not (isinstance(value, float | np.floating) and math.isfinite(value)):
            raise InvalidParameter(
                "value must be a finite number, as all that is released is.", parameter="value"
            )
        center = Fraction(int(value)) if whole else Fraction(float(value))
        if whole and self.step < 1:
            reach += Fraction(1, 2)  # a whole number was rounded once more, from the lattice
        return Interval(round_down(center - reach), round_up(center + reach))


@lru_cache(maxsize=1024)  # every row of an answer asks for it
def _error_of(noise: Additive, confidence: Fraction, dimension: int) -> float:
    return round_up(noise._error(confidence, dimension))
