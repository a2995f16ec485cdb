"""Noise on the whole numbers: the discrete Laplace and the discrete Gaussian, shifted by whole steps."""

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, ctx

from discreet.kernel.losses.family import Direction, Family, Relation, register
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.nodes import SMALL, Acb, Grid, Nodes
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.losses.work import spend
from discreet.kernel.numerics import Arb, Real, ball, exact_positive, exact_whole

MOST_ATOMS = 64  # beyond, the inner atoms are summed as a geometric series


def steps_pair(
    rate: Fraction,
    shift: int,
    *,
    ends: Arb | None = None,
    total: Arb | None = None,
    failure: Arb | None = None,
) -> Pair:
    """Losses a(Δ − 2k), k = 0 ... Δ, with a = rate, Δ = shift, in proportion to (1 − q)q^k, q = e^(−a).

    But the first and the last weigh `ends`·q^k, and `total` is the sum of all and of what fails. Left out,
    they are those of Pr[k] ∝ e^(−a|k|) on all whole numbers against itself shifted by Δ: 1 and 1 + q.
    """
    kept = arb(1) if ends is None else ends
    whole = 1 + (-ball(rate)).exp() if total is None else total
    lost = arb(0) if failure is None else failure
    few = _few_steps if shift < MOST_ATOMS else ManySteps
    return few(rate, shift, kept, whole, lost)


def _few_steps(rate: Fraction, shift: int, ends: Arb, total: Arb, failure: Arb) -> Pair:
    a = ball(rate)
    if shift == 0:
        return Atoms([(arb(0), 1 - failure)], failure=failure, unseen=failure, lattice=(rate * 0, rate * 0))
    inner = -(-a).expm1() / total
    atoms = [(a * shift, ends / total)]
    atoms += [(a * (shift - 2 * k), inner * (-a * k).exp()) for k in range(1, shift)]
    atoms += [(-a * shift, (-a * shift).exp() * ends / total)]
    return Atoms(atoms, failure=failure, unseen=failure, lattice=(rate * shift, 2 * rate))


class ManySteps(Pair):
    """The same where the steps are many: the inner atoms are a geometric series."""

    cost = 4

    def __init__(self, rate: Fraction, shift: int, ends: Arb, total: Arb, failure: Arb) -> None:
        self.a = ball(rate)
        self.shift = shift
        self._lattice = (rate * shift, 2 * rate)
        self._total = total
        self._ends = ends / total
        self._inner = -(-self.a).expm1() / total
        self._failure = failure

    def failure(self) -> Arb:
        return self._failure

    def largest(self) -> Arb | None:
        return self.a * self.shift

    def lattice(self) -> tuple[Fraction, Fraction] | None:
        return self._lattice

    def period(self) -> Arb | None:
        return arb.pi() / self.a

    def moment(self, z: Acb) -> Acb:
        top = (z * (self.a * self.shift)).exp()
        step = -self.a * (1 + 2 * z)  # the inner atoms form the series Σ ratio^k, ratio = e^step
        last = (step * self.shift).exp()
        series = (step.exp() - last) / -step.expm1()
        return top * ((1 + last) * self._ends + self._inner * series)

    def nodes(self, grid: Grid) -> Nodes:
        whole = self.moment(acb(grid.theta)).real
        top = (grid.theta * (self.a * self.shift)).exp() / whole
        ratio = (-self.a * (1 + 2 * grid.theta)).exp()
        bottom = top * ratio**self.shift
        rising = Nodes.powers(acb(0, grid.spacing * self.a * self.shift), grid.last)
        falling = rising.conjugate()
        step = Nodes.powers(acb(0, -2 * grid.spacing * self.a), grid.last).scaled(ratio)
        ends = rising.scaled(top * self._ends) + falling.scaled(bottom * self._ends)
        return ends + ((rising * step).scaled(top) - falling.scaled(bottom)) * self._series(grid, step)

    def _series(self, grid: Grid, step: Nodes) -> Nodes:
        """inner/(1 − e^(−w)) with w = 2a(z + ½)."""
        half = grid.theta + arb(0.5)
        if not 2 * self.a * (half + grid.spacing * grid.last) < SMALL:
            return step.one_minus().inverse().scaled(self._inner)
        line = Nodes.line(half, grid.spacing, grid.last).scaled(2 * self.a)
        return line.small_series().scaled(self._inner)

    def top_atom(self) -> tuple[Arb, Arb] | None:
        return self.a * self.shift, self._ends

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        top = (theta * (self.a * self.shift)).exp()
        ratio = (-self.a * (1 + 2 * theta)).exp()
        last = ratio**self.shift
        sine = (self.a * frequency).min(arb.pi() / 2).sin()
        gap = (
            (1 - ratio) ** 2 + 4 * ratio * sine**2
        ).sqrt()  # |1 − ratio·e^(−2iat)| grows on the half period
        bound = top * ((1 + last) * self._ends + self._inner * (ratio + last) / gap)
        return bound.min(super().decay(theta, frequency))

    def delta(self, epsilon: Arb) -> Arb:
        """The most that an event {k <= m} has more in P than e^ε of its share in Q, with all that fails."""
        below = ((self.shift - epsilon / self.a) / 2).ceil() - 1
        whole = below.mid().floor().unique_fmpz()  # a neighbouring m bounds the curve from below ...
        everything = 1 - epsilon.exp() * (1 - self._failure)  # ... and so does all that P shows
        best = everything.max(self._failure)
        for m in range(int(whole) - 1, int(whole) + 2) if whole is not None else ():
            inside = min(max(m, -1), self.shift - 1)
            best = best.max(
                self._between(inside, epsilon)
            )  # ... and the curve is the greatest of all of them
        return best

    def _between(self, m: int, epsilon: Arb) -> Arb:
        # the event {k <= m} of the first m + 1 atoms (none for m = −1), and what fails: P − e^ε·Q
        if m < 0:
            return self._failure
        first = -self._ends * (epsilon - self.a * self.shift).expm1()
        inner = (-self.a).exp() - (epsilon - self.a * (self.shift - m)).exp()
        return self._failure + first - (-self.a * m).expm1() * inner / self._total


