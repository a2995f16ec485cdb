"""Advanced composition at work: the log ratio of views, round by round, under its bounds."""

import math
from itertools import accumulate

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis
from discreet.apps.pictures.traces import line
from discreet.errors import InvalidParameter
from discreet.kernel.accounting import Experiment
from discreet.kernel.numerics import Real, exact_epsilon, exact_positive


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
