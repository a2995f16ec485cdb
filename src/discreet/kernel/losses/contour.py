"""Certified composition on a contour: δ(ε) between two proved ends.

With φ = ∏ φᵢ^kᵢ the transform of the composed loss and θ > 0, G(x) = e^(θx)δ(x) has the transform
φ(z)/(z(z+1)), z = θ + it. By Poisson's formula the trapezoid rule of spacing 2π/Λ gives Σ_m G(ε + mΛ), all of
whose terms are >= 0. What is added or left out is bounded: the aliases m ≠ 0 by Chernoff, the nodes beyond
the last by `Pair.decay`, and rounding by Arb or by the bounds of `Nodes`.
docs/theory/certified-composition.md has the proof.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from flint import acb, arb

from discreet.kernel.losses.nodes import SMALL, Arithmetic, Grid, Nodes, Values
from discreet.kernel.losses.pair import Pair
from discreet.kernel.losses.work import spend
from discreet.kernel.numerics import Arb, ball, power

Part = tuple[Pair, int]
Lattice = tuple[Fraction, Fraction]


def chernoff_factor(theta: Arb) -> Arb:
    """max over y > 0 of e^(−θy)(1 − e^(−y)) = (θ/(1+θ))^θ/(1+θ), so that δ(ε) <= factor·e^(K(θ)−θε)."""
    return (theta * (theta / (1 + theta)).log()).exp() / (1 + theta)


def log_moment(parts: Sequence[Part], theta: Arb) -> Arb:
    """K(θ) = ln E[e^(θL); L < ∞] of the composition."""
    total = arb(0)
    for pair, count in parts:
        total += count * pair.log_moment(theta)
    return total


silent = np.errstate(over="ignore", invalid="ignore")  # where floats end no ball is finite: it proves nothing


class Contour:
    """The trapezoid rule at one tilt θ and window Λ; good for ε near the saddlepoint.

    The values at the nodes are φ(z)/φ(θ), in floating point or in balls; K(θ) = ln φ(θ) is kept apart.
    """

    @silent
    def __init__(
        self,
        parts: Sequence[Part],
        *,
        theta: float,
        window: Arb,
        last: int,
        arithmetic: Arithmetic = Nodes,
    ) -> None:
        self.parts = parts
        self.theta = arb(theta)
        self.window = window
        self.spacing = 2 * arb.pi() / window
        self.last = last
        self.arithmetic = arithmetic
        spend((last + 1) * len(parts) * (0.2 if arithmetic is Nodes else 20))
        self.height = log_moment(parts, self.theta)
        self.prepare(self.transform())
        self.cut = self.beyond_last()
        self._bounds: dict[float, Arb] = {}

    def transform(self) -> Values:
        """φ(z_j)/φ(θ) = ∏ (φᵢ(z_j)/φᵢ(θ))^kᵢ at the nodes z_j = θ + 2πij/Λ."""
        found: Values | None = None
        grid = Grid(self.theta, self.spacing, self.last)
        for pair, count in self.parts:
            one = self._values(pair, grid).power(count)
            found = one if found is None else found * one
        assert found is not None
        return found

    def _values(self, pair: Pair, grid: Grid) -> Values:
        return pair.nodes(grid) if self.arithmetic is Nodes else pair.balls(grid)

    def prepare(self, values: Values) -> None:
        """Weigh each value with its kernel 1/(z(z+1))."""
        self.weights = values * (self._line(0) * self._line(1)).inverse()

    def _line(self, shift: int) -> Values:
        return self.arithmetic.line(self.theta + shift, self.spacing, self.last)

    def beyond_last(self) -> Arb:
        """A bound on the nodes left out, as a share of φ(θ)."""
        return beyond(self.parts, self.theta, self.window, self.spacing * self.last)

    def total(self, epsilon: Arb) -> Arb:
        """(1/Λ) Σ_j φ(z_j)/φ(θ)/(z_j(z_j+1)) e^(−i t_j ε): the trapezoid rule."""
        return self.weights.both_sides(-self.spacing * epsilon) / self.window

    def about(self, epsilon: float) -> float:
        """About ln δ(ε), or minus infinity: for a search, and in no proof."""
        total = self.about_total(epsilon)
        return float(self.height) - float(self.theta) * epsilon + math.log(total) if total > 0 else -math.inf

    @silent
    def about_total(self, epsilon: float) -> float:
        """About `total`."""
        return self.weights.about_both_sides(-float(self.spacing) * epsilon) / float(self.window)

    @silent
    def bounds(self, epsilon: Arb, below: float, above: float) -> tuple[Arb, Arb]:
        """Balls below and above δ(ε) of the finite losses; aliases by Chernoff at `below` < θ < `above`."""
        scale = (self.height - self.theta * epsilon).exp()
        total = self.total(epsilon)
        aliases = _falling(self, epsilon, above) + _rising(self, epsilon, below)
        return scale * (total - self.cut - aliases), scale * (total + self.cut)

    def log_moment_above(self, tilt: float) -> Arb:
        """A bound on K(tilt) − K(θ) from above."""
        if tilt not in self._bounds:
            known = (pair.log_moment_above(arb(tilt)) * count for pair, count in self.parts)
            self._bounds[tilt] = sum(known, arb(0)) - self.height
        return self._bounds[tilt]


class Folded(Contour):
    """The same for losses on a lattice offset + h·n, with Λ = Jh: the nodes repeat, and J of them are enough.

    With s the least lattice point >= ε and y = s − ε, Σ_n e^(−z(y+nh))(1 − e^(−(y+nh))) replaces 1/(z(z+1)).
    Of a fine lattice fewer than J are taken, and those left out bounded up to the half period.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        theta: float,
        lattice: Lattice,
        last: int,
        most: int | None = None,
        arithmetic: Arithmetic = Nodes,
    ) -> None:
        self.lattice = lattice
        self.step = ball(lattice[1])
        self.period = 2 * (last if most is None else most) + 1  # J
        window = self.step * self.period
        super().__init__(parts, theta=theta, window=window, last=last, arithmetic=arithmetic)

    def prepare(self, values: Values) -> None:
        self.weights, self.shifted = (values * self._series(self.theta + shift) for shift in (0, 1))

    def _series(self, real: Arb) -> Values:
        """1/(1 − e^(−zh)) on the line Re z = real."""
        if self.arithmetic is Nodes and self.step * (real + self.spacing * self.last) < SMALL:
            return Nodes.line(real, self.spacing, self.last).scaled(self.step).small_series()
        turning = self.arithmetic.powers(acb(0, -self.spacing * self.step), self.last)
        return turning.scaled((-real * self.step).exp()).one_minus().inverse()

    def beyond_last(self) -> Arb:
        if self.period == 2 * self.last + 1:
            return arb(0)
        # with a = 1/(1 − e^(−zh)) and b the same of z + 1, the kernel is at most h(|ab| + |b|) <= h(c² + c)
        # for c = π/(2th)·e^((θ+1)h/2), as |1 − ρe^(−ith)| >= 2√ρ·sin(th/2) >= 2√ρ·th/π
        start, half = self.spacing * self.last, arb.pi() / self.step
        grown = ((self.theta + 1) * self.step).exp() * arb.pi() ** 2 / 4
        bound = arb(0)
        for stretch, decays in _stretches(self.parts, self.theta, start, half):
            slow = self.step * ((half / stretch).log() / 2 + arb.pi() / (self.window * stretch))
            bound += decays * grown * (_squares(stretch, self.window) + slow)
        return bound

    def total(self, epsilon: Arb) -> Arb:
        point, _ = self._next_point(_middle(epsilon))
        gap, angle = ball(point) - epsilon, -self.spacing * ball(point)
        plain, shifted = (weights.both_sides(angle) for weights in (self.weights, self.shifted))
        total = (-self.theta * gap).exp() * (plain - (-gap).exp() * shifted) / self.period
        # If the truth within the ball of ε lies beyond the point, that point counts 1 − e^(ε−s) too little.
        return total + arb(0, 2 * epsilon.rad()) * (self.theta * epsilon - self.height).exp()

    def about_total(self, epsilon: float) -> float:
        point, gap = self._next_point(Fraction(epsilon))
        angle = -float(self.spacing * ball(point))
        plain, shifted = (weights.about_both_sides(angle) for weights in (self.weights, self.shifted))
        y = float(gap)
        return math.exp(-float(self.theta) * y) * (plain - math.exp(-y) * shifted) / self.period

    def _next_point(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """The least lattice point at or above ε, and how far it is."""
        offset, step = self.lattice
        point = offset + step * math.ceil((epsilon - offset) / step)
        return point, point - epsilon


def common_lattice(parts: Sequence[Part]) -> Lattice | None:
    """(offset, step) of the composed loss, where each part has a rational lattice."""
    offset, step = Fraction(0), Fraction(0)
    for pair, count in parts:
        own = pair.lattice()
        if own is None:
            return None
        offset += own[0] * count
        step = Fraction(
            math.gcd(step.numerator * own[1].denominator, own[1].numerator * step.denominator),
            step.denominator * own[1].denominator,
        )
    return offset, step


def _middle(value: Arb) -> Fraction:
    """The midpoint of a ball."""
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def beyond(parts: Sequence[Part], theta: Arb, window: Arb, start: Arb) -> Arb:
    """A bound on the nodes left out: Σ over |t| > start of |φ|/(Λt²), in stretches between half periods."""
    stretches = _stretches(parts, theta, start, arb("inf"))
    return sum((decays * _squares(stretch, window) for stretch, decays in stretches), arb(0))


def _stretches(parts: Sequence[Part], theta: Arb, start: Arb, end: Arb) -> Iterator[tuple[Arb, Arb]]:
    """(t, a bound on |φ|/φ(θ) from t up to the next half period, or to the end), from the start."""
    periods = (pair.period() for pair, _ in parts)
    halves = sorted((p / 2 for p in periods if p is not None and start < p / 2 < end), key=float)
    for stretch in [start, *halves]:
        decays = arb(1)
        for pair, count in parts:
            decays *= power(_decay(pair, theta, stretch), count)
        yield stretch, decays


def _squares(start: Arb, window: Arb) -> Arb:
    """Σ over nodes |t| > start of 1/(Λt²) is at most this."""
    return 1 / (arb.pi() * start) + 2 / (window * start**2)


def _decay(pair: Pair, theta: Arb, frequency: Arb) -> Arb:
    period = pair.period()
    if period is not None and not frequency < period / 2:
        return arb(1)
    return pair.decay(theta, frequency) / abs(pair.moment(acb(theta)))


def _falling(contour: Contour, epsilon: Arb, tilt: float) -> Arb:
    # m >= 1: G(x) <= factor·e^(K(tilt) − (tilt−θ)x), a geometric series; nothing beyond the largest loss
    tops = [pair.largest() for pair, _ in contour.parts]
    known = [top * count for top, (_, count) in zip(tops, contour.parts, strict=True) if top is not None]
    if len(known) == len(tops) and sum(known, arb(0)) <= epsilon + contour.window:
        return arb(0)
    gap = arb(tilt) - contour.theta
    first = (contour.log_moment_above(tilt) - gap * (epsilon + contour.window)).exp()
    return chernoff_factor(arb(tilt)) * first / -(-gap * contour.window).expm1()


def _rising(contour: Contour, epsilon: Arb, tilt: float) -> Arb:
    # m <= −1: the same with a smaller tilt; tilt 0 is the bound δ <= 1
    gap = contour.theta - arb(tilt)
    if tilt == 0:
        known, factor = -contour.height, arb(1)
    else:
        known, factor = contour.log_moment_above(tilt), chernoff_factor(arb(tilt))
    return factor * (known + gap * (epsilon - contour.window)).exp() / -(-gap * contour.window).expm1()
