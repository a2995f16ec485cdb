"""What the moments of composed terms say: ε and δ by Chernoff's bound, Rényi divergences, ρ and μ."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from flint import arb

from discreet.kernel.losses.contour import chernoff_factor
from discreet.kernel.losses.extremes import CLOSED_BITS, as_ball, failure_of
from discreet.kernel.losses.family import DIRECTIONS, Direction, Family, Terms
from discreet.kernel.losses.tuning import log_chernoff_factor, minimise
from discreet.kernel.losses.work import QUESTION, TooMuch, limited
from discreet.kernel.numerics import Arb, ball, round_down, state_up, working_precision

MomentOf: TypeAlias = Callable[[Terms, Direction, Arb], Arb | None]


def terms_log_moment(terms: Terms, direction: Direction, theta: Arb) -> Arb | None:
    """A bound on K(θ), or None where some term has none at this θ."""
    return _sum(terms, lambda family: family.log_moment(theta, direction))


def plain_moment_of(terms: Terms, direction: Direction, theta: Arb) -> Arb | None:
    """The same by each family's plain bound."""
    return _sum(terms, lambda family: family.plain_log_moment(theta, direction))


def _sum(terms: Terms, moment: Callable[[Family], Arb | None]) -> Arb | None:
    total = arb(0)
    for term in terms:
        one = moment(term.family)
        if one is None:
            return None
        total += term.count * one
    return total


def highest_theta_of(terms: Terms) -> float:
    """The θ up to which every term has a moment, rounded down."""
    ends = [term.family.highest_theta() for term in terms]
    return min((round_down(end) for end in ends if end is not None), default=math.inf)


def moment_epsilon(
    terms: Terms, direction: Direction, delta: Arb, moment_of: MomentOf = terms_log_moment
) -> float:
    """Chernoff's ε: (K(θ) + ln factor(θ) − ln δ)/θ at a good θ (Canonne et al. 2020, Proposition 12)."""
    target = float(delta.log().mid())

    def rough(theta: float) -> float:
        moment = moment_of(terms, direction, arb(theta))
        return (
            math.inf
            if moment is None
            else (float(moment.mid()) - target + log_chernoff_factor(theta)) / theta
        )

    at = arb(minimise(rough, end=highest_theta_of(terms)))
    moment = moment_of(terms, direction, at)
    if moment is None:
        return math.inf
    return max(state_up((moment + chernoff_factor(at).log() - delta.log()) / at), 0.0)


def moment_delta(
    terms: Terms, direction: Direction, epsilon: Arb, moment_of: MomentOf = terms_log_moment
) -> Arb:
    """Chernoff's δ: factor(θ)·e^(K(θ)−θε) at a good θ, and outright failure."""
    middle = float(epsilon.mid())

    def rough(theta: float) -> float:
        moment = moment_of(terms, direction, arb(theta))
        return (
            math.inf if moment is None else float(moment.mid()) - theta * middle + log_chernoff_factor(theta)
        )

    at = arb(minimise(rough, end=highest_theta_of(terms)))
    moment = moment_of(terms, direction, at)
    if moment is None:
        return arb(1)
    finite = (moment - at * epsilon).exp() * chernoff_factor(at)
    return (finite + as_ball(failure_of(terms, direction))).min(arb(1))


@lru_cache(maxsize=4096)
def zcdp_rho(terms: Terms) -> float:
    """The least known ρ, rounded up."""
    known = [(term.count, rho) for term in terms if (rho := term.family.rational_rho()) is not None]
    if len(known) == len(terms):
        return state_up(sum((count * rho for count, rho in known), Fraction(0)))
    with working_precision(CLOSED_BITS):
        rho = rho_of(terms)
        return math.inf if rho is None else state_up(rho)


def rho_of(terms: Terms) -> Arb | None:
    """The least known ρ, at the working precision: ρ adds."""
    total = arb(0)
    for term in terms:
        rho = term.family.zcdp_rho()
        if rho is None:
            return None
        total += rho * term.count
    return total


def mu_squared_of(terms: Terms) -> Fraction | None:
    """μ² of Gaussian DP: it adds, and only Gaussians have it."""
    total = Fraction(0)
    for term in terms:
        squared = term.family.mu_squared()
        if squared is None:
            return None
        total += squared * term.count
    return total


def gaussian_mu(terms: Terms) -> float:
    """μ of Gaussian DP, rounded up: μ² adds."""
    squared = mu_squared_of(terms)
    if squared is None:
        with working_precision(CLOSED_BITS):
            total = _sum(terms, lambda family: family.gdp_mu_squared())
            return math.inf if total is None else state_up(total.sqrt())
    root = Fraction(math.isqrt(squared.numerator), math.isqrt(squared.denominator))
    if root**2 == squared:
        return state_up(root)
    with working_precision(CLOSED_BITS):
        return state_up(ball(squared).sqrt())


def renyi_divergence(terms: Terms, order: Fraction) -> float:
    """D_α, the greater of both directions; D_α adds."""
    worst = 0.0
    with working_precision(CLOSED_BITS):
        theta = ball(order - 1)
        for direction in DIRECTIONS:
            failure = failure_of(terms, direction)
            if not (failure == 0 if isinstance(failure, Fraction) else failure.is_zero()):
                return math.inf
            try:
                with limited(QUESTION):
                    moment = terms_log_moment(terms, direction, theta)
            except TooMuch:
                moment = plain_moment_of(terms, direction, theta)
            if moment is None:
                return math.inf
            worst = max(worst, state_up(moment / theta))
    return worst