class DiscreteGaussianPair(Pair):
    """Pr[k] ∝ e^(−k²/2σ²) against itself shifted by Δ: losses (Δ² − 2kΔ)/2σ²."""

    cost = 100  # its nodes are balls

    def node_work(self, theta: float) -> float:
        return self.ball_work

    def __init__(self, sigma_squared: Fraction, shift: int) -> None:
        self.variance = ball(sigma_squared)
        self.shift = shift
        self._lattice = (Fraction(shift**2) / (2 * sigma_squared), shift / sigma_squared)
        self._square = ball(Fraction(shift**2) / sigma_squared)
        self._norm = self._theta(acb(0)).real
        self._tails: dict[int, Arb] = {}
        self.ball_work = 30.0 if self.variance > 1 else 150.0

    def largest(self) -> Arb | None:
        return None

    def lattice(self) -> tuple[Fraction, Fraction] | None:
        return self._lattice

    def period(self) -> Arb | None:
        return 2 * arb.pi() * self.variance / self.shift

    def _theta(self, c: Acb) -> Acb:
        """Σ_k e^(−(k+c)²/2σ²): directly for small σ, by Poisson's formula for large."""
        return self._poisson(c) if self.variance > 1 else self._direct(c)

    def _direct(self, c: Acb) -> Acb:
        middle = -int(c.real.mid().floor().unique_fmpz())
        reach = int((2 * (ctx.prec + 16)) ** 0.5) + 4  # e^(−reach²/2) < 2^−prec for σ <= 1
        spend(6 * reach)
        total = acb(0)
        for k in range(middle - reach, middle + reach + 1):
            total += (-((k + c) ** 2) / (2 * self.variance)).exp()
        return total + _disc(self._gauss_rest(c.imag, arb(reach - 1)))

    def _gauss_rest(self, imaginary: Arb, reach: Arb) -> Arb:
        # |term| = e^(t²/2σ²) e^(−x²/2σ²), x >= reach on both sides, bounded by a geometric series
        first = ((imaginary**2 - reach**2) / (2 * self.variance)).exp()
        return 2 * first / -(-reach / self.variance).expm1()

    def _poisson(self, c: Acb) -> Acb:
        scale = (2 * arb.pi() * self.variance).sqrt()
        rate = 2 * arb.pi() ** 2 * self.variance
        growth = 2 * arb.pi() * abs(c.imag)
        total, n = acb(1), 0
        while True:
            n += 1
            spend(8)
            rest = 2 * (growth * n - rate * n**2).exp()
            if growth < rate * n and rest < arb(2) ** (-ctx.prec):
                later = (growth - rate * (2 * n + 1)).exp()  # ratio of the next term to this one
                return scale * (total + _disc(rest / (1 - later)))
            total += 2 * (2 * arb.pi() * n * c).cos() * (-rate * n**2).exp()

    def moment(self, z: Acb) -> Acb:
        return (z * (z + 1) * self._square / 2).exp() * self._theta(z * self.shift) / self._norm

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        whole = abs(self.moment(acb(theta)))
        if not self.variance > 1:
            return whole
        # |Σ e^(−(k+c)²/2σ²)| on the half period: the n = 0 term at `frequency`, the rest at πσ²/Δ
        half = (-(arb.pi() ** 2) * self.variance / 2).exp()
        rest = (-self._square * frequency**2 / 2).exp() + 2 * half / (1 - half)
        envelope = (
            (theta * (theta + 1) * self._square / 2).exp()
            * (2 * arb.pi() * self.variance).sqrt()
            / self._norm
        )
        return (envelope * rest).min(whole)

    def delta(self, epsilon: Arb) -> Arb:
        """Pr[Y > εσ²/Δ − Δ/2] − e^ε Pr[Y > εσ²/Δ + Δ/2] (Canonne, Kamath and Steinke 2020, Theorem 7)."""
        cut = (epsilon * self.variance / self.shift - arb(self.shift) / 2).mid().floor().unique_fmpz()
        best = arb(0)
        for k in range(
            int(cut) - 1, int(cut) + 2
        ):  # the best threshold is one of these; each is a lower bound
            best = best.max(self._above(k) - epsilon.exp() * self._above(k + self.shift))
        return best

    def _above(self, k: int) -> Arb:
        """Pr[Y > k]."""
        if k < 0:
            return 1 - self._above(-k - 1)
        if k in self._tails:
            return self._tails[k]
        spend(math.sqrt((k + 1) ** 2 + 2 * ctx.prec * float(self.variance)) - k)  # terms of the sum
        # a term is the one before times e^(−(2j+1)/2σ²), and that ratio falls by e^(−1/σ²) each time
        term = first = (-(arb(k + 1) ** 2) / (2 * self.variance)).exp()
        ratio, fall = (-arb(2 * k + 3) / (2 * self.variance)).exp(), (-1 / self.variance).exp()
        total = arb(0)
        while not term / (1 - ratio) < first * arb(2) ** (-ctx.prec):
            for _ in range(8):
                total += term
                term, ratio = term * ratio, ratio * fall
        self._tails[k] = (total + _at_most(term / (1 - ratio))) / self._norm
        return self._tails[k]

    def mean(self) -> Arb | None:
        return self._square / 2


