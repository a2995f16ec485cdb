"""The weight w(v) = 1 − q + q·e^(μv−μ²/2) of a Poisson sample: what N·w^r is at least and at most, v normal.

On the line v + ic with cos(μc) >= 0 both |w| and arg w grow with v. So a sum over cells of v bounds the
integral of |N·w^s| from above, also where w^r is so steep, r far below 0, that |w(v+ic)| >= cos(μc/2)·w(v)
says nothing. docs/theory/certified-composition.md has the proofs.
"""

import math
from itertools import pairwise

import numpy as np
from flint import acb, arb

from discreet.kernel.losses.nodes import Acb, Array
from discreet.kernel.losses.work import MOST_VALUES, spend
from discreet.kernel.numerics import Arb

GOOD = 40.0  # a rule is placed so that its error is below e^(−GOOD) of Ψ(Re s)
SHIFTS = (0.03, 0.1, 0.3, 0.8, 1.6, 3.2)  # lines tried for the bound on high frequencies
HALF_TURN = 1.4  # of μ·c: below π/2, so that |w| grows with v
STRIPS = (
    1.5,
    1.2,
    0.9,
    0.7,
    0.5,
    0.35,
    0.25,
    0.17,
    0.12,
    0.08,
    0.05,
    0.03,
)  # of 1/μ, or of WIDEST where that is less
LINE = 1.5  # deviations: the highest line of a rule, as what is summed there is e^(c²/2) times what is found
WIDEST = 4.0  # deviations: beyond, e^(c²/2) outgrows what a wider strip gains
CELLS, FEW_CELLS, MOST_CELLS = 96, 32, 960
FARTHEST = 37.0  # deviations: as far as a float tells a normal tail from 0
STEEP = 16.0  # the logarithm of a growth that is worth another way to bound it


def _log_tail(x: float) -> float:
    """About ln Pr[V > x] of a normal V, for x >= 0."""
    if x < FARTHEST:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi))


STAIRS = np.concatenate([np.arange(0, 3, 0.25), 3 * 1.08 ** np.arange(0, 400)])  # places, from 0 to 10^13


Span = tuple[float, float]


