"""Approximate differential privacy: Pr[M(D) ∈ S] <= e^ε Pr[M(D′) ∈ S] + δ for every event S."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from discreet.kernel.losses.bounds import (
    epsilon_and_delta_at_most,
    keeps_epsilon_and_delta,
    rho_and_delta_at_most,
)
from discreet.kernel.losses.family import Direction, Family, Relation, check_relation, register
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.notion import Cost, Notion
from discreet.kernel.losses.pair import Pair
from discreet.kernel.losses.pure import pure, worst_pair
from discreet.kernel.numerics import (
    Interval,
    Real,
    ball,
    exact,
    exact_delta,
    exact_epsilon,
    exact_whole,
    stated,
)


@register
@dataclass(frozen=True)
class Approximate(Family):
    """Every mechanism that is (ε, δ)-DP; for a group, every one that a chain of `group` neighbours allows.

    Privacy: dominated by randomised response with a revealing outcome of probability δ (Kairouz, Oh and
    Viswanath 2015). Groups of g: (gε, δ·(e^(gε) − 1)/(e^ε − 1)), at most g·e^((g−1)ε)·δ.
    """

    epsilon: Fraction
    delta: Fraction
    group: int = 1

    name = "approximate"

    def __post_init__(self) -> None:
        read_guarantee(self.epsilon, self.delta)
        exact_whole(self.group, name="group", least=1)

    def witness(self, direction: Direction) -> Pair:
        if self.epsilon == 0:
            return worst_pair(self.epsilon, failure=(ball(self.delta) * self.group).min(arb(1)))
        chain = ball(self.epsilon * self.group).expm1() / ball(self.epsilon).expm1()
        return worst_pair(self.epsilon * self.group, failure=(ball(self.delta) * chain).min(arb(1)))

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return self.epsilon * self.group

    def rational_failure(self, direction: Direction) -> Fraction | None:
        return self.delta if self.group == 1 else None

    def for_group(self, size: int) -> Family:
        return Approximate(self.epsilon, self.delta, self.group * size)

    def parameters(self) -> dict[str, Any]:
        shown = {"epsilon": self.epsilon, "delta": self.delta}
        return shown if self.group == 1 else {**shown, "group": self.group}

    def __str__(self) -> str:
        if self.group == 1:
            return super().__str__()
        return f"group({Approximate(self.epsilon, self.delta)}, size={self.group})"


def approximate(*, epsilon: Real, delta: Real, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of any (ε, δ)-DP mechanism.

    >>> 2 * approximate(epsilon=1, delta=1e-6)
    2 * approximate(epsilon=1, delta=1e-06)
    """
    price, failure = read_guarantee(epsilon, delta)
    if failure == 0:
        return pure(epsilon=price, relation=relation)
    return PrivacyLoss.of(Approximate(price, failure), relation)


def read_guarantee(epsilon: Real, delta: Real) -> tuple[Fraction, Fraction]:
    """ε and δ, exactly; ε may be 0 where δ is not: a bound on total variation alone."""
    failure = exact_delta(delta)
    nothing = failure > 0 and exact(epsilon, name="epsilon") == 0
    return Fraction(0) if nothing else exact_epsilon(epsilon), failure


@dataclass(frozen=True, repr=False)
class ApproxDP(Notion):
    """The notion of (ε, δ)-differential privacy; ε may be 0 where δ is not.

    Privacy: Σ εᵢ <= ε and Σ δᵢ <= δ keep it, adaptively too (Rogers, Roth, Ullman and Vadhan 2016).

    >>> ApproxDP(1, 1e-6).loss
    approximate(epsilon=1, delta=1e-06)
    """

    epsilon: Fraction
    delta: Fraction
    relation: Relation = "add/remove"

    rule = "basic"
    prices = "epsilon, and delta where the budget has one"
    number = "epsilon"
    symbol = "ε"
    shapes = (frozenset({"epsilon", "delta"}),)

    def __init__(self, epsilon: Real, delta: Real, relation: Relation = "add/remove") -> None:
        price, failure = read_guarantee(epsilon, delta)
        object.__setattr__(self, "epsilon", price)
        object.__setattr__(self, "delta", failure)
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the worst mechanism that keeps this promise."""
        return approximate(epsilon=self.epsilon, delta=self.delta, relation=self.relation)

    def value_of(self, loss: PrivacyLoss) -> float:
        return loss.epsilon(delta=self.delta)

    @property
    def has_ends(self) -> bool:
        return self.delta > 0

    def ends_of(self, loss: PrivacyLoss, *, width: float) -> Interval:
        if not self.has_ends:
            return super().ends_of(loss, width=width)
        return loss.epsilon_interval(delta=self.delta, width=width)

    def is_kept(self, loss: PrivacyLoss) -> bool:
        return self.has_ends and stated(loss.delta(epsilon=self.epsilon)) <= self.delta

    def covers(self, loss: PrivacyLoss) -> bool:
        return keeps_epsilon_and_delta(loss, self.epsilon, self.delta)

    def cost_of_loss(self, loss: PrivacyLoss) -> Cost | None:
        return epsilon_and_delta_at_most(loss)

    def cost_of_promise(self, promise: Notion) -> Cost | None:
        return promise.as_epsilon_and_delta()

    def for_group(self, people: int) -> Notion | None:
        epsilon = people * self.epsilon
        delta = Fraction(self.loss.for_group(people).delta(epsilon=epsilon))
        return ApproxDP(epsilon, delta, self.relation) if delta < 1 else None

    def as_epsilon_and_delta(self) -> Cost | None:
        return self.epsilon, self.delta

    def as_rho_and_delta(self) -> Cost | None:
        return rho_and_delta_at_most(self.loss)
