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

from flint import acb, arb

from discreet.losses.continuous import gaussian_delta
from discreet.losses.curve import sampled_ends
from discreet.losses.family import Direction
from discreet.losses.pair import Acb, Pair, powers
from discreet.numerics import Arb, ball

GOOD = 50.0  # the rule is placed so that its error is below e^(−GOOD) of Ψ(Re s)
SHIFTS = (0.03, 0.1, 0.3, 0.8, 1.6)  # lines tried for the bound on high frequencies
CELLS = 128


class SampledGaussianPair(Pair):
    """One direction of a Gaussian with this μ², sampled at this rate."""

    cost = 100

    def __init__(self, mu_squared: Fraction, rate: Fraction, direction: Direction) -> None:
        self.mu_squared = ball(mu_squared)
        self.mu = self.mu_squared.sqrt()
        self.rate = ball(rate)
        self.direction = direction
        self.removes = direction == 0
        self._cells: dict[tuple[float, float], list[tuple[Arb, Arb]]] = {}

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
        power, side = self._power(theta), 1 if self.removes else -1
        shift = min(1.25 / float(self.mu.mid()), self._widest(power) / 2)
        nodes, error = self._rule(power, shift, shift)
        totals = [acb(0)] * (count + 1)
        for mass, logarithm in nodes:
            turn = (acb(0, side * spacing) * logarithm).exp()
            totals = [total + mass * p for total, p in zip(totals, powers(turn, count), strict=True)]
        radius = error * self._real(theta)
        disc = acb((-radius).union(radius), (-radius).union(radius))
        return [total + disc for total in totals]

    def _real(self, theta: Arb) -> Arb:
        """E[e^(θL)] at a real tilt: the same rule on the real line, whose error is a share of the answer."""
        power = self._power(theta)
        nodes, error = self._rule(power, 0.0, min(1.5 / float(self.mu.mid()), self._widest(power)))
        return sum((mass.real for mass, _ in nodes), arb(0)) / (1 + (-error).union(error))

    def _power(self, theta: Arb) -> Arb:
        """Re s at this tilt."""
        return 1 + theta if self.removes else -theta

    def _widest(self, power: Arb) -> float:
        """A strip in which neither e^(a²/2) nor cos(μa/2)^power outgrows the rule."""
        steep = max(-float(power.mid()), 0.0)
        return math.sqrt(2 * GOOD / (1 + steep * float(self.mu_squared.mid()) / 4))

    def _range(self, power: Arb) -> tuple[float, float]:
        """Where N·w^r is worth summing: around 0, and for r > 0 up to around rμ."""
        r, mu, reach = max(float(power.mid()), 0.5), float(self.mu.mid()), math.sqrt(2 * GOOD) + 2
        rare = min(-r * math.log(float(self.rate.mid())), r * max(r - 1, 0.0) * mu**2 / 2)
        return -reach, math.sqrt(2 * (GOOD + rare)) + 2 + r * mu

    def _growth(self, power: Arb, height: Arb) -> Arb:
        """∫|N w^s| on the line Im v = height is at most this times Ψ(r): e^(c²/2)·cos(μc/2)^min(r, 0)."""
        return (height**2 / 2).exp() * (self.mu * height / 2).cos() ** power.min(arb(0))

    def _rule(self, power: Arb, line: float, strip: float) -> tuple[list[tuple[Acb, Acb]], Arb]:
        """The nodes (mass, ln w) on the line Im v = ±line, and their error as a share of Ψ(Re s).

        The strip reaches `strip` to both sides of the line: (growth at both edges)/(e^(2π·strip/h) − 1).
        """
        edges = self._growth(power, arb(line) - arb(strip)) + self._growth(power, arb(line) + arb(strip))
        step = 2 * math.pi * strip / (float(edges.log().mid()) + GOOD)
        h, height = arb(step), arb(line if self.removes else -line)
        low, high = self._range(power)
        first, last = math.floor(low / step), math.ceil(high / step)
        scale = h / (2 * arb.pi()).sqrt()
        nodes = []
        for i in range(first, last + 1):
            v = acb(h * i, height)
            logarithm = (1 + self.rate * (self.mu * v - self.mu_squared / 2).expm1()).log()
            nodes.append(((power * logarithm - v * v / 2).exp() * scale, logarithm))
        rule = edges / (2 * arb.pi() * arb(strip) / h).expm1()
        tails = self._tails(power, h * first, h * last) * self._growth(power, height)
        return nodes, rule + tails / self._floor(power)

    def _tails(self, power: Arb, low: Arb, high: Arb) -> Arb:
        """A bound on what lies beyond the last nodes, on both sides, sum and integral together."""
        root = arb(2).sqrt()
        if self.removes:  # w <= 1 on the left; on the right w <= e^(μv − μ²/2), which shifts the Gaussian
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
        best = whole = self._real(theta)
        power = self._power(theta)
        for shift in SHIFTS:
            c = arb(min(shift, 1.4 / float(self.mu.mid())))
            kept = whole
            for mass, angle in self._lower_cells(theta, c):
                kept += mass * (-frequency * angle).expm1()
            best = best.min(kept * self._growth(power, c))
        return best

    def _lower_cells(self, theta: Arb, shift: Arb) -> list[tuple[Arb, Arb]]:
        """For each cell of v: at least its mass under N·w^r, and at least arg w in it."""
        key = (float(theta.mid()), float(shift))
        if key not in self._cells:
            power = self._power(theta)
            low, high = self._range(power)
            edges = [arb(low) + arb(high - low) * i / CELLS for i in range(CELLS + 1)]
            self._cells[key] = [self._cell(power, shift, a, b) for a, b in pairwise(edges)]
        return self._cells[key]

    def _cell(self, power: Arb, shift: Arb, low: Arb, high: Arb) -> tuple[Arb, Arb]:
        root = arb(2).sqrt()
        normal = ((low / root).erfc() - (high / root).erfc()) / 2
        parts = [self.rate * (self.mu * v - self.mu_squared / 2).exp() for v in (low, high)]
        first, last = ((1 - self.rate + part) ** power for part in parts)
        turn = self.mu * shift
        angle = acb(1 - self.rate + parts[0] * turn.cos(), parts[0] * turn.sin()).arg()
        return (normal * first.min(last)).max(arb(0)), angle.max(arb(0))
