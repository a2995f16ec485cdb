"""Rényi differential privacy at one order: D_α(M(D)‖M(D′)) <= ε."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.kernel.losses.bounds import is_at_most, renyi_at_most
from discreet.kernel.losses.continuous import GaussianPair
from discreet.kernel.losses.family import Direction, Family, Relation, check_relation, register
from discreet.kernel.losses.group import Group
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.notion import Cost, Notion
from discreet.kernel.losses.pair import Pair
from discreet.kernel.numerics import Arb, Real, ball, exact, exact_epsilon, exact_positive


def exact_order(order: Real) -> Fraction:
    """A Rényi order: an exact number > 1."""
    value = exact(order, name="order")
    if value <= 1:
        raise InvalidParameter(f"order must be > 1, got {order}.", parameter="order")
    return value


@register
@dataclass(frozen=True)
class Renyi(Family):
    """Every mechanism that is (α, ε)-Rényi DP; the divergence grows with its order.

    Privacy: moments only (Mironov 2017, Definition 4); the Gaussian with μ² = 2ε/α attains them.
    """

    order: Fraction
    epsilon: Fraction

    name = "renyi"

    def __post_init__(self) -> None:
        exact_order(self.order)
        exact_positive(self.epsilon, name="epsilon")

    @property
    def exact(self) -> bool:
        return False

    def witness(self, direction: Direction) -> Pair:
        return GaussianPair(2 * self.epsilon / self.order)

    def dominating(self, direction: Direction) -> Pair | None:
        return None

    def log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        return ball(self.epsilon) * theta if theta <= ball(self.order - 1) else None

    def zcdp_rho(self) -> Arb | None:
        return None

    def highest_theta(self) -> Fraction | None:
        return self.order - 1

    def for_group(self, size: int) -> Family:
        return Group(self, size)


@dataclass(frozen=True, repr=False)
class RenyiDP(Notion):
    """The notion of (α, ε)-Rényi differential privacy.

    Privacy: Σ εᵢ <= ε at one order fixed in advance keeps it, adaptively (Feldman and Zrnic 2021).

    >>> RenyiDP(2, 0.5).loss.renyi(2)
    0.5
    """

    order: Fraction
    epsilon: Fraction
    relation: Relation = "add/remove"

    rule = "renyi"
    prices = "a Rényi divergence at the account's order"
    number = "epsilon"
    symbol = "ε"

    def __init__(self, order: Real, epsilon: Real, relation: Relation = "add/remove") -> None:
        object.__setattr__(self, "order", exact_order(order))
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the worst mechanism that keeps this promise."""
        return PrivacyLoss.of(Renyi(self.order, self.epsilon), self.relation)

    @property
    def measure(self) -> tuple[str, ...]:
        return *super().measure, str(self.order)

    def value_of(self, loss: PrivacyLoss) -> float:
        return loss.renyi(self.order)

    def covers(self, loss: PrivacyLoss) -> bool:
        return is_at_most(renyi_at_most(loss, self.order), self.epsilon)

    def cost_of_loss(self, loss: PrivacyLoss) -> Cost | None:
        divergence = renyi_at_most(loss, self.order)
        return None if divergence is None else (divergence, Fraction(0))

    def cost_of_promise(self, promise: Notion) -> Cost | None:
        divergence = promise.as_renyi(self.order)
        return None if divergence is None else (divergence, Fraction(0))

    def as_renyi(self, order: Fraction) -> Fraction | None:
        return self.epsilon if self.order >= order else None  # the divergence grows with its order
