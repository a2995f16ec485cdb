"""What a loss answers: ε and δ of composed terms, between two proved ends.

Each direction is composed by itself, and the greater answer taken at the end. Above, the least of every bound
that holds adaptively: dominating pairs, moments, largest losses. Below, what a known mechanism attains.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from flint import arb

from discreet.kernel.losses.contour import Part, chernoff_factor, log_moment
from discreet.kernel.losses.curve import NOTHING
from discreet.kernel.losses.extremes import (
    as_ball,
    ceiling_of,
    epsilon_floor,
    failure_of,
    largest_of,
    least_epsilon,
    pair_failure,
    parts_of,
)
from discreet.kernel.losses.family import DIRECTIONS, Direction, Term, Terms
from discreet.kernel.losses.moments import moment_delta, moment_epsilon, plain_moment_of
from discreet.kernel.losses.solvers import (
    CLOSED,
    FINE,
    PartsCurve,
    Saddle,
    exact_solver,
    invert_from_scratch,
    locate,
    prove,
)
from discreet.kernel.losses.tuning import Landscape
from discreet.kernel.losses.work import QUESTION, RESERVE, TooMuch, limited
from discreet.kernel.numerics import Arb, Interval, ball, state_down, state_up, working_precision

if TYPE_CHECKING:
    from discreet.kernel.losses.group import Chain

BITS = 128
SURE = (Fraction(99, 100), Fraction(1, 2))  # δ, beyond which a contour may be hard to find
ALLOWED = 2 * (QUESTION + RESERVE)  # both directions
WIDE = 1e-3  # of δ: ends that are worth another way
CLOSER = (1.0, 0.3, 1e-2, 1e-4)  # of the width asked for: what is aimed at, until it is reached
LEAST_WIDTH = 1e-9  # an ε known this well is known
DUST = 11  # bits that what dots leave out is below δ
COARSE = 1  # bits by which a lattice of dots is wider that is tried first where floats lose too much
LEAST_EPSILON = 2.0**-60  # a positive loss never answers 0


@lru_cache(maxsize=4096)
def epsilon_interval(terms: Terms, delta: Fraction, width: float) -> Interval:
    """Two ends around the least ε >= 0 with δ(ε) <= delta."""
    if not terms:
        return Interval(0.0, 0.0)
    if alternatives := _alternatives(terms):
        return greatest([epsilon_interval(one, delta, width) for one in alternatives])
    with limited(ALLOWED):
        found = _epsilon_ends(terms, delta, width)
        if _is_narrow(found.lower, found.upper, width):
            return found
        if found.lower == 0 and _delta_ends(terms, Fraction(0)).upper <= delta:
            return Interval(0.0, LEAST_EPSILON)
        sure = next((known for known in SURE if known < delta), None)
        other = found if sure is None else _epsilon_ends(terms, sure, width)
    upper = min(found.upper, other.upper)  # a larger δ asks for no more
    return Interval(min(found.lower, upper), upper)


def _epsilon_ends(terms: Terms, delta: Fraction, width: float) -> Interval:
    if ways := _parted(terms):
        with limited(QUESTION):
            found = greatest([_epsilon_interval(one, delta, width) for one in ways])
        if _is_narrow(found.lower, found.upper, width):
            return found
        with limited(QUESTION):
            other = _epsilon_interval(terms, delta, width)
        upper = min(found.upper, other.upper)
        return Interval(min(max(found.lower, other.lower), upper), upper)
    return _epsilon_interval(terms, delta, width)


def _epsilon_interval(terms: Terms, delta: Fraction, width: float) -> Interval:
    with working_precision(BITS):
        found = Interval(0.0, LEAST_EPSILON)
        for direction in _directions(terms):
            known = found.lower > 0 and not _is_one_use(terms)
            if known and ceiling_of(terms, direction, delta) <= found.lower:
                continue  # the other direction is worse, whatever this one is
            found = greatest([found, epsilon_one_way(terms, direction, delta, width, found.lower)])
    return found


@lru_cache(maxsize=4096)
def delta_interval(terms: Terms, epsilon: Fraction) -> Interval:
    """Two ends around δ(ε)."""
    if not terms:
        return Interval(0.0, 0.0)
    if alternatives := _alternatives(terms):
        return greatest([delta_interval(one, epsilon) for one in alternatives])
    return _delta_ends(terms, epsilon)


def _delta_ends(terms: Terms, epsilon: Fraction) -> Interval:
    if ways := _parted(terms):
        with limited(QUESTION):
            found = greatest([_delta_interval(one, epsilon) for one in ways])
        if found.upper - found.lower <= WIDE * found.upper:
            return found
        with limited(QUESTION):
            other = _delta_interval(terms, epsilon)
        upper = min(found.upper, other.upper)
        return Interval(min(max(found.lower, other.lower), upper), upper)
    return _delta_interval(terms, epsilon)


def _delta_interval(terms: Terms, epsilon: Fraction) -> Interval:
    with working_precision(BITS):
        ends = [_delta_one_way(terms, direction, epsilon) for direction in _directions(terms)]
    return greatest(ends)


def greatest(ends: Sequence[Interval]) -> Interval:
    """Two ends around the greatest of several numbers."""
    return Interval(max(end.lower for end in ends), max(end.upper for end in ends))


def _alternatives(terms: Terms) -> tuple[Terms, ...]:
    return terms[0].family.alternatives() if _is_one_use(terms) else ()


def _parted(terms: Terms) -> tuple[Terms, ...]:
    """The terms for each way to part a group, where all groups among them are of one size."""
    parted = [term.family.parted() for term in terms]
    sizes = {chain[1] for term in terms if (chain := term.family.chain()) is not None}
    if len(sizes) != 1 or not any(parted):
        return ()
    return tuple(
        tuple(Term(one[way], term.count) if one else term for term, one in zip(terms, parted, strict=True))
        for way in range(max(len(one) for one in parted))
    )


def _is_one_use(terms: Terms) -> bool:
    return len(terms) == 1 and terms[0].count == 1


def _directions(terms: Terms) -> tuple[Direction, ...]:
    return DIRECTIONS[:1] if all(term.family.symmetric for term in terms) else DIRECTIONS


# --- one direction --------------------------------------------------------------------------------------


def epsilon_one_way(
    terms: Terms, direction: Direction, delta: Fraction, width: float, known: float = 0.0
) -> Interval:
    """Two ends around the least ε >= 0 with δ(ε) <= delta in one direction, at the working precision.

    An upper end that is at most what is `known` of the other direction is enough.
    """
    search = EpsilonSearch(terms, direction, delta, width, known)
    with limited(QUESTION):
        search.run()
    if search.gave_up:
        with suppress(TooMuch), limited(RESERVE):
            search.fall_back()
    return Interval(min(search.lower, search.upper), search.upper)


class EpsilonSearch:
    """The ends of one ε as they are brought together, each by every way that the work left allows."""

    def __init__(
        self, terms: Terms, direction: Direction, delta: Fraction, width: float, known: float
    ) -> None:
        self.terms, self.direction, self.delta, self.width = terms, direction, delta, width
        self.known = known
        self.lower, self.upper = 0.0, ceiling_of(terms, direction, delta)
        self.left = ball(delta) - as_ball(failure_of(terms, direction))
        self.gave_up = False

    def run(self) -> None:
        """Every way in turn: what one cannot finish, the next may."""
        if _is_one_use(self.terms) and self._try(self._one_use):
            return
        if not self.left > 0:
            self.lower = least_epsilon(self.terms, self.direction, self.delta)
        elif all(term.family.exact for term in self.terms):
            self._try(self._composed, share=0.7)
            for coarser in (COARSE, 0):
                if not self._is_done():
                    self._try(partial(self._dotted, coarser))
        elif all(term.family.exact or term.family.has_dots for term in self.terms):
            self._try(self._dotted, share=0.6)
            if not self._is_done():
                self._try(partial(self._dotted, -1), share=0.8)
            if not self._is_done():
                self._try(self._moments)
                self._try(self._chained)
        else:
            self._try(self._composed, share=0.6)
            self._try(self._chained, share=0.8)
            self._try(self._moments)
            self._try(self._witnessed)
        if self.upper == math.inf and self.left > 0:  # what has moments is finite
            self._try(self._moments)

    def _try(self, way: Callable[[], bool], share: float = 1.0) -> bool:
        try:
            with limited(share * QUESTION):
                return way()
        except TooMuch:
            self.gave_up = True
            return False

    def _take(self, found: Interval) -> None:
        self.lower, self.upper = max(self.lower, found.lower), min(self.upper, found.upper)

    def _one_use(self) -> bool:
        single = self.terms[0].family.one_use(self.direction)
        if single is None:
            return False
        self._take(invert_from_scratch(single, ball(self.delta), ceiling=self.upper))
        if not self._is_done():  # ends far apart: each by itself

            def alone(place: int) -> Interval:
                return invert_from_scratch(
                    lambda x: (single(x)[place],) * 2, ball(self.delta), ceiling=self.upper
                )

            self._take(Interval(alone(0).lower, alone(1).upper))
        return True

    def _moments(self) -> bool:
        self.upper = min(self.upper, moment_epsilon(self.terms, self.direction, self.left))
        return True

    def _composed(self) -> bool:
        parts = parts_of(self.terms, self.direction, "dominating")
        exact = all(term.family.exact for term in self.terms)
        # a pair through dots may fail outright a little more often than its law does
        left = self.left if exact else ball(self.delta) - pair_failure(parts)
        if parts and left > 0:
            for found in _pair_epsilons(parts, left, self.width, self.upper):
                self.upper = min(self.upper, found.upper)
                self.lower = max(self.lower, found.lower) if exact else self.lower
                if self._is_done():
                    break
        return True

    def _is_done(self) -> bool:
        return self.upper <= self.known or _is_narrow(self.lower, self.upper, self.width)

    def _dotted(self, coarser: int = 0) -> bool:
        """Through dots, from above and from below, in place of pairs that are too dear."""
        least = dust_of(self.terms, float(self.left), DUST - 4 * max(coarser, 0))
        for place in (0, 1):
            parts = dotted_parts(self.terms, self.direction, place, least, coarser)
            left = ball(self.delta) - pair_failure(parts)
            if not parts or not left > 0:
                continue
            for found in _pair_epsilons(parts, left, self.width, self.upper):
                if place == 0:
                    self.upper = min(self.upper, found.upper)
                else:
                    self.lower = max(self.lower, found.lower)
        return True

    def _chained(self) -> bool:
        """The chain of neighbours, on the curve of all terms together."""
        if (chain := chain_of(self.terms)) is not None:
            known = chain  # each ε that the search proves on its way counts, also where it cannot be finished

            def ends(epsilon: Arb) -> tuple[Arb, Arb]:
                found = known.ends(epsilon)
                if found[1] <= ball(self.delta):
                    self.upper = min(self.upper, state_up(epsilon))
                return found

            invert_from_scratch(ends, ball(self.delta), ceiling=self.upper)
        return True

    def _witnessed(self) -> bool:
        parts = parts_of(self.terms, self.direction, "witness")
        left = ball(self.delta) - pair_failure(parts)
        if left > 0:
            for found in _pair_epsilons(parts, left, self.width, self.upper):
                self.lower = max(self.lower, found.lower)
        return True

    def fall_back(self) -> None:
        """The moments by each family's plain bound: cheap, and finite where a sum of guarantees is."""
        if self.left > 0:
            found = moment_epsilon(self.terms, self.direction, self.left, plain_moment_of)
            self.upper = min(self.upper, found)


