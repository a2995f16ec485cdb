"""Laplace, Gaussian and staircase noise: the textbook laws.

A Gaussian rounded to a lattice is post-processing of the continuous one, so it has the Gaussian's loss.

Tested by: tests/losses/test_stairs.py, tests/losses/test_certified.py
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses.continuous import GaussianPair, LaplacePair
from discreet.kernel.losses.family import Direction, Family, Relation, register, scaled
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.losses.pure import Pure
from discreet.kernel.numerics import Arb, Real, ball, exact_epsilon, exact_positive, exact_whole


@register
@dataclass(frozen=True)
class Laplace(Family):
    """Laplace noise: density ∝ e^(−|x|/scale) on a query of this l1 sensitivity.

    Privacy: δ(ε) = 1 − e^((ε−ε₀)/2), ε₀ = sensitivity/scale (Balle, Barthe and Gaboardi 2018, Theorem 3); a
    vector of the same l1 sensitivity is dominated by the scalar.
    ρ = ε₀ + e^(−ε₀) − 1 (Harrison and Manurangsi 2025).
    """

    scale: Fraction
    sensitivity: Fraction

    name = "laplace"

    def __post_init__(self) -> None:
        exact_positive(self.scale, name="scale")
        exact_positive(self.sensitivity, name="sensitivity")

    def witness(self, direction: Direction) -> Pair:
        return LaplacePair(self.sensitivity / self.scale)

    def zcdp_rho(self) -> Arb | None:
        return self.witness(0).mean()

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return self.sensitivity / self.scale

    def gdp_mu_squared(self) -> Arb | None:
        """4·Φ⁻¹(1 − e^(−ε/2)/2)², the least (docs/theory/losses.md)."""
        return 8 * (-ball(self.sensitivity / self.scale) / 2).exp().erfcinv() ** 2

    def covers(self, other: Family) -> bool:
        if not isinstance(other, Laplace):
            return False
        return other.sensitivity / other.scale <= self.sensitivity / self.scale

    def for_group(self, size: int) -> Family:
        return Laplace(self.scale, scaled(self.sensitivity, size))


@register
@dataclass(frozen=True)
class Gaussian(Family):
    """Gaussian noise of deviation sigma on a query of this l2 sensitivity; rounded to a lattice or not.

    Privacy: μ-Gaussian DP with μ = sensitivity/sigma, exactly; μ² adds
    (Dong, Roth and Su 2022, Corollary 3.3).
    """

    sigma: Fraction
    sensitivity: Fraction

    name = "gaussian"

    def __post_init__(self) -> None:
        exact_positive(self.sigma, name="sigma")
        exact_positive(self.sensitivity, name="sensitivity")

    def mu_squared(self) -> Fraction | None:
        return (self.sensitivity / self.sigma) ** 2

    def witness(self, direction: Direction) -> Pair:
        return GaussianPair((self.sensitivity / self.sigma) ** 2)

    def zcdp_rho(self) -> Arb | None:
        return ball((self.sensitivity / self.sigma) ** 2 / 2)

    def for_group(self, size: int) -> Family:
        return Gaussian(self.sigma, scaled(self.sensitivity, size))


def laplace(*, scale: Real, sensitivity: Real = 1, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of continuous Laplace noise, the textbook law.

    >>> laplace(scale=2).epsilon(delta=0)
    0.5
    """
    family = Laplace(exact_positive(scale, name="scale"), exact_positive(sensitivity, name="sensitivity"))
    return PrivacyLoss.of(family, relation)


def gaussian(*, sigma: Real, sensitivity: Real = 1, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of Gaussian noise, continuous or rounded to a lattice.

    >>> (9 * gaussian(sigma=2)).mu
    1.5
    """
    family = Gaussian(exact_positive(sigma, name="sigma"), exact_positive(sensitivity, name="sensitivity"))
    return PrivacyLoss.of(family, relation)


# Staircase noise: its loss on neighbours is ε, 0 or −ε, and nothing else.


@register
@dataclass(frozen=True)
class Staircase(Family):
    """Staircase noise with d = stairs to one sensitivity, the inner one r = width wide.

    Privacy: a move by s <= d passes at most one stair, and every outcome of loss ε at s has it at d too, so d
    steps are the worst: one number p = Pr[L = ε] is the curve, δ(x) = p·(1 − e^(x−ε)) for 0 <= x <= ε
    (docs/theory/losses.md).
    """

    epsilon: Fraction
    stairs: int
    width: int

    name = "staircase"

    def __post_init__(self) -> None:
        exact_positive(self.epsilon, name="epsilon")
        exact_whole(self.stairs, name="stairs", least=1)
        if not 1 <= self.width <= self.stairs:
            raise InvalidParameter(
                f"width must be from 1 to stairs, got {self.width} of {self.stairs}.", parameter="width"
            )

    def witness(self, direction: Direction) -> Pair:
        loss = ball(self.epsilon)
        up, still = self._weights(loss)
        down = up * (-loss).exp()
        total = up + down + still
        atoms = [(loss, up / total), (-loss, down / total)]
        if still.is_zero():  # randomised response
            return Atoms(atoms, lattice=(self.epsilon, 2 * self.epsilon))
        return Atoms([*atoms, (arb(0), still / total)], lattice=(self.epsilon, self.epsilon))

    def _weights(self, loss: Arb) -> tuple[Arb, Arb]:
        """Numbers in proportion to Pr[L = ε] and Pr[L = 0]; that of −ε is e^(−ε) times the first."""
        spare = self.stairs + 1 - 2 * self.width
        if spare >= 0:
            return (2 * self.width - 1) * loss.exp() + spare, spare * -(-loss).expm1()
        return self.stairs * loss.exp(), -spare * loss.expm1()

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return self.epsilon

    def for_group(self, size: int) -> Family:
        return self if size == 1 else Pure(self.epsilon * size)


def staircase(*, epsilon: Real, stairs: Real, width: Real, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of staircase noise; sensitivity (stairs) and inner stair (width) are counted in steps.

    >>> staircase(epsilon=1, stairs=8, width=3).epsilon(delta=0)
    1.0
    """
    whole, inner = exact_whole(stairs, name="stairs", least=1), exact_whole(width, name="width", least=1)
    return PrivacyLoss.of(Staircase(exact_epsilon(epsilon), whole, inner), relation)
