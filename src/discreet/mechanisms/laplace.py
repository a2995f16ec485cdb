"""The Laplace mechanism, exactly: discrete Laplace noise on a lattice."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from discreet.errors import InvalidParameter
from discreet.losses import PrivacyLoss, Relation, check_relation, discrete_laplace as discrete_laplace_loss
from discreet.mechanisms.additive import Additive, show
from discreet.mechanisms.example import Example
from discreet.mechanisms.lattice import SMALLEST_PRICE, Lattice, choose_step
from discreet.numerics import (
    Arb,
    Real,
    ball,
    exact_epsilon,
    exact_positive,
    exact_whole,
    working_precision,
)
from discreet.randomness import Source, discrete_laplace

_BITS = 256


@dataclass(frozen=True, init=False)
class Laplace(Additive):
    """Discrete Laplace noise on the multiples of a step.

    Pr[noise = k · step] = (1-q)/(1+q) · q^|k|,  q = exp(-step/scale)

    `sensitivity` is the most that one unit changes the released numbers, added up; `dimension` how many of
    them it can change at once (1 unless given), which matters only where rounding moves numbers.

    Privacy: epsilon = s · step/scale with s = ⌈sensitivity/step⌉ + dimension - 1 steps after rounding, and
    the exact curve of that law (Ghosh, Roughgarden and Sundararajan 2009; docs/theory/lattice.md).
    Accuracy: `error` and `interval` hold exactly for this law.

    >>> Laplace(epsilon=0.5, sensitivity=1).scale
    Fraction(2, 1)
    """

    scale: Fraction
    sensitivity: Fraction
    step: Fraction
    dimension: int
    relation: Relation

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        scale: Real | None = None,
        sensitivity: Real,
        step: Real | None = None,
        dimension: Real | None = None,
        relation: str = "add/remove",
    ) -> None:
        reach = exact_positive(sensitivity, name="sensitivity")
        numbers = 1 if dimension is None else exact_whole(dimension, name="dimension", least=1)
        if scale is not None and epsilon is None:
            fixed = exact_positive(scale, name="scale")
            grid = choose_step(step, scale=fixed, sensitivity=reach)
        elif epsilon is not None and scale is None:
            price = exact_epsilon(epsilon)
            grid = choose_step(step, scale=reach / max(price, SMALLEST_PRICE), sensitivity=reach)
            fixed = _steps(reach, grid, numbers) * grid / price
        else:
            raise InvalidParameter("Laplace must have exactly one of epsilon and scale.", parameter="epsilon")
        known = check_relation(relation)
        self._fix(scale=fixed, sensitivity=reach, step=grid, dimension=numbers, relation=known)
        self._fix(_assumed=dimension is None)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """What one release costs."""
        steps = _steps(self.sensitivity, self.step, self.dimension)
        return discrete_laplace_loss(scale=self._spread, sensitivity=steps, relation=self.relation)

    @cached_property
    def variance(self) -> float:
        """2q/(1-q)² · step², the variance of the noise."""
        with working_precision(_BITS):
            half = 1 / (2 * ball(self._spread))
            return float((ball(self.step) / half.sinh()) ** 2 / 2)

    def describe(self) -> str:
        """The law in words."""
        return (
            f"discrete Laplace noise of scale {show(self.scale)} on multiples of {show(self.step)}, "
            f"for a sensitivity of {show(self.sensitivity)}"
        )

    @cached_property
    def _spread(self) -> Fraction:
        return self.scale / self.step

    @property
    def _length(self) -> Fraction:
        return self.scale

    def _noise(self, source: Source, size: int | None) -> Any:
        return discrete_laplace(source, self._spread, size)

    def _reach(self, confidence: Arb) -> Arb:
        # Pr[|noise| > a] = 2 q^(a+1) / (1+q)
        spread = ball(self._spread)
        return -spread * ((1 - confidence) * (1 + (-1 / spread).exp()) / 2).log() - 1

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Cases for the shared checks."""
        one, two = cls(epsilon=1, sensitivity=1), cls(scale=3, sensitivity=2, relation="replace")
        return Example(one, (0, 1), one._release), Example(two, (5, 3), two._release)


def _steps(sensitivity: Fraction, step: Fraction, dimension: int) -> int:
    """Steps by which rounded values can differ, added up: less than sensitivity/step + dimension."""
    return math.ceil(sensitivity / step) + (dimension - 1 if Lattice(step).moves else 0)
