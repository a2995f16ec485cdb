"""Certified composition on a contour: δ(ε) between two proved ends.

With φ = ∏ φᵢ^kᵢ the transform of the composed loss and θ > 0, G(x) = e^(θx)δ(x) has the transform
φ(z)/(z(z+1)), z = θ + it. By Poisson's formula the trapezoid rule of spacing 2π/Λ gives Σ_m G(ε + mΛ), all of
whose terms are >= 0. What is added or left out is bounded: the aliases m ≠ 0 by Chernoff, the nodes beyond
the last by `Pair.decay`, and rounding by Arb. docs/theory/certified-composition.md has the proof.
"""

from collections.abc import Sequence

from flint import acb, arb

from discreet.losses.pair import Acb, Pair, turns
from discreet.numerics import Arb

Part = tuple[Pair, int]


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
    """The trapezoid rule at one tilt θ, window Λ and highest frequency; good for ε near the saddlepoint."""

    def __init__(self, parts: Sequence[Part], *, theta: float, window: Arb, last: int) -> None:
        self.parts = parts
        self.theta = arb(theta)
        self.window = window
        self.spacing = 2 * arb.pi() / window
        self.last = last
        self.nodes = self._transform()
        self.weights = [value / _kernel(self.theta, self.spacing * j) for j, value in enumerate(self.nodes)]
        self.cut = beyond(parts, self.theta, window, self.spacing * last)

    def _transform(self) -> list[Acb]:
        nodes = [acb(1)] * (self.last + 1)
        for pair, count in self.parts:
            for j, value in enumerate(pair.moments(self.theta, self.spacing, self.last)):
                nodes[j] *= value**count
        return nodes

    def total(self, epsilon: Arb) -> Arb:
        """(1/Λ) Σ_j φ(z_j)/(z_j(z_j+1)) e^(−i t_j ε): the trapezoid rule, in balls."""
        total = acb(0)
        for weight, turn in zip(self.weights, turns(-self.spacing * epsilon, self.last), strict=True):
            total += weight * turn
        return (2 * total.real - self.weights[0].real) / self.window

    def aliases(self, epsilon: Arb, below: float, above: float) -> Arb:
        """A bound on Σ_(m≠0) G(ε + mΛ), by Chernoff at the tilts `below` < θ < `above`."""
        return _falling(self, epsilon, arb(above)) + _rising(self, epsilon, arb(below))

    def bounds(self, epsilon: Arb, below: float, above: float) -> tuple[Arb, Arb]:
        """Balls below and above δ(ε) of the finite losses."""
        scale = (-self.theta * epsilon).exp()
        total = self.total(epsilon)
        return scale * (total - self.cut - self.aliases(epsilon, below, above)), scale * (total + self.cut)


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


def _kernel(theta: Arb, frequency: Arb) -> Acb:
    z = acb(theta, frequency)
    return z * (z + 1)


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
