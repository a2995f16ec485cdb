"""What a loss answers: ε, δ, ρ, μ and Rényi divergences of composed terms, rounded to the safe side.

Each direction is composed by itself, and the greater answer taken at the end. Above, the least of every bound
that holds adaptively: dominating pairs, moments, largest losses. Below, what a known mechanism attains.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb

from discreet.losses.contour import Part, chernoff_factor, log_moment
from discreet.losses.family import DIRECTIONS, Direction
from discreet.losses.inversion import Curve, invert, invert_from_scratch
from discreet.losses.solvers import Saddle, Solver, exact_solver
from discreet.losses.term import Term
from discreet.losses.tuning import Landscape, log_chernoff_factor, minimise
from discreet.numerics import Arb, Interval, ball, round_down, round_up, working_precision

BITS = 128
CLOSED_BITS = 512  # closed forms cancel: ρ of a bounded range of 2^−60 is about 2^−123
LEAST_EPSILON = 2.0**-60  # a positive loss never answers 0

Terms = tuple[Term, ...]


@lru_cache(maxsize=4096)
def epsilon_interval(terms: Terms, delta: Fraction, width: float) -> Interval:
    """Two ends around the least ε >= 0 with δ(ε) <= delta."""
    if not terms:
        return Interval(0.0, 0.0)
    with working_precision(BITS):
        found = Interval(0.0, LEAST_EPSILON)
        for direction in _directions(terms):
            single = _one_use(terms, direction)
            if single is not None:
                end = invert_from_scratch(single, ball(delta), ceiling=math.inf)
            elif _ceiling(terms, direction, delta) <= found.lower:
                continue  # the other direction is worse, whatever this one is
            else:
                end = _epsilon_one_way(terms, direction, delta, width)
            found = Interval(max(found.lower, end.lower), max(found.upper, end.upper))
    return found


@lru_cache(maxsize=4096)
def delta_interval(terms: Terms, epsilon: Fraction) -> Interval:
    """Two ends around δ(ε)."""
    if not terms:
        return Interval(0.0, 0.0)
    with working_precision(BITS):
        ends = [_delta_one_way(terms, direction, epsilon) for direction in _directions(terms)]
    return Interval(max(end.lower for end in ends), max(end.upper for end in ends))


def _directions(terms: Terms) -> tuple[Direction, ...]:
    return DIRECTIONS[:1] if all(term.family.symmetric for term in terms) else DIRECTIONS


# --- one direction --------------------------------------------------------------------------------------


def _epsilon_one_way(terms: Terms, direction: Direction, delta: Fraction, width: float) -> Interval:
    ceiling = _ceiling(terms, direction, delta)
    left = ball(delta) - _as_ball(_failure(terms, direction))
    if not left > 0:
        return Interval(_least_epsilon(terms, direction, delta), ceiling)
    dominating = _parts(terms, direction, "dominating")
    if all(term.family.exact for term in terms):
        return _pair_epsilon(dominating, left, width, ceiling)
    upper = min(ceiling, _moment_epsilon(terms, direction, left))
    if dominating:
        upper = min(upper, _pair_epsilon(dominating, left, width, upper).upper)
    lower = _witness_epsilon(terms, direction, delta, width, upper)
    return Interval(min(lower, upper), upper)


def _one_use(terms: Terms, direction: Direction) -> Curve | None:
    """The curve of a single use, where the family knows it itself."""
    if len(terms) > 1 or terms[0].count > 1 or terms[0].family.one_use(arb(1), direction) is None:
        return None
    family = terms[0].family
    return lambda epsilon: family.one_use(epsilon, direction) or (arb(0), arb(1))


def _ceiling(terms: Terms, direction: Direction, delta: Fraction) -> float:
    """The largest loss, where failing outright is within δ."""
    top = _largest(terms, direction)
    return round_up(top) if top is not None and _at_most(_failure(terms, direction), delta) else math.inf


def _witness_epsilon(
    terms: Terms, direction: Direction, delta: Fraction, width: float, upper: float
) -> float:
    parts = _parts(terms, direction, "witness")
    left = ball(delta) - _pair_failure(parts)
    return _pair_epsilon(parts, left, width, upper).lower if left > 0 else 0.0


def _least_epsilon(terms: Terms, direction: Direction, delta: Fraction) -> float:
    # δ does not exceed the probability of failing outright: only the largest loss, or nothing, is enough
    failure, top = _failure(terms, direction), _largest(terms, direction)
    certain = all(term.family.exact for term in terms) and not _at_most(failure, delta)
    if certain or top is None:
        return math.inf if certain else 0.0
    return round_down(top) if all(term.family.exact for term in terms) else 0.0


def _pair_epsilon(parts: Sequence[Part], delta: Arb, width: float, ceiling: float) -> Interval:
    solver = exact_solver(parts)
    if solver is not None:
        return invert_from_scratch(solver.bounds, delta, ceiling=ceiling)
    landscape = Landscape(parts)
    tilt, near = landscape.at_delta(float(delta.mid()))
    theta = arb(landscape.chernoff)
    chernoff = (log_moment(parts, theta) + chernoff_factor(theta).log() - delta.log()) / theta
    high = min(ceiling, max(round_up(chernoff), 0.0))
    saddle = Saddle(landscape, tilt, near, width)
    return invert(saddle.bounds, delta, near=near, slope=tilt.theta, high=high, about=saddle.about)


def _delta_one_way(terms: Terms, direction: Direction, epsilon: Fraction) -> Interval:
    lower, upper = delta_ends(terms, direction, ball(epsilon))
    top = min(max(0.0, round_up(upper)), 1.0)  # 0.0 first: of equals max keeps the first, and -0.0 equals it
    return Interval(min(max(0.0, round_down(lower)), top), top)


def delta_ends(terms: Terms, direction: Direction, epsilon: Arb) -> tuple[Arb, Arb]:
    """Balls below and above δ(ε) in one direction, at any real ε, at the working precision."""
    single = _one_use(terms, direction)
    if single is not None:
        return single(epsilon)
    top = _largest(terms, direction)
    if top is not None and _as_ball(top) <= epsilon:  # nothing but outright failure is left
        failure = _as_ball(_failure(terms, direction))
        exact = all(term.family.exact for term in terms)
        return failure if exact else arb(0), failure
    upper = _moment_delta(terms, direction, epsilon)
    exact = all(term.family.exact for term in terms)
    dominating = _parts(terms, direction, "dominating")
    lower = arb(0)
    if dominating:
        low, high = _solver_at(dominating, epsilon).bounds(epsilon)
        failure = _pair_failure(dominating)
        upper = upper.min(high + failure)
        lower = low.max(arb(0)) + failure
    if not exact:
        witnesses = _parts(terms, direction, "witness")
        lower = _solver_at(witnesses, epsilon).bounds(epsilon)[0].max(arb(0)) + _pair_failure(witnesses)
    return lower, upper


def _solver_at(parts: Sequence[Part], epsilon: Arb) -> Solver:
    solver = exact_solver(parts)
    if solver is not None:
        return solver
    landscape = Landscape(parts)
    middle = float(epsilon.mid())
    return Saddle(landscape, landscape.at_epsilon(middle), middle, 1e-3)


def _parts(terms: Terms, direction: Direction, kind: str) -> list[Part]:
    """Each term's pair with its count; empty where some term has no dominating pair."""
    pairs = [(getattr(term.family, kind)(direction), term.count) for term in terms]
    return pairs if all(pair is not None for pair, _ in pairs) else []


