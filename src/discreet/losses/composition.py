"""Composition of promises (ε, δ), when nothing else is known of the mechanisms: basic, advanced, optimal.

Losses compose by their laws, which is never worse: add them. These are the theorems of the textbooks.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidParameter
from discreet.losses.approximate import ApproxDP
from discreet.losses.pure import PureDP
from discreet.numerics import (
    Real,
    ball,
    exact_delta,
    exact_epsilon,
    exact_fraction,
    exact_whole,
    round_up,
    working_precision,
)

BITS = 128
CLOSED_BITS = 512
Promise = PureDP | ApproxDP


def compose_basic(terms: Iterable[Promise]) -> ApproxDP:
    """(Σεᵢ, Σδᵢ), whatever is chosen when (Dwork and Roth 2014, Theorem 3.16; adaptively Theorem B.1).

    >>> compose_basic([PureDP(0.5), ApproxDP(1, 1e-6)])
    ApproxDP(epsilon=Fraction(3, 2), delta=Fraction(1, 1000000), relation='add/remove')
    """
    listed = _checked(terms)
    return ApproxDP(
        sum((term.epsilon for term in listed), Fraction(0)),
        sum((_delta(term) for term in listed), Fraction(0)),
        listed[0].relation,
    )


def compose_advanced(
    *, epsilon: Real, delta: Real = 0, times: Real, slack: Real, relation: Any = "add/remove"
) -> ApproxDP:
    """(ε√(2k·ln(1/δ₀)) + kε(e^ε − 1), kδ + δ₀) for k adaptive uses of (ε, δ), δ₀ = slack; ε rounded up.

    Privacy: Dwork, Rothblum and Vadhan 2010; Dwork and Roth 2014, Theorem 3.20.

    >>> round(float(compose_advanced(epsilon=0.1, times=100, slack=1e-6).epsilon), 4)
    6.3082
    """
    each, failure = exact_epsilon(epsilon), exact_delta(delta)
    count, rare = exact_whole(times, name="times", least=1), exact_fraction(slack, name="slack")
    with working_precision(BITS):
        e = ball(each)
        total = e * (2 * count * -ball(rare).log()).sqrt() + count * e * e.expm1()
        return ApproxDP(Fraction(round_up(total)), count * failure + rare, relation)


def compose_optimal(terms: Iterable[Promise], *, slack: Real) -> ApproxDP:
    """The least ε that can be promised of these terms together, at δ = 1 − (1 − δ₀)·Π(1 − δᵢ), δ₀ = slack.

    Privacy: the worst mechanisms are randomised responses that fail with δᵢ (Kairouz, Oh and Viswanath 2015,
    Theorem 3.3; different terms: Murtagh and Vadhan 2018, Theorem 1.5), which compose exactly. Rounded up.

    >>> [round(float(compose_optimal([PureDP(0.1)] * 100, slack=1e-6).epsilon), 3)]
    [4.775]
    """
    listed, rare = _checked(terms), exact_fraction(slack, name="slack")
    counts = Counter((term.epsilon, _delta(term)) for term in listed)
    relation = listed[0].relation
    losses = [count * PureDP(epsilon, relation).loss for (epsilon, _), count in counts.items()]
    composed = sum(losses[1:], losses[0])
    with working_precision(CLOSED_BITS):  # of a δ far below 1, enough digits are left
        kept = 1 - ball(rare)
        for (_, delta), count in counts.items():
            kept *= (1 - ball(delta)) ** count
        failure = Fraction(round_up(1 - kept))
    return ApproxDP(Fraction(composed.epsilon(delta=rare)), failure, relation)


def _checked(terms: Iterable[Promise]) -> Sequence[Promise]:
    listed = list(terms)
    if not listed or not all(isinstance(term, PureDP | ApproxDP) for term in listed):
        raise InvalidParameter(
            "terms must be promises: PureDP or ApproxDP, at least one of them.", parameter="terms"
        )
    if len({term.relation for term in listed}) > 1:
        raise InvalidParameter("terms must share one relation.", parameter="terms")
    return listed


def _delta(term: Promise) -> Fraction:
    return term.delta if isinstance(term, ApproxDP) else Fraction(0)
