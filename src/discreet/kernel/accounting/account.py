"""Accounts: a budget, its rule, and the running total."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.kernel.accounting.advanced import Advanced
from discreet.kernel.accounting.basic import Basic
from discreet.kernel.accounting.bounds import Notion
from discreet.kernel.accounting.moments import Concentrated, GaussianSquares, OneOrder
from discreet.kernel.accounting.rule import NOTIONS, Budget, Rule, describe, notion_json, read_notion
from discreet.kernel.accounting.units import Total
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PrivacyLoss, PureDP, RenyiDP

# The rule of each notion, and the rules that `filter` may name instead.
DEFAULT: dict[type[Notion], type[Rule[Any]]] = {
    PureDP: Basic,
    ApproxDP: Basic,
    ZCDP: Concentrated,
    RenyiDP: OneOrder,
    GDP: GaussianSquares,
}
FILTERS: dict[str, type[Rule[Any]]] = {"advanced": Advanced}
RULES: dict[str, type[Rule[Any]]] = {rule.name: rule for rule in (*DEFAULT.values(), *FILTERS.values())}


def rule_for(budget: Budget, *, filter: str | None = None, relation: str | None = None) -> Rule[Any]:  # noqa: A002  the policy's own word
    """The rule that a budget is spent by; fixed once chosen."""
    if type(budget) not in DEFAULT:
        raise InvalidParameter(f"a budget must be one of {', '.join(NOTIONS)}, got {type(budget).__name__}.")
    if filter is not None and filter not in FILTERS:
        raise InvalidParameter(
            f"filter must be one of {', '.join(FILTERS)}, got {filter!r}.", parameter="filter"
        )
    kind = DEFAULT[type(budget)] if filter is None else FILTERS[filter]
    return read_rule(
        {"rule": kind.name, "budget": {**notion_json(budget), "relation": relation or budget.relation}}
    )


def read_rule(facts: dict[str, Any]) -> Rule[Any]:
    """The rule that `Rule.to_json` wrote; one object for equal facts, so that its limit is computed once."""
    if facts.get("rule") not in RULES:
        raise InvalidParameter(f"a stored rule must be one of {', '.join(RULES)}.")
    carried = (Fraction(facts["carried"]),) if "carried" in facts else ()
    return _rule(facts["rule"], read_notion(facts["budget"]), *carried)


@lru_cache(maxsize=1024)
def _rule(name: str, budget: Budget, *carried: Fraction) -> Rule[Any]:
    return RULES[name](budget, *carried)


def raised_rule(rule: Rule[Any], budget: Budget, total: Total) -> tuple[Rule[Any], Total]:
    """The rule of a raised budget, and the account's total under it: what was spent stays spent."""
    if isinstance(rule, Advanced) and isinstance(budget, ApproxDP):
        return rule.raised(budget, total)
    return rule_for(budget, relation=rule.budget.relation), total


def exceeded(rule: Rule[Any], total: Total, *, account: str = "its account") -> BudgetExceeded:
    """The error of a charge that does not fit."""
    left, budget = describe(rule.remaining(total)), describe(rule.budget)
    return BudgetExceeded(
        f"a charge must fit {account}: {left} is left of {budget}. Ask for less, or the owner for more.",
        remaining=notion_json(rule.remaining(total)),
    )


class Account:
    """A budget that is charged before each release, in memory; the ledger's accounts do the same on disk.

    Constant time and a few integers, however many charges.

    >>> account = Account(PureDP(0.3))
    >>> account.charge(PureDP(0.1)); account.charge(PureDP(0.2)); account.remaining.epsilon
    Fraction(0, 1)
    >>> account.fits(PureDP(0.1))
    False
    """

    def __init__(self, budget: Budget, *, filter: str | None = None) -> None:  # noqa: A002  the policy's own word
        self.rule = rule_for(budget, filter=filter)
        self.total = Total()

    def fits(self, loss: PrivacyLoss | Notion, *, price: Notion | None = None) -> bool:
        """Whether `charge` would admit this."""
        return self.rule.limit.admits(self.total.plus(self.rule.cost(loss, price)))

    def charge(self, loss: PrivacyLoss | Notion, *, price: Notion | None = None) -> None:
        """Take the cost of a release, or raise BudgetExceeded and take nothing."""
        cost = self.rule.cost(loss, price)
        total = self.total.plus(cost)
        if not self.rule.limit.admits(total):
            raise exceeded(self.rule, self.total)
        self.total = total

    @property
    def remaining(self) -> Budget:
        """The largest single charge that still fits, as a value of the budget's own class."""
        left: Budget = self.rule.remaining(self.total)
        return left

    @property
    def spent(self) -> Budget:
        """The promise that all charges so far keep together."""
        kept: Budget = self.rule.spent(self.total)
        return kept
