"""Max divergence, exact and approximate: differential privacy as a bound on both, in both directions."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.numerics import Real, ball, exact_delta, exact_probability, round_up, working_precision

BITS = 128


def max_divergence(p: Sequence[Real], q: Sequence[Real]) -> float:
    """D_∞(P‖Q) = max over events S of ln(P(S)/Q(S)), rounded up; p and q are laws over the same outcomes.

    Privacy: M is ε-DP if and only if it is at most ε for all neighbours, both ways (Dwork and Roth 2014,
    Remark 3.2); a single outcome is always among the worst events.

    >>> max_divergence([0.5, 0.5], [0.25, 0.75])  # ln 2
    0.6931471805599454
    """
    return approx_max_divergence(p, q, 0)


def approx_max_divergence(p: Sequence[Real], q: Sequence[Real], delta: Real) -> float:
    """D_∞^δ(P‖Q) = max over events S with P(S) > δ of ln((P(S) − δ)/Q(S)), rounded up.

    Privacy: M is (ε, δ)-DP if and only if it is at most ε for all neighbours, both ways (the same remark).
    A worst event is {P/Q >= t} for some t: it maximises P(S) − e^ε·Q(S) for every ε.

    >>> approx_max_divergence([0.5, 0.5], [0.125, 0.875], 0.25)  # ln 2 again, and not ln 4
    0.6931471805599454
    """
    first, second = _law(p, name="p"), _law(q, name="q")
    if len(first) != len(second):
        raise InvalidParameter(
            "p and q must be laws over the same outcomes, got other lengths.", parameter="q"
        )
    failure = exact_delta(delta)
    return _log_up(max(_ratios(first, second, failure)))


def _law(probabilities: Sequence[Real], *, name: str) -> list[Fraction]:
    law = [exact_probability(value, name=name) for value in probabilities]
    if sum(law) != 1:
        raise InvalidParameter(
            f"{name} must be probabilities that sum to 1. Give them as exact fractions.", parameter=name
        )
    return law


def _ratios(p: Sequence[Fraction], q: Sequence[Fraction], failure: Fraction) -> Iterable[Fraction | float]:
    """(P(S) − δ)/Q(S) of the events {P/Q >= t}, t falling; the last is everything, whose P exceeds δ."""
    falling = sorted(zip(p, q, strict=True), key=lambda pair: -(pair[0] / pair[1]) if pair[1] else -math.inf)
    above, below = Fraction(0), Fraction(0)
    for mass, other in falling:
        above, below = above + mass, below + other
        if above > failure:
            yield (above - failure) / below if below else math.inf


def _log_up(ratio: Fraction | float) -> float:
    if isinstance(ratio, float):
        return ratio
    with working_precision(BITS):
        return round_up(ball(ratio).log())
