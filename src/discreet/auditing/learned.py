"""Learned ways of looking: scores that weigh all positions of a row together.

A sum of log-ratios of single columns is the exact likelihood ratio where positions are independent. A linear
combination finds noise that positions share. Boosted trees find interactions. All are fitted on training
samples and then treated as a feature like any other: being wrong costs them power, never soundness.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.auditing.bins import Bins, Counts, partition
from discreet.auditing.features import Feature
from discreet.auditing.outcomes import Column, Outcomes

ROUNDS = 16
RATE = 0.5
SHRINK = 4.0  # weight of the prior in a leaf
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
    trees = boost(columns, first, second)
    weights = discriminant([column.feature for column in columns], first, second)
    return [
        Feature("a learned linear combination", lambda o: _combine(columns, weights, o), handicap=HANDICAP),
        Feature("a learned sum of log-ratios", lambda o: _additive(columns, o), handicap=HANDICAP),
        Feature("a learned score (boosted trees)", lambda o: sum_trees(columns, trees, o), handicap=HANDICAP),
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
        pooled = np.concatenate((feature(first), feature(second))).astype(np.float64)
        points = partition(pooled, fineness=24).points
        points = points[:: max(1, len(points) // MOST_CUTS)]
        bins = Bins(points, np.zeros(len(points), dtype=np.bool_), ordered=True)
        counts = [bins.count(feature(part).astype(np.float64)) + 2 for part in (first, second)]
        shares = [count / count.sum() for count in counts]
        log_ratio = np.log(shares[0] / shares[1])
        return cls(feature, bins, log_ratio, float((shares[0] - shares[1]) @ log_ratio))

    def place(self, outcomes: Outcomes) -> NDArray[np.int64]:
        """The bin of each outcome, looked up once: outcomes meet the bins of one training alone."""
        key = f"the bin of {self.feature.words}"
        if key not in outcomes.cache:
            outcomes.cache[key] = self.bins.place(self.feature(outcomes).astype(np.float64))
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
    matrices = [_matrix(features, part) for part in (first, second)]
    means = [matrix.mean(axis=0) for matrix in matrices]
    spread = sum((np.cov(matrix, rowvar=False) for matrix in matrices), start=np.zeros((len(features),) * 2))
    scale = np.sqrt(np.diag(spread))
    scale[~(scale > 1e-100)] = 1.0
    correlation = spread / scale / scale[:, None] + 1e-10 * np.eye(len(scale))
    weights = np.linalg.solve(correlation, (means[0] - means[1]) / scale) / scale
    return np.asarray(weights / max(float(np.abs(weights).max()), 1e-300))


def _matrix(features: Sequence[Feature], outcomes: Outcomes) -> Column:
    """Columns as float64, what is not finite set to 0 and the extreme cut off."""
    columns = [
        np.nan_to_num(feature(outcomes).astype(np.float64), posinf=0, neginf=0) for feature in features
    ]
    return np.clip(np.stack(columns, axis=1), -1e100, 1e100)


def _combine(columns: Sequence[Binned], weights: Column, outcomes: Outcomes) -> Column:
    return np.round(_matrix([column.feature for column in columns], outcomes) @ weights, 9)


@dataclass(frozen=True)
class Tree:
    """Two levels: split on one column, then on one column at each side; four leaves."""

    columns: tuple[int, int, int]
    cuts: tuple[int, int, int]
    leaves: tuple[float, float, float, float]

    def score(self, places: Sequence[NDArray[np.int64]]) -> Column:
        """The leaf of each row."""
        root, left, right = (places[c] > cut for c, cut in zip(self.columns, self.cuts, strict=True))
        low = np.where(left, self.leaves[1], self.leaves[0])
        return np.where(root, np.where(right, self.leaves[3], self.leaves[2]), low)


def sum_trees(columns: Sequence[Binned], trees: Sequence[Tree], outcomes: Outcomes) -> Column:
    """The score of a sum of trees."""
    used = {column for tree in trees for column in tree.columns}
    places = [column.place(outcomes) if i in used else NOWHERE for i, column in enumerate(columns)]
    return sum((tree.score(places) for tree in trees), start=np.zeros(outcomes.size))


def boost(columns: Sequence[Binned], first: Outcomes, second: Outcomes) -> list[Tree]:
    """Gradient boosting of the logistic loss 'did it come from the first?' (Friedman 2001, Algorithm 5)."""
    parts = [part.rows(0, MOST_ROWS) for part in (first, second)]
    places = [np.concatenate([column.place(part) for part in parts]) for column in columns]
    truth = np.concatenate((np.ones(parts[0].size), np.zeros(parts[1].size)))
    score = np.zeros(len(truth))
    trees: list[Tree] = []
    for _ in range(ROUNDS):
        chance = 1 / (1 + np.exp(-score))
        tree = grow(places, truth - chance, chance * (1 - chance))
        trees.append(tree)
        score += tree.score(places)
    return trees


def grow(places: Sequence[NDArray[np.int64]], gradient: Column, weight: Column) -> Tree:
    """The tree of two levels that lowers the loss most, chosen greedily."""
    root, cut = best_split(places, gradient, weight)
    side = places[root] > cut
    halves = [best_split([p[rows] for p in places], gradient[rows], weight[rows]) for rows in (~side, side)]
    leaves: list[float] = []
    for rows, (column, at) in zip((~side, side), halves, strict=True):
        sides = (rows & (places[column] <= at), rows & (places[column] > at))
        leaves.extend(RATE * float(gradient[s].sum()) / (float(weight[s].sum()) + SHRINK) for s in sides)
    (left, left_cut), (right, right_cut) = halves
    return Tree((root, left, right), (cut, left_cut, right_cut), (leaves[0], leaves[1], leaves[2], leaves[3]))


def best_split(places: Sequence[NDArray[np.int64]], gradient: Column, weight: Column) -> tuple[int, int]:
    """The column and bin at which splitting lowers the loss most."""
    best = (-np.inf, 0, 0)
    for index, place in enumerate(places):
        if not place.size:
            break
        low = np.cumsum(np.bincount(place, weights=gradient))
        mass = np.cumsum(np.bincount(place, weights=weight))
        gain = low**2 / (mass + SHRINK) + (low[-1] - low) ** 2 / (mass[-1] - mass + SHRINK)
        cut = int(np.argmax(gain))
        best = max(best, (float(gain[cut]), index, cut))
    return best[1], best[2]
