"""A second proof of composed curves, in Arb: laws written down again, and nothing of discreet's own code.

Laws on a lattice: the whole law of the sum, as a product of polynomials, and a plain sum over it. Others: the
inverse Laplace integral by Arb's rigorous adaptive integration (no trapezoid rule, no aliases), and a bound
on what lies beyond its end.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, arb_poly, fmpq


def exactly(value):
    value = Fraction(value)
    return arb(fmpq(value.numerator, value.denominator))


@dataclass(frozen=True)
class Laplace:
    epsilon: Fraction
    lattice = None

    def transform(self, z):
        e = exactly(self.epsilon)
        up, down = (z * e).exp(), (-(z + 1) * e).exp()
        return (up + down) / 2 + (up - down) / (4 * z + 2)

    def cap(self, theta, start):
        e = exactly(self.epsilon)
        both = (theta * e).exp() + (-(theta + 1) * e).exp()
        return both / 2 + both / (4 * start)


@dataclass(frozen=True)
class Gaussian:
    mu: Fraction
    lattice = None

    def transform(self, z):
        return (z * (z + 1) * exactly(self.mu) ** 2 / 2).exp()

    def cap(self, theta, start):
        return ((theta * (theta + 1) - start**2) * exactly(self.mu) ** 2 / 2).exp()


@dataclass(frozen=True)
class Steps:
    """Whole-number noise e^(−|k|/scale) against itself, shifted; one step is randomised response."""

    scale: Fraction
    shift: int

    @property
    def lattice(self):
        return -self.shift / Fraction(self.scale), 2 / Fraction(self.scale)  # the least loss, and the step

    missing = 0

    def masses(self):
        """From the least loss up."""
        r = (-1 / exactly(self.scale)).exp()
        ends = 1 / (1 + r)
        inner = [(1 - r) / (1 + r) * r ** (self.shift - i) for i in range(1, self.shift)]
        return [ends * r**self.shift, *inner, ends]

    def transform(self, z):
        low, step = (exactly(x) for x in self.lattice)
        return sum((mass * (z * (low + step * i)).exp() for i, mass in enumerate(self.masses())), acb(0))

    def cap(self, theta, start):
        return self.transform(acb(theta)).real


@dataclass(frozen=True)
class DiscreteGaussian:
    """Whole-number noise e^(−k²/2σ²) against itself, shifted; what lies beyond the reach is `missing`."""

    variance: Fraction
    shift: int

    @property
    def reach(self):
        return math.ceil(20 * math.sqrt(self.variance)) + 2 * self.shift

    @property
    def lattice(self):
        step = self.shift / Fraction(self.variance)
        return step * Fraction(self.shift, 2) - step * self.reach, step

    def _weights(self):
        """e^(−k²/2σ²) up to the reach r, and a bound on the rest: each is at most e^(−r/2σ²) of the last."""
        half = 2 * exactly(self.variance)
        weights = [(-(arb(k) ** 2) / half).exp() for k in range(-self.reach, self.reach + 1)]
        return weights, 2 * weights[0] / (1 - (-arb(self.reach) / half).exp())

    def masses(self):
        """From the least loss up: the noise falls from the reach to minus it, and is symmetric."""
        weights, rest = self._weights()
        whole = sum(weights, arb(0)) + rest.union(arb(0))
        return [weight / whole for weight in weights]

    @property
    def missing(self):
        weights, rest = self._weights()
        return rest / sum(weights, arb(0))


def delta(laws, epsilon, *, good):
    """A ball around δ(ε) for {law: count}, as narrow as the share `good` of itself where that is in reach."""
    if all(law.lattice is not None for law in laws):
        return _by_polynomials(laws, exactly(epsilon))
    return _by_integral(laws, exactly(epsilon), good)


def _by_polynomials(laws, epsilon):
    steps = [law.lattice[1] for law in laws]
    whole = math.lcm(*(step.denominator for step in steps))
    step = Fraction(math.gcd(*(int(s * whole) for s in steps)), whole)
    low, law_of_sum = Fraction(0), arb_poly([1])
    for law, count in laws.items():
        spread, masses = int(law.lattice[1] / step), law.masses()
        one = [arb(0)] * ((len(masses) - 1) * spread + 1)
        one[::spread] = masses
        law_of_sum *= arb_poly(one) ** count
        low += law.lattice[0] * count
    total = arb(0)
    for i, mass in enumerate(law_of_sum.coeffs()):
        loss = exactly(low + step * i)
        if not loss < epsilon:
            total += mass * (1 - (epsilon - loss).exp()).max(arb(0))
    beyond = sum((count * law.missing for law, count in laws.items()), arb(0))
    return total + beyond.union(arb(0))


def _by_integral(laws, epsilon, good):
    theta = _tilt(laws, epsilon)
    height = sum((count * law.transform(acb(theta)).real.log() for law, count in laws.items()), arb(0))
    scale, size = (height - theta * epsilon).exp(), None

    def integrand(z, _):
        value = (-(z - theta) * epsilon - height).exp() / (z * (z + 1))
        for law, count in laws.items():
            value *= law.transform(z) ** count
        return value

    end, total, start = arb(4) / (1 + theta), arb(0), acb(theta)
    while True:
        stop = acb(theta, end)
        piece = acb.integral(integrand, start, stop, rel_tol=arb(2) ** -60, abs_tol=arb(good) / 2**30)
        total += piece.imag / arb.pi()
        size, rest = abs(float(total)), (-height).exp()
        for law, count in laws.items():
            rest *= law.cap(theta, end) ** count
        rest /= arb.pi() * end
        if rest < arb(good * size / 4) or end > 2**17:
            return scale * (total + (-rest).union(rest))
        start, end = stop, end * 2


def _tilt(laws, epsilon):
    def height(theta):
        values = (count * law.transform(acb(theta)).real.log() for law, count in laws.items())
        return float(sum(values, arb(0)) - arb(theta) * epsilon) - math.log(theta * (1 + theta))

    return arb(min((1.08**i / 50 for i in range(160)), key=height))
