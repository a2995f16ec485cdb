"""Pictures for the course: leaks of exact answers, randomised response, streams, composition.

Tested by: tests/pictures/test_experiments.py, tests/pictures/test_responses.py,
tests/pictures/test_lab_pictures.py
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, dots, line, log_axis, scientific
from discreet.errors import InvalidParameter
from discreet.kernel.accounting import Experiment
from discreet.kernel.mechanisms import AboveThreshold, Laplace, RandomizedResponse, Sparse
from discreet.kernel.numerics import Real, exact_delta, exact_epsilon, exact_positive, exact_whole

# Advanced composition at work: the log ratio of views, round by round, under its bounds.


def views(experiment: Experiment, *, epsilon: Real, slack: Real = 0.01, plays: int = 40) -> Picture:
    """Plays of world 0: Σ cᵢ after each round, for mechanisms that are ε-DP, under Azuma's bound.

    |cᵢ| <= ε and E[cᵢ | past] <= ε(e^ε − 1), so Pr[Σ cᵢ > kε(e^ε − 1) + ε√(2k·ln(1/slack))] <= slack after k
    rounds (Dwork and Roth 2014, Theorem 3.20).
    """
    each, rare = float(exact_epsilon(epsilon)), float(exact_positive(slack, name="slack"))
    rounds = range(experiment.rounds + 1)
    drift = [k * each * math.expm1(each) for k in rounds]
    azuma = [
        mean + each * math.sqrt(2 * k * math.log(1 / rare)) for k, mean in zip(rounds, drift, strict=True)
    ]
    paths = [experiment.play(0).terms for _ in range(plays)]
    if any(abs(term) > each * (1 + 1e-9) for path in paths for term in path):
        raise InvalidParameter(
            f"epsilon must bound every round's loss, got {epsilon}, and a round exceeded it.",
            parameter="epsilon",
        )
    return Picture(
        title="Adaptive composition: what a view reveals, round by round",
        subtitle=f"{plays} plays in world 0, each round {each:.4g}-DP; beyond Azuma's bound with {rare:g}",
        traces=[
            *(_path(path, first=index == 0) for index, path in enumerate(paths)),
            line(rounds, [k * each for k in rounds], name="basic: k·ε", index=1),
            line(rounds, azuma, name="Azuma's bound", index=2),
            line(rounds, drift, name="bound of the mean", index=3),
        ],
        axes={"xaxis": axis("rounds k"), "yaxis": axis("log ratio of the view Σ cᵢ (nats)")},
    )


def _path(terms: tuple[float, ...], *, first: bool) -> dict[str, Json]:
    totals = [0.0, *accumulate(terms)]
    drawn = line(range(len(totals)), totals, name="plays", showlegend=first, opacity=0.35, hoverinfo="skip")
    drawn["line"]["width"] = 1
    return drawn


# The two extreme algorithms that a δ allows: publish everything, or each row, with probability δ.

SIZES = tuple(10 ** (i / 10) for i in range(91))  # from one person to a thousand million
LEAST = 1e-13


def someone_leaks(delta: Real, *, people: float) -> float:
    """1 − (1 − δ)ⁿ: the probability that at least one of n rows is out, each published with probability δ.

    >>> someone_leaks(0.5, people=2)
    0.75
    """
    return -math.expm1(people * math.log1p(-float(exact_delta(delta))))


def leaks(*, delta: Real, people: int) -> Picture:
    """What (0, δ)-DP allows: all rows at once with probability δ, or somebody's with 1 − (1 − δ)ⁿ."""
    failure, number = exact_delta(delta), exact_whole(people, name="people", least=1)
    chance = someone_leaks(failure, people=number)
    shown = scientific(float(failure))
    return Picture(
        title="A small δ is small only beside 1/n",
        subtitle=f"δ = {shown}, {number:,} people: somebody's row is out with probability {chance:.3g}",
        traces=[
            line(
                SIZES,
                [someone_leaks(failure, people=size) for size in SIZES],
                name="each row with probability δ: somebody is out",
            ),
            line(
                [SIZES[0], SIZES[-1]],
                [float(failure)] * 2,
                name="all with probability δ: everybody is out",
                index=1,
            ),
            dots([number, number], [chance, float(failure)], name=f"n = {number:,}", index=2),
        ],
        axes={
            "xaxis": {**log_axis("people n", range=[0, 9]), "dtick": 3},
            "yaxis": {**log_axis("probability", range=[math.log10(LEAST), 0.4]), "dtick": 3},
        },
    )


# The probability of the truth in randomised response, against its parameter, for every way to choose
# it.

# Name in the legend, and the mechanism at a parameter.
WAYS: Sequence[tuple[str, Callable[[float], RandomizedResponse]]] = (
    ("eᵋ/(1 + eᵋ), the tightest", lambda epsilon: RandomizedResponse(epsilon=epsilon)),
    ("(1 + ε)/(2 + ε)", RandomizedResponse.linear),
    ("second degree", RandomizedResponse.quadratic),
    ("1 − min(1, 1/ε)/2", RandomizedResponse.coin),
)
RIGHT = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}
PARAMETERS = tuple(0.05 * i for i in range(1, 101))


