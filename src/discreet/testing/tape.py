"""A tape of words in place of random ones, for tests alone."""

from collections.abc import Iterable

import numpy as np

from discreet.kernel.randomness.source import Words


class Tape:
    """A source that plays back given words and then raises: for tests of exactness, never for a release.

    >>> Tape([1, 2, 3]).words(2).tolist()
    [1, 2]
    """

    def __init__(self, words: Iterable[int]) -> None:
        self._words = list(words)
        self._played = 0

    @property
    def left(self) -> int:
        """How many words have not been played."""
        return len(self._words) - self._played

    def words(self, count: int) -> Words:
        """The next `count` words."""
        if count > self.left:
            raise EOFError(f"the tape has {self.left} words left, but {count} were asked for")
        self._played += count
        return np.array(self._words[self._played - count : self._played], dtype=np.uint64)

    def word(self) -> int:
        """The next word."""
        return int(self.words(1)[0])
