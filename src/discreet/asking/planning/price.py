"""What a question is asked with: its price, how that meets the budget, and options of the plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.policy import Budget, Policy, Relation, spell
from discreet.asking.queries import Question, Slot, quote, walk
from discreet.errors import InvalidParameter, PolicyViolation
from discreet.kernel.losses import ZCDP, ApproxDP, Notion, PureDP, make_notion
from discreet.kernel.numerics import Real, exact_delta, exact_epsilon, exact_positive

Within: TypeAlias = Real | Mapping[str, Real]

SMALLEST_DELTA = Fraction(1, 2**200)
_KEYS_PART = 16  # a question with private keys takes this part of the opening delta by default


@dataclass(frozen=True)
class Share:
    """A part of the price: epsilon and delta, or rho."""

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def times(self, part: Fraction) -> "Share":
        """Return that part of the share.

        >>> Share(epsilon=Fraction(1)).times(Fraction(1, 4)).epsilon
        Fraction(1, 4)
        """
        return Share(
            None if self.epsilon is None else self.epsilon * part,
            self.delta * part,
            None if self.rho is None else self.rho * part,
        )


@dataclass(frozen=True)
class Price:
    """What may be spent: epsilon and delta, or rho; or an error to keep within, the price being found."""

    share: Share | None
    within: Within | None
    delta: Fraction | None  # as asked for; None where the default holds

    @classmethod
    def read(
        cls,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        rho: Real | None = None,
        within: Within | None = None,
    ) -> "Price":
        """Return the price from the arguments of `ask`: exactly one of epsilon, rho and within."""
        if sum(each is not None for each in (epsilon, rho, within)) != 1:
            raise InvalidParameter(
                "a question must be asked with exactly one of epsilon, rho and within.", parameter="epsilon"
            )
        failure = None if delta is None else _read_delta(delta)
        if rho is not None:
            return cls(Share(rho=exact_positive(rho, name="rho")), None, failure)
        if epsilon is not None:
            return cls(Share(epsilon=exact_epsilon(epsilon)), None, failure)
        limits = list(within.values()) if isinstance(within, Mapping) else [within]
        for each in limits:
            exact_positive(each, name="within")  # type: ignore[arg-type]
        return cls(None, within, failure)


def _read_delta(delta: Real) -> Fraction:
    """Return a question's delta: 0, or one that noise can be calibrated to in no time."""
    failure = exact_delta(delta)
    if 0 < failure < SMALLEST_DELTA:
        raise InvalidParameter("delta must be 0, or at least 2^-200. Leave it out.", parameter="delta")
    return failure


def budget_of(policy: Policy) -> Notion:
    """Return the policy's budget as a notion, under the policy's relation."""
    return as_notion(policy.budget, policy.relation)


def as_notion(budget: Budget, relation: Relation) -> Notion:
    """Return a declared budget as a notion."""
    return make_notion(dict(budget), relation)


def named_price(policy: Policy, price: PureDP | ApproxDP | ZCDP) -> PureDP | ApproxDP | ZCDP | None:
    """Return the price as the ledger gets it; None where its rule does better by the loss itself."""
    budget = budget_of(policy)
    if isinstance(price, ZCDP):
        return price if isinstance(budget, ZCDP) else None
    return price if isinstance(price, ApproxDP) or isinstance(budget, PureDP | ApproxDP) else None


def delta_for(policy: Policy, price: Price, *, public_keys: bool) -> Fraction:
    """Return the delta of a question: as asked, else 0 with public keys and a sixteenth of the opening delta
    without.
    """
    if price.delta is not None:
        return price.delta
    opening = dict(policy.budget).get("delta", Fraction(0))
    return Fraction(0) if public_keys else opening / _KEYS_PART


def check_keys(delta: Fraction) -> None:
    """Refuse private keys where no rule could pay for them."""
    if delta == 0:
        raise PolicyViolation(
            "private keys must be paid for with delta > 0, and there is none. "
            "Declare the keys in the policy, or ask for a budget with delta."
        )


@dataclass(frozen=True)
class PlanOptions:
    """`bounds` is "auto" where missing ones are to be found; `split` gives columns their weights.

    >>> PlanOptions.read(split={"n": 1, "total": 3}).comment
    ' /* split n 1, total 3 */'
    >>> PlanOptions.read(split={"n 1, total": 3}).comment
    ' /* split "n 1, total" 3 */'
    """

    bounds: str | None = None
    split: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def read(cls, *, bounds: str | None = None, split: Mapping[str, Real] | None = None) -> "PlanOptions":
        """Read the options of `ask`."""
        if bounds not in (None, "auto"):
            raise InvalidParameter(f'bounds must be "auto" or absent, got {bounds!r}.', parameter="bounds")
        if split is not None and not isinstance(split, Mapping):
            raise InvalidParameter("split must map columns to weights.", parameter="split")
        if not all(isinstance(name, str) for name in split or ()):
            raise InvalidParameter("split must name columns by text.", parameter="split")
        weights = {name: exact_positive(weight, name="split") for name, weight in (split or {}).items()}
        return cls(bounds, tuple(sorted(weights.items())))

    @property
    def comment(self) -> str:
        """What the ledger keeps with the question's text: other options make another question."""
        parts = [f"bounds {self.bounds}"] if self.bounds else []
        if self.split:
            parts.append(
                "split " + ", ".join(f"{quote(name)} {spell(weight)}" for name, weight in self.split)
            )
        return f" /* {'; '.join(parts)} */" if parts else ""

    def weights(self, question: Question) -> tuple[Fraction, ...]:
        """Return the weight of each aggregate: the largest of the columns that use it, 1 where none says."""
        found = [Fraction(1)] * len(question.measures)
        first, given = len(question.keys), dict(self.split)
        for name in given:
            if name not in dict(question.columns):
                raise InvalidParameter(
                    f"split must name columns of the question, got {name[:60]!r}.", parameter="split"
                )
        stated: dict[int, Fraction] = {}
        for name, expression in question.columns:
            for slot in walk(expression):
                if isinstance(slot, Slot) and slot.index >= first and name in given:
                    place = slot.index - first
                    stated[place] = max(stated.get(place, Fraction(0)), given[name])
        for place, weight in stated.items():
            found[place] = weight
        return tuple(found)
