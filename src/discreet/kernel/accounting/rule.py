"""A rule: how an account prices a loss, and what its total may reach. Fixed when the account is made.

Tested by: tests/accounting/test_costs.py, tests/accounting/test_limits.py, tests/accounting/test_rules.py
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

from discreet.errors import InvalidParameter
from discreet.kernel.accounting.units import (
    ONE,
    Limit,
    Total,
    from_units,
    root_down,
    root_up,
    units_down,
    units_up,
)
from discreet.kernel.losses import ApproxDP, Notion, PrivacyLoss
from discreet.kernel.numerics import Arb, ball, certified_floor

Budget: TypeAlias = Notion
B = TypeVar("B", bound=Notion)
C = TypeVar("C", bound=PrivacyLoss | Notion)


@dataclass(frozen=True)
class Rule(Generic[B]):
    """A budget, spent by adding up costs in the measure of its notion.

    Privacy: charges are made only while `limit` admits the total; however each mechanism and price is chosen
    from the answers so far, all answers together are then within the budget. Each notion cites its proof.

    >>> from discreet.kernel.losses import GDP, PureDP, RenyiDP, ZCDP
    >>> rule = Rule(PureDP(1))
    >>> tenth = rule.cost(PureDP(0.1))
    >>> rule.limit.admits(Total(tenth.main * 10)), rule.limit.admits(Total(tenth.main * 10 + 1))
    (True, False)
    >>> rule = Rule(ZCDP(0.3))
    >>> rule.limit.admits(rule.cost(ZCDP(0.1)).plus(rule.cost(ZCDP(0.2))))
    True
    >>> rule = Rule(GDP(0.5))
    >>> rule.limit.admits(rule.cost(GDP(0.3)).plus(rule.cost(GDP(0.4))))
    True
    >>> rule = Rule(RenyiDP(2, 1))
    >>> rule.cost(ZCDP(0.25)) == rule.cost(RenyiDP(2, 0.5)) == rule.cost(RenyiDP(3, 0.5))
    True
    """

    budget: B

    @property
    def name(self) -> str:
        """The rule's name, as ledgers store it."""
        return self.budget.rule

    @cached_property
    def limit(self) -> Limit:
        """What the total may reach."""
        return Limit(units_down(self.budget.amount), delta=units_down(self.budget.failure))

    def cost_of_promise(self, promise: Notion) -> Total | None:
        """Return the cost of a mechanism that keeps this promise; None where the rule has no price for it."""
        return self._priced(self.budget.cost_of_promise(promise))

    def cost_of_loss(self, loss: PrivacyLoss) -> Total | None:
        """Return the cost of a mechanism with this loss; None where the rule has no price for it."""
        return self._priced(self.budget.cost_of_loss(loss))

    def _priced(self, cost: tuple[Fraction, Fraction] | None) -> Total | None:
        return None if cost is None else Total(units_up(cost[0]), 0, units_up(cost[1]))

    def remaining(self, total: Total) -> B:
        """Return the largest single charge that still fits, rounded down."""
        left = max(0, self.limit.main - total.main)
        value = left if self.budget.power == 1 else root_down(left)
        return self.budget.computed(from_units(value), from_units(self.limit.delta - total.delta))

    def spent(self, total: Total) -> B:
        """Return the promise that all charges together keep, rounded up."""
        value = total.main if self.budget.power == 1 else root_up(total.main)
        return self.budget.computed(from_units(value), from_units(total.delta))

    def raised(self, budget: B, total: Total) -> tuple["Rule[B]", Total]:
        """Return the rule of a raised budget, and the total it begins with: what was spent stays spent."""
        return type(self)(budget), total

    @property
    def measure(self) -> tuple[str, ...]:
        """Equal for rules that price every charge alike, whatever their budgets."""
        return self.name, *self.budget.measure

    def cost(self, loss: PrivacyLoss | Notion, price: Notion | None = None) -> Total:
        """Return what a release costs: the price named for it, if its loss provably keeps it; else its own
        loss."""
        self._check_relation(loss)
        if price is not None:
            self._check_relation(price)
        if price is not None and not price.covers(loss if isinstance(loss, PrivacyLoss) else loss.loss):
            raise InvalidParameter(f"the price must cover the loss, got {price}.", parameter="price")
        paid = loss if price is None else price
        cost = self.cost_of_loss(paid) if isinstance(paid, PrivacyLoss) else self.cost_of_promise(paid)
        if cost is None:
            raise InvalidParameter(
                f"this account must be charged by {self.budget.prices}. Name such a price."
            )
        if cost == Total():
            raise InvalidParameter("a charge must cost something, got a loss of 0.")
        return cost

    def _check_relation(self, part: PrivacyLoss | Notion) -> None:
        if check_charge(part).relation != self.budget.relation:
            raise InvalidParameter(
                f"a charge must have the account's relation, {self.budget.relation}, got {part.relation}.",
                parameter="relation",
            )

    def to_json(self) -> dict[str, Any]:
        """Return the rule and its budget, exactly."""
        return {"rule": self.name, "budget": self.budget.to_json()}


def check_charge(part: C) -> C:
    """Refuse what is neither a loss nor a notion: a bare number does not say what it measures."""
    if not isinstance(part, PrivacyLoss | Notion):
        raise InvalidParameter(f"a charge must be a loss or a notion, got {type(part).__name__}.")
    return part