def truth_probability() -> Picture:
    """θ(ε) of all parametrisations on the left; on the right the loss that each really has, ln(θ/(1 − θ))."""
    traces: list[dict[str, Json]] = []
    for index, (name, respond) in enumerate(WAYS):
        mechanisms = [respond(round(parameter, 2)) for parameter in PARAMETERS]
        truths = [float(mechanism.truth) for mechanism in mechanisms]
        losses = [mechanism.loss.epsilon(delta=0) for mechanism in mechanisms]
        traces.append(line(PARAMETERS, truths, name=name, index=index))
        traces.append(line(PARAMETERS, losses, name=name, index=index, **RIGHT))
    coins = RandomizedResponse(truth=0.75)
    loss = coins.loss.epsilon(delta=0)
    traces.append(dots([loss], [0.75], name="3/4", index=4))
    traces.append(dots([loss], [loss], name="", index=4, **RIGHT))
    return Picture(
        title="Randomised response: how often to tell the truth",
        subtitle="left: the probability θ of the truth; right: the loss that this θ really has",
        traces=traces,
        axes={
            "xaxis": axis("parameter ε", domain=[0, 0.45], range=[0, 5]),
            "yaxis": axis("probability of the truth θ", range=[0.48, 1.02]),
            "xaxis2": axis("parameter ε", domain=[0.56, 1], anchor="y2", range=[0, 5]),
            "yaxis2": axis("loss ln(θ / (1 − θ))", anchor="x2", range=[0, 5.1]),
        },
    )


# The sparse vector on a stream: which values were called above, and where it stopped.


def stream(sparse: Sparse | AboveThreshold, values: Sequence[float]) -> Picture:
    """Put values to a sparse vector of these parameters, one by one, until it is finished; draw what it saw.

    Values, noise and noisy threshold are all shown: this is a picture for learning, and not a release.
    """
    if sparse.finished or not values:
        raise InvalidParameter(
            "a stream's picture must begin with an open sparse vector and values.", parameter="sparse"
        )
    said = list(_play(sparse, values))
    above = [i for i, each in enumerate(said) if each.above]
    below = [i for i, each in enumerate(said) if not each.above]
    threshold = float(sparse.threshold)
    false = [i for i in above if values[i] < threshold]
    far = sparse.margin(queries=len(values))
    stopped = f"it stopped at {len(said)}" if len(above) == sparse.count else "it did not stop"
    return Picture(
        title="Which values are above the threshold?",
        subtitle=f"“above” {len(above)} times of at most {sparse.count}; {stopped} of {len(values)}",
        traces=[
            *_band([1, len(values)], threshold - far, threshold + far),
            {
                **line(range(1, len(values) + 1), values, name="true values", opacity=0.55),
                "line": {"color": "@muted", "width": 1.5},
            },
            {
                **line([1, len(values)], [threshold, threshold], name="threshold"),
                "line": {"color": "@ink", "width": 1.5, "dash": "dash"},
            },
            {
                **line(range(1, len(said) + 1), [each.threshold for each in said], name="threshold + noise"),
                "line": {"color": "@2", "width": 1.5, "shape": "hv"},
            },
            _answers(
                [i + 1 for i in below], [said[i].value for i in below], name="value + noise: “below”", size=6
            ),
            _answers(
                [i + 1 for i in above],
                [said[i].value for i in above],
                name="value + noise: “above”",
                index=1,
                size=14,
            ),
            *(
                [
                    _answers(
                        [i + 1 for i in false],
                        [values[i] for i in false],
                        name="a false alarm: its true value",
                        index=4,
                        size=6,
                    )
                ]
                if false
                else []
            ),
        ],
        axes={"xaxis": axis("question", range=[0, len(values) + 1]), "yaxis": axis("value")},
    )


def _band(ends: Sequence[float], low: float, high: float) -> list[dict[str, object]]:
    """Shade where noise may decide: outside of it all answers are right, at 95% confidence."""
    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    lower = {**line(ends, [low, low], name="noise decides"), **edge}
    upper = {**line(ends, [high, high], name="noise decides"), **edge, "fill": "tonexty"}
    return [lower, {**upper, "fillcolor": "@3/0.15", "showlegend": True}]


class Comparison(NamedTuple):
    """A value with its noise, the threshold with its own, and what was said."""

    value: float
    threshold: float
    above: bool


def _play(sparse: Sparse | AboveThreshold, values: Sequence[float]) -> Iterator[Comparison]:
    """Yield the comparisons of another stream of the same law, whose noise may be seen: it protects no
    one.
    """
    far, noise = sparse.sensitivity, sparse.noise
    on_threshold, on_value = (
        Laplace(scale=far * multiple, sensitivity=far, step=sparse.step)
        for multiple in (noise.threshold, noise.query)
    )
    at = int(sparse.threshold) if sparse.threshold.denominator == 1 else float(sparse.threshold)
    given, threshold = 0, on_threshold.release(at)
    for value in values:
        noisy = on_value.release(value)
        yield Comparison(float(noisy), float(threshold), noisy >= threshold)
        given += noisy >= threshold
        if given == sparse.count:
            return
        if noisy >= threshold and given % noise.answers == 0:
            threshold = on_threshold.release(at)


def _answers(
    x: Sequence[float], y: Sequence[float], *, name: str, size: int, index: int = 0
) -> dict[str, object]:
    marks = dots(x, y, name=name, index=index)
    return {**marks, "marker": {**marks["marker"], "size": size}}
