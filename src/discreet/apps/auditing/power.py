"""What an audit would have found: a silent one says little without it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.kernel.numerics import normal_quantile, wilson

SURE = 1.645  # standard errors: found with probability 0.95


@dataclass(frozen=True)
class Power:
    """Violations that would have been refuted with probability 0.95 (by normal approximation).

    `epsilon`: the least true loss, were it shown as openly as by randomised response. `event`: the least
    probability of an event that is impossible on the other neighbour.
    """

    epsilon: float
    event: float

    def __str__(self) -> str:
        return (
            f"a true loss of {self.epsilon:.4g} shown as by randomised response, or an event of probability "
            f"{self.event:.2g} that a neighbour cannot produce, would have been refuted with probability 95 %"
        )


def estimate_power(*, outputs: int, risk: Fraction, epsilon: float, delta: float) -> Power:
    """The power of one trial of this many outputs per neighbour against the claim (epsilon, delta)."""
    z = normal_quantile(risk / 2)

    def refuted(p: float, q: float) -> bool:
        seen_p = max(p - SURE * math.sqrt(p * (1 - p) / outputs), 0.0)
        seen_q = min(q + SURE * math.sqrt(q * (1 - q) / outputs), 1.0)
        lower = wilson(seen_p * outputs, outputs, z=-z) - delta
        return lower > math.exp(min(epsilon, 700)) * wilson(seen_q * outputs, outputs, z=z)

    def response(loss: float) -> bool:
        odds = math.exp(-loss)
        return refuted(delta + (1 - delta) / (1 + odds), (1 - delta) * odds / (1 + odds))

    least = _least(response, epsilon, epsilon + 64)
    return Power(least, _least(lambda rate: refuted(rate, 0.0), 0.0, 1.0))


def _least(passes: Callable[[float], bool], low: float, high: float) -> float:
    """The least number in (low, high) that passes, by bisection; infinity if none does."""
    if not passes(high):
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