def _pair_epsilons(parts: Sequence[Part], delta: Arb, width: float, ceiling: float) -> Iterator[Interval]:
    """Ends of ε by composed pairs, again and again, until they are as near as `width` asks."""
    solver = exact_solver(parts)
    if solver is not None:
        yield invert_from_scratch(solver.bounds, delta, ceiling=ceiling)
        return
    floor = epsilon_floor(parts, delta)
    landscape = Landscape(parts)
    tilt, near = landscape.at_delta(float(delta.mid()))
    theta = arb(landscape.chernoff)
    chernoff = (log_moment(parts, theta) + chernoff_factor(theta).log() - delta.log()) / theta
    high = min(ceiling, max(state_up(chernoff), 0.0))
    best = Interval(min(floor, high), high)
    yield best
    slope, done = tilt.theta, None
    for closer in CLOSER:
        if not tilt.is_finite:  # no float is near where the contour would have to be
            return
        share = max(width * closer * slope * abs(near), FINE) / 8
        saddle = Saddle(landscape, tilt, near, share)
        if saddle.effort() == done:  # more cannot be had
            return
        done = saddle.effort()
        near = locate(saddle.about, delta, near=near, slope=tilt.theta, high=high)
        slope = max(slope, saddle.slope(near))
        found = prove(saddle.bounds, delta, near, slope=slope, high=high)
        best = Interval(max(best.lower, found.lower), min(best.upper, found.upper))
        yield best
        if _is_narrow(best.lower, best.upper, width) or saddle.cut_short:
            return
        tilt = landscape.better(tilt, near, float(delta.log()))


