"""Pure differential privacy: Pr[M(D) ∈ S] <= e^ε Pr[M(D′) ∈ S] for every event S."""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.kernel.losses.bounds import (
    epsilon_and_delta_at_most,
    epsilon_at_most,
    is_at_most,
    mu_squared_at_most,
    renyi_at_most,
    rho_and_delta_at_most,
)
from discreet.kernel.losses.family import (
    DIRECTIONS,
    Direction,
    Family,
    Relation,
    check_relation,
    register,
    scaled,
)
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.notion import Cost, Notion
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.numerics import Arb, Real, ball, exact_epsilon, exact_positive


def worst_pair(epsilon: Fraction, *, failure: Arb | None = None) -> Pair:
    """Randomised response: it dominates every ε-DP mechanism.

    (Kairouz, Oh and Viswanath 2015; the simulation lemma is Lemma 3.2 of Murtagh and Vadhan 2016.)
    With a failure δ, a fully revealing outcome of that probability is added, and ε-DP becomes (ε, δ)-DP.
    """
    loss, lost = ball(epsilon), arb(0) if failure is None else failure
    if epsilon == 0:  # nothing is told, or all
        return Atoms([(loss, 1 - lost)], failure=lost, unseen=lost, lattice=(epsilon, epsilon))
    truth = (1 - lost) / (1 + (-loss).exp())
    lie = (1 - lost) / (1 + loss.exp())
    return Atoms([(loss, truth), (-loss, lie)], failure=lost, unseen=lost, lattice=(epsilon, 2 * epsilon))


@register
@dataclass(frozen=True)
class Pure(Family):
    """Every mechanism that is ε-DP.

    Privacy: dominated by randomised response; ρ = ε·tanh(ε/2).
    """

    epsilon: Fraction

    name = "pure"

    def __post_init__(self) -> None:
        exact_positive(self.epsilon, name="epsilon")

    def witness(self, direction: Direction) -> Pair:
        return worst_pair(self.epsilon)

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return self.epsilon

    def covers(self, other: Family) -> bool:
        tops = [other.rational_largest(direction) for direction in DIRECTIONS]
        whole = all(other.rational_failure(direction) == 0 for direction in DIRECTIONS)
        return whole and all(top is not None and top <= self.epsilon for top in tops)

    def for_group(self, size: int) -> Family:
        return Pure(scaled(self.epsilon, size))


def pure(*, epsilon: Real, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of any ε-DP mechanism.

    >>> pure(epsilon=0.1) * 10
    10 * pure(epsilon=0.1)
    """
    return PrivacyLoss.of(Pure(exact_epsilon(epsilon)), relation)


@dataclass(frozen=True, repr=False)
class PureDP(Notion):
    """The notion of ε-differential privacy.

    Privacy: Σ εᵢ <= ε keeps it, adaptively too (Rogers, Roth, Ullman and Vadhan 2016).

    >>> PureDP(0.5).loss.epsilon(delta=0)
    0.5
    """

    epsilon: Fraction
    relation: Relation = "add/remove"

    rule = "basic"
    prices = "epsilon, and delta where the budget has one"
    number = "epsilon"
    symbol = "ε"
    shapes = (frozenset({"epsilon"}),)

    def __init__(self, epsilon: Real, relation: Relation = "add/remove") -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of the worst mechanism that keeps this promise."""
        return pure(epsilon=self.epsilon, relation=self.relation)

    def value_of(self, loss: PrivacyLoss) -> float:
        return loss.epsilon(delta=0)

    def covers(self, loss: PrivacyLoss) -> bool:
        return is_at_most(epsilon_at_most(loss), self.epsilon)

    def cost_of_loss(self, loss: PrivacyLoss) -> Cost | None:
        return epsilon_and_delta_at_most(loss)

    def cost_of_promise(self, promise: Notion) -> Cost | None:
        return promise.as_epsilon_and_delta()

    def for_group(self, people: int) -> Notion | None:
        return PureDP(people * self.epsilon, self.relation)

    def as_epsilon_and_delta(self) -> Cost | None:
        return self.epsilon, Fraction(0)

    def as_rho_and_delta(self) -> Cost | None:
        return rho_and_delta_at_most(self.loss)

    def as_renyi(self, order: Fraction) -> Fraction | None:
        return renyi_at_most(self.loss, order)

    def as_mu_squared(self) -> Fraction | None:
        return mu_squared_at_most(self.loss)
