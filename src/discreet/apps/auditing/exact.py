"""Exact verification: where both laws are finite, ε(δ) is computed, not estimated.

    δ(ε) = Σ_y (P(y) - e^ε Q(y))₊;  at δ = 0, ε = max_y ln(P(y)/Q(y))

Probabilities are Arb balls that hold the true values. Outcomes that were merged (the tails of a lattice) only
lower the loss: what is proved here is always a true lower bound, and without merging it is the loss itself.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.apps.auditing.claim import BITS, Claim, Finding
from discreet.kernel.laws import FiniteLaw
from discreet.kernel.numerics import Arb, ball, round_down, working_precision

STEPS = 60


@dataclass(frozen=True)
class Verification:
    """The strongest finding over a set of pairs; the pair and the outcomes that show it, with their mass."""

    finding: Finding
    pair: tuple[Any, Any]
    outcomes: tuple[Hashable, ...]
    probabilities: tuple[float, float]


def verify(
    law: Callable[[Any], FiniteLaw | None], pairs: Sequence[tuple[Any, Any]], claim: Claim
) -> Verification | None:
    """Return the largest loss over the pairs, both ways, judged against the claim, or None."""
    found = []
    with working_precision(BITS):
        for first, second in pairs:
            left, right = law(first), law(second)
            if left is not None and right is not None:
                found.append(_judge(left, right, (first, second), claim))
                found.append(_judge(right, left, (second, first), claim))
    return max(found, key=lambda verification: verification.finding.strength, default=None)


def _judge(first: FiniteLaw, second: FiniteLaw, pair: tuple[Any, Any], claim: Claim) -> Verification:
    outcomes = list({**first, **second})
    zero = ball(0)
    p = [first.get(outcome, zero) for outcome in outcomes]
    q = [second.get(outcome, zero) for outcome in outcomes]
    shares = np.array([[float(x.mid()) for x in law] for law in (p, q)])
    epsilon, delta = max(
        claim.points, key=lambda point: Finding(_about(shares, float(point[1])), 0.0, point[0]).strength
    )
    finding = Finding(epsilon_at(p, q, delta), float(delta), epsilon)
    inside = _telling(shares, finding)
    masses = shares[:, inside].sum(axis=1)
    return Verification(
        finding, pair, tuple(outcomes[i] for i in inside), (float(masses[0]), float(masses[1]))
    )


def _telling(shares: NDArray[np.float64], finding: Finding) -> NDArray[np.int64]:
    """The outcomes that make up the loss: at δ = 0 the likeliest of the worst, else all that exceed e^ε."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(np.log(shares[0] / shares[1]), nan=-np.inf)
    if finding.delta:
        return np.flatnonzero(ratio > finding.lower_bound)
    worst = np.flatnonzero(ratio >= ratio.max() - 1e-9)
    return worst[[int(np.argmax(shares[0][worst]))]]


def _about(shares: NDArray[np.float64], delta: float) -> float:
    """About ε(δ), by bisection in floats: decides which point of a claim to certify."""
    low, high = 0.0, 64.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        over = float(np.maximum(shares[0] - np.exp(middle) * shares[1], 0).sum()) > delta
        low, high = (middle, high) if over else (low, middle)
    return low


def epsilon_at(first: Sequence[Arb], second: Sequence[Arb], delta: Fraction) -> float:
    """ε(δ) of two laws over the same outcomes, rounded down.

    >>> with working_precision(128):
    ...     three, one = ball(Fraction(3, 4)), ball(Fraction(1, 4))
    ...     print(epsilon_at([three, one], [one, three], Fraction(0)))
    1.0986122886681096
    """
    if delta == 0:
        return max(_log_ratio(p, q) for p, q in zip(first, second, strict=True))
    low, high = 0.0, 1.0
    while high < 1024 and _exceeds(first, second, high, delta):
        low, high = high, 2 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _exceeds(first, second, middle, delta) else (low, middle)
    return low


def _log_ratio(p: Arb, q: Arb) -> float:
    if not p > 0:
        return 0.0
    if q.is_zero():
        return float("inf")
    return max(0.0, round_down((p / q).log())) if q > 0 else 0.0


def _exceeds(first: Sequence[Arb], second: Sequence[Arb], epsilon: float, delta: Fraction) -> bool:
    """Whether δ(ε) > δ for certain."""
    factor = ball(Fraction(epsilon)).exp()
    total = sum(((p - factor * q).max(ball(0)) for p, q in zip(first, second, strict=True)), ball(0))
    return bool(total > ball(delta))
