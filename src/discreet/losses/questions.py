"""What a loss answers: ε and δ of composed terms, between two proved ends.

Each direction is composed by itself, and the greater answer taken at the end. Above, the least of every bound
that holds adaptively: dominating pairs, moments, largest losses. Below, what a known mechanism attains.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb

from discreet.losses.contour import Part, chernoff_factor, log_moment
from discreet.losses.extremes import as_ball, at_most, exceeds, failure_of, largest_of, pair_failure, parts_of
from discreet.losses.family import DIRECTIONS, Direction
from discreet.losses.floors import delta_floor, epsilon_floor, finite_mass
from discreet.losses.inversion import Curve, invert, invert_from_scratch
from discreet.losses.moments import moment_delta, moment_epsilon
from discreet.losses.solvers import FINE, Ends, Saddle, exact_solver
from discreet.losses.term import Terms
from discreet.losses.tuning import Landscape
from discreet.numerics import Arb, Interval, ball, round_down, round_up, working_precision

BITS = 128
CLOSED = 1e-6  # two ends as near as this need no other bound
LEAST_EPSILON = 2.0**-60  # a positive loss never answers 0


@lru_cache(maxsize=4096)
def epsilon_interval(terms: Terms, delta: Fraction, width: float) -> Interval:
    """Two ends around the least ε >= 0 with δ(ε) <= delta."""
    if not terms:
        return Interval(0.0, 0.0)
    if alternatives := _alternatives(terms):
        return greatest([epsilon_interval(one, delta, width) for one in alternatives])
    with working_precision(BITS):
        found = Interval(0.0, LEAST_EPSILON)
        for direction in _directions(terms):
            known = found.lower > 0 and not _is_one_use(terms)
            if known and _ceiling(terms, direction, delta) <= found.lower:
                continue  # the other direction is worse, whatever this one is
            found = greatest([found, epsilon_one_way(terms, direction, delta, width)])
    return found


@lru_cache(maxsize=4096)
def delta_interval(terms: Terms, epsilon: Fraction) -> Interval:
    """Two ends around δ(ε)."""
    if not terms:
        return Interval(0.0, 0.0)
    if alternatives := _alternatives(terms):
        return greatest([delta_interval(one, epsilon) for one in alternatives])
    with working_precision(BITS):
        ends = [_delta_one_way(terms, direction, epsilon) for direction in _directions(terms)]
    return greatest(ends)


def greatest(ends: Sequence[Interval]) -> Interval:
    """Two ends around the greatest of several numbers."""
    return Interval(max(end.lower for end in ends), max(end.upper for end in ends))


def _alternatives(terms: Terms) -> tuple[Terms, ...]:
    return terms[0].family.alternatives() if _is_one_use(terms) else ()


def _is_one_use(terms: Terms) -> bool:
    return len(terms) == 1 and terms[0].count == 1


def _directions(terms: Terms) -> tuple[Direction, ...]:
    return DIRECTIONS[:1] if all(term.family.symmetric for term in terms) else DIRECTIONS


# --- one direction --------------------------------------------------------------------------------------


def epsilon_one_way(terms: Terms, direction: Direction, delta: Fraction, width: float) -> Interval:
    """Two ends around the least ε >= 0 with δ(ε) <= delta in one direction, at the working precision."""
    single = _one_use(terms, direction)
    if single is not None:
        return invert_from_scratch(single, ball(delta), ceiling=math.inf)
    ceiling = _ceiling(terms, direction, delta)
    left = ball(delta) - as_ball(failure_of(terms, direction))
    if not left > 0:
        return Interval(_least_epsilon(terms, direction, delta), ceiling)
    dominating = parts_of(terms, direction, "dominating")
    if all(term.family.exact for term in terms):
        return _pair_epsilon(dominating, left, width, ceiling)
    upper = min(ceiling, moment_epsilon(terms, direction, left))
    if dominating:
        upper = min(upper, _pair_epsilon(dominating, left, width, upper).upper)
    lower = _witness_epsilon(terms, direction, delta, width, upper)
    return Interval(min(lower, upper), upper)


def _one_use(terms: Terms, direction: Direction) -> Curve | None:
    """The curve of a single use, where the family knows it itself."""
    if not _is_one_use(terms) or terms[0].family.one_use(arb(1), direction) is None:
        return None
    family = terms[0].family
    return lambda epsilon: family.one_use(epsilon, direction) or (arb(0), arb(1))


def _ceiling(terms: Terms, direction: Direction, delta: Fraction) -> float:
    """The largest loss, where failing outright is within δ."""
    top = largest_of(terms, direction)
    return round_up(top) if top is not None and at_most(failure_of(terms, direction), delta) else math.inf


def _witness_epsilon(
    terms: Terms, direction: Direction, delta: Fraction, width: float, upper: float
) -> float:
    parts = parts_of(terms, direction, "witness")
    left = ball(delta) - pair_failure(parts)
    return _pair_epsilon(parts, left, width, upper).lower if left > 0 else 0.0


def _least_epsilon(terms: Terms, direction: Direction, delta: Fraction) -> float:
    # δ does not exceed the probability of failing outright: only the largest loss, or nothing, is enough
    failure, top = failure_of(terms, direction), largest_of(terms, direction)
    if not all(term.family.exact for term in terms):
        return 0.0
    if exceeds(failure, delta):
        return math.inf
    return round_down(top) if top is not None and at_most(failure, delta) else 0.0


def _pair_epsilon(parts: Sequence[Part], delta: Arb, width: float, ceiling: float) -> Interval:
    solver = exact_solver(parts)
    if solver is not None:
        return invert_from_scratch(solver.bounds, delta, ceiling=ceiling)
    floor = epsilon_floor(parts, delta)
    landscape = Landscape(parts)
    tilt, near = landscape.at_delta(float(delta.mid()))
    theta = arb(landscape.chernoff)
    chernoff = (log_moment(parts, theta) + chernoff_factor(theta).log() - delta.log()) / theta
    high = min(ceiling, max(round_up(chernoff), 0.0))
    saddle = Saddle(landscape, tilt, near, width)
    found = invert(saddle.bounds, delta, near=near, slope=tilt.theta, high=high, about=saddle.about)
    return Interval(max(found.lower, min(floor, found.upper)), found.upper)


def _delta_one_way(terms: Terms, direction: Direction, epsilon: Fraction) -> Interval:
    lower, upper = delta_ends(terms, direction, ball(epsilon))
    top = min(max(0.0, round_up(upper)), 1.0)  # 0.0 first: of equals max keeps the first, and -0.0 equals it
    return Interval(min(max(0.0, round_down(lower)), top), top)


def delta_ends(terms: Terms, direction: Direction, epsilon: Arb) -> tuple[Arb, Arb]:
    """Balls below and above δ(ε) in one direction, at any real ε, at the working precision."""
    return DeltaCurve(terms, direction)(epsilon)


class DeltaCurve:
    """δ in one direction, asked at many ε: contours are kept for all that lie near them."""

    def __init__(self, terms: Terms, direction: Direction) -> None:
        self.terms, self.direction = terms, direction
        self.single = _one_use(terms, direction)
        self.exact = all(term.family.exact for term in terms)
        self.top = None if self.single is not None else largest_of(terms, direction)
        self._parts: dict[str, PartsCurve] = {}

    def __call__(self, epsilon: Arb) -> tuple[Arb, Arb]:
        """Balls below and above δ(ε)."""
        if self.single is not None:
            return self.single(epsilon)
        if self.top is not None and as_ball(self.top) <= epsilon:  # nothing but outright failure is left
            failure = as_ball(failure_of(self.terms, self.direction))
            return failure if self.exact else arb(0), failure
        dominating = self._of("dominating")
        lower, upper = dominating.ends(epsilon) if dominating.parts else (arb(0), arb(1))
        if not self.exact:
            lower = self._of("witness").ends(epsilon)[0]
        if not upper - lower < CLOSED * upper:
            upper = upper.min(moment_delta(self.terms, self.direction, epsilon))
        return lower, upper

    def _of(self, kind: str) -> "PartsCurve":
        if kind not in self._parts:
            self._parts[kind] = PartsCurve(parts_of(self.terms, self.direction, kind))
        return self._parts[kind]


class PartsCurve:
    """The same for composed pairs."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.solver = exact_solver(parts) if parts else None
        self.failure = pair_failure(parts)
        self._landscape, self._saddles = Landscape(parts), list[tuple[float, float, Saddle]]()

    def ends(self, epsilon: Arb) -> Ends:
        """Both ends of δ(ε), with what fails outright."""
        low, high = self._finite(epsilon)
        return low.max(arb(0)) + self.failure, high + self.failure

    def _finite(self, epsilon: Arb) -> Ends:
        if self.solver is not None:
            return self.solver.bounds(epsilon)
        floor, whole = delta_floor(self.parts, epsilon), finite_mass(self.parts)
        if whole - floor < FINE * whole:
            return floor, whole
        low, high = self._saddle(float(epsilon.mid())).bounds(epsilon)
        return low.max(floor), high.min(whole)

    def _saddle(self, epsilon: float) -> Saddle:
        """The contour of an ε within two deviations, or a new one."""
        for near, deviation, saddle in self._saddles:
            if abs(epsilon - near) <= 2 * deviation:
                return saddle
        tilt = self._landscape.at_epsilon(epsilon)
        saddle = Saddle(self._landscape, tilt, epsilon, 1e-3)
        self._saddles.append((epsilon, tilt.deviation, saddle))
        return saddle
