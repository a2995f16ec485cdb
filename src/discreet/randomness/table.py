"""Looking up 64-bit draws in a certified table, one or many at a time."""

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from discreet.randomness.source import Words

_GUIDE_BITS = 16


class Table:
    """The outcome of a 64-bit draw: the first whose threshold is not below it.

    A guide on the top 16 bits answers at once where no threshold lies among the draws that share them.
    """

    __slots__ = ("_guide", "_list", "_thresholds")

    SLOW = -(1 << 15)  # the guide's word for "look closer"

    def __init__(self, thresholds: list[int], codes: NDArray[np.int16]) -> None:
        """`codes` are what the guide answers for the first outcomes; all others are slow."""
        self._list = thresholds
        self._thresholds = np.array(thresholds, dtype=np.uint64)
        tops = (self._thresholds >> np.uint64(64 - _GUIDE_BITS)).astype(np.int64)
        inside = np.bincount(tops, minlength=1 << _GUIDE_BITS)
        first = np.cumsum(inside) - inside  # thresholds below the first draw of each guide cell
        answers = np.full(first.size, self.SLOW, dtype=np.int16)
        sure = (inside == 0) & (first < codes.size)
        answers[sure] = codes[first[sure]]
        self._guide = answers

    def guess(self, draws: Words) -> NDArray[np.int16]:
        """Return the code of each draw, or SLOW."""
        return self._guide.take((draws >> np.uint64(64 - _GUIDE_BITS)).view(np.int64))

    def search(self, draws: Words, *, beyond: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the outcome of each draw, and the positions of those that are open or not before
        `beyond`."""
        found = np.searchsorted(self._thresholds, draws, side="left")
        return found, np.flatnonzero((self._thresholds[found] == draws) | (found >= beyond))

    def search_one(self, draw: int) -> int | None:
        """Return the outcome of a draw, None if it is open."""
        found = bisect_left(self._list, draw)
        return None if self._list[found] == draw else found