def _at_most(rest: Arb) -> Arb:
    """The ball of what a series has left, from 0 to this."""
    return rest.union(arb(0))


def _disc(radius: Arb) -> Acb:
    """The disc of this radius around 0."""
    real = (-radius).union(radius)
    return acb(real, real)


@register
@dataclass(frozen=True)
class DiscreteLaplace(Family):
    """Pr[k] ∝ e^(−|k|/scale) on the whole numbers, both numbers counted in steps of the lattice.

    Privacy: ε₀ = sensitivity/scale; the curve by direct summation, in closed form. Sensitivity 1 composes
    exactly like randomised response. ρ is its mean loss, a(Δ − 2r(1 − r^Δ)/(1 − r²)) with a = 1/scale and
    r = e^(−a): docs/theory/losses.md proves that no order asks for more.
    """

    scale: Fraction
    sensitivity: int

    name = "discrete_laplace"

    def __post_init__(self) -> None:
        exact_positive(self.scale, name="scale")
        exact_whole(self.sensitivity, name="sensitivity", least=1)

    def witness(self, direction: Direction) -> Pair:
        return steps_pair(1 / self.scale, self.sensitivity)

    def zcdp_rho(self) -> Arb | None:
        ratio = (-1 / ball(self.scale)).exp()
        lost = 2 * ratio * (1 - ratio**self.sensitivity) / (1 - ratio**2)
        return (self.sensitivity - lost) / ball(self.scale)

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return self.sensitivity / self.scale

    def for_group(self, size: int) -> Family:
        return DiscreteLaplace(self.scale, self.sensitivity * size)


@register
@dataclass(frozen=True)
class DiscreteGaussian(Family):
    """Pr[k] ∝ e^(−k²/2σ²) on the whole numbers, one-dimensional.

    Privacy: its exact curve, and ρ = sensitivity²/2σ² (Canonne, Kamath and Steinke 2020, Theorems 4 and 7);
    it is not Gaussian DP.
    """

    sigma: Fraction
    sensitivity: int

    name = "discrete_gaussian"

    def __post_init__(self) -> None:
        exact_positive(self.sigma, name="sigma")
        exact_whole(self.sensitivity, name="sensitivity", least=1)

    def witness(self, direction: Direction) -> Pair:
        return DiscreteGaussianPair(self.sigma**2, self.sensitivity)

    def rational_rho(self) -> Fraction | None:
        return (self.sensitivity / self.sigma) ** 2 / 2

    def zcdp_rho(self) -> Arb | None:
        return ball((self.sensitivity / self.sigma) ** 2 / 2)

    def for_group(self, size: int) -> Family:
        return DiscreteGaussian(self.sigma, self.sensitivity * size)


def discrete_laplace(*, scale: Real, sensitivity: Real = 1, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of discrete Laplace noise; scale and sensitivity are counted in steps of the lattice.

    >>> discrete_laplace(scale=2, sensitivity=3).epsilon(delta=0)
    1.5
    """
    family = DiscreteLaplace(
        exact_positive(scale, name="scale"), exact_whole(sensitivity, name="sensitivity", least=1)
    )
    return PrivacyLoss.of(family, relation)


def discrete_gaussian(
    *, sigma: Real, sensitivity: Real = 1, relation: Relation = "add/remove"
) -> PrivacyLoss:
    """The loss of one-dimensional discrete Gaussian noise, both numbers in steps of the lattice.

    For k dimensions no exact curve is known: use `zcdp(rho=sensitivity²/(2·sigma²))`.

    >>> discrete_gaussian(sigma=2).rho
    0.125
    """
    family = DiscreteGaussian(
        exact_positive(sigma, name="sigma"), exact_whole(sensitivity, name="sensitivity", least=1)
    )
    return PrivacyLoss.of(family, relation)
