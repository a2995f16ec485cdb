"""Approximate differential privacy: Pr[M(D) ∈ S] <= e^ε Pr[M(D′) ∈ S] + δ for every event S."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from discreet.losses.family import Direction, Family, register
from discreet.losses.loss import PrivacyLoss
from discreet.losses.pair import Pair
from discreet.losses.pure import pure, worst_pair
from discreet.losses.relation import Relation, check_relation
from discreet.numerics import Real, ball, exact_delta, exact_epsilon, exact_positive, exact_whole


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
        exact_positive(self.epsilon, name="epsilon")
        exact_delta(self.delta)
        exact_whole(self.group, name="group", least=1)

    def witness(self, direction: Direction) -> Pair:
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
    failure = exact_delta(delta)
    if failure == 0:
        return pure(epsilon=epsilon, relation=relation)
    return PrivacyLoss.of(Approximate(exact_epsilon(epsilon), failure), relation)


@dataclass(frozen=True)
class ApproxDP:
    """The notion of (ε, δ)-differential privacy.

    >>> ApproxDP(1, 1e-6).loss
    approximate(epsilon=1, delta=1e-06)
    """

    epsilon: Fraction
    delta: Fraction
    relation: Relation = "add/remove"

    def __init__(self, epsilon: Real, delta: Real, relation: Relation = "add/remove") -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "delta", exact_delta(delta))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the worst mechanism that keeps this promise."""
        return approximate(epsilon=self.epsilon, delta=self.delta, relation=self.relation)