def _is_narrow(lower: float, upper: float, width: float) -> bool:
    return upper - lower <= max(width * upper, LEAST_WIDTH) if upper < math.inf else lower == upper


def _delta_one_way(terms: Terms, direction: Direction, epsilon: Fraction) -> Interval:
    search = DeltaSearch(terms, direction, ball(epsilon))
    with limited(QUESTION):
        search.run()
    if search.gave_up:
        with suppress(TooMuch), limited(RESERVE):
            search.fall_back()
    top = min(max(0.0, state_up(search.upper)), 1.0)  # 0.0 first: of equals max keeps the first, also of -0.0
    return Interval(min(max(0.0, state_down(search.lower)), top), top)


class DeltaSearch:
    """The ends of one δ(ε), likewise."""

    def __init__(self, terms: Terms, direction: Direction, epsilon: Arb) -> None:
        self.terms, self.direction, self.epsilon = terms, direction, epsilon
        self.lower, self.upper = arb(0), arb(1)
        self.gave_up = False

    def run(self) -> None:
        """The curve; where it is too dear or too wide, dots and moments."""
        self._try(self._curve, share=0.7)
        if not self.upper - self.lower <= WIDE * self.upper:
            self._try(self._dotted)
            self._try(self._chained)
        if self.gave_up:
            self._try(self._moments)

    def _try(self, way: Callable[[], None], share: float = 1.0) -> None:
        try:
            with limited(share * QUESTION):
                way()
        except TooMuch:
            self.gave_up = True

    def _curve(self) -> None:
        self._take(*DeltaCurve(self.terms, self.direction)(self.epsilon))

    def _take(self, lower: Arb, upper: Arb) -> None:
        self.lower, self.upper = (
            self.lower.max(lower) if lower.is_finite() else self.lower,
            self.upper.min(upper) if upper.is_finite() else self.upper,
        )

    def _dotted(self) -> None:
        least = dust_of(self.terms, float(self.upper))
        above, below = (dotted_parts(self.terms, self.direction, place, least) for place in (0, 1))
        if above:
            self._take(arb(0), PartsCurve(above).ends(self.epsilon)[1])
            self._take(PartsCurve(below).ends(self.epsilon)[0], arb(1))

    def _chained(self) -> None:
        if (chain := chain_of(self.terms)) is not None:
            self._take(arb(0), chain.delta(self.epsilon))

    def _moments(self) -> None:
        self._take(arb(0), moment_delta(self.terms, self.direction, self.epsilon))

    def fall_back(self) -> None:
        """The moments by each family's plain bound."""
        self._take(arb(0), moment_delta(self.terms, self.direction, self.epsilon, plain_moment_of))


