"""Likelihood-ratio sets: for each way of looking, the set of values that tells the two neighbours apart best.

By Neyman and Pearson the most telling events are {t : P(t)/Q(t) > c}. The ratio is estimated per bin on one
part of the training samples, the threshold c is chosen on another; nothing here sees the samples that bound
the event.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.auditing.features import Feature
from discreet.auditing.outcomes import Column, Outcomes

Counts: TypeAlias = NDArray[np.float64]
Score: TypeAlias = Callable[[Counts, Counts], Counts]  # counts in both arms -> how much they would prove

FINE, COARSE = 256, 12
MOST_ATOMS = 512
LEAST_OF_AN_ATOM = 3
COMPLEXITY = 0.01  # how much stronger a fine event must be to be preferred to a coarse one
TAILS = (1e-4, 3e-4, 1e-3, 3e-3)


@dataclass(frozen=True)
class Bins:
    """A partition of a column: single values (`atoms`, sorted), and between `edges` everything else."""

    atoms: Column
    edges: Column

    def __len__(self) -> int:
        return len(self.atoms) + len(self.edges) + 2  # the last bin: not a number, or a label not seen before

    def place(self, values: Column) -> NDArray[np.int64]:
        """The bin of each value."""
        if self.edges.size:
            place = np.searchsorted(self.edges, values, side="right") + len(self.atoms)
            place[np.isnan(values)] = len(self) - 1
        else:
            place = np.full(len(values), len(self) - 1, dtype=np.int64)
        if self.atoms.size:
            near = np.searchsorted(self.atoms, values)
            near[near == len(self.atoms)] = 0
            place = np.where(self.atoms[near] == values, near, place)
        return place

    def count(self, values: Column) -> Counts:
        """How many values fall in each bin."""
        return np.bincount(self.place(values), minlength=len(self)).astype(np.float64)


def partition(values: Column, *, fineness: int) -> Bins:
    """Bins for pooled training values: frequent single values, quantiles of the rest, finer in the tails."""
    distinct, counts = np.unique(values[~_missing(values)], return_counts=True)
    often = max(LEAST_OF_AN_ATOM, len(values) / 4000)
    atoms = distinct[counts >= often]
    if len(atoms) > MOST_ATOMS:
        atoms = np.sort(distinct[np.argsort(-counts)[:MOST_ATOMS]])
    if values.dtype.kind == "u" or not distinct.size:  # labels have no order, hence no intervals
        return Bins(atoms, np.empty(0))
    heights = np.concatenate((np.linspace(0, 1, fineness + 1), TAILS, 1 - np.array(TAILS)))
    places = np.clip((np.sort(heights) * counts.sum()).astype(np.int64), 0, counts.sum() - 1)
    edges = distinct[np.searchsorted(np.cumsum(counts), places, side="right")]
    return Bins(atoms, np.unique(edges))


def _missing(values: Column) -> NDArray[np.bool_]:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=np.bool_)


@dataclass(frozen=True)
class Event:
    """A set of bins of one feature."""

    feature: Feature
    bins: Bins
    inside: NDArray[np.bool_]
    seen: NDArray[np.bool_]  # bins with any training sample: the others are outside, and not worth a word
    favours: int  # 0: more likely on the first neighbour, 1: on the second
    promise: float  # what it proved, about, on the training samples
    words: str = ""

    def count(self, outcomes: Outcomes) -> int:
        """How many outcomes lie in the event."""
        return int(np.count_nonzero(self.inside[self.bins.place(self.feature(outcomes))]))

    def to_json(self) -> dict[str, Any]:
        """The event in words and in numbers."""
        inside = np.flatnonzero(self.inside)
        atoms = self.bins.atoms[inside[inside < len(self.bins.atoms)]].tolist()
        return {
            "words": self.words,
            "feature": self.feature.words,
            "values": [value if abs(value) < 2**53 else str(value) for value in atoms],
            "intervals": [[repr(low), repr(high)] for low, high in _runs(self.bins, self.inside)],
            "missing": bool(self.inside[-1]),
        }


@dataclass(frozen=True)
class Training:
    """Training outcomes of both neighbours: the part `shape` orders the bins, `cut` sets the threshold."""

    shape: tuple[Outcomes, Outcomes]
    cut: tuple[Outcomes, Outcomes]


def choose_events(feature: Feature, training: Training, scores: tuple[Score, Score]) -> Iterator[Event]:
    """The most promising events of a feature, fine and coarse, more likely on the first and on the second."""
    first, second = (feature(part) for part in training.shape)
    pooled = np.concatenate((first, second))
    for fineness in (FINE, COARSE):
        bins = partition(pooled, fineness=fineness)
        ratio = _log_ratio(bins.count(first), bins.count(second))
        counts = [bins.count(feature(part)) for part in training.cut]
        seen = (bins.count(pooled) > 0) | (counts[0] + counts[1] > 0)
        handicap = feature.handicap + (COMPLEXITY if fineness == FINE else 0)
        for favours in (0, 1):
            order = np.argsort(ratio if favours else -ratio, kind="stable")
            proved = scores[favours](np.cumsum(counts[favours][order]), np.cumsum(counts[1 - favours][order]))
            best = int(np.argmax(proved))
            inside = np.zeros(len(bins), dtype=np.bool_)
            inside[order[: best + 1]] = True
            yield Event(feature, bins, inside & seen, seen, favours, float(proved[best]) - handicap)
        if not bins.edges.size:
            return  # labels look the same at any fineness


def _log_ratio(first: Counts, second: Counts) -> Counts:
    """ln(P/Q) per bin, drawn towards 0 where there are few samples."""
    share = np.log((first + 0.5) / (first.sum() + 1)) - np.log((second + 0.5) / (second.sum() + 1))
    return np.asarray(share * (1 - np.exp(-(first + second) / 2)))


def _runs(bins: Bins, inside: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """The intervals of the event, touching ones joined."""
    if not bins.edges.size:
        return []
    chosen = inside[len(bins.atoms) : -1]
    ends = np.concatenate(([-np.inf], bins.edges.astype(np.float64), [np.inf]))
    change = np.flatnonzero(np.diff(np.concatenate(([False], chosen, [False])).astype(np.int8)))
    return [(float(ends[a]), float(ends[b])) for a, b in zip(change[::2], change[1::2], strict=True)]


def put_in_words(event: Event, training: Training) -> Event:
    """The event with its description; labels are spelled out from the training outcomes."""
    feature, bins, inside = event.feature, event.bins, event.inside
    threshold = _threshold(bins, inside, event.seen)
    if threshold:
        return replace(event, words=f"{feature.words} {threshold}")
    atoms = bins.atoms[np.flatnonzero(inside[: len(bins.atoms)])]
    parts = []
    if atoms.size:
        said = [_say(feature, value, training) for value in atoms[:3]]
        more = f" or {atoms.size - 3} more values" if atoms.size > 3 else ""
        parts.append(f"is {', '.join(said)}{more}")
    runs = _runs(bins, inside)
    if runs:
        more = f" or {len(runs) - 3} more intervals" if len(runs) > 3 else ""
        parts.append("lies in " + " or ".join(f"[{low:.6g}, {high:.6g})" for low, high in runs[:3]) + more)
    if inside[-1]:
        parts.append("is something else" if not bins.edges.size else "is missing")
    return replace(event, words=f"{feature.words} {' or '.join(parts) or 'is anything'}")


def _threshold(bins: Bins, inside: NDArray[np.bool_], seen: NDArray[np.bool_]) -> str | None:
    """In words, if the event is one side of one number among the values seen."""
    if not bins.edges.size or inside[-1]:
        return None
    positions = np.concatenate((bins.atoms, [-np.inf], bins.edges))
    order = np.argsort(positions, kind="stable")
    order = order[seen[:-1][order]]
    chosen = inside[order]
    changes = np.flatnonzero(np.diff(chosen.astype(np.int8)))
    if len(changes) != 1:
        return None
    at = positions[order[changes[0] + 1]]
    return f"is below {at:.6g}" if chosen[0] else f"is at least {at:.6g}"


def _say(feature: Feature, value: Any, training: Training) -> str:
    if feature.text is None:
        return f"{value}"
    for part in training.shape:
        rows = np.flatnonzero(feature(part) == value)
        if rows.size:
            text = feature.text(part, int(rows[0]))
            return text if len(text) <= 80 else text[:77] + "..."
    return "unseen"
