"""Report noisy max: add noise to every score, publish only the index of the largest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.losses import PrivacyLoss, Relation, bounded_range, pure
from discreet.mechanisms.example import Example
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.noisy_selection import NoisySelection
from discreet.mechanisms.permute_and_flip import permute_and_flip_law
from discreet.mechanisms.selection import Candidate, Kind, check_pairing
from discreet.numerics import Real
from discreet.randomness import (
    Source,
    choice,
    fresh_source,
    permute_and_flip,
    uniform_below,
)
from discreet.randomness.scores import Scores

Noise: TypeAlias = Literal["laplace", "exponential", "gumbel"]


@dataclass(frozen=True, init=False)
class NoisyMax(NoisySelection):
    """argmax of score + noise, the noise of scale 2Δ/ε; Δ/ε for monotone scores under add/remove.

    Gumbel noise gives exactly the exponential mechanism's law, exponential noise exactly that of
    permute-and-flip: both are sampled as such. Laplace noise is discrete, on multiples of `step`; ties are
    broken uniformly.

    Privacy: ε-DP (Dwork and Roth 2014, Claim 3.9, for monotone counts; docs/theory/selection.md proves it for
    general scores, whole-number noise and ties). The largest noisy score itself is never part of the answer.

    >>> NoisyMax(epsilon=1, sensitivity=1, scores="monotone").scale, NoisyMax(epsilon=1, sensitivity=1).scale
    (Fraction(1, 1), Fraction(2, 1))
    """

    noise: Noise

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real,
        scores: Kind = "general",
        noise: Noise = "laplace",
        step: Real | None = None,
        relation: Relation = "add/remove",
    ) -> None:
        super().__init__(
            epsilon=epsilon, sensitivity=sensitivity, scores=scores, step=step, relation=relation
        )
        if noise not in ("laplace", "exponential", "gumbel"):
            raise InvalidParameter(
                f'noise must be "laplace", "exponential" or "gumbel", got {str(noise)[:60]}.',
                parameter="noise",
            )
        object.__setattr__(self, "noise", noise)

    @property
    def loss(self) -> PrivacyLoss:
        """Bounded range ε with Gumbel noise; else the loss of any ε-DP mechanism."""
        family = bounded_range if self.noise == "gumbel" else pure
        return family(epsilon=self.epsilon, relation=self.relation)

    def choose(self, candidates: Sequence[Candidate], scores: Scores) -> Candidate:
        """One of the candidates."""
        check_pairing(candidates, scores)
        return candidates[self._choose(scores, fresh_source())]

    def _choose(self, scores: Scores, source: Source) -> int:
        if self.noise == "gumbel":
            return choice(source, scores, self.factor)
        if self.noise == "exponential":
            return permute_and_flip(source, scores, self.factor)
        return _random_best(self._noisy(scores, source), source)

    def probabilities(self, scores: Scores) -> tuple[float, ...]:
        """The probability of each candidate, for Gumbel and exponential noise."""
        if self.noise == "laplace":
            raise InvalidParameter(
                'noise must be "gumbel" or "exponential" for a law in closed form, got "laplace".',
                parameter="noise",
            )
        if self.noise == "exponential":
            return permute_and_flip_law(scores, self.factor)
        return Exponential(
            epsilon=self.epsilon, sensitivity=self.sensitivity, scores=self.scores, relation=self.relation
        ).probabilities(scores)

    def describe(self) -> str:
        """One sentence for a receipt."""
        return self._describe(f"Report noisy max with {self.noise} noise")

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Cases for the shared checks."""
        counts = cls(epsilon=1, sensitivity=1, scores="monotone", step=1)
        general = cls(epsilon=2, sensitivity=1, step=1)
        exponential = cls(epsilon=1, sensitivity=1, noise="exponential")
        gumbel = cls(epsilon=1, sensitivity=1, noise="gumbel", relation="replace")
        return (
            Example(counts, ((3, 2, 2), (3, 3, 3)), counts._choose),
            Example(general, ((2, 1, 1), (1, 2, 2)), general._choose),
            Example(exponential, ((2, 1, 1), (1, 2, 2)), exponential._choose),
            Example(gumbel, ((2, 1, 1), (1, 2, 2)), gumbel._choose),
        )


def _random_best(noisy: NDArray[Any], source: Source) -> int:
    best = np.flatnonzero(noisy == noisy.max())
    return int(best[uniform_below(source, best.size)]) if best.size > 1 else int(best[0])
