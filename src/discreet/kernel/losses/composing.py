"""Composition of (ε, δ) guarantees (basic, advanced, optimal) and of exponential mechanisms fixed in advance.

Tested by: tests/losses/test_composing.py, tests/losses/test_nonadaptive.py
"""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses.approximate import ApproxDP
from discreet.kernel.losses.family import Relation
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.pure import PureDP, pure
from discreet.kernel.losses.solvers import invert_from_scratch
from discreet.kernel.numerics import (
    Arb,
    Real,
    ball,
    exact_delta,
    exact_epsilon,
    exact_whole,
    round_up,
    working_precision,
)

BITS = 256
Guarantee: TypeAlias = PureDP | ApproxDP | tuple[Real, Real]


def compose_basic(terms: Iterable[Guarantee]) -> ApproxDP:
    """Sums of ε and of δ, adaptively chosen too.

    Privacy: Dwork, McSherry, Nissim and Smith 2006; Dwork and Roth 2014, Theorem 3.16.

    >>> compose_basic([ApproxDP(0.1, 1e-6)] * 10) == ApproxDP(1, 1e-5)
    True
    """
    known, relation = _read(terms)
    return ApproxDP(
        sum((epsilon for epsilon, _ in known), Fraction(0)),
        sum((delta for _, delta in known), Fraction(0)),
        relation,
    )


def compose_advanced(*, epsilon: Real, delta: Real = 0, times: int, slack: Real) -> ApproxDP:
    """k-fold adaptive composition: (ε√(2k ln(1/δ₀)) + kε(e^ε − 1), kδ + δ₀), δ₀ = slack.

    Privacy: Dwork, Rothblum and Vadhan 2010, Theorem III.3; Dwork and Roth 2014, Theorem 3.20.

    >>> advanced = compose_advanced(epsilon=0.1, times=100, slack=1e-6)
    >>> round(float(advanced.epsilon), 6), float(advanced.delta)
    (6.308231, 1e-06)
    """
    one, failure = exact_epsilon(epsilon), exact_delta(delta)
    k, spare = exact_whole(times, name="times", least=1), _slack(slack)
    with working_precision(BITS):
        e = ball(one)
        total = e * (2 * k * (1 / ball(spare)).log()).sqrt() + k * e * e.expm1()
        return ApproxDP(_up(total), k * failure + spare)


def compose_optimal(terms: Iterable[Guarantee], *, slack: Real) -> ApproxDP:
    """The least ε for (εᵢ, δᵢ)-DP mechanisms chosen adaptively, with δ = 1 − (1 − slack)·∏(1 − δᵢ).

    Privacy: exact (Kairouz, Oh and Viswanath 2015, Theorem 3.3; Murtagh and Vadhan 2016, Theorem 1.5), by the
    certified composition of randomised responses; the answer is its upper end.

    >>> best = compose_optimal([ApproxDP(0.1, 0)] * 100, slack=1e-6)
    >>> round(float(best.epsilon), 6)
    4.774568
    """
    known, relation = _read(terms)
    spare = exact_delta(slack, name="slack")
    counts = Counter(epsilon for epsilon, _ in known)
    loss = sum((count * pure(epsilon=epsilon) for epsilon, count in counts.items()), PrivacyLoss())
    with working_precision(BITS):
        kept = 1 - ball(spare)
        for _, delta in known:
            kept *= 1 - ball(delta)
        failure = spare if all(delta == 0 for _, delta in known) else _up(1 - kept)
    return ApproxDP(Fraction(loss.epsilon(delta=spare)), failure, relation)


def _read(terms: Iterable[Guarantee]) -> tuple[list[tuple[Fraction, Fraction]], Relation]:
    known, relations = [], set()
    for term in terms:
        if isinstance(term, PureDP | ApproxDP):
            known.append((term.value, term.failure))
            relations.add(term.relation)
        else:
            epsilon, delta = term
            known.append((exact_epsilon(epsilon), exact_delta(delta)))
    if not known or len(relations) > 1:
        raise InvalidParameter("terms must be one or more guarantees under one relation.", parameter="terms")
    return known, relations.pop() if relations else "add/remove"


def _slack(slack: Real) -> Fraction:
    value = exact_delta(slack, name="slack")
    if value == 0:
        raise InvalidParameter("slack must be > 0, got 0. Use compose_basic for no slack.", parameter="slack")
    return value


def _up(value: Arb) -> Fraction:
    found = round_up(value)
    if found == math.inf:
        raise InvalidParameter("epsilon must be one that composes to a finite number, got a larger one.")
    return Fraction(found)


# Exponential mechanisms that were all fixed in advance: their optimal composition, for nothing else.

NONADAPTIVE_BITS = 192
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
    with working_precision(NONADAPTIVE_BITS):
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
