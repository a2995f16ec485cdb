"""What an audit found, as a trade-off: how rarely can an attacker err, if the claim is true?"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, scientific
from discreet.apps.pictures.traces import dots, line

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
