"""Exponential mechanisms that were all fixed in advance: their optimal composition, for nothing else."""

import math
from fractions import Fraction

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses.approximate import ApproxDP
from discreet.kernel.losses.inversion import invert_from_scratch
from discreet.kernel.numerics import (
    Arb,
    Real,
    ball,
    exact_delta,
    exact_epsilon,
    exact_whole,
    working_precision,
)

BITS = 192
MOST = 400  # the sum over all places takes times² steps


def exponential_nonadaptive(*, epsilon: Real, times: int, delta: Real) -> ApproxDP:
    """`times` exponential mechanisms of this ε₀ whose scores were all fixed before the first one ran.

    δ(ε) = max over l = 0 ... k of Σᵢ C(k, i)·p^(k−i)·(1−p)^i·(e^(kt−iε₀) − e^ε)₊,
    t = (ε + (l+1)ε₀)/(k+1), at most ε₀, p = (e^(−t) − e^(−ε₀))/(1 − e^(−ε₀)).

    Privacy: exact, for mechanisms fixed in advance only (Dong, Durfee and Rogers 2020, Section 3). One that
    is chosen after another's answer may cost more, so no loss, no repetition, no peeling and no account uses
    this number: they charge `bounded_range`.

    >>> round(float(exponential_nonadaptive(epsilon=0.5, times=10, delta=1e-6).epsilon), 3) < 5
    True
    """
    one, limit = exact_epsilon(epsilon), exact_delta(delta)
    count = exact_whole(times, name="times", least=1)
    if count > MOST:
        raise InvalidParameter(f"times must be at most {MOST}, got {count}.", parameter="times")
    if limit == 0:
        return ApproxDP(one * count, 0)
    with working_precision(BITS):
        span = ball(one)

        def curve(at: Arb) -> tuple[Arb, Arb]:
            value = _delta(span, count, at)
            return value, value

        ceiling = math.nextafter(float(one * count), math.inf)
        found = invert_from_scratch(curve, ball(limit), ceiling=ceiling).upper
    return ApproxDP(min(Fraction(found), one * count), limit)


def _delta(span: Arb, count: int, epsilon: Arb) -> Arb:
    """The greatest of the curves at this ε, over the places l."""
    worst = arb(0)
    for place in range(count + 1):
        top = (epsilon + (place + 1) * span) / (count + 1)
        if top >= span:  # then p = 0: the loss is never above 0
            break
        worst = worst.max(_at_place(span, count, epsilon, top.min(span)))
    return worst


def _at_place(span: Arb, count: int, epsilon: Arb, top: Arb) -> Arb:
    """Σᵢ C(k, i)·p^(k−i)·(1−p)^i·(e^(kt−iε₀) − e^ε)₊, the terms from the largest loss down."""
    high = (((-top).exp() - (-span).exp()) / (1 - (-span).exp())).max(arb(0))
    low, grown = 1 - high, epsilon.exp()
    above, shrink = (count * top).exp(), (-span).exp()
    highs = [arb(1)]  # products, as a power of a ball around 0 would be unknown
    for _ in range(count):
        highs.append(highs[-1] * high)
    total, lows = arb(0), arb(1)
    for i in range(count + 1):
        gap = above - grown
        if gap < 0:
            break
        total += math.comb(count, i) * highs[count - i] * lows * gap.max(arb(0))
        above, lows = above * shrink, lows * low
    return total
