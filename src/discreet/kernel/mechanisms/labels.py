"""Declared public values, and which of them a given one is."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter

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

    To Python True equals 1, so the type of what is given says nothing about which value is meant, and
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
