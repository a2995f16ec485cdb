"""The best of many private runs: a run is repeated, and the best of what came out is all that is shown."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from flint import arb, ctx

from discreet.errors import InvalidParameter
from discreet.kernel.losses.extremes import as_ball, at_most, failure_of, largest_of
from discreet.kernel.losses.family import (
    DIRECTIONS,
    Direction,
    Family,
    Term,
    parse_value,
    read_terms,
    register,
    show,
    show_terms,
)
from discreet.kernel.losses.moments import highest_theta_of, plain_moment_of, terms_log_moment
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.losses.tuning import minimise
from discreet.kernel.losses.work import remembered
from discreet.kernel.numerics import Arb, ball, exact_positive

TIMES = 3  # the largest loss of one run: the run that is shown, and twice for being the best


@register
@dataclass(frozen=True)
class BestOf(Family):
    """The best of K runs, Pr[K = k] = (1 − 1/r)^(k−1)/r: after each run one stops with chance 1/r.

    Privacy: moments only. With r the mean of K, for every order λ of one run and every other order μ,
    ε′(λ) = ε(λ) + 2(1 − 1/μ)·ε(μ) + 2·ln(r)/μ + ln(r)/(λ − 1), and three times their largest loss at most
    (Papernot and Steinke 2022, Theorem 2 with η = 1). K must be drawn, not chosen by what came out.
    """

    terms: tuple[Term, ...]
    runs: Fraction

    name = "best_of"
    symmetric = False

    def __post_init__(self) -> None:
        if exact_positive(self.runs, name="runs") < 1:
            raise InvalidParameter(f"runs must be >= 1 on average, got {self.runs}.", parameter="runs")
        if not all(at_most(failure_of(self.terms, way), Fraction(0)) for way in DIRECTIONS):
            raise InvalidParameter(
                "the best of many runs must be of runs that never fail outright (delta = 0).",
                parameter="loss",
            )

    @property
    def exact(self) -> bool:
        return False

    def witness(self, direction: Direction) -> Pair:
        """Runs that are all as good as each other: the first is shown."""
        if len(self.terms) == 1 and self.terms[0].count == 1:
            return self.terms[0].family.witness(direction)
        return Atoms([(arb(0), arb(1))])

    def dominating(self, direction: Direction) -> Pair | None:
        return None

    def log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        inner = terms_log_moment(self.terms, direction, theta)
        return None if inner is None else inner + theta * _chosen(self, ctx.prec) + ball(self.runs).log()

    def plain_log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        """With μ = 1 in place of the best."""
        inner = plain_moment_of(self.terms, direction, theta)
        return None if inner is None else inner + (2 * theta + 1) * ball(self.runs).log()

    def highest_theta(self) -> Fraction | None:
        ends = [term.family.highest_theta() for term in self.terms]
        return min((end for end in ends if end is not None), default=None)

    def failure(self, direction: Direction) -> Arb:
        return arb(0)

    def largest(self, direction: Direction) -> Arb | None:
        tops = [largest_of(self.terms, way) for way in DIRECTIONS]
        known = [as_ball(top) for top in tops if top is not None]
        return TIMES * known[0].max(known[1]) if len(known) == len(tops) else None

    def rational_largest(self, direction: Direction) -> Fraction | None:
        tops = [largest_of(self.terms, way) for way in DIRECTIONS]
        known = [top for top in tops if isinstance(top, Fraction)]
        return TIMES * max(known) if len(known) == len(tops) else None

    def for_group(self, size: int) -> Family:
        return BestOf(tuple(Term(term.family.for_group(size), term.count) for term in self.terms), self.runs)

    def to_json(self) -> dict[str, Any]:
        terms = [term.to_json() for term in self.terms]
        return {"family": self.name, "terms": terms, "runs": str(self.runs)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(read_terms(data["terms"]), parse_value(data["runs"], name="runs"))

    def __str__(self) -> str:
        return f"best_of({show_terms(self.terms)}, runs={show(self.runs)})"


@remembered(256)
def _chosen(family: BestOf, bits: int) -> Arb:
    """The least 2(1 − 1/μ)·ε(μ) + 2·ln(r)/μ that is found, = 2(K(ϑ) + ln r)/(1 + ϑ) with ϑ = μ − 1 >= 0."""
    tries = ball(family.runs).log()

    def above(theta: Arb) -> Arb | None:
        known = [terms_log_moment(family.terms, way, theta) for way in DIRECTIONS]
        if known[0] is None or known[1] is None:
            return None
        return 2 * (known[0].max(known[1]) + tries) / (1 + theta)

    def rough(theta: float) -> float:
        value = above(arb(theta))
        return float("inf") if value is None else float(value.mid())

    found = above(arb(minimise(rough, end=highest_theta_of(family.terms))))
    return 2 * tries if found is None or not found.is_finite() else found.min(2 * tries)