# --- moments --------------------------------------------------------------------------------------------


def _log_moment(terms: Terms, direction: Direction, theta: float) -> Arb | None:
    total = arb(0)
    for term in terms:
        one = term.family.log_moment(arb(theta), direction)
        if one is None:
            return None
        total += term.count * one
    return total


def _moment_epsilon(terms: Terms, direction: Direction, delta: Arb) -> float:
    """Chernoff's ε: (K(θ) + ln factor(θ) − ln δ)/θ at a good θ (Canonne et al. 2020, Proposition 12)."""
    target = float(delta.log().mid())

    def rough(theta: float) -> float:
        moment = _log_moment(terms, direction, theta)
        return (
            math.inf
            if moment is None
            else (float(moment.mid()) - target + log_chernoff_factor(theta)) / theta
        )

    theta = minimise(rough)
    moment = _log_moment(terms, direction, theta)
    if moment is None:
        return math.inf
    at = arb(theta)
    return max(round_up((moment + chernoff_factor(at).log() - delta.log()) / at), 0.0)


def _moment_delta(terms: Terms, direction: Direction, epsilon: Arb) -> Arb:
    middle = float(epsilon.mid())

    def rough(theta: float) -> float:
        moment = _log_moment(terms, direction, theta)
        return (
            math.inf if moment is None else float(moment.mid()) - theta * middle + log_chernoff_factor(theta)
        )

    theta = minimise(rough)
    moment = _log_moment(terms, direction, theta)
    if moment is None:
        return arb(1)
    at = arb(theta)
    finite = (moment - at * epsilon).exp() * chernoff_factor(at)
    return (finite + _as_ball(_failure(terms, direction))).min(arb(1))