def chain_of(terms: Terms) -> "Chain | None":
    """The chain of neighbours of several uses, where all are known by chains of one length."""
    from discreet.kernel.losses.group import Chain  # a family that asks questions of losses

    steps = [(term.family.chain(), term.count) for term in terms]
    known = [(step, count) for step, count in steps if step is not None]
    if _is_one_use(terms) or len(known) < len(steps) or len({size for (_, size), _ in known}) != 1:
        return None
    return Chain(tuple(Term(base, count) for (base, _), count in known), known[0][0][1])


def dust_of(terms: Terms, delta: float, dust: int = DUST) -> int:
    """The bits of a δ so small that, once for each use, it adds next to nothing, 2^−dust, to this one."""
    uses = sum(term.count for term in terms)
    return min(NOTHING, 2 * math.ceil((dust - math.log2(max(delta, 2.0**-NOTHING) / uses)) / 2))


def dotted_parts(terms: Terms, direction: Direction, place: int, least: int, coarser: int = 0) -> list[Part]:
    """Pairs above (place 0) or below (1) each term's law, through dots; empty where no law has such a pair,
    or where a pair without dots is not its law's own."""
    if not all(term.family.exact or term.family.has_dots for term in terms):
        return []
    known = [(term, term.family.dotted(direction, least, coarser)) for term in terms]
    if all(pair is None for _, pair in known):
        return []
    return [
        (term.family.witness(direction) if pair is None else pair[place], term.count) for term, pair in known
    ]


def delta_ends(terms: Terms, direction: Direction, epsilon: Arb) -> tuple[Arb, Arb]:
    """Balls below and above δ(ε) in one direction, at any real ε, at the working precision."""
    return DeltaCurve(terms, direction)(epsilon)


def curves_of(terms: Terms) -> "list[DeltaCurve]":
    """The curves whose greatest is δ(ε): each way to be one person or a group, in each direction."""
    if alternatives := _alternatives(terms):
        return [curve for one in alternatives for curve in curves_of(one)]
    return [DeltaCurve(one, way) for one in _parted(terms) or (terms,) for way in _directions(one)]


class DeltaCurve:
    """δ in one direction, asked at many ε: contours are kept for all that lie near them.

    `share` is the error of δ, relative, that is aimed at where a better one is dear.
    """

    def __init__(self, terms: Terms, direction: Direction, share: float = CLOSED) -> None:
        self.terms, self.direction, self.share = terms, direction, share
        self.single = terms[0].family.one_use(direction) if _is_one_use(terms) else None
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

    def _of(self, kind: str) -> PartsCurve:
        if kind not in self._parts:
            self._parts[kind] = PartsCurve(parts_of(self.terms, self.direction, kind), self.share)
        return self._parts[kind]
