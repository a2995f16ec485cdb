"""Gaussian differential privacy: no easier to break than telling N(0, 1) from N(μ, 1)."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.kernel.losses.additive import gaussian
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.relation import Relation, check_relation
from discreet.kernel.numerics import Real, exact_positive


@dataclass(frozen=True)
class GDP:
    """The notion of μ-Gaussian differential privacy (Dong, Roth and Su 2022).

    >>> (4 * GDP(0.5).loss).mu
    1.0
    """

    mu: Fraction
    relation: Relation = "add/remove"

    def __init__(self, mu: Real, relation: Relation = "add/remove") -> None:
        object.__setattr__(self, "mu", exact_positive(mu, name="mu"))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the Gaussian with this μ."""
        return gaussian(sigma=1, sensitivity=self.mu, relation=self.relation)
