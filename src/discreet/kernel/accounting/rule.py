"""A rule: how an account prices a loss, and what its total may reach. Fixed when the account is made."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from discreet.errors import InvalidParameter
from discreet.kernel.accounting.bounds import Notion, covers
from discreet.kernel.accounting.units import Limit, Total
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PrivacyLoss, PureDP, RenyiDP, check_relation

Budget: TypeAlias = PureDP | ApproxDP | ZCDP | GDP | RenyiDP
B = TypeVar("B", bound=Notion)
C = TypeVar("C", bound=PrivacyLoss | Notion)

NOTIONS: dict[str, type[Notion]] = {kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP, GDP, RenyiDP)}


@dataclass(frozen=True)
class Rule(ABC, Generic[B]):
    """A budget and the way it is spent.

    Privacy: whoever charges only while `limit` admits the total, choosing each mechanism and price from the
    answers so far, releases all answers together within the budget. Each rule cites its proof.
    """

    budget: B

    name: ClassVar[str]
    prices: ClassVar[str]  # what can be charged, in words

    @cached_property
    @abstractmethod
    def limit(self) -> Limit:
        """What the total may reach."""

    @abstractmethod
    def cost_of_promise(self, promise: Notion) -> Total | None:
        """The cost of a mechanism that keeps this promise; None where the rule has no price for it."""

    @abstractmethod
    def cost_of_loss(self, loss: PrivacyLoss) -> Total | None:
        """The cost of a mechanism with this loss; None where the rule has no price for it."""

    @abstractmethod
    def remaining(self, total: Total) -> B:
        """The largest single charge that still fits, rounded down."""

    @abstractmethod
    def spent(self, total: Total) -> B:
        """The promise that all charges together keep, rounded up."""

    @property
    def measure(self) -> tuple[str, ...]:
        """Equal for rules that price every charge alike, whatever their budgets."""
        return self.name, self.budget.relation, str(getattr(self.budget, "order", ""))

    def cost(self, loss: PrivacyLoss | Notion, price: Notion | None = None) -> Total:
        """What a release costs: the price named for it, if its loss provably keeps it; else its own loss."""
        for part in (loss, price):
            if part is not None:
                self._check_relation(part)
        if price is not None and not covers(price, loss if isinstance(loss, PrivacyLoss) else loss.loss):
            raise InvalidParameter(f"the price must cover the loss, got {price}.", parameter="price")
        paid = loss if price is None else price
        cost = self.cost_of_loss(paid) if isinstance(paid, PrivacyLoss) else self.cost_of_promise(paid)
        if cost is None:
            raise InvalidParameter(f"this account must be charged by {self.prices}. Name such a price.")
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
        """The rule and its budget, exactly."""
        return {"rule": self.name, "budget": notion_json(self.budget)}


def check_charge(part: C) -> C:
    """Refuse what is neither a loss nor a notion: a bare number says not what it measures."""
    if not isinstance(part, PrivacyLoss | PureDP | ApproxDP | ZCDP | GDP | RenyiDP):
        raise InvalidParameter(f"a charge must be a loss or a notion, got {type(part).__name__}.")
    return part


def computed(kind: type[B], relation: str, **numbers: Fraction) -> B:
    """A notion that was computed and not asked for: it may be 0, or smaller than any price."""
    value = object.__new__(kind)
    for name, number in {**numbers, "relation": relation}.items():
        object.__setattr__(value, name, number)
    return value


def least(budget: B, others: Iterable[Notion]) -> B:
    """The part of a budget that the others admit as well; one without a delta admits none.

    >>> least(ApproxDP(1, 1e-6), [PureDP(0.5)])
    ApproxDP(epsilon=Fraction(1, 2), delta=Fraction(0, 1), relation='add/remove')
    """
    numbers = {
        field.name: getattr(budget, field.name) for field in fields(budget) if field.name != "relation"
    }
    for other in others:
        numbers = {name: min(number, getattr(other, name, Fraction(0))) for name, number in numbers.items()}
    return computed(type(budget), budget.relation, **numbers)


def notion_json(notion: Notion) -> dict[str, str]:
    """A notion by name and exact numbers."""
    numbers = {field.name: str(getattr(notion, field.name)) for field in fields(notion)}
    return {"notion": type(notion).__name__, **numbers}


def read_notion(facts: dict[str, str]) -> Notion:
    """The notion that `notion_json` wrote."""
    numbers = {name: Fraction(text) for name, text in facts.items() if name not in ("notion", "relation")}
    if facts.get("notion") not in NOTIONS:
        raise InvalidParameter("a stored notion must be one of " + ", ".join(NOTIONS) + ".")
    return NOTIONS[facts["notion"]](**numbers, relation=check_relation(facts["relation"]))


def describe(notion: Notion) -> str:
    """A notion in words, with short numbers.

    >>> describe(ApproxDP(0.1, 1e-6))
    'epsilon 0.1, delta 1e-06'
    """
    numbers = [field.name for field in fields(notion) if field.name != "relation"]
    return ", ".join(f"{name} {float(getattr(notion, name)):.6g}" for name in numbers)
