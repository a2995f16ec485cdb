"""What is claimed: points (ε, δ) that must hold at once, whatever notion they come from.

Tested by: tests/auditing/test_claim.py, tests/auditing/test_exact.py
"""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw
from discreet.kernel.numerics import Arb, ball, exact, exact_delta, round_down, round_up, working_precision

# A curve is tested at these δ; a proof at any one of them refutes it. Dense where samples can reach.
SMALL = (0, 1, 100, 10**3, 10**4, 10**5, 3 * 10**5, 10**6, 3 * 10**6, 10**7, 2 * 10**7)  # parts per billion
DELTAS = (*(Fraction(n, 10**9) for n in SMALL), *(Fraction(n, 20) for n in range(1, 20)))
TRIFLE = 0.05
NOTHING = 1e-6  # an ε below which further points claim nothing new
BITS = 160


@dataclass(frozen=True)
class Finding:
    """What an event with certified rates proves against one point of a claim."""

    lower_bound: float
    delta: float
    claimed: float

    @property
    def excess(self) -> float:
        """By how much the proved ε exceeds the claimed one: positive means violated."""
        return self.lower_bound - self.claimed

    @property
    def strength(self) -> float:
        """The excess against what is claimed: comparable between points, also where ε is next to nothing."""
        return self.excess / (self.claimed + TRIFLE) if self.lower_bound > 0 else -1.0


@dataclass(frozen=True)
class Claim:
    """Points (ε, δ), each a promise that Pr[E] ≤ e^ε Pr'[E] + δ for every event E.

    >>> Claim.read(1).points
    ((1.0, Fraction(0, 1)),)
    """

    text: str
    points: tuple[tuple[float, Fraction], ...]

    @classmethod
    def read(cls, value: Any) -> Self:
        """A number (pure ε), a notion (it has `.loss`), or anything with `.epsilon(delta=...)`."""
        loss = getattr(value, "loss", value)
        curve = getattr(loss, "epsilon", None)
        if callable(curve):
            return cls(str(value), _points(curve, exact_delta(_own_delta(value))))
        epsilon = exact(value, name="claim")
        if epsilon < 0:
            raise InvalidParameter(f"claim must be an epsilon >= 0, got {value}.", parameter="claim")
        point = round_up(epsilon)
        if not math.isfinite(point):
            raise InvalidParameter("claim must be an epsilon below 2^1024.", parameter="claim")
        return cls(f"epsilon = {value}", ((point, Fraction(0)),))

    def judge(self, first: Fraction, second: Fraction) -> Finding:
        """The strongest finding of an event of probability at least `first` and at most `second` (> 0).

        All points may be tried on the same two bounds: each holds whenever the bounds do.
        """
        findings = [
            Finding(log_ratio_lower(first - delta, second), float(delta), epsilon)
            for epsilon, delta in self.points
        ]
        return max(findings, key=lambda finding: finding.strength)

    def to_json(self) -> dict[str, Any]:
        """The points, δ as exact text."""
        return {"text": self.text, "points": [[epsilon, str(delta)] for epsilon, delta in self.points]}

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> Self:
        """The claim that was saved."""
        return cls(saved["text"], tuple((float(e), Fraction(d)) for e, d in saved["points"]))


def _own_delta(value: Any) -> int | float | Fraction | Decimal:
    delta = getattr(value, "delta", 0)
    return 0 if callable(delta) else delta


def _points(curve: Any, own: Fraction) -> tuple[tuple[float, Fraction], ...]:
    """Finite points, each with less ε than the one before, until no ε is left to claim."""
    kept: list[tuple[float, Fraction]] = []
    for delta in sorted({*DELTAS, own}):
        epsilon = float(curve(delta=delta))
        if math.isfinite(epsilon) and (not kept or epsilon < kept[-1][0]):
            kept.append((epsilon, delta))
        if epsilon < NOTHING:
            break
    if not kept:
        raise InvalidParameter("claim must promise a finite epsilon at some delta below 1, got none.")
    return tuple(kept)


def log_ratio_lower(above: Fraction, below: Fraction) -> float:
    """ln(above / below) rounded down, for below > 0; 0 where it is negative.

    >>> log_ratio_lower(Fraction(1), Fraction(2)), log_ratio_lower(Fraction(2), Fraction(2))
    (0.0, 0.0)
    """
    if above <= below:
        return 0.0
    with working_precision(BITS):
        return max(0.0, round_down((ball(above) / ball(below)).log()))


# Exact verification: where both laws are finite, ε(δ) is computed, not estimated.
#
#     δ(ε) = Σ_y (P(y) - e^ε Q(y))₊;  at δ = 0, ε = max_y ln(P(y)/Q(y))
#
# Probabilities are Arb balls that hold the true values. Outcomes that were merged (the tails of a lattice)
# only lower the loss: what is proved here is always a true lower bound, and without merging it is the loss
# itself.

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
