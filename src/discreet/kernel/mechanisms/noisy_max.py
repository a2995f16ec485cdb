"""Report noisy max: add noise to every score, publish only the index of the largest.

Tested by: tests/mechanisms/test_noisy_selection.py, tests/conformance/test_mechanisms.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, compute_noisy_max, compute_permute_and_flip, compute_softmax
from discreet.kernel.losses import PrivacyLoss, Relation, bounded_range, pure
from discreet.kernel.mechanisms.inputs import all_to_steps
from discreet.kernel.mechanisms.lattice import FINEST
from discreet.kernel.mechanisms.mechanism import Case, Kind
from discreet.kernel.mechanisms.selection import Candidate, NoisySelection, check_pairing
from discreet.kernel.numerics import Real
from discreet.kernel.randomness import (
    Source,
    choice,
    fresh_source,
    permute_and_flip,
    uniform_below,
)
from discreet.kernel.randomness.selection import Scores

Noise: TypeAlias = Literal["laplace", "exponential", "gumbel"]


@dataclass(frozen=True, init=False, repr=False)
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
        self._fix(noise=noise)

    @property
    def loss(self) -> PrivacyLoss:
        """Return the loss: bounded range ε with Gumbel noise, otherwise that of any ε-DP mechanism."""
        family = bounded_range if self.noise == "gumbel" else pure
        return family(epsilon=self.epsilon, relation=self.relation)

    def choose(self, candidates: Sequence[Candidate], scores: Scores) -> Candidate:
        """Choose one of the candidates."""
        check_pairing(candidates, scores)
        return candidates[self.draw(scores, fresh_source())]

    def draw(self, scores: Scores, source: Source) -> int:
        """Choose by index, with randomness from `source`."""
        if self.noise == "gumbel":
            return choice(source, scores, self.factor)
        if self.noise == "exponential":
            return permute_and_flip(source, scores, self.factor)
        return _random_best(self._noisy(scores, source), source)

    def probabilities(self, scores: Scores) -> tuple[float, ...]:
        """Return the probability of each candidate, for Gumbel and exponential noise."""
        if self.noise == "laplace":
            raise InvalidParameter(
                'noise must be "gumbel" or "exponential" for a law in closed form, got "laplace".',
                parameter="noise",
            )
        law = self.law(scores)
        assert law is not None
        return tuple(float(law[i].mid()) for i in range(len(scores)))

    def law(self, scores: Scores) -> FiniteLaw | None:
        """Return the probability of each index; None for Laplace noise on a fine lattice."""
        if self.noise == "gumbel":
            return compute_softmax(scores, self.factor)
        if self.noise == "exponential":
            return compute_permute_and_flip(scores, self.factor)
        if self.sensitivity / self.step > FINEST:
            return None
        return compute_noisy_max(all_to_steps(scores, self.step).tolist(), self._noise)

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        return self._describe(f"Report noisy max with {self.noise} noise")

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        pair = ((2, 1, 1), (1, 2, 2))
        unit = {"epsilon": 1, "sensitivity": 1}
        return (
            Case({**unit, "scores": "monotone", "step": 1}, ((3, 2, 2), (3, 3, 3))),
            Case({"epsilon": 2, "sensitivity": 1, "step": 1}, pair),
            Case({**unit, "noise": "exponential"}, pair),
            Case({**unit, "noise": "gumbel", "relation": "replace"}, pair),
        )


def _random_best(noisy: NDArray[Any], source: Source) -> int:
    best = np.flatnonzero(noisy == noisy.max())
    return int(best[uniform_below(source, best.size)]) if best.size > 1 else int(best[0])
