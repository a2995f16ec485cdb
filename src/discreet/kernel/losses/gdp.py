"""Gaussian differential privacy: no easier to break than telling N(0, 1) from N(μ, 1)."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.kernel.losses.additive import gaussian
from discreet.kernel.losses.bounds import (
    is_at_most,
    mu_squared_at_most,
    renyi_at_most,
    rho_and_delta_at_most,
)
from discreet.kernel.losses.family import Relation, check_relation
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.notion import Cost, Notion
from discreet.kernel.numerics import Real, exact_positive


@dataclass(frozen=True, repr=False)
class GDP(Notion):
    """The notion of μ-Gaussian differential privacy (Dong, Roth and Su 2022).

    Privacy: Σ μᵢ² <= μ² keeps it, adaptively (Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2023).

    >>> (4 * GDP(0.5).loss).mu
    1.0
    """

    mu: Fraction
    relation: Relation = "add/remove"

    rule = "gaussian"
    prices = "a Gaussian's mu"
    number = "mu"
    symbol = "μ²"
    power = 2
    shapes = (frozenset({"mu"}),)

    def __init__(self, mu: Real, relation: Relation = "add/remove") -> None:
        object.__setattr__(self, "mu", exact_positive(mu, name="mu"))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the Gaussian with this μ."""
        return gaussian(sigma=1, sensitivity=self.mu, relation=self.relation)

    def value_of(self, loss: PrivacyLoss) -> float:
        return loss.mu

    def covers(self, loss: PrivacyLoss) -> bool:
        return is_at_most(mu_squared_at_most(loss), self.mu**2)

    def cost_of_loss(self, loss: PrivacyLoss) -> Cost | None:
        square = mu_squared_at_most(loss)
        return None if square is None else (square, Fraction(0))

    def cost_of_promise(self, promise: Notion) -> Cost | None:
        square = promise.as_mu_squared()
        return None if square is None else (square, Fraction(0))

    def for_group(self, people: int) -> Notion | None:
        return GDP(people * self.mu, self.relation)

    def as_rho_and_delta(self) -> Cost | None:
        return rho_and_delta_at_most(self.loss)

    def as_renyi(self, order: Fraction) -> Fraction | None:
        return renyi_at_most(self.loss, order)

    def as_mu_squared(self) -> Fraction | None:
        return self.mu**2
