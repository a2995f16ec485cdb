"""Learned ways of looking: scores that weigh all positions of a row together.

A sum of log-ratios of single columns is the exact likelihood ratio where positions are independent. A linear
combination finds noise that positions share. Boosted trees find interactions. All are fitted on training
samples and then treated as a feature like any other: being wrong costs them power, never soundness.

Tested by: tests/auditing/test_audit.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.apps.auditing.bins import Bins, Counts, Places, partition
from discreet.apps.auditing.features import Feature
from discreet.apps.auditing.outcomes import Column, Outcomes

# Boosted trees of two levels on columns cut into bins: they find what no single column shows.

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


MOST_ROWS = 10_000  # per neighbour: enough to choose splits
MOST_INPUTS = 12
MOST_CUTS = 48
HANDICAP = 0.02
NOWHERE = np.empty(0, dtype=np.int64)


def learn_features(base: Sequence[Feature], first: Outcomes, second: Outcomes) -> list[Feature]:
    """Scores learned from the ordered features; none where a single number is all there is to see."""
    ordered = [feature for feature in base if feature(first).dtype.kind in "fi"]
    columns = [Binned.fit(feature, first, second) for feature in ordered]
    columns = sorted(columns, key=lambda column: column.information, reverse=True)[:MOST_INPUTS]
    columns = [column for column in columns if column.information > 0]
    if len(columns) < 2:
        return []
    trees = _fit_trees(columns, first, second)
    weights = discriminant([column.feature for column in columns], first, second)
    return [
        Feature("a learned linear combination", lambda o: _combine(columns, weights, o), handicap=HANDICAP),
        Feature("a learned sum of log-ratios", lambda o: _additive(columns, o), handicap=HANDICAP),
        Feature(
            "a learned score (boosted trees)", lambda o: _sum_trees(columns, trees, o), handicap=HANDICAP
        ),
    ]


@dataclass(frozen=True)
class Binned:
    """A feature cut into few bins, with the log-ratio of each."""

    feature: Feature
    bins: Bins
    log_ratio: Counts
    information: float  # the symmetric divergence it shows by itself

    @classmethod
    def fit(cls, feature: Feature, first: Outcomes, second: Outcomes) -> "Binned":
        """Bins and ratios from training outcomes."""
        pooled = np.concatenate([feature(part)[:MOST_ROWS] for part in (first, second)]).astype(np.float64)
        points = partition(pooled, fineness=24).points
        points = points[:: max(1, len(points) // MOST_CUTS)]
        bins = Bins(points, np.zeros(len(points), dtype=np.bool_), ordered=True)
        places = [_place(feature, bins, part) for part in (first, second)]
        counts = [np.bincount(place, minlength=len(bins)) + 2.0 for place in places]
        shares = [count / count.sum() for count in counts]
        log_ratio = np.log(shares[0] / shares[1])
        return cls(feature, bins, log_ratio, float((shares[0] - shares[1]) @ log_ratio))

    def place(self, outcomes: Outcomes) -> Places:
        """The bin of each outcome."""
        return _place(self.feature, self.bins, outcomes)


def _place(feature: Feature, bins: Bins, outcomes: Outcomes) -> Places:
    """Looked up once: outcomes meet the bins of one training alone."""
    key = f"the bin of {feature.words}"
    if key not in outcomes.cache:
        outcomes.cache[key] = bins.place(feature(outcomes).astype(np.float64, copy=False))
    return outcomes.cache[key]


def _additive(columns: Sequence[Binned], outcomes: Outcomes) -> Column:
    score = np.zeros(outcomes.size)
    for column in columns:
        score += column.log_ratio[column.place(outcomes)]
    return score


def discriminant(features: Sequence[Feature], first: Outcomes, second: Outcomes) -> Column:
    """Fisher's direction: the linear combination that separates best for its spread.

    Where noise is shared between positions, the spread vanishes along some direction, and this finds it.
    """
    matrices = [np.stack([_tame(feature(part)) for feature in features]) for part in (first, second)]
    means = [matrix.mean(axis=1) for matrix in matrices]
    spread = sum((np.cov(matrix) for matrix in matrices), start=np.zeros((len(features),) * 2))
    scale = np.sqrt(np.diag(spread))
    scale[~(scale > 1e-100)] = 1.0
    correlation = spread / scale / scale[:, None] + 1e-10 * np.eye(len(scale))
    weights = np.linalg.solve(correlation, (means[0] - means[1]) / scale) / scale
    return np.asarray(weights / max(float(np.abs(weights).max()), 1e-300))


def _tame(column: Column) -> Column:
    """As float64, what is not finite set to 0 and the extreme cut off."""
    column = np.nan_to_num(column.astype(np.float64), copy=False, posinf=0, neginf=0)
    return np.clip(column, -1e100, 1e100, out=column)


def _combine(columns: Sequence[Binned], weights: Column, outcomes: Outcomes) -> Column:
    score = np.zeros(outcomes.size)
    for column, weight in zip(columns, weights, strict=True):
        score += weight * _tame(column.feature(outcomes))
    return np.round(score, 9)


def _fit_trees(columns: Sequence[Binned], first: Outcomes, second: Outcomes) -> list[Tree]:
    sizes = [min(part.size, MOST_ROWS) for part in (first, second)]
    places = [
        np.concatenate([column.place(part)[:size] for part, size in zip((first, second), sizes, strict=True)])
        for column in columns
    ]
    return boost(places, np.repeat([True, False], sizes))


def _sum_trees(columns: Sequence[Binned], trees: Sequence[Tree], outcomes: Outcomes) -> Column:
    used = {column for tree in trees for column in tree.columns}
    places = [column.place(outcomes) if i in used else NOWHERE for i, column in enumerate(columns)]
    return sum((tree.score(places) for tree in trees), start=np.zeros(outcomes.size))
