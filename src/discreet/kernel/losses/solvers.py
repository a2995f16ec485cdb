"""Certified curves of composed pairs, and ε(δ) from them.

Each solver encloses δ(ε) between two balls. A closed form serves one use, or Gaussians alone; a binomial sum,
one two-point law; a list of all sums, a few finite laws; the contour, everything. A curve is inverted in
floating point, then both ends are proved in balls.

Tested by: tests/losses/test_inversion.py, tests/losses/test_certified.py
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Protocol

from flint import arb

from discreet.kernel.losses.continuous import GaussianPair, gaussian_delta
from discreet.kernel.losses.contour import Contour, Folded, Part, common_lattice
from discreet.kernel.losses.extremes import delta_floor, finite_mass, pair_failure
from discreet.kernel.losses.nodes import Arithmetic, Balls, Nodes
from discreet.kernel.losses.pair import Atoms, clip_at_zero
from discreet.kernel.losses.tuning import Landscape, Tilt, choose_last, choose_window
from discreet.kernel.losses.work import left, spend
from discreet.kernel.numerics import Arb, Interval, power, state_down, state_up

Curve = Callable[[Arb], tuple[Arb, Arb]]
FARTHEST = 2.0**80  # beyond any loss that a curve could still tell from infinity


def invert_from_scratch(curve: Curve, delta: Arb, *, ceiling: float) -> Interval:
    """`invert` for a curve that is good everywhere, and proved to be done at `ceiling`."""
    high = 1.0
    while high < ceiling and not curve(arb(high))[1] <= delta:
        high *= 4
        if high > FARTHEST:
            return Interval(0.0, ceiling)
    return invert(curve, delta, near=min(high, ceiling), slope=math.nan, high=min(high, ceiling))


def invert(
    curve: Curve,
    delta: Arb,
    *,
    near: float,
    slope: float,
    high: float,
    about: Callable[[float], float] | None = None,
) -> Interval:
    """An interval around the least ε >= 0 with δ(ε) <= delta, given some proved `high` at or above it.

    The search, in `about` ln δ, starts at `near` and goes in steps of 2/slope where it falls that fast. The
    lower end e has δ(e) > delta, the upper δ(e) <= delta, by the curve's own proved ends; where the curve
    proves nothing, 0 and `high` are the ends.
    """
    root = locate(about or middle_of(curve), delta, near=near, slope=slope, high=high)
    return prove(curve, delta, root, slope=slope, high=high)


def locate(about: Callable[[float], float], delta: Arb, *, near: float, slope: float, high: float) -> float:
    """About the ε at which `about` is ln δ; the search starts at `near`."""
    target, start = float(delta.log().mid()), min(max(near, 0.0), high)

    def excess(epsilon: float) -> float:
        return about(epsilon) - target

    left, right = _bracket(excess, start, 2 / slope, high)
    return _root(excess, left, right, 1e-13)


def prove(curve: Curve, delta: Arb, root: float, *, slope: float, high: float) -> Interval:
    """The ends around a root, as near to it as the curve's own ends allow."""
    guess = 0.0 if math.isnan(slope) else 0.6 * _open_share(curve, root) / slope
    step = max(guess, 2.0**-50 * root, 2.0**-60)  # no answer needs to be finer than the least epsilon
    return Interval(_prove_below(curve, delta, root, step), _prove_above(curve, delta, root, step, high))


def middle_of(curve: Curve) -> Callable[[float], float]:
    """About ln δ, from the curve's own ends."""

    def about(epsilon: float) -> float:
        low, up = curve(arb(epsilon))
        middle = (low + up) / 2
        return float(middle.log().mid()) if middle > 0 else -math.inf

    return about


def _bracket(excess: Callable[[float], float], near: float, reach: float, high: float) -> tuple[float, float]:
    """Two points around the zero, from `near` in growing steps; [0, near] where the step is not known."""
    if math.isnan(reach):
        return 0.0, near
    left = right = near
    if excess(near) > 0:
        while right < high and excess(right) > 0:
            left, right, reach = right, min(right + reach, high), 2 * reach
    else:
        while left > 0 and not excess(left) > 0:
            left, right, reach = max(left - reach, 0.0), left, 2 * reach
    return left, right


