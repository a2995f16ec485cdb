"""The price of a ready-made statistic, and the noise it buys."""

import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.kernel.laws import show
from discreet.kernel.losses import Relation, check_relation
from discreet.kernel.mechanisms.additive import Additive
from discreet.kernel.mechanisms.gaussian import Gaussian
from discreet.kernel.mechanisms.laplace import Laplace
from discreet.kernel.numerics import (
    Estimate,
    Interval,
    Real,
    ball,
    exact_delta,
    exact_epsilon,
    exact_whole,
    round_up,
    working_precision,
)

FAR_BELOW = 100  # delta should stay below 1/(FAR_BELOW · N)


class DeltaWarning(UserWarning):
    """A delta that would let someone among the population be exposed."""


def warn_about_delta(delta: Fraction, population: Real | None) -> None:
    """Warn if delta is not far below 1/N, N being the declared population.

    A mechanism may publish each record with probability δ and still be (0, δ)-DP: some of N people are then
    exposed with probability 1 - (1 - δ)^N.
    """
    if population is None or delta == 0:
        return
    people = exact_whole(population, name="population", least=1)
    if delta * people * FAR_BELOW > 1:
        warnings.warn(
            f"delta {show(delta)} is not far below 1/{people}, one over the declared population: "
            f"a mechanism with this delta may expose someone. Take at most {1 / (FAR_BELOW * people):.1g}.",
            DeltaWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class Price:
    """Laplace noise for δ = 0, Gaussian noise for δ > 0; `parts` equal shares of one price."""

    epsilon: Fraction
    delta: Fraction
    relation: Relation
    parts: int = 1

    @classmethod
    def of(cls, epsilon: Real, delta: Real, relation: Relation, population: Real | None) -> "Price":
        """Check a price."""
        failure = exact_delta(delta)
        warn_about_delta(failure, population)
        return cls(exact_epsilon(epsilon), failure, check_relation(relation))

    def split(self, parts: int) -> "Price":
        """Return one of so many equal shares."""
        return replace(self, epsilon=self.epsilon / parts, delta=self.delta / parts, parts=parts)

    def mechanism(self, *, l1: int, l2: Fraction) -> Additive:
        """Return noise on whole numbers that one person changes by at most l1 (added up) and l2
        (Euclidean)."""
        if self.delta == 0:
            return Laplace(epsilon=self.epsilon, sensitivity=l1, step=1, relation=self.relation)
        return Gaussian(
            epsilon=self.epsilon, delta=self.delta, sensitivity=l2, step=1, relation=self.relation
        )

    def release(
        self, total: Any, *, sensitivity: int, step: Fraction = Fraction(1), confidence: Real
    ) -> Estimate:
        """Release a whole number of steps, with noise, as a number."""
        noise = self.mechanism(l1=sensitivity, l2=Fraction(sensitivity))
        return self._estimate(noise, noise.release(int(total)), 1, step, confidence)

    def release_cells(self, counts: Any, *, confidence: Real) -> list[Estimate]:
        """Release counts of disjoint cells, each with noise of its own, all intervals holding together."""
        if self.relation == "add/remove":
            noise = self.mechanism(l1=1, l2=Fraction(1))
        else:
            with working_precision(128):
                noise = self.mechanism(l1=2, l2=Fraction(round_up(ball(2).sqrt())))
        released = noise.release([int(cell) for cell in counts])
        return [self._estimate(noise, cell, len(released), Fraction(1), confidence) for cell in released]

    @staticmethod
    def _estimate(noise: Any, released: int, dimension: int, step: Fraction, confidence: Real) -> Estimate:
        scale = float(step)
        reach = noise.error(confidence=confidence, dimension=dimension)
        ends = Interval((released - reach) * scale, (released + reach) * scale)
        value = released if step == 1 else released * scale
        return Estimate(value, noise.variance**0.5 * scale, ends, float(confidence))
