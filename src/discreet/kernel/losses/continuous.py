"""The pairs of Laplace and Gaussian noise on the real line."""

import math
from fractions import Fraction

from flint import acb, arb

from discreet.kernel.losses.nodes import UNIT, Acb, Grid, Nodes, geometric
from discreet.kernel.losses.pair import Pair, turns
from discreet.kernel.numerics import Arb, ball, power


class LaplacePair(Pair):
    """Lap(0, b) against Lap(Δ, b), ε₀ = Δ/b.

    The loss has atoms ½ at ε₀ and ½e^(−ε₀) at −ε₀, and density ¼e^((l−ε₀)/2) between.
    """

    def __init__(self, epsilon: Fraction) -> None:
        self.epsilon = ball(epsilon)
        self._scale = (-self.epsilon / 2).exp() / 2
        self._float = float(epsilon)

    def largest(self) -> Arb | None:
        return self.epsilon

    def moment(self, z: Acb) -> Acb:
        w = z + arb(0.5)
        up = (w * self.epsilon).exp()
        down = 1 / up
        return self._scale * (up + down + (up - down) / (2 * w))

    def moments(self, theta: Arb, spacing: Arb, count: int) -> list[Acb]:
        half = theta + arb(0.5)
        up, down = (half * self.epsilon).exp() * self._scale, (-half * self.epsilon).exp() * self._scale
        values = []
        for j, turn in enumerate(turns(spacing * self.epsilon, count)):
            rising, falling = up * turn, down * turn.conjugate()
            values.append(rising + falling + (rising - falling) / acb(2 * half, 2 * spacing * j))
        return values

    def nodes(self, grid: Grid) -> Nodes:
        half = grid.theta + arb(0.5)
        up = (half * self.epsilon).exp()
        down = 1 / up
        whole = up + down + (up - down) / (2 * half)
        rise, fall = float(up / whole), float(down / whole)
        rows, wrong = geometric([acb(0, grid.spacing * self.epsilon)], grid.last)
        rising, falling = rise * rows[0], fall * rows[0].conjugate()
        slow = grid.inverse(0.5)
        values = rising + falling + 0.5 * (rising - falling) * slow.values
        # rise + fall <= 1 and |slow| <= 2: each part is within wrong + 4u, or + 12u and the error of `slow`
        return Nodes(values, 2 * wrong + 24 * UNIT + slow.error)

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        cosh = ((theta + arb(0.5)) * self.epsilon).cosh()
        bound = 2 * self._scale * cosh * (1 + 1 / (2 * frequency))
        return bound.min(super().decay(theta, frequency))

    def about_log_moment(self, theta: float) -> float:
        half, size = theta + 0.5, self._float
        small = math.exp(-2 * half * size)
        return size * theta + math.log((1 + small + (1 - small) / (2 * half)) / 2)

    def about_decay(self, theta: float, frequency: float) -> float:
        half = theta + 0.5
        ratio = math.tanh(half * self._float) / (2 * half)  # of the part that falls to the one that does not
        return min(math.log((1 + 1 / (2 * frequency)) / (1 + ratio)), 0.0)

    def delta(self, epsilon: Arb) -> Arb:
        if epsilon < -self.epsilon:
            return -epsilon.expm1()
        return -((epsilon.min(self.epsilon) - self.epsilon) / 2).expm1()

    def mean(self) -> Arb | None:
        return self.epsilon + (-self.epsilon).expm1()

    def point_masses(self) -> list[tuple[Arb, Arb]]:
        return [(self.epsilon, arb(1) / 2), (-self.epsilon, (-self.epsilon).exp() / 2)]

    def top_atom(self) -> tuple[Arb, Arb] | None:
        return self.epsilon, arb(1) / 2

    def density(self, loss: Arb) -> Arb:
        return ((loss - self.epsilon) / 2).exp() / 4 if abs(loss) < self.epsilon else arb(0)

    def tail(self, loss: Arb) -> Arb | None:
        if loss >= self.epsilon:
            return arb(0)
        return arb(1) if loss < -self.epsilon else 1 - ((loss - self.epsilon) / 2).exp() / 2


class GaussianPair(Pair):
    """N(0, 1) against N(μ, 1), scaled by the probability that nothing fails: the loss is N(μ²/2, μ²)."""

    cost = 2

    def __init__(self, mu_squared: Fraction, *, failure: Fraction = Fraction(0)) -> None:
        self.mu_squared = ball(mu_squared)
        self._failure = ball(failure)
        self._kept = ball(1 - failure)

    def failure(self) -> Arb:
        return self._failure

    def largest(self) -> Arb | None:
        return None

    def moment(self, z: Acb) -> Acb:
        return self._kept * (z * (z + 1) * self.mu_squared / 2).exp()

    def nodes(self, grid: Grid) -> Nodes:
        turning = acb(0, (grid.theta + arb(0.5)) * self.mu_squared * grid.spacing)
        bell = Nodes.bell(self.mu_squared * grid.spacing**2 / 2, grid.last)
        return bell * Nodes.powers(turning, grid.last)

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        return abs(self.moment(acb(theta))) * (-self.mu_squared * frequency**2 / 2).exp()

    def about_log_moment(self, theta: float) -> float:
        return theta * (theta + 1) * float(self.mu_squared) / 2 + float(self._kept.log())

    def about_decay(self, theta: float, frequency: float) -> float:
        return -float(self.mu_squared) * frequency**2 / 2

    def delta(self, epsilon: Arb) -> Arb:
        return self._failure + self._kept * gaussian_delta(self.mu_squared, epsilon)

    def mean(self) -> Arb | None:
        return self.mu_squared / 2 if self._failure.is_zero() else None

    def density(self, loss: Arb) -> Arb:
        spread = (-power(loss - self.mu_squared / 2, 2) / (2 * self.mu_squared)).exp()
        return self._kept * spread / (2 * arb.pi() * self.mu_squared).sqrt()

    def tail(self, loss: Arb) -> Arb | None:
        return (
            self._failure
            + self._kept * ((loss - self.mu_squared / 2) / (2 * self.mu_squared).sqrt()).erfc() / 2
        )


def gaussian_delta(mu_squared: Arb, epsilon: Arb) -> Arb:
    """δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) (Balle and Wang 2018, Theorem 8)."""
    mu = mu_squared.sqrt()
    root = arb(2).sqrt()
    above = ((epsilon / mu - mu / 2) / root).erfc() / 2
    below = ((epsilon / mu + mu / 2) / root).erfc() / 2
    return above - epsilon.exp() * below
