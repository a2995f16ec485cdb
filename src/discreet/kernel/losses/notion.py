"""What every notion of privacy knows: its loss, its numbers, and the rule by which an account adds it up.

A notion is one file and one import line in `losses/__init__.py`: accounts, ledgers, policies, the command
line and the pages find it in NOTIONS. An account adds up costs, pairs of value^power and a failure
probability, each rounded up once; a budget of the notion says what a loss and a promise cost.

Tested by: tests/accounting/test_costs.py, tests/recipes/test_notion_recipe.py
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Self, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.losses.family import Relation, check_relation
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.numerics import Interval, Shown, facts_html

Cost: TypeAlias = tuple[Fraction, Fraction]  # what adds up, and the failure probability


NOTIONS: dict[str, type[Any]] = {}  # by the name of the class; a subclass enters itself


class Notion(Shown, ABC):
    """A promise of privacy under a relation. Subclasses are frozen dataclasses of exact numbers.

    Privacy: mechanisms chosen adaptively, whose costs under `cost_of_loss` or `cost_of_promise` sum to at
    most `amount` and `failure`, keep the promise together. Each notion cites the proof.
    """

    rule: ClassVar[str]  # the name of its account rule, as ledgers store it
    prices: ClassVar[str]  # what an account of this notion can be charged by
    number: ClassVar[str]  # the name of the number that it bounds
    symbol: ClassVar[str]  # of what adds up
    power: ClassVar[int] = 1  # of the value that adds up: 1, or 2 for squares
    shapes: ClassVar[tuple[frozenset[str], ...]] = ()  # the names by which a policy declares such a budget
    relation: Relation

    def __init_subclass__(cls) -> None:
        NOTIONS[cls.__name__] = cls

    @property
    def value(self) -> Fraction:
        """The number that the notion bounds."""
        return self.numbers()[self.number]

    @property
    def failure(self) -> Fraction:
        """The probability with which the bound may fail."""
        return self.numbers().get("delta", Fraction(0))

    @property
    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """The loss of the worst mechanism that keeps this promise."""

    @abstractmethod
    def value_of(self, loss: PrivacyLoss) -> float:
        """Return the value of a loss in this notion, never below the truth."""

    @property
    def has_ends(self) -> bool:
        """Whether the number has two proved ends rather than a closed form."""
        return False

    def ends_of(self, loss: PrivacyLoss, *, width: float) -> Interval:
        """Return proved ends of that number, about `width` apart where that can be chosen."""
        value = self.value_of(loss)
        return Interval(value, value)

    def is_kept(self, loss: PrivacyLoss) -> bool:
        """Return whether the loss is shown to keep the notion where its ends leave that open."""
        return False

    @abstractmethod
    def covers(self, loss: PrivacyLoss) -> bool:
        """Return whether a loss provably keeps this promise."""

    @abstractmethod
    def cost_of_loss(self, loss: PrivacyLoss) -> Cost | None:
        """Return what a mechanism with this loss costs; None where the notion has no price for it."""

    @abstractmethod
    def cost_of_promise(self, promise: "Notion") -> Cost | None:
        """Return what a mechanism that keeps a promise costs; None where the notion has no price for it."""

    def for_group(self, people: int) -> "Notion | None":
        """Return the promise for groups of so many people, along a chain of neighbours; None if unknown."""
        return None

    # What a promise is in the measures of the other notions; None where it is not known.

    def as_epsilon_and_delta(self) -> Cost | None:
        """Return (ε, δ)."""
        return None

    def as_rho_and_delta(self) -> Cost | None:
        """Return (ρ, δ)."""
        return None

    def as_renyi(self, order: Fraction) -> Fraction | None:
        """Return the Rényi divergence at an order."""
        return None

    def as_mu_squared(self) -> Fraction | None:
        """Return μ²."""
        return None

    # The same for every notion.

    @property
    def amount(self) -> Fraction:
        """What adds up: the value, or its square."""
        return self.value**self.power

    @property
    def measure(self) -> tuple[str, ...]:
        """Equal for notions in which every charge costs the same."""
        return self.rule, self.relation

    def numbers(self) -> dict[str, Fraction]:
        """Return the exact numbers by name."""
        names = [field.name for field in fields(self) if field.name != "relation"]  # type: ignore[arg-type]
        return {name: getattr(self, name) for name in names}

    def computed(self, value: Fraction, failure: Fraction) -> Self:
        """Return this notion with a value and failure that were computed: they may be 0, or tiny."""
        found = {self.number: value, "delta": failure}
        return self._with({name: found.get(name, number) for name, number in self.numbers().items()})

    def least(self, others: Iterable["Notion"]) -> Self:
        """Return the part of this budget that the others admit as well; one without a delta admits none."""
        numbers = self.numbers()
        for other in others:
            theirs = other.numbers()
            numbers = {name: min(number, theirs.get(name, Fraction(0))) for name, number in numbers.items()}
        return self._with(numbers)

    def under(self, relation: str) -> Self:
        """Return the same numbers under another relation."""
        return self._with(self.numbers(), relation)

    def _with(self, numbers: Mapping[str, Fraction], relation: str | None = None) -> Self:
        changed = object.__new__(type(self))
        for name, number in {**numbers, "relation": relation or self.relation}.items():
            object.__setattr__(changed, name, number)
        return changed

    def to_json(self) -> dict[str, str]:
        """Return the notion by name and exact numbers."""
        texts = {name: str(number) for name, number in self.numbers().items()}
        return {"notion": type(self).__name__, **texts, "relation": self.relation}

    def _repr_html_(self) -> str:
        return facts_html(repr(self), {name: str(float(number)) for name, number in self.numbers().items()})

    def describe(self) -> str:
        """Return the numbers with their names, short."""
        return ", ".join(f"{name} {float(number):.6g}" for name, number in self.numbers().items())


def read_notion(facts: dict[str, str]) -> Notion:
    """Return the notion that `Notion.to_json` wrote."""
    numbers = {name: Fraction(text) for name, text in facts.items() if name not in ("notion", "relation")}
    if facts.get("notion") not in NOTIONS:
        raise InvalidParameter("a stored notion must be one of " + ", ".join(NOTIONS) + ".")
    notion: Notion = NOTIONS[facts["notion"]](**numbers, relation=check_relation(facts["relation"]))
    return notion


def make_notion(numbers: Mapping[str, Any], relation: str = "add/remove") -> Notion:
    """Return the notion that a policy declares by these names.

    >>> make_notion({"epsilon": 1, "delta": 1e-6}).describe()
    'epsilon 1, delta 1e-06'
    """
    made: Notion = find_notion(numbers)(**numbers, relation=check_relation(relation))
    return made


def find_notion(names: Iterable[str]) -> type[Any]:
    """Return the notion whose budgets are declared by these names."""
    for kind in NOTIONS.values():
        if frozenset(names) in kind.shapes:
            return kind
    raise InvalidParameter(
        f"budget must be {_list_shapes()}, got {sorted(map(str, names)) or 'nothing'}.", parameter="budget"
    )


def _list_shapes() -> str:
    known = [shape for kind in NOTIONS.values() for shape in kind.shapes]
    shown = ["{ " + ", ".join(sorted(shape, key=lambda name: name == "delta")) + " }" for shape in known]
    return ", ".join(shown[:-1]) + " or " + shown[-1]
