"""Boosted trees of two levels on columns cut into bins: they find what no single column shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.apps.auditing.bins import Counts
from discreet.apps.auditing.search import Places

Split: TypeAlias = tuple[int, int]  # a column, and the last bin on the low side

ROUNDS = 16
RATE = 0.5
SHRINK = 4.0  # weight of the prior in a leaf


@dataclass(frozen=True)
class Tree:
    """Split on one column, then on one column at each side; four leaves."""

    root: Split
    low: Split
    high: Split
    leaves: tuple[float, float, float, float]

    def score(self, places: Sequence[Places]) -> Counts:
        """The leaf of each row."""
        root, low, high = (places[column] > cut for column, cut in (self.root, self.low, self.high))
        return np.asarray(np.array(self.leaves)[2 * root + np.where(root, high, low)])

    @property
    def columns(self) -> set[int]:
        """The columns it looks at."""
        return {column for column, _ in (self.root, self.low, self.high)}


def boost(places: Sequence[Places], truth: NDArray[np.bool_]) -> list[Tree]:
    """Gradient boosting of the logistic loss 'is it true of the row?' (Friedman 2001, Algorithm 5)."""
    table, bins = np.stack(places), 1 + max(int(place.max()) for place in places)
    score = np.zeros(len(truth))
    trees: list[Tree] = []
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-score))
        tree = grow(table, bins, np.stack((truth - chance, chance * (1 - chance))))
        trees.append(tree)
        score += tree.score(places)
    return trees


def grow(table: Places, bins: int, slopes: Counts) -> Tree:
    """The tree that lowers the loss most, chosen greedily; `slopes` are its two derivatives at each row."""
    whole = tally(table, bins, slopes)
    root, cut = best_split(whole)
    above = table[root] > cut
    fewer = bool(2 * np.count_nonzero(above) < len(above))  # the side that is tallied, the other is the rest
    rows = np.flatnonzero(above == fewer)
    part = tally(np.take(table, rows, axis=1), bins, np.take(slopes, rows, axis=1))
    low, high = (whole - part, part) if fewer else (part, whole - part)
    splits = best_split(low), best_split(high)
    leaves = (*_leaves(low, splits[0]), *_leaves(high, splits[1]))
    return Tree((root, cut), splits[0], splits[1], leaves)


def tally(table: Places, bins: int, slopes: Counts) -> Counts:
    """For each slope and column, its sum over the bins up to each."""
    return np.cumsum([[np.bincount(place, slope, bins) for place in table] for slope in slopes], axis=2)


def best_split(sums: Counts) -> Split:
    """The column and bin at which splitting lowers the loss most."""
    (low, mass), (rest, remaining) = sums, sums[:, :, -1:] - sums
    gain = low**2 / (mass + SHRINK) + rest**2 / (remaining + SHRINK)
    column, cut = divmod(int(np.argmax(gain)), gain.shape[1])
    return column, cut


def _leaves(sums: Counts, split: Split) -> tuple[float, float]:
    """The step that Newton's method takes at either side of a split."""
    below = sums[:, split[0], split[1]]
    low, high = (RATE * side[0] / (side[1] + SHRINK) for side in (below, sums[:, split[0], -1] - below))
    return float(low), float(high)
