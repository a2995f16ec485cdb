"""The ends of a composed loss: its largest value, the probability of failing outright, its curve's floors.

The first two are exact where their parts are rational, so that ten losses of 1/10 make 1. The floors need no
contour: they stand on the top atom, and on what P and Q share.

Tested by: tests/losses/test_floors.py, tests/losses/test_failures.py
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from flint import acb, arb

from discreet.kernel.losses.contour import Part, log_moment
from discreet.kernel.losses.family import DIRECTIONS, Direction, Terms
from discreet.kernel.numerics import Arb, ball, power, state_down, state_up, working_precision

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


def ceiling_of(terms: Terms, direction: Direction, delta: Fraction) -> float:
    """Return the largest loss, where failing outright is within δ."""
    top = largest_of(terms, direction)
    return state_up(top) if top is not None and at_most(failure_of(terms, direction), delta) else math.inf


def least_epsilon(terms: Terms, direction: Direction, delta: Fraction) -> float:
    """Return an ε that the answer is not below, by the largest loss alone."""
    # δ does not exceed the probability of failing outright: only the largest loss, or nothing, is enough
    failure, top = failure_of(terms, direction), largest_of(terms, direction)
    if not all(term.family.exact for term in terms):
        return 0.0
    if exceeds(failure, delta):
        return math.inf
    return state_down(top) if top is not None and at_most(failure, delta) else 0.0


SHARES = (0.02, 0.1, 0.2, 0.3, 0.4, 0.49)  # below 1/2: for ε >= 0 the best share of a symmetric law is


def epsilon_floor(parts: Sequence[Part], delta: Arb) -> float:
    """δ(ε) >= p·(1 − e^(ε−T)) with p = Pr[L = T] of the largest loss T, so ε(δ) >= T + ln(1 − δ/p).

    Near the largest loss the top atom is all there is, and no tilt tells a contour where to go.
    """
    top, mass = arb(0), arb(1)
    for pair, count in parts:
        atom = pair.top_atom()
        if atom is None:
            return 0.0
        top += count * atom[0]
        mass *= power(atom[1], count)
    left = 1 - delta / mass if mass > delta else arb(0)
    return max(state_down(top + left.log()), 0.0) if left > 0 else 0.0


def delta_floor(parts: Sequence[Part], epsilon: Arb) -> Arb:
    """δ(ε) of the finite losses is Pr[L < ∞] − E[min(1, e^(ε−L))], and min(1, e^y) <= e^(sy), 0 <= s <= 1.

    So at least Pr[L < ∞] − e^(sε + K(−s)): nearly everything, where ε is far below the losses.
    """
    at = float(epsilon.mid())

    def rough(share: float) -> float:
        return share * at + sum(count * pair.about_log_moment(-share) for pair, count in parts)

    share = arb(min(SHARES, key=rough))
    shared = (share * epsilon + log_moment(parts, -share)).exp()
    left = finite_mass(parts) - shared
    return left.max(arb(0)) if left.is_finite() else arb(0)


def finite_mass(parts: Sequence[Part]) -> Arb:
    """Pr[L < ∞]; less than 1 − Pr[L = ∞] where a law below another left some of its mass out."""
    mass = arb(1)
    for pair, count in parts:
        mass *= power(pair.moment(acb(0)).real, count)
    return mass
