"""What is claimed: points (ε, δ) that must hold at once, whatever notion they come from."""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import ball, exact, exact_delta, round_down, round_up, working_precision

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