# --- sums -----------------------------------------------------------------------------------------------


def _failure(terms: Terms, direction: Direction) -> Fraction | Arb:
    """1 − ∏(1 − δᵢ)^kᵢ, exactly where every δᵢ is rational."""
    exact = [term.family.rational_failure(direction) for term in terms]
    if any(value is None for value in exact):
        kept = arb(1)
        for term in terms:
            kept *= (1 - term.family.failure(direction)) ** term.count
        return 1 - kept
    rational = Fraction(1)
    for value, term in zip(exact, terms, strict=True):
        assert value is not None
        rational *= (1 - value) ** term.count if value else 1
    return 1 - rational


def _pair_failure(parts: Sequence[Part]) -> Arb:
    kept = arb(1)
    for pair, count in parts:
        kept *= (1 - pair.failure()) ** count
    return 1 - kept


def _largest(terms: Terms, direction: Direction) -> Fraction | Arb | None:
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


def _as_ball(value: Fraction | Arb) -> Arb:
    return ball(value) if isinstance(value, Fraction) else value


def _at_most(value: Fraction | Arb, limit: Fraction) -> bool:
    return bool(value <= limit) if isinstance(value, Fraction) else bool(value <= ball(limit))


# --- other notions --------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def zcdp_rho(terms: Terms) -> float:
    """The least known ρ: ρ adds."""
    with working_precision(CLOSED_BITS):
        total = arb(0)
        for term in terms:
            rho = term.family.zcdp_rho()
            if rho is None:
                return math.inf
            total += rho * term.count
        return round_up(total)


def gaussian_mu(terms: Terms) -> float:
    """μ of Gaussian DP: μ² adds, and only Gaussians have it."""
    total = Fraction(0)
    for term in terms:
        squared = term.family.mu_squared()
        if squared is None:
            return math.inf
        total += squared * term.count
    with working_precision(CLOSED_BITS):
        return round_up(ball(total).sqrt())


def renyi_divergence(terms: Terms, order: Fraction) -> float:
    """D_α, the greater of both directions; D_α adds."""
    worst = 0.0
    with working_precision(CLOSED_BITS):
        theta = ball(order - 1)
        for direction in DIRECTIONS:
            failure = _failure(terms, direction)
            if not (failure == 0 if isinstance(failure, Fraction) else failure.is_zero()):
                return math.inf
            total = arb(0)
            for term in terms:
                one = term.family.log_moment(theta, direction)
                if one is None:
                    return math.inf
                total += term.count * one
            worst = max(worst, round_up(total / theta))
    return worst


def least_pure_epsilon(terms: Terms) -> float:
    """A lower end of the ε of pure DP: the largest loss of a mechanism that the terms allow."""
    with working_precision(CLOSED_BITS):
        worst = 0.0
        for direction in DIRECTIONS:
            total = arb(0)
            for pair, count in _parts(terms, direction, "witness"):
                top = pair.largest()
                if top is None or pair.failure() > 0:
                    return math.inf
                total += top * count
            worst = max(worst, round_down(total))
    return min(worst, pure_epsilon(terms))


def pure_epsilon(terms: Terms) -> float:
    """The largest loss of all, where nothing fails outright: the ε of pure DP, D_∞."""
    with working_precision(CLOSED_BITS):
        tops = []
        for direction in DIRECTIONS:
            top = _largest(terms, direction)
            if top is None or not _at_most(_failure(terms, direction), Fraction(0)):
                return math.inf
            tops.append(round_up(top))
    return max(tops)
