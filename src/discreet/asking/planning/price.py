"""What a question is asked with: its price, how that meets the budget, and options of the plan."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.policy import Budget, Policy, Relation, spell
from discreet.asking.queries import Question, Slot, quote, walk
from discreet.errors import InvalidParameter, PolicyViolation
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, Notion, PureDP, make_notion
from discreet.kernel.numerics import Real, exact_delta, exact_epsilon, exact_positive

Within: TypeAlias = Real | Mapping[str, Real]
Numbers: TypeAlias = tuple[tuple[str, Fraction], ...]  # by column

SMALLEST_DELTA = Fraction(1, 2**200)
SMALLEST_RHO = Fraction(1, 2**121)  # what the smallest epsilon costs in rho
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
            return cls(Share(rho=_read_rho(rho)), None, failure)
        if epsilon is not None:
            return cls(Share(epsilon=exact_epsilon(epsilon)), None, failure)
        limits = list(within.values()) if isinstance(within, Mapping) else [within]
        for each in limits:
            exact_positive(each, name="within")  # type: ignore[arg-type]
        return cls(None, within, failure)


def _read_rho(rho: Real) -> Fraction:
    """Return a question's rho: one whose noise is a double."""
    found = exact_positive(rho, name="rho")
    if found < SMALLEST_RHO:
        raise InvalidParameter("rho must be at least 2^-121. Name a larger one.", parameter="rho")
    return found


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


def takes_gaussian_only(policy: Policy, share: Share) -> bool:
    """Return whether only Gaussian noise fits the budget."""
    return isinstance(budget_of(policy), GDP) and share.rho is not None


def adds_epsilons(policy: Policy, share: Share) -> bool:
    """Return whether the budget adds up epsilons and deltas."""
    return isinstance(budget_of(policy), PureDP | ApproxDP) and share.epsilon is not None


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
    """`bounds` is "auto" where missing ones are to be found; `split` gives columns their weights, `limit` the
    most that one unit adds to them.

    >>> PlanOptions.read(split={"n": 1, "total": 3}).comment
    ' /* split n 1, total 3 */'
    >>> PlanOptions.read(split={"n 1, total": 3}).comment
    ' /* split "n 1, total" 3 */'
    """

    bounds: str | None = None
    split: Numbers = ()
    limit: Numbers = ()

    @classmethod
    def read(
        cls,
        *,
        bounds: str | None = None,
        split: Mapping[str, Real] | None = None,
        limit: Mapping[str, Real] | None = None,
    ) -> "PlanOptions":
        """Read the options of `ask`."""
        if bounds not in (None, "auto"):
            raise InvalidParameter(f'bounds must be "auto" or absent, got {bounds!r}.', parameter="bounds")
        return cls(bounds, _read_columns(split, "split", "weights"), _read_columns(limit, "limit", "limits"))

    @property
    def comment(self) -> str:
        """What the ledger keeps with the question's text: other options make another question."""
        parts = [f"bounds {self.bounds}"] if self.bounds else []
        for what, given in (("split", self.split), ("limit", self.limit)):
            if given:
                parts.append(f"{what} " + ", ".join(f"{quote(name)} {spell(each)}" for name, each in given))
        return f" /* {'; '.join(parts)} */" if parts else ""

    def weights(self, question: Question) -> tuple[Fraction, ...]:
        """Return the weight of each aggregate: the largest of the columns that use it, 1 where none says."""
        stated = _by_measure(question, self.split, "split")
        return tuple(stated.get(place, Fraction(1)) for place in range(len(question.measures)))

    def limits(self, question: Question) -> tuple[Fraction | None, ...]:
        """Return the limit of each aggregate, in its own unit: the largest of the columns that use it."""
        stated = _by_measure(question, self.limit, "limit")
        return tuple(map(stated.get, range(len(question.measures))))


def _read_columns(given: Mapping[str, Real] | None, name: str, what: str) -> Numbers:
    """Return positive numbers by column, in the columns' order."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidParameter(f"{name} must map columns to {what}.", parameter=name)
    if not all(isinstance(column, str) for column in given or ()):
        raise InvalidParameter(f"{name} must name columns by text.", parameter=name)
    read = {column: exact_positive(number, name=name) for column, number in (given or {}).items()}
    return tuple(sorted(read.items()))


def _by_measure(question: Question, given: Numbers, what: str) -> dict[int, Fraction]:
    """Return by aggregate the largest number of the columns that use it."""
    named, first = dict(given), len(question.keys)
    for name in named:
        if name not in dict(question.columns):
            raise InvalidParameter(
                f"{what} must name columns of the question, got {name[:60]!r}.", parameter=what
            )
    stated: dict[int, Fraction] = {}
    for name, expression in question.columns:
        for slot in walk(expression):
            if isinstance(slot, Slot) and slot.index >= first and name in named:
                place = slot.index - first
                stated[place] = max(stated.get(place, Fraction(0)), named[name])
    return stated
