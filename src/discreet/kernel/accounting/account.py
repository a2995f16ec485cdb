"""Accounts: a budget, its rule, and the running total.

Tested by: tests/accounting/test_account.py, tests/accounting/test_odometer.py
"""

from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.kernel.accounting.rule import Advanced, Rule, check_charge
from discreet.kernel.accounting.units import ONE, Total, from_units, units_up
from discreet.kernel.losses import ApproxDP, Notion, PrivacyLoss, check_relation, read_notion
from discreet.kernel.losses.bounds import epsilon_at_most
from discreet.kernel.losses.notion import NOTIONS
from discreet.kernel.numerics import Arb, Real, ball, certified_floor, exact_delta, exact_positive

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


# An odometer: how much privacy was lost so far, for charges chosen adaptively and no limit set.


class Odometer:
    """A bound on the loss of all charges so far that holds at every moment at once.

    ε(V) = min(Σ εᵢ, √(2(V + g)·ln(√((V + g)/g)/δ')) + V/2)    with V = Σ εᵢ²

    Privacy: but for probability δ' + Σ δᵢ the privacy loss never exceeds the reading, whenever one looks
    (Whitehouse, Ramdas, Rogers and Wu 2023; proof in docs/theory/accounts.md). Any g > 0 is valid; it is
    chosen for V near `around`.

    >>> from discreet.kernel.losses import PureDP
    >>> odometer = Odometer(delta=1e-6, around=1)
    >>> for _ in range(10000): odometer.charge(PureDP(0.01))
    >>> 6 < odometer.reading.epsilon < 7
    True
    """

    def __init__(self, *, delta: Real, around: Real = 1, relation: str = "add/remove") -> None:
        self._slack, self._relation = exact_delta(delta), relation
        if self._slack == 0:
            raise InvalidParameter("delta must be > 0 for an odometer.", parameter="delta")
        self._spread = _best_spread(exact_positive(around, name="around"), self._slack)
        self._total = Total()

    def charge(self, loss: PrivacyLoss | Notion) -> None:
        """Count one more release."""
        if check_charge(loss).relation != self._relation:
            raise InvalidParameter(f"a charge must have the odometer's relation, {self._relation}.")
        if isinstance(loss, PrivacyLoss):
            epsilon, delta = epsilon_at_most(loss), Fraction(0)
        else:
            epsilon, delta = loss.as_epsilon_and_delta() or (None, Fraction(0))
        if epsilon is None:
            raise InvalidParameter("an odometer must be charged by epsilon, and delta where there is one.")
        self._total = self._total.plus(Total(units_up(epsilon), units_up(epsilon**2), units_up(delta)))

    @property
    def reading(self) -> ApproxDP:
        """What holds for all charges so far, rounded up."""
        by_squares = certified_floor(lambda: ONE * self._mixture_bound()) + 1
        epsilon = from_units(min(self._total.main, by_squares))
        delta = self._slack + from_units(self._total.delta)
        return ApproxDP(1, 0, check_relation(self._relation)).computed(epsilon, delta)

    def _mixture_bound(self) -> Arb:
        squares, spread = ball(from_units(self._total.square)), ball(self._spread)
        wide = squares + spread
        return (2 * wide * ((wide / spread).log() / 2 - ball(self._slack).log())).sqrt() + squares / 2


def _best_spread(around: Fraction, slack: Fraction) -> Fraction:
    """g ≈ V/(2·ln(1/δ') + ln(1 + 2·ln(1/δ'))), nearly the best for V = around; any g > 0 is valid."""

    def rough() -> Arb:
        twice = -2 * ball(slack).log()
        return twice + (1 + twice).log()

    return around / (certified_floor(rough) + 1)
