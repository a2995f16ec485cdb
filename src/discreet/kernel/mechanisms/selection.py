"""What every selection mechanism shares: its parameters, and how scores set the noise."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.laws import LaplaceLaw, show
from discreet.kernel.losses import Relation, check_relation
from discreet.kernel.mechanisms.inputs import all_to_steps, fine_step
from discreet.kernel.mechanisms.lattice import choose_step
from discreet.kernel.mechanisms.mechanism import Frozen, Kind, Pair, vectors
from discreet.kernel.numerics import (
    Real,
    ball,
    exact_confidence,
    exact_epsilon,
    exact_positive,
    exact_whole,
    round_up,
    working_precision,
)
from discreet.kernel.randomness import Source
from discreet.kernel.randomness.selection import Scores

Candidate = TypeVar("Candidate")

_CANDIDATES = 4  # of the neighbouring scores


@dataclass(frozen=True, init=False, repr=False)
class Selection(Frozen, ABC):
    """A choice among public candidates by scores whose sensitivity is known; the scores are the data."""

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
        self._fix(
            epsilon=exact_epsilon(epsilon),
            sensitivity=exact_positive(sensitivity, name="sensitivity"),
            scores=scores,
            relation=check_relation(relation),
        )
        self._movement()  # refuses what the relation does not allow

    def _movement(self) -> int:
        """Return how many sensitivities the gap of two scores can move between neighbours: 2, or 1 if all
        move one way.

        Monotone scores all rise, or all fall, when a person is added; replacing a person is one of each, so
        the promise holds no more there.
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
        """Return what multiplies a score in the exponent: ε/2Δ, or ε/Δ for monotone scores."""
        return self.epsilon / (self._movement() * self.sensitivity)

    @abstractmethod
    def choose(self, candidates: Sequence[Candidate], scores: Scores) -> Any:
        """Choose among the candidates."""

    @abstractmethod
    def draw(self, scores: Scores, source: Source) -> Any:
        """Choose by index, with randomness from `source`."""

    def sample(self, scores: Scores, n: int) -> list[Any]:
        """Choose by index, n times."""
        return [self.choose(range(len(scores)), scores) for _ in range(n)]

    def neighbours(self) -> Sequence[Pair]:
        """Return scores of a few candidates, each moved by at most one sensitivity."""
        size = self.sensitivity
        return [
            ([score * size for score in first], [score * size for score in second])
            for first, second in vectors(dimension=_CANDIDATES, scores=self.scores)
        ]

    def _describe(self, name: str) -> str:
        return (
            f"{name} with epsilon {show(self.epsilon)} over {self.scores} scores "
            f"of sensitivity {show(self.sensitivity)} ({self.relation})."
        )


@dataclass(frozen=True, init=False, repr=False)
class NoisySelection(Selection):
    """Scores on multiples of `step`, with discrete Laplace noise.

    Only indices leave, so a fine step costs nothing, and makes ties rare.
    """

    step: Fraction

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real,
        scores: Kind,
        step: Real | None,
        relation: Relation,
        answers: int = 1,
    ) -> None:
        super().__init__(epsilon=epsilon, sensitivity=sensitivity, scores=scores, relation=relation)
        nominal = answers / self.factor
        fine = fine_step(scale=nominal, sensitivity=self.sensitivity)
        chosen = choose_step(fine if step is None else step, scale=nominal, sensitivity=self.sensitivity)
        self._fix(step=chosen)

    @property
    def _answers(self) -> int:
        """Return how many indices are released."""
        return 1

    @property
    def scale(self) -> Fraction:
        """Return the scale of the noise; rounding to the lattice may add less than a step to the
        sensitivity."""
        return self._spread * self.step

    @property
    def _spread(self) -> Fraction:
        """Return the scale in steps: 2kΔ/ε for k indices, kΔ/ε for monotone scores."""
        return self._answers * self._movement() * Fraction(-(-self.sensitivity // self.step)) / self.epsilon

    @property
    def _noise(self) -> LaplaceLaw:
        """Return the law of the noise, in steps."""
        return LaplaceLaw(self._spread)

    def _noisy(self, scores: Scores, source: Source) -> NDArray[Any]:
        """Return every score in steps, each with noise of its own."""
        steps = all_to_steps(scores, self.step, name="scores")
        noise = self._noise.draw(source, steps.size)
        if noise.dtype != object and steps.size and int(abs(noise).max()) >= 1 << 61:
            noise = noise.astype(object)
        noisy: NDArray[Any] = steps + noise
        return noisy


def check_pairing(candidates: Sequence[Candidate], scores: Scores) -> None:
    """Check that there is one score for each candidate, and at least one candidate."""
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
    """Check how many candidates there are, and how many of them are best."""
    total = exact_whole(candidates, name="candidates", least=1)
    best = exact_whole(optimal, name="optimal", least=1)
    if best > total:
        raise InvalidParameter(
            f"optimal must be at most the number of candidates {total}, got {best}.", parameter="optimal"
        )
    return total, best


def tail_gap(*, mass: Fraction, factor: Fraction, confidence: Real) -> float:
    """Return the least gap g with mass·exp(-factor·g) ≤ 1 - confidence, rounded up; never below 0."""
    missed = 1 - exact_confidence(confidence)
    with working_precision(128):
        return max(0.0, round_up(ball(mass / missed).log() / ball(factor)))
