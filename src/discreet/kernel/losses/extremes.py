"""The ends of a composed loss: its largest value, and the probability of failing outright.

Both are exact where their parts are rational, so that ten losses of 1/10 make 1.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import arb

from discreet.kernel.losses.contour import Part
from discreet.kernel.losses.family import DIRECTIONS, Direction
from discreet.kernel.losses.term import Terms
from discreet.kernel.numerics import Arb, ball, state_down, state_up, working_precision

MOST_DIGITS = 20_000  # bits of a probability that is still worth keeping exactly
CLOSED_BITS = 512  # closed forms cancel: ρ of a bounded range of 2^−60 is about 2^−123


def parts_of(terms: Terms, direction: Direction, kind: str) -> list[Part]:
    """Each term's pair, "dominating" or "witness", with its count; empty where some term has none."""
    pairs = [(getattr(term.family, kind)(direction), term.count) for term in terms]
    return pairs if all(pair is not None for pair, _ in pairs) else []


def failure_of(terms: Terms, direction: Direction) -> Fraction | Arb:
    """1 − ∏(1 − δᵢ)^kᵢ, exactly where every δᵢ is rational and the powers are not too long."""
    exact = [(term.family.rational_failure(direction), term.count) for term in terms]
    known = [(value, count) for value, count in exact if value]
    long = sum(value.denominator.bit_length() * count for value, count in known) > MOST_DIGITS
    if long or any(value is None for value, _ in exact):
        return _failing((term.family.failure(direction), term.count) for term in terms)
    rational = Fraction(1)
    for value, count in known:
        rational *= (1 - value) ** count
    return 1 - rational


def pair_failure(parts: Sequence[Part]) -> Arb:
    """1 − ∏(1 − δᵢ)^kᵢ of pairs."""
    return _failing((pair.failure(), count) for pair, count in parts)


def _failing(failures: Iterable[tuple[Arb, int]]) -> Arb:
    """1 − ∏(1 − δᵢ)^kᵢ, without cancelling."""
    logs = arb(0)
    for failure, count in failures:
        if not failure < 1:
            return arb(1) if failure >= 1 else arb(0).union(arb(1))
        logs += count * (-failure).log1p()
    return -logs.expm1()


def largest_of(terms: Terms, direction: Direction) -> Fraction | Arb | None:
    """The sum of the largest losses, exactly where each is rational."""
    exact = [term.family.rational_largest(direction) for term in terms]
    if all(value is not None for value in exact):
        return sum(
            (value * term.count for value, term in zip(exact, terms, strict=True) if value), Fraction(0)
        )
    total = arb(0)
    for term in terms:
        top = term.family.largest(direction)
        if top is None:
            return None
        total += top * term.count
    return total


def attained_of(terms: Terms, direction: Direction) -> Arb | None:
    """The largest loss of mechanisms that the terms allow, from below; None where it is unbounded."""
    total = arb(0)
    for term in terms:
        top = term.family.attained_largest(direction)
        if top is None:
            return None
        total += top * term.count
    return total


def as_ball(value: Fraction | Arb) -> Arb:
    """A ball around either kind of number."""
    return ball(value) if isinstance(value, Fraction) else value


def at_most(value: Fraction | Arb, limit: Fraction) -> bool:
    """Whether the value is certainly <= limit."""
    return bool(value <= limit) if isinstance(value, Fraction) else bool(value <= ball(limit))


def exceeds(value: Fraction | Arb, limit: Fraction) -> bool:
    """Whether the value is certainly > limit."""
    return bool(value > limit) if isinstance(value, Fraction) else bool(value > ball(limit))


def least_pure_epsilon(terms: Terms) -> float:
    """A lower end of the ε of pure DP: the largest loss of a mechanism that the terms allow."""
    with working_precision(CLOSED_BITS):
        worst = 0.0
        for direction in DIRECTIONS:
            total = attained_of(terms, direction)
            if total is None:
                return math.inf
            worst = max(worst, state_down(total))
    return min(worst, pure_epsilon(terms))


def pure_epsilon(terms: Terms) -> float:
    """The largest loss of all, where nothing fails outright: the ε of pure DP, D_∞."""
    with working_precision(CLOSED_BITS):
        tops = []
        for direction in DIRECTIONS:
            top = largest_of(terms, direction)
            if top is None or not at_most(failure_of(terms, direction), Fraction(0)):
                return math.inf
            tops.append(state_up(top))
    return max(tops)
