"""Accounts: a budget, its rule, and the running total."""

from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.kernel.accounting.advanced import Advanced
from discreet.kernel.accounting.rule import Rule
from discreet.kernel.accounting.units import Total
from discreet.kernel.losses import Notion, PrivacyLoss, read_notion
from discreet.kernel.losses.notion import NOTIONS

FILTERS: dict[str, type[Rule[Any]]] = {"advanced": Advanced}  # instead of the rule of the budget's notion


def rule_for(budget: Notion, *, filter: str | None = None, relation: str | None = None) -> Rule[Any]:  # noqa: A002  the policy's own name
    """Return the rule that a budget is spent by; fixed once chosen."""
    if not isinstance(budget, Notion):
        raise InvalidParameter(f"a budget must be one of {', '.join(NOTIONS)}, got {type(budget).__name__}.")
    if filter is not None and filter not in FILTERS:
        raise InvalidParameter(
            f"filter must be one of {', '.join(FILTERS)}, got {filter!r}.", parameter="filter"
        )
    return read_rule(
        {"rule": filter or budget.rule, "budget": budget.under(relation or budget.relation).to_json()}
    )


def read_rule(facts: dict[str, Any]) -> Rule[Any]:
    """Return the rule that `Rule.to_json` wrote; one object for equal facts, so that its limit is computed
    once."""
    budget = read_notion(facts["budget"])
    if facts.get("rule") not in (budget.rule, *FILTERS):
        raise InvalidParameter(f"a stored rule must be one of {', '.join((budget.rule, *FILTERS))}.")
    carried = (Fraction(facts["carried"]),) if "carried" in facts else ()
    return _rule(facts["rule"], budget, *carried)


@lru_cache(maxsize=1024)
def _rule(name: str, budget: Notion, *carried: Fraction) -> Rule[Any]:
    return FILTERS.get(name, Rule)(budget, *carried)


def raised_rule(rule: Rule[Any], budget: Notion, total: Total) -> tuple[Rule[Any], Total]:
    """Return the rule of a raised budget, and the account's total under it: what was spent stays spent."""
    return rule.raised(budget.under(rule.budget.relation), total)


def exceeded(rule: Rule[Any], total: Total, *, account: str = "its account") -> BudgetExceeded:
    """Return the error of a charge that does not fit."""
    left, budget = rule.remaining(total), rule.budget.describe()
    return BudgetExceeded(
        f"a charge must fit {account}: {left.describe()} is left of {budget}. "
        "Ask for less, or the owner for more.",
        remaining=left.to_json(),
    )


class Account:
    """A budget that is charged before each release, in memory; the ledger's accounts do the same on disk.

    Constant time and a few integers, however many charges.

    >>> from discreet.kernel.losses import PureDP
    >>> account = Account(PureDP(0.3))
    >>> account.charge(PureDP(0.1)); account.charge(PureDP(0.2)); account.remaining.epsilon
    Fraction(0, 1)
    >>> account.fits(PureDP(0.1))
    False
    """

    def __init__(self, budget: Notion, *, filter: str | None = None) -> None:  # noqa: A002  the policy's own name
        self.rule = rule_for(budget, filter=filter)
        self.total = Total()

    def fits(self, loss: PrivacyLoss | Notion, *, price: Notion | None = None) -> bool:
        """Return whether `charge` would admit this."""
        return self.rule.limit.admits(self.total.plus(self.rule.cost(loss, price)))

    def charge(self, loss: PrivacyLoss | Notion, *, price: Notion | None = None) -> None:
        """Take the cost of a release, or raise BudgetExceeded and take nothing."""
        cost = self.rule.cost(loss, price)
        total = self.total.plus(cost)
        if not self.rule.limit.admits(total):
            raise exceeded(self.rule, self.total)
        self.total = total

    @property
    def remaining(self) -> Notion:
        """The largest single charge that still fits, as a value of the budget's own class."""
        left: Notion = self.rule.remaining(self.total)
        return left

    @property
    def spent(self) -> Notion:
        """The promise that all charges so far keep together."""
        kept: Notion = self.rule.spent(self.total)
        return kept
