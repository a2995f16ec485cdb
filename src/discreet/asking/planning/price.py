"""The price an asker names, and how it meets the budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.policy import Budget, Policy, Relation
from discreet.errors import InvalidParameter, PolicyViolation
from discreet.kernel.losses import ZCDP, ApproxDP, Notion, PureDP, make_notion
from discreet.kernel.numerics import Real, exact_delta, exact_epsilon, exact_positive

Within: TypeAlias = Real | Mapping[str, Real]

SMALLEST_DELTA = Fraction(1, 2**200)
_KEYS_PART = 16  # a question with private keys takes this part of the opening delta, unless told


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
        """The price from the arguments of `ask`: exactly one of epsilon, rho and within."""
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
    """A question's delta: 0, or one that noise can be calibrated to in no time."""
    failure = exact_delta(delta)
    if 0 < failure < SMALLEST_DELTA:
        raise InvalidParameter("delta must be 0, or at least 2^-200. Leave it out.", parameter="delta")
    return failure


def budget_of(policy: Policy) -> Notion:
    """The policy's budget as a notion, under the policy's relation."""
    return as_notion(policy.budget, policy.relation)


def as_notion(budget: Budget, relation: Relation) -> Notion:
    """A declared budget as a notion."""
    return make_notion(dict(budget), relation)


def named_price(policy: Policy, price: PureDP | ApproxDP | ZCDP) -> PureDP | ApproxDP | ZCDP | None:
    """The price as the ledger is told it; None where the account's rule does better by the loss itself."""
    budget = budget_of(policy)
    if isinstance(price, ZCDP):
        return price if isinstance(budget, ZCDP) else None
    return price if isinstance(price, ApproxDP) or isinstance(budget, PureDP | ApproxDP) else None


def delta_for(policy: Policy, price: Price, *, public_keys: bool) -> Fraction:
    """The delta of a question: as asked, else 0 with public keys and a sixteenth of the opening delta
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
