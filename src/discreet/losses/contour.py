"""Certified composition on a contour: δ(ε) between two proved ends.

With φ = ∏ φᵢ^kᵢ the transform of the composed loss and θ > 0, G(x) = e^(θx)δ(x) has the transform
φ(z)/(z(z+1)), z = θ + it. By Poisson's formula the trapezoid rule of spacing 2π/Λ gives Σ_m G(ε + mΛ), all of
whose terms are >= 0. What is added or left out is bounded: the aliases m ≠ 0 by Chernoff, the nodes beyond
the last by `Pair.decay`, and rounding by Arb. docs/theory/certified-composition.md has the proof.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from flint import acb, arb

from discreet.losses.pair import Acb, Pair, turns
from discreet.numerics import Arb, ball

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


class Contour:
    """The trapezoid rule at one tilt θ and window Λ; good for ε near the saddlepoint."""

    def __init__(self, parts: Sequence[Part], *, theta: float, window: Arb, last: int) -> None:
        self.parts = parts
        self.theta = arb(theta)
        self.window = window
        self.spacing = 2 * arb.pi() / window
        self.last = last
        self.weights = self.prepare(self.transform())
        self.cut = self.beyond_last()

    def transform(self) -> list[Acb]:
        """φ(z_j) = ∏ φᵢ(z_j)^kᵢ at the nodes z_j = θ + 2πij/Λ."""
        nodes = [acb(1)] * (self.last + 1)
        for pair, count in self.parts:
            for j, value in enumerate(pair.moments(self.theta, self.spacing, self.last)):
                nodes[j] *= value**count
        return nodes

    def prepare(self, nodes: list[Acb]) -> list[Acb]:
        """φ(z)/(z(z+1)), at each node."""
        points = (acb(self.theta, self.spacing * j) for j in range(self.last + 1))
        return [value / (z * (z + 1)) for value, z in zip(nodes, points, strict=True)]

    def beyond_last(self) -> Arb:
        """A bound on the nodes left out."""
        return beyond(self.parts, self.theta, self.window, self.spacing * self.last)

    def total(self, epsilon: Arb) -> Arb:
        """(1/Λ) Σ_j φ(z_j)/(z_j(z_j+1)) e^(−i t_j ε): the trapezoid rule, in balls."""
        return _both_sides(self.weights, -self.spacing * epsilon) / self.window

    def bounds(self, epsilon: Arb, below: float, above: float) -> tuple[Arb, Arb]:
        """Balls below and above δ(ε) of the finite losses; aliases by Chernoff at `below` < θ < `above`."""
        scale = (-self.theta * epsilon).exp()
        total = self.total(epsilon)
        aliases = _falling(self, epsilon, arb(above)) + _rising(self, epsilon, arb(below))
        return scale * (total - self.cut - aliases), scale * (total + self.cut)


class Folded(Contour):
    """The same for losses on a lattice offset + h·n, with Λ = Jh: the nodes repeat, and none is left out.

    With s the least lattice point >= ε and y = s − ε, Σ_n e^(−z(y+nh))(1 − e^(−(y+nh))) replaces 1/(z(z+1)).
    """

    def __init__(self, parts: Sequence[Part], *, theta: float, lattice: Lattice, last: int) -> None:
        self.lattice = lattice
        self.step = ball(lattice[1])
        super().__init__(parts, theta=theta, window=self.step * (2 * last + 1), last=last)

    def prepare(self, nodes: list[Acb]) -> list[Acb]:
        z = [acb(self.theta, self.spacing * j) for j in range(self.last + 1)]
        self.shifted = [v / -(-(at + 1) * self.step).expm1() for v, at in zip(nodes, z, strict=True)]
        return [v / -(-at * self.step).expm1() for v, at in zip(nodes, z, strict=True)]

    def beyond_last(self) -> Arb:
        return arb(0)

    def total(self, epsilon: Arb) -> Arb:
        offset, step = self.lattice
        point = offset + step * math.ceil((_middle(epsilon) - offset) / step)
        gap, angle = ball(point) - epsilon, -self.spacing * ball(point)
        plain, shifted = _both_sides(self.weights, angle), _both_sides(self.shifted, angle)
        total = (-self.theta * gap).exp() * (plain - (-gap).exp() * shifted) / (2 * self.last + 1)
        # If the truth within the ball of ε lies beyond the point, that point counts 1 − e^(ε−s) too little.
        return total + arb(0, 2 * epsilon.rad()) * (self.theta * epsilon).exp()


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


def _both_sides(weights: list[Acb], angle: Arb) -> Arb:
    """Σ over j = −J ... J of weight_j·e^(ij·angle), for weights that are conjugate on both sides."""
    total = acb(0)
    for weight, turn in zip(weights, turns(angle, len(weights) - 1), strict=True):
        total += weight * turn
    return 2 * total.real - weights[0].real


def _middle(value: Arb) -> Fraction:
    """The midpoint of a ball."""
    mantissa, exponent = value.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def beyond(parts: Sequence[Part], theta: Arb, window: Arb, start: Arb) -> Arb:
    """A bound on the nodes left out: Σ over |t| > start of |φ|/(Λt²), in stretches between half periods."""
    periods = (pair.period() for pair, _ in parts)
    halves = sorted((p / 2 for p in periods if p is not None and p / 2 > start), key=float)
    bound = arb(0)
    for stretch in [start, *halves]:
        decays = arb(1)
        for pair, count in parts:
            decays *= _decay(pair, theta, stretch) ** count
        bound += decays * (1 / (arb.pi() * stretch) + 2 / (window * stretch**2))
    return bound


def _decay(pair: Pair, theta: Arb, frequency: Arb) -> Arb:
    period = pair.period()
    if period is not None and not frequency < period / 2:
        return abs(pair.moment(acb(theta)))
    return pair.decay(theta, frequency)


def _falling(contour: Contour, epsilon: Arb, tilt: Arb) -> Arb:
    # m >= 1: G(x) <= factor·e^(K(tilt) − (tilt−θ)x), a geometric series; nothing beyond the largest loss
    tops = [pair.largest() for pair, _ in contour.parts]
    known = [top * count for top, (_, count) in zip(tops, contour.parts, strict=True) if top is not None]
    if len(known) == len(tops) and sum(known, arb(0)) <= epsilon + contour.window:
        return arb(0)
    gap = tilt - contour.theta
    first = (log_moment(contour.parts, tilt) - gap * (epsilon + contour.window)).exp()
    return chernoff_factor(tilt) * first / -(-gap * contour.window).expm1()


def _rising(contour: Contour, epsilon: Arb, tilt: Arb) -> Arb:
    # m <= −1: the same with a smaller tilt; tilt 0 is the bound δ <= 1
    gap = contour.theta - tilt
    if tilt.is_zero():
        first, factor = (gap * (epsilon - contour.window)).exp(), arb(1)
    else:
        first = (log_moment(contour.parts, tilt) + gap * (epsilon - contour.window)).exp()
        factor = chernoff_factor(tilt)
    return factor * first / -(-gap * contour.window).expm1()
