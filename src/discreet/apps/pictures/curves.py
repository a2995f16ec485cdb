"""Curves of losses: what an attacker can gain, and how losses compose.

Tested by: tests/pictures/test_attacks.py, tests/pictures/test_compositions.py
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, Protocol

import numpy as np

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, dots, line, scientific
from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss, compose_advanced
from discreet.kernel.numerics import Real, exact_delta, round_up

# What an audit found, as a trade-off: how rarely can an attacker err, if the claim is true?

Point = tuple[float, Fraction]


class Claim(Protocol):
    """Points (ε, δ) that are promised at once."""

    @property
    def text(self) -> str: ...
    @property
    def points(self) -> tuple[Point, ...]: ...


class Trial(Protocol):
    """An event, counted on both neighbours: (how often, of how many)."""

    @property
    def first(self) -> tuple[int, int]: ...
    @property
    def second(self) -> tuple[int, int]: ...


class Report(Protocol):
    """What a picture needs of an audit's report."""

    @property
    def claim(self) -> Claim: ...
    @property
    def trials(self) -> Sequence[Trial]: ...
    @property
    def verdict(self) -> str: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def claimed(self) -> float: ...
    @property
    def delta(self) -> float: ...


def trade_off(report: Report) -> Picture:
    """The errors of an attacker who guesses which neighbour an output came from.

    With α false alarms and β misses, (ε, δ) promises 1 − β <= e^ε·α + δ: nothing may lie below its curve.
    """
    claimed = line(FALSE_ALARMS, _least_misses(report.claim.points), name=f"claimed: {report.claim.text}")
    traces = [{**claimed, "fill": "tozeroy", "fillcolor": "@0/0.12"}]
    if math.isfinite(report.lower_bound):
        proved = _least_misses([(report.lower_bound, Fraction(report.delta))])
        traces.append(line(FALSE_ALARMS, proved, name=f"proved: ε ≥ {report.lower_bound:.4g}", index=1))
    if report.trials:
        traces.append(_attacks(report.trials))
    at = f" at δ = {scientific(report.delta)}" if report.delta else ""
    found = f"ε ≥ {report.lower_bound:.4g}{at}, claimed {_short(report.claimed)}"
    return Picture(
        title=f"Audit: {report.verdict}",
        subtitle=f"{found}; shaded: ruled out by the claim",
        traces=traces,
        axes={
            "xaxis": axis("false alarms α: D guessed, though it was D′", range=[0, 1]),
            "yaxis": axis("misses β: D′ guessed, though it was D", range=[0, 1]),
        },
    )


def _short(epsilon: float) -> str:
    return f"{epsilon:.4g}" if epsilon > 1e-6 else "0"  # the least positive loss stands for none


FALSE_ALARMS = np.unique(np.concatenate([np.linspace(0, 1, 201), np.geomspace(1e-4, 0.1, 60)]))


def _least_misses(points: Sequence[Point]) -> list[float]:
    curves = [
        np.maximum(
            1 - float(delta) - np.exp(min(epsilon, 700)) * FALSE_ALARMS,
            np.exp(-epsilon) * (1 - float(delta) - FALSE_ALARMS),
        )
        for epsilon, delta in points
    ]
    best: list[float] = np.maximum(np.max(curves, axis=0), 0).tolist()
    return best


def _attacks(trials: Sequence[Trial]) -> dict[str, Json]:
    alarms = [trial.second[0] / trial.second[1] for trial in trials]
    misses = [1 - trial.first[0] / trial.first[1] for trial in trials]
    return dots(alarms, misses, name="attacks, as counted", index=2)


# What many releases cost together, by every rule: epsilon against their number.

Losses = Any  # one loss (or mechanism), to be repeated, or a sequence of them: a plan in its order
POINTS = 24
LARGEST = 5  # beyond, e^ε makes the theorem of advanced composition say nothing


def composition(losses: Losses, *, delta: Real = 1e-6, times: int = 100) -> Picture:
    """ε at this δ after the first k releases: by adding up, by advanced composition, and exactly.

    One loss is repeated up to `times` times; a sequence is taken as the plan it is. Every ε is rounded up.
    """
    plan = _plan(losses, times)
    failure = exact_delta(delta)
    sizes = np.unique(np.round(np.geomspace(1, len(plan), POINTS)).astype(int)).tolist()
    rules: dict[str, Callable[[Counter[PrivacyLoss]], float]] = {
        "basic: sums of ε and δ": lambda used: _basic(used, failure),
        "advanced composition": lambda used: _advanced(used, failure),
        "exact: composed laws": lambda used: reduce(add, _repeated(used)).epsilon(delta=failure),
    }
    firsts = [Counter(plan[:size]) for size in sizes]
    return Picture(
        title="What many releases cost together",
        subtitle=f"ε at δ = {scientific(float(failure))}, after the first k releases",
        traces=[
            line(sizes, [rule(used) for used in firsts], name=name, index=index)
            for index, (name, rule) in enumerate(rules.items())
        ],
        axes={"xaxis": axis("number of releases k"), "yaxis": axis("ε", rangemode="tozero")},
    )


def _repeated(used: Counter[PrivacyLoss]) -> list[PrivacyLoss]:
    return [count * loss for loss, count in used.items()]


def _basic(used: Counter[PrivacyLoss], failure: Fraction) -> float:
    each = failure / used.total()
    return sum(count * loss.epsilon(delta=each) for loss, count in used.items())


def _advanced(used: Counter[PrivacyLoss], failure: Fraction) -> float:
    """The theorem for the largest ε among them: all of δ is slack for pure releases, else half of it."""
    pure = max(loss.epsilon(delta=0) for loss in used)
    if failure == 0:
        return math.nan
    if math.isfinite(pure):
        each, slack = Fraction(0), failure
    else:
        each, slack = failure / (2 * used.total()), failure / 2
    largest = max(loss.epsilon(delta=each) for loss in used)
    if not 0 < largest <= LARGEST:
        return math.nan
    try:
        together = compose_advanced(epsilon=largest, delta=each, times=used.total(), slack=slack)
    except InvalidParameter:  # beyond every sensible price
        return math.nan
    return round_up(together.epsilon)


def _plan(losses: Losses, times: int) -> list[PrivacyLoss]:
    given = list(losses) if isinstance(losses, Sequence) else [losses] * times
    plan = [getattr(item, "loss", item) for item in given]
    if not plan or not all(isinstance(loss, PrivacyLoss) for loss in plan):
        raise InvalidParameter(
            "losses must be a loss, or a list of them that is not empty.", parameter="losses"
        )
    return plan
