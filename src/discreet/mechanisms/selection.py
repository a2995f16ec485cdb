"""What every selection mechanism shares: its parameters, and how scores set the noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, TypeVar

from discreet.errors import InvalidParameter
from discreet.losses import Relation
from discreet.losses.relation import check_relation
from discreet.mechanisms.additive import show
from discreet.numerics import (
    Real,
    ball,
    exact_confidence,
    exact_epsilon,
    exact_positive,
    exact_whole,
    round_up,
    working_precision,
)
from discreet.randomness.scores import Scores

Kind: TypeAlias = Literal["general", "monotone"]
Candidate = TypeVar("Candidate")


@dataclass(frozen=True, init=False)
class Selection:
    """A choice among public candidates by scores whose sensitivity is known."""

    epsilon: Fraction
    sensitivity: Fraction
    scores: Kind
    relation: Relation

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real,
        scores: Kind = "general",
        relation: Relation = "add/remove",
    ) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "sensitivity", exact_positive(sensitivity, name="sensitivity"))
        object.__setattr__(self, "scores", scores)
        object.__setattr__(self, "relation", check_relation(relation))
        self._movement()  # refuses what the relation does not allow

    def _movement(self) -> int:
        """How many sensitivities the gap of two scores can move between neighbours: 2, or 1 if all move one
        way.

        Monotone scores all rise, or all fall, when a person is added; replacing a person is one of each, so
        the promise says nothing there.
        """
        if self.scores not in ("general", "monotone"):
            raise InvalidParameter(
                f'scores must be "general" or "monotone", got {str(self.scores)[:60]}.', parameter="scores"
            )
        if self.scores == "general":
            return 2
        if self.relation != "add/remove":
            raise InvalidParameter(
                f'scores must be "general" under the relation {self.relation}, got "monotone". '
                "Replacing a person raises some scores and lowers others.",
                parameter="scores",
            )
        return 1

    @property
    def factor(self) -> Fraction:
        """What multiplies a score in the exponent: ε/2Δ, or ε/Δ for monotone scores."""
        return self.epsilon / (self._movement() * self.sensitivity)

    def _describe(self, name: str) -> str:
        return (
            f"{name} with epsilon {show(self.epsilon)} over {self.scores} scores "
            f"of sensitivity {show(self.sensitivity)} ({self.relation})."
        )


def check_pairing(candidates: Sequence[Candidate], scores: Scores) -> None:
    """One score for each candidate, and at least one of them."""
    if len(candidates) != len(scores):
        raise InvalidParameter(
            f"scores must hold one number for each of the {len(candidates)} candidates, got {len(scores)}.",
            parameter="scores",
        )
    if len(candidates) == 0:
        raise InvalidParameter(
            "candidates must hold at least one candidate, got none.", parameter="candidates"
        )


def check_counts(candidates: Real, optimal: Real) -> tuple[int, int]:
    """How many candidates there are, and how many of them are best."""
    total = exact_whole(candidates, name="candidates", least=1)
    best = exact_whole(optimal, name="optimal", least=1)
    if best > total:
        raise InvalidParameter(
            f"optimal must be at most the number of candidates {total}, got {best}.", parameter="optimal"
        )
    return total, best


def tail_gap(*, mass: Fraction, factor: Fraction, confidence: Real) -> float:
    """The least gap g with mass·exp(-factor·g) ≤ 1 - confidence, rounded up; never below 0."""
    missed = 1 - exact_confidence(confidence)
    with working_precision(128):
        return max(0.0, round_up(ball(mass / missed).log() / ball(factor)))
