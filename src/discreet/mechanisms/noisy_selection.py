"""Selection by Laplace noise on every score, on a lattice of its own."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from discreet.losses import Relation
from discreet.mechanisms.lattice import choose_step
from discreet.mechanisms.selection import Kind, Selection
from discreet.mechanisms.steps import all_to_steps, fine_step
from discreet.numerics import Real
from discreet.randomness import Source, discrete_laplace
from discreet.randomness.scores import Scores


@dataclass(frozen=True, init=False)
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
        object.__setattr__(self, "step", chosen)

    @property
    def _answers(self) -> int:
        """How many indices leave."""
        return 1

    @property
    def scale(self) -> Fraction:
        """The scale of the noise; rounding to the lattice may add less than a step to the sensitivity."""
        return self._spread * self.step

    @property
    def _spread(self) -> Fraction:
        """The scale in steps: 2kΔ/ε for k indices, kΔ/ε for monotone scores."""
        return self._answers * self._movement() * Fraction(-(-self.sensitivity // self.step)) / self.epsilon

    def _noisy(self, scores: Scores, source: Source) -> NDArray[Any]:
        """Every score in steps, each with noise of its own."""
        steps = all_to_steps(scores, self.step, name="scores")
        noise = discrete_laplace(source, self._spread, steps.size)
        if noise.dtype != object and steps.size and int(abs(noise).max()) >= 1 << 61:
            noise = noise.astype(object)
        noisy: NDArray[Any] = steps + noise
        return noisy
