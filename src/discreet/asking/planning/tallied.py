"""Tallies as columns: a question may find a million values, and none of them becomes a Python object."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Tallied(Mapping[int, int]):
    """How many rows have each number: two columns, the numbers ascending. It shows nothing of itself.

    It reads as a mapping from number to rows, too.

    >>> dict(Tallied.of({5: 2, 3: 1}))
    {3: 1, 5: 2}
    """

    numbers: Whole
    rows: Whole

    @classmethod
    def of(cls, tally: Mapping[int, int]) -> "Tallied":
        """The columns of any mapping."""
        if isinstance(tally, Tallied):
            return tally
        numbers = np.array(sorted(tally), dtype=np.int64)
        return cls(numbers, np.array([tally[number] for number in numbers.tolist()], dtype=np.int64))

    @classmethod
    def by_group(cls, size: int, groups: Any, numbers: Any, rows: Any) -> "tuple[Tallied, ...]":
        """The tallies of groups 0 to size - 1, from three columns in any order: group, number, rows.

        >>> [dict(each) for each in Tallied.by_group(3, [2, 0, 2], [9, 5, 1], [1, 1, 4])]
        [{5: 1}, {}, {1: 4, 9: 1}]
        """
        mine, found, times = (np.asarray(each, dtype=np.int64) for each in (groups, numbers, rows))
        order = np.lexsort((found, mine)) if size > 1 else np.argsort(found)
        mine, found, times = mine[order], found[order], times[order]
        ends = np.searchsorted(mine, np.arange(1, max(1, size)))
        return tuple(map(cls, np.split(found, ends), np.split(times, ends)))[:size]

    def among(self, size: int) -> Whole:
        """The rows of each number from 0 to size - 1, most of which may be absent.

        >>> Tallied.of({1: 7}).among(3).tolist()
        [0, 7, 0]
        """
        spread = np.zeros(size, dtype=np.int64)
        spread[self.numbers] = self.rows
        return spread

    def __getitem__(self, number: int) -> int:
        place = int(np.searchsorted(self.numbers, number))
        if place == self.numbers.size or self.numbers[place] != number:
            raise KeyError(number)
        return int(self.rows[place])

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers.tolist())

    def __len__(self) -> int:
        return self.numbers.size

    def __repr__(self) -> str:
        return "Tallied(...)"
