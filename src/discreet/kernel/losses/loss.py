"""PrivacyLoss: what a release costs. Losses add when releases go together, and multiply when repeated."""

import json
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from discreet.errors import DiscreetError, InvalidParameter
from discreet.kernel.losses import extremes, moments, questions
from discreet.kernel.losses.family import (
    Family,
    Relation,
    Term,
    check_relation,
    gather,
    read_terms,
    show_terms,
)
from discreet.kernel.numerics import (
    Interval,
    Real,
    exact,
    exact_delta,
    exact_positive,
    exact_probability,
    exact_whole,
    facts_html,
    readable_up,
)

if TYPE_CHECKING:
    from discreet.kernel.losses.distribution import LossDistribution


def _shown(value: float) -> str:
    return readable_up(value) if math.isfinite(value) else ""


@dataclass(frozen=True, repr=False)
class PrivacyLoss:
    """The loss of a plan fixed in advance: terms, each a family with its count, under one relation.

    δ(ε) = max over both directions of sup_S Pr[M(D) ∈ S] − e^ε·Pr[M(D′) ∈ S].

    Privacy: every answer is rounded to the safe side; each number lies in a proved interval.
    """

    terms: tuple[Term, ...] = ()
    relation: Relation = "add/remove"

    def __post_init__(self) -> None:
        check_relation(self.relation)
        object.__setattr__(self, "terms", gather(self.terms))

    @classmethod
    def of(cls, family: Family, relation: Relation) -> "PrivacyLoss":
        """One use of one family."""
        return cls((Term(family),), check_relation(relation))

    # --- algebra -------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> "PrivacyLoss":
        if isinstance(other, int) and other == 0:  # where sum() starts
            return self
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        if self.relation != other.relation:
            raise InvalidParameter(
                f"losses must share one relation to be added, got {self.relation} and {other.relation}.",
                parameter="relation",
            )
        return PrivacyLoss(self.terms + other.terms, self.relation)

    __radd__ = __add__

    def _unordered(self, other: object) -> Any:
        """Refuse to say which of two losses is smaller: that depends on delta."""
        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        raise InvalidParameter(
            "losses must be compared in one number, and which is smaller can depend on it, got two losses. "
            "Compare a.epsilon(delta=1e-6) with b.epsilon(delta=1e-6), or their rho or mu."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _unordered

    def __mul__(self, count: object) -> "PrivacyLoss":
        if isinstance(count, bool) or not isinstance(count, int):
            return NotImplemented
        times = exact_whole(count, name="count")
        return PrivacyLoss(tuple(Term(term.family, term.count * times) for term in self.terms), self.relation)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        words = show_terms(self.terms)
        return words if self.relation == "add/remove" else f"{words} ({self.relation})"

    def _repr_html_(self) -> str:
        """Show in a notebook what the loss says in each measure that it has."""
        facts = {f"epsilon at delta {delta}": self._shown_epsilon(delta) for delta in ("0", "1e-9", "1e-6")}
        facts |= {"rho": _shown(self.rho), "mu": _shown(self.mu)}
        return facts_html(repr(self), {name: text for name, text in facts.items() if text})

    def _shown_epsilon(self, delta: str) -> str:
        try:
            return _shown(self.epsilon(delta=Decimal(delta)))
        except DiscreetError:  # work is bounded: some losses have no quick answer
            return ""

    # --- questions -----------------------------------------------------------------------------------------

    def epsilon(self, *, delta: Real) -> float:
        """The least ε that is known to hold with this δ: never below the truth."""
        return self.epsilon_interval(delta=delta).upper

    def epsilon_interval(self, *, delta: Real, width: float = 1e-3) -> Interval:
        """Two ends around the least ε >= 0 with δ(ε) <= delta; `width`, relative to ε, is what is aimed at.

        Where the exact value is not known, the lower end is what a known mechanism attains.
        """
        return self._bounded(delta, float(exact_positive(width, name="width")))

    def _bounded(self, delta: Real, width: float) -> Interval:
        limit = exact_delta(delta)
        if limit == 0:
            top = extremes.pure_epsilon(self.terms)
            return Interval(extremes.least_pure_epsilon(self.terms), top)
        return questions.epsilon_interval(self.terms, limit, width)

    def delta(self, *, epsilon: Real) -> float:
        """δ(ε), never below the truth."""
        return self.delta_interval(epsilon=epsilon).upper

    def delta_interval(self, *, epsilon: Real) -> Interval:
        """Two ends around δ(ε)."""
        value = exact(epsilon, name="epsilon")
        if value < 0:
            raise InvalidParameter(f"epsilon must be >= 0, got {epsilon}.", parameter="epsilon")
        return questions.delta_interval(self.terms, value)

    def trade_off(self, alpha: Real) -> Interval:
        """Two ends around the least chance of a miss, over all attackers with this chance of a false alarm.

        >>> from discreet.kernel.losses import pure
        >>> round(pure(epsilon=1).trade_off(0.1).lower, 6)
        0.728172
        """
        from discreet.kernel.losses.trade_off import trade_off

        return trade_off(self, alpha)

    @property
    def rho(self) -> float:
        """ρ of zero-concentrated DP, or infinity."""
        return moments.zcdp_rho(self.terms)

    @property
    def mu(self) -> float:
        """μ of Gaussian DP, or infinity: what is neither Gaussian nor bounded has none."""
        return moments.gaussian_mu(self.terms)

    def renyi(self, order: Real) -> float:
        """The Rényi divergence of this order > 1, in both directions; math.inf asks for the largest loss."""
        if order == math.inf:
            return extremes.pure_epsilon(self.terms)
        value = exact(order, name="order")
        if value <= 1:
            raise InvalidParameter(f"order must be > 1, got {order}.", parameter="order")
        return moments.renyi_divergence(self.terms, value)

    def for_group(self, size: int) -> "PrivacyLoss":
        """The loss for groups of this many people.

        Privacy: term by term; a shift is stretched, a guarantee follows the chain of neighbours.
        """
        people = exact_whole(size, name="size", least=1)
        if people == 1:
            return self
        return PrivacyLoss(
            tuple(Term(term.family.for_group(people), term.count) for term in self.terms), self.relation
        )

    def under_replace(self) -> "PrivacyLoss":
        """The loss where neighbours replace one person: that one leaves, and another comes.

        Privacy: of a group of two; for Gaussians on a Poisson sample less, by the pair of such an exchange.

        >>> from discreet.kernel.losses import laplace
        >>> laplace(scale=2).under_replace()
        laplace(scale=2, sensitivity=2) (replace)
        """
        if self.relation != "add/remove":
            raise InvalidParameter(
                f"the loss must be under add/remove, got {self.relation}.", parameter="relation"
            )
        terms = tuple(Term(term.family.under_replace(), term.count) for term in self.terms)
        return PrivacyLoss(terms, "replace")

    def sampled(self, rate: Real) -> "PrivacyLoss":
        """The whole loss as one mechanism on one Poisson sample of the people; add/remove only.

        (a + b).sampled(q) shares the sample; a.sampled(q) + b.sampled(q) draws two.
        """
        from discreet.kernel.losses.sampled import Sampled  # a family that asks questions of losses

        if self.relation != "add/remove":
            raise InvalidParameter(
                f"sampled losses must be under add/remove, got {self.relation}.", parameter="relation"
            )
        share = exact_probability(rate, name="rate")
        if share == 1 or not self.terms:
            return self
        if share == 0:
            return PrivacyLoss((), self.relation)
        return PrivacyLoss.of(Sampled(self.terms, share), self.relation)

    def drawn(self, *, batch: int, of: int) -> "PrivacyLoss":
        """The whole loss on one batch drawn without replacement; Gaussians under replace only.

        >>> from discreet.kernel.losses import gaussian
        >>> gaussian(sigma=2, relation="replace").drawn(batch=10, of=1000)
        drawn(gaussian(sigma=2, sensitivity=1), batch=10, of=1000) (replace)
        """
        from discreet.kernel.losses.drawn import Drawn

        if self.relation != "replace":
            raise InvalidParameter(
                f"losses on batches of one size must be under replace, got {self.relation}.",
                parameter="relation",
            )
        family = Drawn(self.terms, exact_whole(batch, name="batch"), exact_whole(of, name="of"))
        return self if family.batch == family.of else PrivacyLoss.of(family, self.relation)

    def best_of(self, runs: Real) -> "PrivacyLoss":
        """The loss of showing the best alone of many runs, where after each one stops with chance 1/runs.

        Privacy: three times the largest loss at most, and less by moments, however many runs there were; the
        chance is fixed beforehand, and stopping depends on nothing that came out.

        >>> from discreet.kernel.losses import pure
        >>> pure(epsilon=0.5).best_of(20).epsilon(delta=0)
        1.5
        """
        from discreet.kernel.losses.best_of import BestOf

        family = BestOf(self.terms, exact_positive(runs, name="runs"))
        return self if family.runs == 1 or not self.terms else PrivacyLoss.of(family, self.relation)

    def distribution(self, direction: Literal["remove", "add"] = "remove") -> "LossDistribution":
        """The privacy loss random variable, in one direction of the relation.

        >>> from discreet.kernel.losses import laplace
        >>> laplace(scale=1).distribution().atoms
        ((1.0, 0.5), (-1.0, 0.18393972058572117))
        """
        from discreet.kernel.losses.distribution import LossDistribution

        if direction not in ("remove", "add"):
            raise InvalidParameter(f"direction must be remove or add, got {str(direction)[:60]}.")
        return LossDistribution(self.terms, 0 if direction == "remove" else 1)

    # --- JSON ----------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The loss by its exact parameters; no derived number is stored."""
        return {"relation": self.relation, "terms": [term.to_json() for term in self.terms]}

    @classmethod
    def from_json(cls, data: str | dict[str, Any]) -> "PrivacyLoss":
        """The loss that `to_json` wrote, as an object or as text."""
        if isinstance(data, str):
            try:
                data = json.loads(data)
            except json.JSONDecodeError:
                raise InvalidParameter("a stored loss must be JSON.") from None
        if not isinstance(data, dict):
            raise InvalidParameter("a stored loss must be a JSON object.")
        return cls(read_terms(data.get("terms")), check_relation(data.get("relation", "")))
