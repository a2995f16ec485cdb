"""Neighbouring relations, families of dominating pairs with the one registry that reads them back, and terms.

A family is named by exact parameters. For each direction of its relation it offers, in Arb balls,
- `dominating`: a pair that bounds every mechanism of the family (None where only moments are known),
- `witness`: a pair that some mechanism of the family attains, so that lower bounds are lower bounds,
- `log_moment`: a bound on ln E[e^(θL)], for mechanisms known by their Rényi divergences,
- closed forms where they are proved: `zcdp_rho`, `mu_squared`, `gdp_mu_squared`.

A term says how often a family is used. Repetition is written here, once for all families.

Tested by: tests/losses/test_family.py, tests/losses/test_loss.py
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses.pair import Pair
from discreet.kernel.numerics import Arb, ball, exact, exact_whole, rational_above, working_precision

Relation: TypeAlias = Literal["add/remove", "replace", "local"]

RELATIONS: tuple[Relation, ...] = get_args(Relation)


def check_relation(relation: str) -> Relation:
    """The relation of that name.

    >>> check_relation("replace")
    'replace'
    """
    for known in RELATIONS:
        if relation == known:
            return known
    raise InvalidParameter(
        f"relation must be one of {', '.join(RELATIONS)}, got {str(relation)[:60]}.", parameter="relation"
    )


Direction: TypeAlias = (
    int  # 0: the person is in P's data set and not in Q's ("remove"); 1: the other way ("add")
)
Curve: TypeAlias = Callable[[Arb], tuple[Arb, Arb]]
FAILURE_BITS = 256
LEAST_FAILURE = Fraction(1, 2**1074)
DIRECTIONS: tuple[Direction, ...] = (0, 1)


class Family(ABC):
    """One kind of mechanism, by its exact parameters. Subclasses are frozen dataclasses."""

    name: ClassVar[str]
    symmetric: ClassVar[bool] = True  # both directions have the same curve

    @abstractmethod
    def witness(self, direction: Direction) -> Pair:
        """A pair that a mechanism of this family attains."""

    def dominating(self, direction: Direction) -> Pair | None:
        """A pair that bounds every mechanism of this family; for an exact family, the witness itself."""
        return self.witness(direction)

    @property
    def has_dots(self) -> bool:
        """Whether `dotted` is known."""
        return False

    def dotted(self, direction: Direction, least: int, coarser: int = 0) -> tuple[Pair, Pair] | None:
        """Pairs above and below, through dots down to δ = 2^−least, where the exact pair may be dear.

        On a lattice 2^coarser times as wide as usual, where the family has such a choice; below 0, with more
        dots.
        """
        return None

    @property
    def exact(self) -> bool:
        """Whether the witness is also the dominating pair, so that composition has one true value."""
        return True

    def log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        """A bound on ln E[e^(θL); L < ∞] for θ > 0, or None where there is none at this θ."""
        pair = self.dominating(direction)
        return None if pair is None else pair.log_moment(theta)

    def highest_theta(self) -> Fraction | None:
        """The θ beyond which `log_moment` is None, where there is such an end."""
        return None

    def failure(self, direction: Direction) -> Arb:
        """A bound on Pr[L = ∞]."""
        pair = self.dominating(direction)
        return arb(0) if pair is None else pair.failure()

    def largest(self, direction: Direction) -> Arb | None:
        """A bound on the finite losses, or None where they are unbounded."""
        pair = self.dominating(direction)
        return None if pair is None else pair.largest()

    def attained_largest(self, direction: Direction) -> Arb | None:
        """The largest loss of some mechanism of the family, or None where that has no bound."""
        pair = self.witness(direction)
        return None if pair.failure() > 0 else pair.largest()

    def rational_largest(self, direction: Direction) -> Fraction | None:
        """The largest loss, where it is rational."""
        return None

    def rational_failure(self, direction: Direction) -> Fraction | None:
        """Pr[L = ∞], where it is rational."""
        return Fraction(0)

    def failure_at_most(self, direction: Direction) -> Fraction:
        """Pr[L = ∞], or a rational of bounded length just above it."""
        exactly = self.rational_failure(direction)
        if exactly is not None:
            return exactly
        with working_precision(FAILURE_BITS):
            return max(min(rational_above(self.failure(direction)), Fraction(1)), LEAST_FAILURE)

    def zcdp_rho(self) -> Arb | None:
        """ρ of ρ-zCDP; without a sharper proof, that of any mechanism with this largest loss."""
        top = self._pure_epsilon()
        return None if top is None else pure_rho(top)

    def _pure_epsilon(self) -> Arb | None:
        """The largest loss of both directions, where nothing fails outright."""
        tops = [self.largest(direction) for direction in DIRECTIONS]
        if any(not self.failure(direction).is_zero() for direction in DIRECTIONS):
            return None
        known = [top for top in tops if top is not None]
        return None if len(known) < len(tops) else known[0].max(known[1])

    def rational_rho(self) -> Fraction | None:
        """ρ of ρ-zCDP, where it is known and rational."""
        squared = self.mu_squared()
        return None if squared is None else squared / 2

    def mu_squared(self) -> Fraction | None:
        """μ² of Gaussian DP, for families that are Gaussian."""
        return None

    def gdp_mu_squared(self) -> Arb | None:
        """μ² of μ-GDP; without a sharper proof, that of any mechanism with this largest loss."""
        squared, top = self.mu_squared(), self._pure_epsilon()
        if squared is not None:
            return ball(squared)
        return None if top is None else pure_mu_squared(top)

    def one_use(self, direction: Direction) -> Curve | None:
        """ε to balls below and above δ(ε) of one use, where they are known beyond the pairs' own curves."""
        return None

    def plain_log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        """A bound as `log_moment`, perhaps a worse one, that costs next to nothing."""
        return self.log_moment(theta, direction)

    def covers(self, other: "Family") -> bool:
        """Whether the other's curves are known to lie nowhere above this one's."""
        return self == other

    def alternatives(self) -> "tuple[Terms, ...]":
        """Losses of which one is the person's, for a family that is nothing else."""
        return ()

    def parted_group(self, size: int) -> "tuple[Family, ...]":
        """A group of this size, parted in each way into who leaves and who comes, where that is known."""
        return ()

    def parted(self) -> "tuple[Family, ...]":
        """The same for a family that is a group: one of these is the truth, one and the same for all uses."""
        return ()

    def chain(self) -> "tuple[Family, int] | None":
        """The family of one person and the size, for a group known by a chain of neighbours."""
        return None

    @abstractmethod
    def for_group(self, size: int) -> "Family":
        """The family for groups of this many people."""

    def under_replace(self) -> "Family":
        """The family where one person leaves and another comes: a group of two."""
        return self.for_group(2)

    # --- words and JSON ------------------------------------------------------------------------------------

    def parameters(self) -> dict[str, Any]:
        """The exact parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def to_json(self) -> dict[str, Any]:
        """The family's name and parameters, as strings of exact rationals."""
        return {"family": self.name, **{key: json_value(value) for key, value in self.parameters().items()}}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The family with these parameters."""
        return cls(**{key: parse_value(value, name=key) for key, value in data.items()})

    def __str__(self) -> str:
        inner = ", ".join(f"{key}={show(value)}" for key, value in self.parameters().items())
        return f"{self.name}({inner})"


def pure_rho(epsilon: Arb) -> Arb:
    """ε·tanh(ε/2): every ε-DP mechanism is zCDP with this ρ (Harrison and Manurangsi 2025)."""
    return epsilon * (epsilon / 2).tanh()


def pure_mu_squared(epsilon: Arb) -> Arb:
    """4·Φ⁻¹(e^ε/(1 + e^ε))²: every ε-DP mechanism is post-processing of randomised response (Kairouz, Oh and
    Viswanath 2015), and that is the sign of a Gaussian at distance μ.
    """
    return 8 * (2 / (epsilon.exp() + 1)).erfcinv() ** 2


def json_value(value: Any) -> Any:
    """A parameter as JSON: a rational is a string, a matrix a list of lists."""
    if isinstance(value, tuple):
        return [json_value(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return str(value)


def parse_value(value: Any, *, name: str) -> Any:
    """The parameter that `json_value` wrote."""
    if isinstance(value, list):
        return tuple(parse_value(item, name=name) for item in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if name == "order" and value in ("either", "given"):
        return value
    try:
        return exact(Fraction(value), name=name)
    except (ValueError, TypeError, ZeroDivisionError):
        raise InvalidParameter(
            f"{name} must be a rational number in a stored loss.", parameter=name
        ) from None


def show(value: Any) -> str:
    """A parameter in words: a short decimal where it is exact, else a fraction."""
    if isinstance(value, tuple):
        return "[" + ", ".join(show(item) for item in value) + "]"
    if not isinstance(value, Fraction) or value.denominator == 1:
        return str(value)
    if value.denominator < 10**300 and Fraction(repr(float(value))) == value:
        return repr(float(value))
    return str(value)


REGISTRY: dict[str, type[Family]] = {}


def register(kind: type[Family]) -> type[Family]:
    """Enter a family under its name, once."""
    assert kind.name not in REGISTRY
    REGISTRY[kind.name] = kind
    return kind


def read_family(data: dict[str, Any]) -> Family:
    """A family from its JSON."""
    rest = dict(data)
    name = rest.pop("family", None)
    if name not in REGISTRY:
        known = ", ".join(sorted(REGISTRY))
        raise InvalidParameter(f"the family of a stored loss must be one of {known}.", parameter="family")
    try:
        return REGISTRY[name].from_json(rest)
    except TypeError:
        raise InvalidParameter(f"the parameters of {name} in a stored loss must be its own.") from None


def scaled(value: Fraction, factor: int) -> Fraction:
    """value·factor, as an exact parameter of bounded length."""
    return exact(value * factor, name="parameter")


@dataclass(frozen=True)
class Term:
    """`count` uses of one family."""

    family: Family
    count: int = 1

    def __str__(self) -> str:
        return str(self.family) if self.count == 1 else f"{self.count} * {self.family}"

    def to_json(self) -> dict[str, Any]:
        """The term's family with its count."""
        return {"count": self.count, **self.family.to_json()}


Terms: TypeAlias = tuple[Term, ...]


def gather(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms in one order, equal families added up."""
    counts: dict[Family, int] = {}
    for term in terms:
        counts[term.family] = counts.get(term.family, 0) + term.count
    merged = (Term(family, count) for family, count in counts.items() if count)
    return tuple(sorted(merged, key=lambda term: str(term.family)))


def read_terms(data: Any) -> tuple[Term, ...]:
    """The terms that `Term.to_json` wrote."""
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise InvalidParameter("the terms of a stored loss must be a list of objects.", parameter="terms")
    return gather(_read_term(item) for item in data)


def _read_term(data: dict[str, Any]) -> Term:
    rest = dict(data)
    count = exact_whole(rest.pop("count", 1), name="count", least=1)
    return Term(read_family(rest), count)


def show_terms(terms: tuple[Term, ...]) -> str:
    """The terms as a sum."""
    return " + ".join(str(term) for term in terms) or "nothing"