class Weight:
    """w for one μ² and rate; r = Re s is a ball in what is proved, a float in what is only chosen."""

    def __init__(self, mu_squared: Arb, rate: Arb) -> None:
        self.mu_squared, self.mu, self.rate = mu_squared, mu_squared.sqrt(), rate
        self._half, self._root = mu_squared / 2, arb(2).sqrt()
        self._mu, self._rate = float(self.mu), float(self.rate)
        self._many = min(int(CELLS * max(self._mu, 1.0)), MOST_CELLS)  # w changes over 1/μ
        self._logs: dict[float, float] = {}
        self._ends: dict[tuple[float, float], Span] = {}
        self._modes: dict[float, Span] = {}
        self._cells: dict[float, tuple[Array, Array, Array]] = {}

    # --- chosen in floats: in no proof ------------------------------------------------------------------

    def _about_log(self, v: Array) -> Array:
        """About ln w."""
        part = math.log(self._rate) + self._mu * v - self._mu**2 / 2
        return np.logaddexp(math.log1p(-self._rate) if self._rate < 1 else -math.inf, part)

    def range(self, power: float, good: float) -> Span:
        """Where N·w^r is worth summing; for r < 0 it falls off its mode at least as fast as N."""
        reach = math.sqrt(2 * good) + 2
        if power < 0:
            mode = self._mode(power)[0]
            return mode - reach, mode + reach
        return -reach, self._end(power, good)[0]

    def _end(self, power: float, good: float) -> Span:
        """For r >= 0: beyond it N·w^r is worth nothing, and where it is greatest: near 0, or near rμ."""
        far = power * self._mu + math.sqrt(2 * good) + 2
        if power * self._mu < 4:  # the two are near each other
            return far, 0.0
        if (power, good) not in self._ends:
            edges = STAIRS[: np.searchsorted(STAIRS, far) + 2]
            logs = power * self._about_log(edges)
            peak, stairs = logs - edges**2 / 2, logs[1:] - edges[:-1] ** 2 / 2
            top = int(np.argmax(peak))
            worth = np.flatnonzero(stairs > max(peak[top], 0.0) - good - 8)
            end = min(float(edges[worth[-1] + 1]), far) if len(worth) else far
            self._ends[power, good] = end, float(edges[top])
        return self._ends[power, good]

    def _mode(self, power: float) -> Span:
        """For r < 0: the mode of N·w^r, v = rμ(w − 1 + q)/w, and the curvature of its logarithm there."""
        if power not in self._modes:
            low, high = power * self._mu * self._about_share(0.0), 0.0
            for _ in range(30 if low < -1 else 0):
                middle = (low + high) / 2
                inside = middle < power * self._mu * self._about_share(middle)
                low, high = (middle, high) if inside else (low, middle)
            share = self._about_share((low + high) / 2)
            self._modes[power] = (low + high) / 2, 1 - power * self._mu**2 * share * (1 - share)
        return self._modes[power]

    def _about_share(self, v: float) -> float:
        """About (w − 1 + q)/w."""
        part = self._rate * math.exp(min(self._mu * v - self._mu**2 / 2, 500.0))
        return part / (1 - self._rate + part)

    def strip(self, power: float, good: float) -> float:
        """How far to both sides of the real line the trapezoid rule is best helped by."""
        return self._widest(power, good, STRIPS) if power < 0 else min(1.5 / self._mu, math.sqrt(2 * good))

    def turning_line(self, power: float, good: float) -> float:
        """The line for a rule whose strip goes from 0 to twice its height."""
        most = min(1.25 / self._mu, LINE)
        return min(most, self._widest(power, good, (2.5, 2.0, *STRIPS)) / 2) if power < 0 else most

    def _widest(self, power: float, good: float, shares: tuple[float, ...]) -> float:
        mode = self._mode(power)[0]

        def speed(size: float) -> float:
            turn = self._mu * size
            growth = power * math.log(math.cos(turn / 2))
            if growth > STEEP and turn <= HALF_TURN:
                growth = min(growth, 2 - max(-mode, 0.0) * math.log(math.cos(turn)) / self._mu)
            return size / (good + size * size / 2 + growth)

        unit = min(1 / self._mu, WIDEST)
        return max((share * unit for share in shares), key=speed)

    def about_log_moment(self, power: float) -> float:
        """About ln Ψ(r)."""
        if power not in self._logs:
            step = 0.2 / math.sqrt(self._mode(power)[1] if power < 0 else 1.0)
            low, high = self.range(power, GOOD)
            if not (high - low) / step <= MOST_VALUES / 2:  # too dear, or where floats end
                return math.inf
            spend(5 + (high - low) / step / 20)
            v = np.arange(low, high, step)
            if v.size == 0:  # so far out that floats are further apart than that
                return math.inf
            exponents = power * self._about_log(v) - v * v / 2
            top = exponents.max()
            sums = np.sum(np.exp(exponents - top)) * step / math.sqrt(2 * math.pi)
            self._logs[power] = float(top + np.log(sums))
        return self._logs[power]

    # --- proved -----------------------------------------------------------------------------------------

    def at(self, v: Arb) -> Arb:
        """w(v), also on a line of complex v."""
        return 1 + self.rate * (self.mu * v - self._half).expm1()

    def _below(self, x: Arb) -> Arb:
        """Pr[V < x] of a normal V."""
        return (-x / self._root).erfc() / 2

    def floor(self, power: Arb) -> Arb:
        """Ψ(r) >= this: Jensen for r >= 1 and r <= 0 (E[w] = 1), w >= q·e^(μv − μ²/2), w >= 1 − q.

        Also Pr[V < x]·w(x)^r for r < 0, as w^r falls, and Pr[V > x]·w(x)^r for r > 0, as it rises.
        """
        if power <= 0:
            x = arb(self._mode(float(power))[0])
            return (self._below(x) * self.at(x) ** power).max(arb(1))
        if power < 1:
            return (1 - self.rate) ** power.max(arb(0))
        x = arb(self._end(float(power), GOOD)[1])
        second = (power * self.rate.log() + power * (power - 1) * self.mu_squared / 2).exp()
        return second.max(self._below(-x) * self.at(x) ** power).max(arb(1))

    def tails(self, power: Arb, low: Arb, high: Arb, height: Arb) -> Arb:
        """A bound on what lies beyond low and high on a line, on both sides, sum and integral together."""
        if power < 0:
            return self._falling(power, acb(low, height), 1) + self._falling(power, acb(high, height), -1)
        left, right = (-low / self._root).erfc(), self._stairs(power, high)  # w <= 1 on the left
        return (height**2 / 2).exp() * (left + right)

    def _stairs(self, power: Arb, high: Arb) -> Arb:
        """For r >= 0, what lies beyond high >= 0: on a stair N·w^r is at most the first N times the last w^r.

        Beyond V > rμ, w(v) <= w(V)·e^(μ(v−V)) and N·w^r falls at least as fast as e^(−(V−rμ)v).
        The factor 1/√(2π) is left out, which is more than the 2 for sum and integral.
        """
        total, shift = arb(0), power * self.mu
        far = float(shift) + 4
        for stair in STAIRS[np.searchsorted(STAIRS, float(high), "right") :].tolist() if high < far else ():
            size = (power * self.at(arb(stair)).log() - high**2 / 2).exp()
            total, high = total + (stair - high + 1) * size, arb(stair)
            if stair > far:
                break
        return total + 2 * (power * self.at(high).log() - high**2 / 2).exp() / (high - shift)

    def _falling(self, power: Arb, v: Acb, side: int) -> Arb:
        """For r < 0 ln|N·w^r| is concave on the line: beyond v it falls at least as fast as its tangent."""
        w = self.at(v)
        slope = side * (power * self.mu * (1 - (1 - self.rate) / w).real - v.real)
        size = (power * abs(w).log() - (v * v).real / 2).exp() / (2 * arb.pi()).sqrt()
        return 2 * size / slope if slope > 0 else arb("inf")

    def growth(self, power: Arb, height: Arb) -> Arb:
        """∫|N w^s| on the line Im v = height is at most this times Ψ(r)."""
        grown = (height**2 / 2).exp()
        if power >= 0:  # |w| is at most w on the real line
            return grown
        steep = (self.mu * height / 2).cos() ** power
        if steep < math.exp(STEEP) or not abs(self.mu * height) < arb.pi() / 2:
            return grown * steep
        cells = self._over(power, abs(height), arb(0), self.range(float(power), GOOD), FEW_CELLS)
        return (grown * steep).min(cells / self.floor(power))

    def _over(self, power: Arb, c: Arb, frequency: Arb, span: Span, cells: int) -> Arb:
        """For r < 0, μc < π/2: at least ∫|N w^s| on the line c, each cell of v counted at its lower edge."""
        spend(10 * cells)
        low, high = span
        total, done, size = (
            self._falling(power, acb(low, c), 1),
            self._below(arb(low)),
            arb(high - low) / cells,
        )
        for i in range(cells + 1):
            here = arb(low) + size * i
            below = self._below(here + size) if i < cells else arb(1)
            w = self.at(acb(here, c))
            total += (below - done) * (
                power * abs(w).log() + c**2 / 2 - frequency * w.arg().max(arb(0))
            ).exp()
            done = below
        return total

    def decay(self, power: Arb, whole: Arb, frequency: Arb, log_whole: float) -> Arb:
        """A bound on |Ψ(s)| for |Im s| >= frequency, with Ψ(r) = whole: the better of two, on a good line.

        On Im v = c, |e^(itL)| = e^(−|t|·arg w). So either growth·(Ψ(r) − Σ mass·(1 − e^(−|t|·arg))) for cells
        of at least that mass and arg, or the sum over cells of what is at most there.
        """
        _, c, direct = self._best_line(float(power), float(frequency), log_whole)
        span, shift = self.range(float(power), GOOD), arb(c)
        if direct:
            return whole.min(self._over(power, shift, frequency, span, self._many))
        kept = whole
        for mass, angle in self._lower_cells(power, shift, span):
            kept += mass * (-frequency * angle).expm1()
        grown = (shift**2 / 2).exp() * (self.mu * shift / 2).cos() ** power.min(arb(0))
        return whole.min(kept * grown)

    def _lower_cells(self, power: Arb, shift: Arb, span: Span) -> list[tuple[Arb, Arb]]:
        """For each cell of v: at least its mass under N·w^r, and at least arg w in it."""
        (low, high), turn = span, self.mu * shift
        turning, cells = (turn.cos(), turn.sin()), CELLS if power >= 0 else self._many
        spend(12 * cells)
        edges = [self._edge(power, turning, arb(low) + arb(high - low) * i / cells) for i in range(cells + 1)]
        found = []
        for (a, left, first, angle), (b, right, last, _) in pairwise(edges):
            normal = right - left if b <= 0 else left - right if a >= 0 else 1 - left - right
            found.append(((normal * first.min(last)).max(arb(0)), angle.max(arb(0))))
        return found

    def _edge(self, power: Arb, turning: tuple[Arb, Arb], v: Arb) -> tuple[Arb, Arb, Arb, Arb]:
        """At an edge of a cell: v, Pr[V > |v|], w^r, and arg w on the line of this cosine and sine."""
        part = self.rate * (self.mu * v - self._half).exp()
        angle = acb(1 - self.rate + part * turning[0], part * turning[1]).arg()
        return v, self._below(-abs(v)), (1 - self.rate + part) ** power, angle

    # --- the same in floats, for choosing the line and the last node ------------------------------------

    def about_decay(self, power: float, frequency: float, log_whole: float) -> float:
        """About ln of `decay`/Ψ(r)."""
        return min(self._best_line(power, frequency, log_whole)[0], 0.0)

    def _best_line(self, power: float, frequency: float, log_whole: float) -> tuple[float, float, bool]:
        """About ln of the least bound, its line, and whether it is the sum over cells."""
        logs, masses, part = self._about_cells(power, log_whole)
        found = []
        for c in {min(shift, HALF_TURN / self._mu) for shift in SHIFTS}:
            turn = self._mu * c
            real, imaginary = 1 - self._rate + part * math.cos(turn), part * math.sin(turn)
            turned = -frequency * np.arctan2(imaginary, real)
            kept = 1 + float(masses @ np.expm1(turned))
            steep = min(power, 0.0) * math.log(math.cos(turn / 2))
            found.append((math.log(kept) + steep + c * c / 2 if kept > 0 else -math.inf, c, False))
            if steep > 1:
                exponents = logs + power * np.log(np.hypot(real, imaginary)) + turned
                top = exponents.max()
                found.append(
                    (top + math.log(np.sum(np.exp(exponents - top))) + c * c / 2 - log_whole, c, True)
                )
        return min(found)

    def _about_cells(self, power: float, log_whole: float) -> tuple[Array, Array, Array]:
        """Each cell's ln mass under N; its least share of Ψ(r); and w − 1 + q at its lower edge."""
        if power not in self._cells:
            edges = np.linspace(*self.range(power, GOOD), (CELLS if power >= 0 else self._many) + 1)
            tails = np.array([_log_tail(abs(edge)) for edge in edges])
            near, far = np.maximum(tails[:-1], tails[1:]), np.minimum(tails[:-1], tails[1:])
            across = np.exp(np.minimum(-near, 1.0)) - 1 - np.exp(far - near)  # the one cell that holds 0
            with np.errstate(divide="ignore"):
                logs = near + np.log(np.where(edges[:-1] * edges[1:] > 0, -np.expm1(far - near), across))
            weights = power * self._about_log(edges) - log_whole
            masses = np.exp(np.minimum(logs + np.minimum(weights[:-1], weights[1:]), 0.0))  # a share
            part = np.exp(np.minimum(math.log(self._rate) + self._mu * edges - self._mu**2 / 2, 700.0))
            self._cells[power] = logs, masses, part[:-1]
        return self._cells[power]
