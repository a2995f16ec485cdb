"""Approximate privacy's tail: how likely the loss exceeds ε, and the δ(ε) that it really takes."""

import numpy as np

from discreet.apps.pictures.loss_law import loss_law, loss_of, loss_tail
from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import axis, log_axis, scientific
from discreet.apps.pictures.traces import dots, line
from discreet.kernel.numerics import Real, exact_epsilon

LEAST = 1e-9  # what is smaller is not drawn


def tail(mechanism: object, *, epsilon: Real = 1) -> Picture:
    """Pr[L > ε] and δ(ε) = E[(1 − e^(ε−L))₊] of one release, against ε, and at this ε.

    A tail of at most δ implies (ε, δ)-DP; they are not the same, because δ(ε) is never larger than the tail.
    """
    loss = loss_of(mechanism)
    at = float(exact_epsilon(epsilon))
    law = loss_law(loss)
    grid = np.linspace(0, max(1.5 * at, *law.grid[-1:], *(place for place, _ in law.atoms)), 161).tolist()
    tails, deltas = loss_tail(loss, grid), [loss.delta(epsilon=x) for x in grid]
    beyond, exact = loss_tail(loss, [at])[0], loss.delta(epsilon=epsilon)
    return Picture(
        title="What lies beyond ε",
        subtitle=f"at ε = {at:g} the tail is {scientific(beyond)}, and δ = {scientific(exact)} is enough",
        traces=[
            line(grid, [_seen(mass) for mass in tails], name="Pr[L > ε], the tail of the privacy loss"),
            line(grid, [_seen(delta) for delta in deltas], name="δ(ε), exact", index=1),
            dots([at, at], [_seen(beyond), _seen(exact)], name=f"at ε = {at:g}", index=2),
        ],
        axes={"xaxis": axis("ε"), "yaxis": log_axis("probability")},
    )


def _seen(probability: float) -> float:
    return probability if probability >= LEAST else float("nan")
