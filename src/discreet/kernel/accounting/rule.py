"""A rule: how an account prices a loss, and what its total may reach. Fixed when the account is made.

Tested by: tests/accounting/test_rules.py, tests/accounting/test_costs.py
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeAlias, TypeVar

from discreet.errors import InvalidParameter
from discreet.kernel.accounting.units import (
    Limit,
    Total,
    from_units,
    root_down,
    root_up,
    units_down,
    units_up,
)
from discreet.kernel.losses import Notion, PrivacyLoss

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
    ApproxDP(epsilon=Fraction(1, 2), delta=Fraction(0, 1), relation='add/remove')
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