def covers(promise: Notion, loss: PrivacyLoss) -> bool:
    """Return whether a loss provably keeps a promise.

    >>> from discreet.kernel.losses import PureDP, laplace
    >>> [covers(PureDP(0.1), laplace(scale=scale, sensitivity=1)) for scale in (10, 9)]
    [True, False]
    """
    return promise.covers(loss)


def least(budget: B, others: Iterable[Notion]) -> B:
    """Return the part of a budget that the others admit as well; one without a delta admits none.

    >>> from discreet.kernel.losses import ApproxDP, PureDP
    >>> least(ApproxDP(1, 1e-6), [PureDP(0.5)])
    ApproxDP(epsilon=0.5, delta=0)
    """
    return budget.least(others)


def notion_json(notion: Notion) -> dict[str, str]:
    """Return a notion by name and exact numbers."""
    return notion.to_json()


def describe(notion: Notion) -> str:
    """Return a notion's numbers with their names, short.

    >>> from discreet.kernel.losses import ApproxDP
    >>> describe(ApproxDP(0.1, 1e-6))
    'epsilon 0.1, delta 1e-06'
    """
    return notion.describe()


# The fully adaptive filter for (epsilon, delta): many small charges cost less than their sum.


@dataclass(frozen=True)
class Advanced(Rule[ApproxDP]):
    """Admit while Σ δᵢ <= δ/2, and Σ εᵢ <= ε or √(2·ln(2/δ)·Σ εᵢ²) + ½·Σ εᵢ² <= ε.

    Privacy: the second rule alone is the filter of Whitehouse, Ramdas, Rogers and Wu (2023), with δ' = δ'' =
    δ/2; that either may admit is proved in docs/theory/accounts.md.

    >>> from discreet.kernel.losses import PureDP
    >>> rule = Advanced(ApproxDP(1, 1e-6))
    >>> many = Total(*(400 * part for part in rule.cost(PureDP(0.005))))
    >>> [rule.limit.admits(total) for total in (many, rule.cost(PureDP(1)), rule.cost(PureDP(1.01)))]
    [True, True, False]
    """

    carried: Fraction = Fraction(0)  # what was lost before the budget was last raised

    def __post_init__(self) -> None:
        if self.budget.as_epsilon_and_delta() is None or self.budget.failure == 0:
            raise InvalidParameter("filter='advanced' needs a budget with delta > 0.", parameter="filter")

    @property
    def name(self) -> str:
        return "advanced"

    @property
    def slack(self) -> Fraction:
        """δ': the probability that the sum of squares fails to bound the loss."""
        return self.budget.delta / 2

    @cached_property
    def limit(self) -> Limit:
        squares = certified_floor(lambda: ONE * self._roots()[1] ** 2)
        return Limit(units_down(self.budget.epsilon), squares, units_down(self.slack))

    def _roots(self) -> tuple[Arb, Arb]:
        """s = √(2·ln(1/δ')), and √V* for the V* with s·√V* + V*/2 = ε: √(s² + 2ε) − s.

        Of a raised budget ε is what came on top of what was lost before.
        """
        square = -2 * ball(self.slack).log()
        return square.sqrt(), (square + 2 * ball(self.budget.epsilon - self.carried)).sqrt() - square.sqrt()

    def raised(self, budget: ApproxDP, total: Total) -> tuple["Advanced", Total]:
        """Return the rule of a raised budget, and the total it begins with.

        Privacy: a raise may follow from the answers, so what was lost is closed at its bound, with its slack,
        and the squares begin anew (docs/theory/accounts.md).
        """
        if total == Total():
            return Advanced(budget), total
        kept = self.spent(total)
        rule = Advanced(budget, kept.epsilon)
        return rule, Total(units_up(kept.epsilon), 0, units_up(kept.delta))

    def to_json(self) -> dict[str, Any]:
        carried = {"carried": str(self.carried)} if self.carried else {}
        return {**super().to_json(), **carried}

    def _priced(self, cost: tuple[Fraction, Fraction] | None) -> Total | None:
        priced = super()._priced(cost)
        return None if cost is None or priced is None else priced._replace(square=units_up(cost[0] ** 2))

    def remaining(self, total: Total) -> ApproxDP:
        by_sum = self.limit.main - total.main
        by_squares = root_down(max(0, self.limit.square - total.square))
        delta = from_units(self.limit.delta - total.delta)
        return self.budget.computed(from_units(max(by_sum, by_squares, 0)), delta)

    def spent(self, total: Total) -> ApproxDP:
        """(min of Σ εᵢ and c + s·√V*/2 + (s/√V* + 1)·V/2, Σ δᵢ + δ'): holds whenever one stops.

        c is what was carried over a raise; Σ δᵢ then holds the slack of every budget before.
        """

        def line() -> Arb:
            s, root = self._roots()
            line = (s * root + (s / root + 1) * ball(from_units(total.square))) / 2
            return ONE * (ball(self.carried) + line)

        epsilon = from_units(min(total.main, certified_floor(line) + 1))
        delta = from_units(total.delta) + self.slack
        return self.budget.computed(epsilon, delta)