def _root(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """A zero of a falling function between two ends, by the secant that stays between them (Illinois)."""
    at_low, at_high = function(low), function(high)
    if not at_low > 0:
        return low
    side = 0
    for _ in range(100):
        if high - low <= 4e-16 * high:
            break
        share = at_low / (at_low - at_high) if -math.inf < at_high < 0 else 0.5
        middle = low + (high - low) * min(max(share, 1e-6), 1 - 1e-6)
        value = function(middle)
        if abs(value) < tolerance:
            return middle
        now = 1 if value > 0 else -1
        if now > 0:
            low, at_low, at_high = middle, value, at_high / 2 if side == now else at_high
        else:
            high, at_high, at_low = middle, value, at_low / 2 if side == now else at_low
        side = now
    return (low + high) / 2


def _open_share(curve: Curve, epsilon: float) -> float:
    """How wide the curve's proved ends are, as a share of δ."""
    low, up = curve(arb(epsilon))
    return float(((up - low) / up).mid()) if low > 0 else 1.0


def _prove_below(curve: Curve, delta: Arb, root: float, step: float) -> float:
    while root - step > 0:
        if curve(arb(root - step))[0] > delta:
            return state_down(Fraction(root - step))
        step *= 2
    return 0.0


def _prove_above(curve: Curve, delta: Arb, root: float, step: float, high: float) -> float:
    while root + step < high:
        if curve(arb(root + step))[1] <= delta:
            return min(state_up(Fraction(root + step)), high)
        step *= 2
    return high


Ends = tuple[Arb, Arb]

FINE = 1e-11  # the relative error of δ that is aimed at while it is cheap
BUDGET = 50_000  # nodes times laws that are spent without asking
MOST = 2_000_000  # nodes times laws of a lattice
REACH = 16  # deviations of a binomial law that are summed
MOST_BALLS = 50_000  # nodes in balls
MOST_NODES = 500_000  # so many are held at once, a few times over: 100 MB
DEAR = 100  # of `Pair.cost`: where nodes are dear, nothing is asked for that is finer than it need be
MOST_BINOMIAL = 500
MOST_SUMS = 2000
CLOSED = 1e-6  # two ends as near as this need no other bound
KEPT = 4  # contours of one curve
EACH_USE = 2.0**-49  # about what floating point loses in each use


class Solver(Protocol):
    """A curve with proved ends."""

    def bounds(self, epsilon: Arb) -> Ends:
        """Balls below and above δ(ε) of the finite losses."""


class Closed:
    """One use of one pair: its own curve."""

    def __init__(self, part: Part) -> None:
        self.pair = part[0]

    def bounds(self, epsilon: Arb) -> Ends:
        value = self.pair.delta(epsilon) - self.pair.failure()
        return value, value


class Gaussians:
    """Gaussians alone: μ² adds, so the curve is closed."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.mu_squared, self.kept = arb(0), arb(1)
        for pair, count in parts:
            assert isinstance(pair, GaussianPair)
            self.mu_squared += count * pair.mu_squared
            self.kept *= power(1 - pair.failure(), count)

    def bounds(self, epsilon: Arb) -> Ends:
        value = self.kept * gaussian_delta(self.mu_squared, epsilon)
        return value, value


class Binomial:
    """One law with two losses, k times: Σ_j C(k, j) p^(k−j) q^j (1 − e^(ε − loss_j))₊, j the lower losses.

    Summed downwards from a j beyond which little or nothing is left; what is left out is bounded on both
    sides by a geometric series, as the ratio of neighbours is monotone.
    """

    def __init__(self, part: Part) -> None:
        pair, self.count = part
        assert isinstance(pair, Atoms)
        (self.high, self.p), (self.low, self.q) = pair.atoms
        if self.high < self.low:
            self.high, self.low, self.p, self.q = self.low, self.high, self.q, self.p
        self.deviation = math.sqrt(self.count * float(self.p * self.q))

    def bounds(self, epsilon: Arb) -> Ends:
        if not (self.p > 0 and self.q > 0 and self.high > self.low):
            return arb(0), arb(1)
        k, span, ratio = self.count, self.high - self.low, self.p / self.q
        start, total = self._start(epsilon)
        mass, lost = self._mass(start), (epsilon - k * self.high + start * span).exp()
        shrink = (-span).exp()
        for j in range(start, -1, -1):
            total += mass * clip_at_zero(1 - lost)
            fall = ratio * j / (k - j + 1)
            mass, lost = mass * fall, lost * shrink
            if j % 16 == 0:
                spend(32)
                if fall < 1 and mass < total * arb(2) ** -80 * (1 - fall):
                    total += arb(0).union(mass / (1 - fall))
                    break
        return total, total

    def _start(self, epsilon: Arb) -> tuple[int, Arb]:
        """A j to start from, and what those above it may add."""
        k = self.count
        above = ((k * self.high - epsilon) / (self.high - self.low)).upper().ceil()
        last = max(0, min(k, int(above.unique_fmpz() or 0) if above.is_finite() else k))
        most = int(k * float(self.q) + REACH * self.deviation) + REACH
        if last <= most:
            return last, arb(0)
        rise = self.q / self.p * (k - most) / (most + 1)
        rest = self._mass(most) * rise / (1 - rise) if rise < 1 else arb(1)
        return most, arb(0).union(rest)

    def _mass(self, j: int) -> Arb:
        k = self.count
        ways = arb(k + 1).lgamma() - arb(j + 1).lgamma() - arb(k - j + 1).lgamma()
        return (ways + (k - j) * self.p.log() + j * self.q.log()).exp()


class Enumerated:
    """Few finite laws, few times: every sum of losses with its probability, from the greatest down."""

    def __init__(self, parts: Sequence[Part]) -> None:
        sums = [(arb(0), arb(1))]
        for pair, count in parts:
            assert isinstance(pair, Atoms)
            own = list(_multisets(pair.atoms, count))
            sums = [(loss + more, mass * share) for loss, mass in sums for more, share in own]
        self.sums = sorted(sums, key=lambda one: -float(one[0]))

    def bounds(self, epsilon: Arb) -> Ends:
        spend(2 * len(self.sums))
        total = arb(0)
        for loss, mass in self.sums:
            if loss + 1 < epsilon:  # sorted by floats: no later loss can be above ε
                break
            total += mass * clip_at_zero(-(epsilon - loss).expm1())
        return total, total


def _multisets(atoms: Sequence[tuple[Arb, Arb]], count: int) -> Iterator[tuple[Arb, Arb]]:
    """(sum of losses, probability) of `count` draws, for each number of draws of each atom."""
    loss, mass = atoms[0]
    if len(atoms) == 1:
        yield count * loss, power(mass, count)
        return
    for first in range(count + 1):
        ways = math.comb(count, first) * power(mass, first)
        for rest, share in _multisets(atoms[1:], count - first):
            yield first * loss + rest, ways * share


def _sums(parts: Sequence[Part]) -> int:
    """How many sums `Enumerated` would list."""
    laws = [(len(pair.atoms), count) for pair, count in parts if isinstance(pair, Atoms)]
    return math.prod(math.comb(count + size - 1, size - 1) for size, count in laws)


def choose_arithmetic(parts: Sequence[Part], log_error: float) -> Arithmetic:
    """Floats, unless there are so many uses that what each loses adds up to more than this error."""
    return Nodes if math.log(sum(count for _, count in parts) * EACH_USE) <= log_error else Balls


class Saddle:
    """The contour, placed for a target near ε; `share` is the error of δ, relative, that is good enough."""

    def __init__(self, landscape: Landscape, tilt: Tilt, epsilon: float, share: float) -> None:
        parts = landscape.parts
        cost = sum(pair.cost for pair, _ in parts)
        arithmetic = choose_arithmetic(parts, math.log(share) + tilt.size)
        fine = tilt.size + math.log(FINE if cost < DEAR and arithmetic is Nodes else max(FINE, share / 16))
        self.window = choose_window(landscape, tilt, epsilon, fine)
        self.cut_short = False  # whether more nodes would be wanted than can be afforded
        lattice, end, most = common_lattice(parts), math.inf, MOST_NODES
        if lattice is not None:
            end, most = math.pi / float(lattice[1]), int(self.window.width / float(lattice[1])) // 2 + 1
        last = self._nodes(landscape, tilt, share, arithmetic=arithmetic, most=most, end=end)
        if self.cut_short and arithmetic is Balls:
            arithmetic = Nodes
            last = self._nodes(landscape, tilt, share, arithmetic=arithmetic, most=most, end=end)
        if lattice is None:
            window = arb(self.window.width)
            self.contour = Contour(parts, theta=tilt.theta, window=window, last=last, arithmetic=arithmetic)
        else:
            self.contour = Folded(
                parts, theta=tilt.theta, lattice=lattice, last=last, most=most, arithmetic=arithmetic
            )

    def _nodes(
        self, landscape: Landscape, tilt: Tilt, share: float, *, arithmetic: Arithmetic, most: int, end: float
    ) -> int:
        """The last node, for an error of δ that is fine, or else for one that is good enough."""
        parts, dear = landscape.parts, 1 if arithmetic is Nodes else 100
        cost = dear * sum(pair.cost for pair, _ in parts)
        if most < min(BUDGET, MOST / cost) / 2:
            return most
        few = max(BUDGET // cost, 512)
        last = choose_last(parts, tilt, self.window, tilt.size + math.log(FINE), most=few, end=end)
        if last < few:
            return min(last, most)
        enough = math.log(share)  # they fall off too slowly: settle for what was asked
        least = few if arithmetic is Nodes else 1
        can = max(min(self._affordable(parts, tilt, arithmetic), MOST_NODES), least)
        last = choose_last(parts, tilt, self.window, tilt.size + enough, most=can, end=end)
        self.cut_short = last == can < most
        return min(last, most)

    def _affordable(self, parts: Sequence[Part], tilt: Tilt, arithmetic: Arithmetic) -> int:
        """How many nodes a third of the work that is left allows, or most of it in balls."""
        if arithmetic is Balls:
            return int(
                min(left() / sum(1.5 * (20 + pair.ball_work + pair.cost) for pair, _ in parts), MOST_BALLS)
            )
        return int(min(left() / (3 * sum(pair.node_work(tilt.theta) for pair, _ in parts)), MOST_NODES))

    def about(self, epsilon: float) -> float:
        """About ln δ(ε)."""
        return self.contour.about(epsilon)

    def effort(self) -> tuple[Arithmetic, float, int]:
        """What the proved ends depend on, besides ε."""
        return self.contour.arithmetic, self.window.width, self.contour.last

    def slope(self, epsilon: float) -> float:
        """About −d ln δ/dε."""
        step = 1e-3 / float(self.contour.theta)
        found = (self.about(epsilon - step) - self.about(epsilon + step)) / (2 * step)
        return found if math.isfinite(found) else 0.0

    def bounds(self, epsilon: Arb) -> Ends:
        if not epsilon.is_exact():  # δ falls: take each end where it is worst
            return self.bounds(epsilon.upper())[0], self.bounds(epsilon.lower())[1]
        return self.contour.bounds(epsilon, self.window.below, self.window.above)


def exact_solver(parts: Sequence[Part]) -> Solver | None:
    """A method that needs no contour, where there is one."""
    if all(isinstance(pair, GaussianPair) for pair, _ in parts):
        return Gaussians(parts)
    if len(parts) == 1 and parts[0][1] == 1:
        return Closed(parts[0])
    if len(parts) == 1 and isinstance(parts[0][0], Atoms) and len(parts[0][0].atoms) == 2:
        if parts[0][1] > MOST_BINOMIAL and parts[0][0].lattice() is not None:
            return None  # the folded contour is faster
        return Binomial(parts[0])
    if all(isinstance(pair, Atoms) for pair, _ in parts) and _sums(parts) <= MOST_SUMS:
        return Enumerated(parts)
    return None


class PartsCurve:
    """δ of composed pairs, asked at many ε; `share` is the relative error that is aimed at."""

    def __init__(self, parts: Sequence[Part], share: float = CLOSED) -> None:
        self.parts, self.share = parts, share
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
        saddle = self._saddle(float(epsilon.mid()))
        low, high = (floor, whole) if saddle is None else saddle.bounds(epsilon)
        if not (low.is_finite() and high.is_finite()):  # floats were left behind: nothing is proved
            return floor, whole
        return low.max(floor), high.min(whole)

    def _saddle(self, epsilon: float) -> Saddle | None:
        """The contour of an ε within two deviations, or a new one; of the last few. None where floats end."""
        for near, deviation, saddle in self._saddles:
            if abs(epsilon - near) <= 2 * deviation:
                return saddle
        tilt = self._landscape.at_epsilon(epsilon)
        if not tilt.is_finite:
            return None
        saddle = Saddle(self._landscape, tilt, epsilon, self.share)
        self._saddles = [(epsilon, tilt.deviation, saddle), *self._saddles][:KEPT]
        return saddle
