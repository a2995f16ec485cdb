"""The pair of a Gaussian on a Poisson sample, by the trapezoid rule with a proved error.

With v ~ N(0, 1) and w(v) = 1 − q + q·e^(μv − μ²/2), both directions need Ψ(s) = E[w^s]:
  remove, (1−q)Q + qP against Q: the loss is ln w under wN, so E[e^(zL)] = Ψ(1 + z);
  add, Q against (1−q)Q + qP: the loss is −ln w under N, so E[e^(zL)] = Ψ(−z).
On the line v + ib, on the side where |e^(itL)| <= 1, the rule needs the same few nodes at every frequency.
docs/theory/certified-composition.md has the proof of each bound.
"""

import math
from fractions import Fraction

import numpy as np
from flint import acb, arb

from discreet.kernel.losses.continuous import gaussian_delta
from discreet.kernel.losses.curve import sampled_ends
from discreet.kernel.losses.family import Direction
from discreet.kernel.losses.nodes import SLACK, Acb, Grid, Nodes, rounded, weigh, weigh_balls
from discreet.kernel.losses.pair import Pair
from discreet.kernel.losses.sampled_weight import GOOD, Weight
from discreet.kernel.losses.work import spend
from discreet.kernel.numerics import Arb, ball

ROUGH = 24.0  # as GOOD, where only a bound is asked for

Node = tuple[Acb, Acb]


class SampledGaussianPair(Pair):
    """One direction of a Gaussian with this μ², sampled at this rate."""

    cost = 10
    ball_work = 5.0

    def __init__(self, mu_squared: Fraction, rate: Fraction, direction: Direction) -> None:
        self.mu_squared, self.rate = ball(mu_squared), ball(rate)
        self.direction = direction
        self.removes = direction == 0
        self.weight = Weight(self.mu_squared, self.rate)
        self._reals: dict[tuple[object, float], Arb] = {}
        self._rules: dict[float, tuple[list[Node], Arb]] = {}  # of the last tilt, a float in every contour

    def largest(self) -> Arb | None:
        return None if self.removes else -(1 - self.rate).log()

    def delta(self, epsilon: Arb) -> Arb:
        def unsampled(inner: Arb) -> tuple[Arb, Arb]:
            return (gaussian_delta(self.mu_squared, inner),) * 2

        low, high = sampled_ends(unsampled, self.rate, epsilon, direction=self.direction)
        return low.union(high)

    def moment(self, z: Acb) -> Acb:
        if z.imag.is_zero():
            return acb(self._real(z.real))
        return self.moments(z.real, z.imag, 1)[1]

    def moments(self, theta: Arb, spacing: Arb, count: int) -> list[Acb]:
        nodes, error = self._turning(theta)
        turning = [self._turn(spacing) * logarithm for _, logarithm in nodes]
        totals = weigh_balls([mass for mass, _ in nodes], turning, count)
        radius = error * self._real(theta)
        disc = acb((-radius).union(radius), (-radius).union(radius))
        return [total + disc for total in totals]

    def nodes(self, grid: Grid) -> Nodes:
        nodes, error = self._turning(grid.theta)
        whole = self._real(grid.theta)
        masses = [rounded(mass / whole) for mass, _ in nodes]
        turning = [self._turn(grid.spacing) * logarithm for _, logarithm in nodes]
        values, wrong = weigh([mass for mass, _ in masses], turning, grid.last)
        sizes = sum(abs(mass) + off for mass, off in masses)
        rounding = sizes * wrong + sum(off for _, off in masses)
        return Nodes(values, np.full(grid.last + 1, (rounding + float(error.upper())) * SLACK))

    def node_work(self, theta: float) -> float:
        return 0.2 + len(self._turning(arb(theta))[0]) / 5000

    def _turning(self, theta: Arb) -> tuple[list[Node], Arb]:
        """The rule for every frequency, on a line where |e^(itL)| <= 1."""
        key = float(theta)
        if key not in self._rules:
            power = self._power(theta)
            line = self.weight.turning_line(float(power), GOOD)
            self._rules = {key: self._rule(power, line, line, GOOD)}
        return self._rules[key]

    def _turn(self, spacing: Arb) -> Acb:
        return acb(0, spacing if self.removes else -spacing)

    def _real(self, theta: Arb, good: float | None = None) -> Arb:
        """E[e^(θL)] at a real tilt: the same rule on the real line, whose error is a share of the answer."""
        good = GOOD if good is None else good
        key = float(theta) if theta == arb(float(theta)) else str(theta), good
        if key not in self._reals:
            power = self._power(theta)
            nodes, error = self._rule(power, 0.0, self.weight.strip(float(power), good), good)
            self._reals[key] = sum((mass for mass, _ in nodes), arb(0)) / (1 + (-error).union(error))
        return self._reals[key]

    def log_moment_above(self, theta: Arb) -> Arb:
        return self._real(theta, ROUGH).log()

    def about_log_moment(self, theta: float) -> float:
        return self.weight.about_log_moment(self._about_power(theta))

    def _power(self, theta: Arb) -> Arb:
        """Re s at this tilt."""
        return 1 + theta if self.removes else -theta

    def _about_power(self, theta: float) -> float:
        return 1 + theta if self.removes else -theta

    def _rule(self, power: Arb, line: float, strip: float, good: float) -> tuple[list[Node], Arb]:
        """The nodes (mass, ln w) on the line Im v = ±line, and their error as a share of Ψ(Re s).

        The strip reaches `strip` to both sides of the line: (growth at both edges)/(e^(2π·strip/h) − 1).
        """
        weight = self.weight
        edges = weight.growth(power, arb(line) - arb(strip)) + weight.growth(power, arb(line) + arb(strip))
        step = min(2 * math.pi * strip / (float(edges.log()) + good), 1.0)
        h, height = arb(step), arb(line if self.removes else -line)
        low, high = weight.range(float(power), good)
        first, last = math.floor(low / step), math.ceil(high / step)
        spend((10 if line == 0 else 20) * (last - first + 1))
        rule = edges / (2 * arb.pi() * arb(strip) / h).expm1()
        tails = weight.tails(power, h * first, h * last, height)
        return self._masses(power, h, height, range(first, last + 1)), rule + tails / weight.floor(power)

    def _masses(self, power: Arb, h: Arb, height: Arb, steps: range) -> list[Node]:
        scale, nodes = h / (2 * arb.pi()).sqrt(), []
        for i in steps:  # on the real line real balls do, and faster
            v = h * i if height.is_zero() else acb(h * i, height)
            logarithm = self.weight.at(v).log()
            nodes.append(((power * logarithm - v * v / 2).exp() * scale, logarithm))
        return nodes

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        about = self.about_log_moment(float(theta))
        return self.weight.decay(self._power(theta), self._real(theta), frequency, about)

    def about_decay(self, theta: float, frequency: float) -> float:
        power = self._about_power(theta)
        return self.weight.about_decay(power, frequency, self.weight.about_log_moment(power))
