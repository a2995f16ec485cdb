"""The black-box attack: choose events on some samples, count them on others, pay for everything tried.

Tested by: tests/auditing/test_audit.py
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from discreet.apps.auditing.bins import Counts
from discreet.apps.auditing.claim import TRIFLE, Claim
from discreet.apps.auditing.events import Event, Score, Training, choose_events, put_in_words
from discreet.apps.auditing.features import Feature, can_learn, list_features
from discreet.apps.auditing.learned import learn_features
from discreet.apps.auditing.outcomes import Outcomes, read_outcomes
from discreet.apps.auditing.report import Trial, show, strongest
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import normal_quantile, wilson

PART = 0.15  # of the outputs, twice: to shape events and to cut them; the rest counts them
MOST_TRAINING = 60_000
MOST_CELLS = 400_000  # numbers in one training part
EVENTS_PER_DIRECTION = 2
PLAIN_ENOUGH = 1.0  # twice the claim proved by an event that people can read: nothing need be learned
CLEAR = 0.1  # strength at which a refutation needs no better witness
PAIRS_KEPT = (6, 2, 1, 1)  # of many pairs, those that go on after each stage
SINGLES = 1000  # outputs drawn one by one from a target that raises


class Target(Protocol):
    """n independent outputs on data."""

    def __call__(self, data: Any, n: int, /) -> Any: ...


@dataclass
class Attack:
    """An attack on one claim: its pairs, its allowance of risk, and all trials so far."""

    target: Target
    claim: Claim
    pairs: Sequence[tuple[Any, Any]]
    risk: Fraction
    tell: Callable[[str], None]
    trials: list[Trial] = field(default_factory=list)
    seconds: float = 0.0  # that `run` took
    drawn: int = 0  # outputs of each neighbour, of the last pair

    def run(self, stages: Sequence[int], *, patience: float) -> int:
        """Larger and larger stages until the claim is refuted; the outputs of each neighbour in the last one.

        Each stage has its share of the risk whether it is run or not, so stopping early is free. A stage that
        would last longer than `patience` seconds, by the pace so far, is not begun.
        """
        pairs, pace, ran, begun = list(self.pairs), 0.0, 0, time.perf_counter()
        for stage, kept in zip(stages, PAIRS_KEPT, strict=False):
            if ran and pace * stage * len(pairs) > patience:
                break
            started, tried = time.perf_counter(), len(pairs)
            pairs = self._stage(pairs, stage, self.risk / len(stages))[:kept]
            pace = (time.perf_counter() - started) / (stage * tried)
            ran = self.drawn
            best = strongest(self.trials, self.claim)
            if best.promise(self.claim) > 0 and best.judge(self.claim).excess > 0:
                break
        self.seconds = time.perf_counter() - begun
        return ran

    def _stage(self, pairs: Sequence[tuple[Any, Any]], size: int, risk: Fraction) -> list[tuple[Any, Any]]:
        """Try every pair; return them, the most promising first."""
        each = risk / (len(pairs) * 2 * EVENTS_PER_DIRECTION)
        promising: list[tuple[float, float, int]] = []
        for index, pair in enumerate(pairs):
            self.tell(f"{size} outputs of each neighbour, pair {index + 1} of {len(pairs)}")
            samples = draw_pair(self.target, pair, size=size)
            self.drawn = len(samples[0]) + len(samples[2])
            found = list(try_samples(samples, pair, self.claim, risk=each))
            self.trials.extend(found)
            promise = max(trial.promise(self.claim) for trial in found)
            promising.append((promise, max(trial.ratio for trial in found), index))
            if promise > CLEAR:
                break  # refuted, with risk already set aside for the pairs not tried
        return [pairs[index] for _, _, index in sorted(promising, reverse=True)]


def draw_pair(target: Target, pair: tuple[Any, Any], *, size: int) -> list[Any]:
    """Outputs on both neighbours to train on, then on both to count."""
    part = max(1, min(int(size * PART), MOST_TRAINING))
    return draw(target, [(data, n) for n in (2 * part, max(1, size - 2 * part)) for data in pair])


def try_samples(
    samples: Sequence[Any], pair: tuple[Any, Any], claim: Claim, *, risk: Fraction
) -> Iterator[Trial]:
    """At most EVENTS_PER_DIRECTION trials for each direction of one pair, each at `risk`."""
    outcomes = read_outcomes(*samples)
    training, fresh = _train_on(outcomes[:2]), outcomes[2:]
    names = [show(data) for data in pair]
    sizes = [arm.size for arm in fresh]
    for event in _most_promising(training, claim, sizes=(sizes[0], sizes[1]), risk=risk):
        counts = [event.count(arm) for arm in fresh]
        arms = (event.favours, 1 - event.favours)
        left, right = ((counts[arm], sizes[arm]) for arm in arms)
        yield Trial(event.to_json(), (names[arms[0]], names[arms[1]]), left, right, risk)


def _train_on(drawn: Sequence[Outcomes]) -> Training:
    """Each neighbour's training outputs in two parts; wide rows are not all needed."""
    cells = max(len(outcomes.numbers) for outcomes in drawn) or 1
    halves = [min(outcomes.size // 2, MOST_CELLS // cells) for outcomes in drawn]
    parts = [
        (outcomes.rows(0, half), outcomes.rows(half, 2 * half))
        for outcomes, half in zip(drawn, halves, strict=True)
    ]
    return Training((parts[0][0], parts[1][0]), (parts[0][1], parts[1][1]))


def _most_promising(
    training: Training, claim: Claim, *, sizes: tuple[int, int], risk: Fraction
) -> Iterator[Event]:
    """For each direction the best events of different features."""
    cut = (training.cut[0].size, training.cut[1].size)
    scores = (
        _score(claim, cut=cut, sizes=sizes, risk=risk),
        _score(claim, cut=cut[::-1], sizes=sizes[::-1], risk=risk),
    )
    plain = list_features(*training.shape)
    telling = [plain[0], *(feature for feature in plain[1:] if _varies(feature, training))]
    events = [event for feature in telling for event in choose_events(feature, training, scores)]
    if can_learn(*training.shape) and max(event.promise for event in events) < PLAIN_ENOUGH:
        learned = learn_features(plain, *training.shape)
        events.extend(event for feature in learned for event in choose_events(feature, training, scores))
    for favours in (0, 1):
        distinct: dict[str, Event] = {}
        for event in sorted(events, key=lambda event: event.promise, reverse=True):
            if event.favours == favours:
                distinct.setdefault(event.feature.words, event)
        for event in list(distinct.values())[:EVENTS_PER_DIRECTION]:
            yield put_in_words(event, training)


def _varies(feature: Feature, training: Training) -> bool:
    """Whether the outputs differ at all in this way of looking."""
    columns = [feature(part) for part in (*training.shape, *training.cut)]
    return any((column != columns[0][0]).any() for column in columns)


def _score(claim: Claim, *, cut: tuple[int, int], sizes: tuple[int, int], risk: Fraction) -> Score:
    """How much counts on the cutting part promise to prove on the fresh part, less what is claimed.

    Rates are first shaded by one standard error, so that small counts do not promise too much. Where nothing
    is promised at all, the larger difference of rates goes first.
    """
    z = normal_quantile(risk / 2)
    epsilons = np.array([epsilon for epsilon, _ in claim.points])[:, None]
    deltas = np.array([float(delta) for _, delta in claim.points])[:, None]

    def score(first: Counts, second: Counts) -> Counts:
        p = np.maximum(first - np.sqrt(first * (1 - first / cut[0])), 0) / cut[0]
        q = np.minimum(second + np.sqrt(second * (1 - second / cut[1]) + 0.25), cut[1]) / cut[1]
        lower = wilson(p * sizes[0], sizes[0], z=-z) - deltas
        upper = np.maximum(wilson(q * sizes[1], sizes[1], z=z), 1e-300)
        proved = np.where(lower > 0, np.log(np.maximum(lower, 1e-300) / upper), -np.inf)
        difference = first / cut[0] - second / cut[1]
        strength = np.where(proved > 0, (proved - epsilons) / (epsilons + TRIFLE), difference - 2)
        return np.asarray(strength.max(axis=0))

    return score


def draw(target: Target, requests: Sequence[tuple[Any, int]]) -> list[Any]:
    """n outputs on data for each request (data, n).

    If any request raises, all are drawn one output at a time, so that each exception is an outcome and means
    the same everywhere.
    """
    try:
        samples = [target(data, n) for data, n in requests]
    except Exception:  # noqa: BLE001  an attacker sees any exception of the audited code
        return [[_draw_one(target, data) for _ in range(min(n, SINGLES))] for data, n in requests]
    return [_checked(outputs, n) for outputs, (_, n) in zip(samples, requests, strict=True)]


def _checked(outputs: Any, n: int) -> Any:
    """The outputs as an array or a sequence, if there are n of them."""
    if hasattr(outputs, "__array__"):
        outputs = np.asarray(outputs)  # a column or a frame of another library
        counted = outputs.ndim > 0 and len(outputs) == n
    else:
        plain = isinstance(outputs, Sequence) and not isinstance(outputs, str | bytes)
        counted = plain and len(outputs) == n
    if not counted:
        raise InvalidParameter(
            f"target must return the {n} outputs it is asked for. Return an array or a list."
        )
    return outputs


def _draw_one(target: Target, data: Any) -> Any:
    try:
        return next(iter(target(data, 1)))
    except Exception as raised:  # noqa: BLE001  an attacker sees any exception of the audited code
        return raised
