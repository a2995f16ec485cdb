"""Zero-concentrated differential privacy: D_α(M(D)‖M(D′)) <= ρα for every α > 1."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import InvalidParameter
from discreet.kernel.losses.bounds import rho_and_delta_at_most
from discreet.kernel.losses.continuous import GaussianPair
from discreet.kernel.losses.family import Direction, Family, Relation, check_relation, register, scaled
from discreet.kernel.losses.group import Group
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.notion import Cost, Notion
from discreet.kernel.losses.pair import Pair
from discreet.kernel.numerics import Arb, Real, ball, exact_delta, exact_positive


@register
@dataclass(frozen=True)
class Zcdp(Family):
    """Every mechanism that is ρ-zCDP, but for an event of probability δ.

    Privacy: moments only (Bun and Steinke 2016, Definitions 1.1 and 8.1);
    the Gaussian with μ² = 2ρ attains them.
    """

    rho: Fraction
    delta: Fraction = Fraction(0)

    name = "zcdp"

    def __post_init__(self) -> None:
        exact_positive(self.rho, name="rho")
        exact_delta(self.delta)

    @property
    def exact(self) -> bool:
        return False

    def witness(self, direction: Direction) -> Pair:
        return GaussianPair(2 * self.rho, failure=self.delta)

    def dominating(self, direction: Direction) -> Pair | None:
        return None

    def log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        return ball(1 - self.delta).log() + ball(self.rho) * theta * (theta + 1)

    def failure(self, direction: Direction) -> Arb:
        return ball(self.delta)

    def zcdp_rho(self) -> Arb | None:
        return ball(self.rho) if self.delta == 0 else None

    def rational_failure(self, direction: Direction) -> Fraction | None:
        return self.delta

    def rational_rho(self) -> Fraction | None:
        return self.rho if self.delta == 0 else None

    def for_group(self, size: int) -> Family:
        return Group(self, size) if self.delta else Zcdp(scaled(self.rho, size * size))

    def parameters(self) -> dict[str, Any]:
        return {"rho": self.rho, "delta": self.delta} if self.delta else {"rho": self.rho}


def zcdp(*, rho: Real, delta: Real = 0, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of any mechanism that is δ-approximately ρ-zCDP.

    >>> (3 * zcdp(rho=0.5)).rho
    1.5
    """
    return PrivacyLoss.of(Zcdp(exact_positive(rho, name="rho"), exact_delta(delta)), relation)


@dataclass(frozen=True, repr=False)
class ZCDP(Notion):
    """The notion of ρ-zero-concentrated differential privacy, with a failure probability δ.

    Privacy: Σ ρᵢ <= ρ and Σ δᵢ <= δ keep it, adaptively (Whitehouse, Ramdas, Rogers and Wu 2023; for δ = 0
    Feldman and Zrnic 2021, at every order at once).

    >>> ZCDP(0.5).loss.rho
    0.5
    """

    rho: Fraction
    delta: Fraction
    relation: Relation = "add/remove"

    rule = "zcdp"
    prices = "rho (a pure epsilon, or a Gaussian's mu, has one)"
    number = "rho"
    symbol = "ρ"
    shapes = (frozenset({"rho"}), frozenset({"rho", "delta"}))

    def __init__(self, rho: Real, delta: Real = 0, relation: Relation = "add/remove") -> None:
        object.__setattr__(self, "rho", exact_positive(rho, name="rho"))
        object.__setattr__(self, "delta", exact_delta(delta))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the worst mechanism that keeps this promise."""
        return zcdp(rho=self.rho, delta=self.delta, relation=self.relation)

    def value_of(self, loss: PrivacyLoss) -> float:
        if self.delta:
            raise InvalidParameter(
                "the target must be zCDP without a failure probability.", parameter="target"
            )
        return loss.rho

    def covers(self, loss: PrivacyLoss) -> bool:
        bound = rho_and_delta_at_most(loss)
        return bound is not None and bound[0] <= self.rho and bound[1] <= self.delta

    def cost_of_loss(self, loss: PrivacyLoss) -> Cost | None:
        return rho_and_delta_at_most(loss)

    def cost_of_promise(self, promise: Notion) -> Cost | None:
        return promise.as_rho_and_delta()

    def for_group(self, people: int) -> Notion | None:
        return None if self.delta else ZCDP(people**2 * self.rho, 0, self.relation)

    def as_rho_and_delta(self) -> Cost | None:
        return self.rho, self.delta

    def as_renyi(self, order: Fraction) -> Fraction | None:
        return None if self.delta else self.rho * order
