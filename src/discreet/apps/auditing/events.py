"""Likelihood-ratio sets: for each way of looking, the set of values that tells the two neighbours apart best.

By Neyman and Pearson the most telling events are {t : P(t)/Q(t) > c}. The ratio is estimated per bin on one
part of the training samples, the threshold c is chosen on another; nothing here sees the samples that count.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.apps.auditing.bins import Bins, Counts, Places, partition
from discreet.apps.auditing.features import Feature
from discreet.apps.auditing.outcomes import Column, Outcomes

Score: TypeAlias = Callable[[Counts, Counts], Counts]  # counts in both arms -> how much they would prove

FINE, COARSE = 256, 12
FEW_TURNS = 16  # ends of intervals that are compared one by one, which is faster than searching
COMPLEXITY = 0.01  # how much stronger an event of many pieces must be to be preferred
NAMED = 3  # values or intervals that a description spells out


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
        values = self.feature(outcomes)
        turns = self.bins.turns(self.inside)
        if turns is None and not self.bins.ordered:
            return self._count_labels(values)
        if turns is None or len(turns) > FEW_TURNS:
            return int(np.count_nonzero(self.inside[self.bins.place(values)]))
        within = sum((-1) ** i * np.count_nonzero(values >= turn) for i, turn in enumerate(turns))
        missing = np.count_nonzero(values != values) if self.inside[-1] else 0  # noqa: PLR0124  NaN alone
        return int(within + missing)

    def _count_labels(self, values: Column) -> int:
        rest = bool(self.inside[-1])  # whether labels without a bin are inside
        named = self.bins.points[self.inside[: len(self.bins.points)] != rest]
        if len(named) > FEW_TURNS:
            return int(np.count_nonzero(self.inside[self.bins.place(values)]))
        found = sum(np.count_nonzero(values == label) for label in named)
        return int(len(values) - found if rest else found)

    def to_json(self) -> dict[str, Any]:
        """The event in words and in numbers: exactly these values and open intervals of the feature."""
        ends = [ends for ends, inside in zip(self.bins.ends(), self.inside, strict=False) if inside]
        return {
            "words": self.words,
            "feature": self.feature.words,
            "values": [str(low) for low, high in ends if low == high],
            "intervals": [[str(low), str(high)] for low, high in ends if low != high],
            "anything else": bool(self.inside[-1]),
        }


@dataclass(frozen=True)
class Training:
    """Training outcomes of both neighbours: the part `shape` orders the bins, `cut` sets the threshold."""

    shape: tuple[Outcomes, Outcomes]
    cut: tuple[Outcomes, Outcomes]


def choose_events(feature: Feature, training: Training, scores: tuple[Score, Score]) -> Iterator[Event]:
    """The most promising events of a feature, fine and coarse, more likely on the first and on the second."""
    columns = [feature(part) for part in (*training.shape, *training.cut)]
    bins = partition(np.concatenate(columns[:2]), fineness=FINE)
    counts = bins.count(*columns)
    seen = counts.sum(axis=0) > 0
    nearest = _nearest_seen(seen) if bins.ordered else np.arange(len(bins))
    for favours, chosen, proved in _best_sets(counts, scores):
        inside = (chosen & seen)[nearest]
        many = COMPLEXITY if np.count_nonzero(inside) > NAMED else 0.0
        yield Event(feature, bins, inside, seen[nearest], favours, proved - feature.handicap - many)
    if bins.ordered and np.count_nonzero(seen) > COARSE:
        group = bins.coarsen(counts[0] + counts[1], COARSE)
        for favours, chosen, proved in _best_sets(_join(counts, group), scores):
            inside = (chosen[group] & seen)[nearest]
            yield Event(feature, bins, inside, seen[nearest], favours, proved - feature.handicap)


def _nearest_seen(seen: NDArray[np.bool_]) -> Places:
    """Each bin itself, but beyond the least and greatest values seen the outermost bin that was."""
    places = np.flatnonzero(seen[:-1])
    index = np.arange(len(seen))
    if places.size:
        index[:-1] = np.clip(index[:-1], places[0], places[-1])
    return index


def _join(counts: Counts, group: Places) -> Counts:
    return np.stack([np.bincount(group, weights=row) for row in counts])


def _best_sets(counts: Counts, scores: tuple[Score, Score]) -> Iterator[tuple[int, NDArray[np.bool_], float]]:
    """For each neighbour the bins with the largest likelihood ratios, as many of them as promise most.

    The rows of `counts`: of both neighbours to order the bins, then of both to set the threshold.
    """
    ratio = _log_ratio(counts[0], counts[1])
    for favours, order in enumerate((np.argsort(-ratio, kind="stable"), np.argsort(ratio, kind="stable"))):
        passed = np.cumsum(counts[2:, order], axis=1)
        proved = scores[favours](passed[favours], passed[1 - favours])
        best = int(np.argmax(proved))
        chosen = np.zeros(len(ratio), dtype=np.bool_)
        chosen[order[: best + 1]] = True
        yield favours, chosen, float(proved[best])


def _log_ratio(first: Counts, second: Counts) -> Counts:
    """Return ln(P/Q) for each bin, shrunk towards 0 where there are few samples."""
    share = np.log((first + 0.5) / (second + 0.5)) - np.log((first.sum() + 1) / (second.sum() + 1))
    return np.asarray(share * (1 - np.exp(-(first + second) / 2)))


def put_in_words(event: Event, training: Training) -> Event:
    """The event with its description; labels are spelled out from the training outcomes."""
    parts = _runs(event) if event.bins.ordered else _labels(event, training)
    said = parts[:NAMED]
    if len(parts) > NAMED:
        said.append(f"{len(parts) - NAMED} more")
    if event.inside[-1]:
        said.append("missing" if event.bins.ordered else "something else")
    return replace(event, words=f"{event.feature.words} is {' or '.join(said) or 'nothing'}")


def _labels(event: Event, training: Training) -> list[str]:
    codes = event.bins.points[event.inside[:-1][: len(event.bins.points)]]
    shown = [_say(event.feature, code, training) for code in codes[:NAMED]]
    return [*shown, *(["unnamed"] * (len(codes) - len(shown)))]


def _say(feature: Feature, value: Any, training: Training) -> str:
    if feature.text is None:
        return f"{value}"
    for part in training.shape:
        rows = np.flatnonzero(feature(part) == value)
        if rows.size:
            text = feature.text(part, int(rows[0]))
            return text if len(text) <= 80 else text[:77] + "..."
    return "unseen"


def _runs(event: Event) -> list[str]:
    """The values and intervals of the event, touching ones joined across bins that were never seen."""
    runs: list[tuple[float, float]] = []
    open_run = False
    for (low, high), inside, seen in zip(event.bins.ends(), event.inside, event.seen, strict=False):
        if not seen:
            continue
        if inside:
            runs[-1:] = [(runs[-1][0], high)] if open_run else [*runs[-1:], (low, high)]
        open_run = bool(inside)
    return [_say_run(low, high) for low, high in runs]


def _say_run(low: float, high: float) -> str:
    if low == high:
        return f"{low:.10g}"
    if low == -np.inf:
        return "any number" if high == np.inf else f"at most {high:.6g}"
    return f"at least {low:.6g}" if high == np.inf else f"between {low:.6g} and {high:.6g}"
