"""The pair of a Gaussian on a Poisson sample, by the trapezoid rule with a proved error.

With v ~ N(0, 1) and w(v) = 1 − q + q·e^(μv − μ²/2), both directions need Ψ(s) = E[w^s]:
  remove, (1−q)Q + qP against Q: the loss is ln w under wN, so E[e^(zL)] = Ψ(1 + z);
  add, Q against (1−q)Q + qP: the loss is −ln w under N, so E[e^(zL)] = Ψ(−z).
On the line v + ib, on the side where |e^(itL)| <= 1, the rule needs the same few nodes at every frequency.
docs/theory/certified-composition.md has the proof of each bound.
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import acb, arb

from discreet.losses.continuous import gaussian_delta
from discreet.losses.curve import sampled_ends
from discreet.losses.family import Direction
from discreet.losses.nodes import SLACK, UNIT, Acb, Array, Grid, Nodes, geometric, powers, rounded
from discreet.losses.pair import Pair
from discreet.numerics import Arb, ball

GOOD = 40.0  # the rule is placed so that its error is below e^(−GOOD) of Ψ(Re s)
ROUGH = 24.0  # the same, where only a bound is asked for
SHIFTS = (0.03, 0.1, 0.3, 0.8, 1.6)  # lines tried for the bound on high frequencies
CELLS = 96

Node = tuple[Acb, Acb]


class SampledGaussianPair(Pair):
    """One direction of a Gaussian with this μ², sampled at this rate."""

    cost = 10

    def __init__(self, mu_squared: Fraction, rate: Fraction, direction: Direction) -> None:
        self.mu_squared = ball(mu_squared)
        self.mu = self.mu_squared.sqrt()
        self.rate = ball(rate)
        self.direction = direction
        self.removes = direction == 0
        self._mu, self._rate = float(self.mu), float(self.rate)
        self._reals: dict[tuple[object, float], Arb] = {}
        self._cells: dict[float, tuple[Array, Array]] = {}

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
        totals = [acb(0)] * (count + 1)
        for mass, logarithm in nodes:
            turn = (self._turn(spacing) * logarithm).exp()
            totals = [total + mass * p for total, p in zip(totals, powers(turn, count), strict=True)]
        radius = error * self._real(theta)
        disc = acb((-radius).union(radius), (-radius).union(radius))
        return [total + disc for total in totals]

    def nodes(self, grid: Grid) -> Nodes:
        nodes, error = self._turning(grid.theta)
        whole = self._real(grid.theta)
        masses = [rounded(mass / whole) for mass, _ in nodes]
        rows, wrong = geometric([self._turn(grid.spacing) * logarithm for _, logarithm in nodes], grid.last)
        values = np.array([mass for mass, _ in masses]) @ rows
        sizes = sum(abs(mass) + off for mass, off in masses)
        rounding = sizes * (wrong + (2 * len(masses) + 8) * UNIT) + sum(off for _, off in masses)
        return Nodes(values, np.full(grid.last + 1, (rounding + float(error.upper())) * SLACK))

    def _turning(self, theta: Arb) -> tuple[list[Node], Arb]:
        """The rule for every frequency, on a line where |e^(itL)| <= 1."""
        power = self._power(theta)
        shift = min(1.25 / self._mu, self._widest(power, GOOD) / 2)
        return self._rule(power, shift, shift, GOOD)

    def _turn(self, spacing: Arb) -> Acb:
        return acb(0, spacing if self.removes else -spacing)

    def _real(self, theta: Arb, good: float | None = None) -> Arb:
        """E[e^(θL)] at a real tilt: the same rule on the real line, whose error is a share of the answer."""
        good = GOOD if good is None else good
        key = float(theta) if theta == arb(float(theta)) else str(theta), good
        if key not in self._reals:
            power = self._power(theta)
            nodes, error = self._rule(power, 0.0, min(1.5 / self._mu, self._widest(power, good)), good)
            self._reals[key] = sum((mass for mass, _ in nodes), arb(0)) / (1 + (-error).union(error))
        return self._reals[key]

    def log_moment_above(self, theta: Arb) -> Arb:
        return self._real(theta, ROUGH).log()

    def about_log_moment(self, theta: float) -> float:
        power = 1 + theta if self.removes else -theta
        v = np.arange(*self._range(power, GOOD), 0.2)
        part = self._rate * np.exp(self._mu * v - self._mu**2 / 2)
        exponents = power * np.log(1 - self._rate + part) - v * v / 2
        top = exponents.max()
        return float(top + np.log(np.sum(np.exp(exponents - top)) * 0.2 / math.sqrt(2 * math.pi)))

    def _power(self, theta: Arb) -> Arb:
        """Re s at this tilt."""
        return 1 + theta if self.removes else -theta

    def _widest(self, power: Arb, good: float) -> float:
        """A strip in which neither e^(a²/2) nor cos(μa/2)^power outgrows the rule."""
        steep = max(-float(power), 0.0)
        return math.sqrt(2 * good / (1 + steep * self._mu**2 / 4))

    def _range(self, power: float, good: float) -> tuple[float, float]:
        """Where N·w^r is worth summing: around 0, and for r > 0 up to around rμ."""
        r, reach = max(power, 0.5), math.sqrt(2 * good) + 2
        rare = min(-r * math.log(self._rate), r * max(r - 1, 0.0) * self._mu**2 / 2)
        return -reach, math.sqrt(2 * (good + rare)) + 2 + r * self._mu

    def _growth(self, power: Arb, height: Arb) -> Arb:
        """∫|N w^s| on the line Im v = height is at most this times Ψ(r): e^(c²/2)·cos(μc/2)^min(r, 0)."""
        return (height**2 / 2).exp() * (self.mu * height / 2).cos() ** power.min(arb(0))

    def _rule(self, power: Arb, line: float, strip: float, good: float) -> tuple[list[Node], Arb]:
        """The nodes (mass, ln w) on the line Im v = ±line, and their error as a share of Ψ(Re s).

        The strip reaches `strip` to both sides of the line: (growth at both edges)/(e^(2π·strip/h) − 1).
        """
        edges = self._growth(power, arb(line) - arb(strip)) + self._growth(power, arb(line) + arb(strip))
        step = 2 * math.pi * strip / (float(edges.log()) + good)
        h, height = arb(step), arb(line if self.removes else -line)
        low, high = self._range(float(power), good)
        first, last = math.floor(low / step), math.ceil(high / step)
        nodes = self._masses(power, h, height, range(first, last + 1))
        rule = edges / (2 * arb.pi() * arb(strip) / h).expm1()
        tails = self._tails(power, h * first, h * last) * self._growth(power, height)
        return nodes, rule + tails / self._floor(power)

    def _masses(self, power: Arb, h: Arb, height: Arb, steps: range) -> list[Node]:
        scale, half = h / (2 * arb.pi()).sqrt(), self.mu_squared / 2
        nodes = []
        for i in steps:
            v = (
                h * i if height.is_zero() else acb(h * i, height)
            )  # on the real line real balls do, and faster
            logarithm = (1 + self.rate * (self.mu * v - half).expm1()).log()
            nodes.append(((power * logarithm - v * v / 2).exp() * scale, logarithm))
        return nodes

    def _tails(self, power: Arb, low: Arb, high: Arb) -> Arb:
        """A bound on what lies beyond the last nodes, on both sides, sum and integral together."""
        root = arb(2).sqrt()
        if power >= 0:  # w <= 1 on the left; on the right w <= e^(μv − μ²/2), which shifts the Gaussian
            shift = power * self.mu
            right = (power * (power - 1) * self.mu_squared / 2).exp() * ((high - shift) / root).erfc()
            return (-low / root).erfc() + right
        return (1 - self.rate) ** power * (-low / root).erfc() + (high / root).erfc()

    def _floor(self, power: Arb) -> Arb:
        """Ψ(r) >= this: Jensen for r >= 1 and r <= 0 (E[w] = 1), w >= q·e^(μv − μ²/2), w >= 1 − q."""
        if power <= 0:
            return arb(1)
        if power >= 1:
            return (power * self.rate.log() + power * (power - 1) * self.mu_squared / 2).exp().max(arb(1))
        return (1 - self.rate) ** power.max(arb(0))

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        """On Im v = c, |e^(itL)| = e^(−|t|·arg w), and arg w grows with v.

        So |E[e^(zL)]| <= growth(c)·(Ψ(r) − Σ mass·(1 − e^(−|t|·arg))), for cells of at least that mass, arg.
        """
        whole, power = self._real(theta), self._power(theta)
        c = arb(self._best_shift(float(theta), float(frequency))[1])
        kept = whole
        for mass, angle in self._lower_cells(power, c):
            kept += mass * (-frequency * angle).expm1()
        return whole.min(kept * self._growth(power, c))

    def about_decay(self, theta: float, frequency: float) -> float:
        return min(self._best_shift(theta, frequency)[0], 0.0)

    def _best_shift(self, theta: float, frequency: float) -> tuple[float, float]:
        """About ln of the least bound over a few lines, and that line."""
        masses, part = self._about_cells(theta)
        power, found = min(1 + theta if self.removes else -theta, 0.0), []
        for shift in SHIFTS:
            c = min(shift, 1.4 / self._mu)
            turn = self._mu * c
            angle = np.arctan2(part * math.sin(turn), 1 - self._rate + part * math.cos(turn))
            kept = 1 + float(masses @ np.expm1(-frequency * angle))
            growth = c * c / 2 + power * math.log(math.cos(turn / 2))
            found.append((math.log(kept) + growth if kept > 0 else -math.inf, c))
        return min(found)

    def _about_cells(self, theta: float) -> tuple[Array, Array]:
        """`_lower_cells` in floats: masses as shares of Ψ(r), and w − 1 + q at each lower edge."""
        if theta not in self._cells:
            power = 1 + theta if self.removes else -theta
            edges = np.linspace(*self._range(power, GOOD), CELLS + 1)
            tails = np.array([math.erfc(edge / math.sqrt(2)) / 2 for edge in edges])
            part = self._rate * np.exp(self._mu * edges - self._mu**2 / 2)
            logs = power * np.log(1 - self._rate + part) - self.about_log_moment(theta)
            masses = (tails[:-1] - tails[1:]) * np.exp(np.minimum(logs[:-1], logs[1:]))
            self._cells[theta] = masses, part[:-1]
        return self._cells[theta]

    def _lower_cells(self, power: Arb, shift: Arb) -> list[tuple[Arb, Arb]]:
        """For each cell of v: at least its mass under N·w^r, and at least arg w in it."""
        low, high = self._range(float(power), GOOD)
        edges = [self._edge(power, shift, arb(low) + arb(high - low) * i / CELLS) for i in range(CELLS + 1)]
        return [
            (((a[0] - b[0]) / 2 * a[1].min(b[1])).max(arb(0)), a[2].max(arb(0))) for a, b in pairwise(edges)
        ]

    def _edge(self, power: Arb, shift: Arb, v: Arb) -> tuple[Arb, Arb, Arb]:
        """At an edge of a cell: twice the normal tail above it, w^r, and arg w on the line Im v = shift."""
        part = self.rate * (self.mu * v - self.mu_squared / 2).exp()
        turn = self.mu * shift
        angle = acb(1 - self.rate + part * turn.cos(), part * turn.sin()).arg()
        return (v / arb(2).sqrt()).erfc(), (1 - self.rate + part) ** power, angle
