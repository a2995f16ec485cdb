"""The Laplace mechanism, exactly: discrete Laplace noise on a lattice."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.errors import InvalidParameter
from discreet.kernel.laws import LaplaceLaw
from discreet.kernel.losses import PrivacyLoss, Relation
from discreet.kernel.mechanisms.lattice import SMALLEST_PRICE, Lattice, choose_step
from discreet.kernel.mechanisms.mechanism import Additive, Case
from discreet.kernel.numerics import Real, exact_epsilon, exact_positive


@dataclass(frozen=True, init=False, repr=False)
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
        reach, numbers = self._declare(sensitivity=sensitivity, dimension=dimension, relation=relation)
        if scale is not None and epsilon is None:
            fixed = exact_positive(scale, name="scale")
            grid = choose_step(step, scale=fixed, sensitivity=reach)
        elif epsilon is not None and scale is None:
            price = exact_epsilon(epsilon)
            grid = choose_step(step, scale=reach / max(price, SMALLEST_PRICE), sensitivity=reach)
            fixed = _steps(reach, grid, numbers) * grid / price
        else:
            raise InvalidParameter("Laplace must have exactly one of epsilon and scale.", parameter="epsilon")
        self._fix(scale=fixed, step=grid)

    @cached_property
    def noise(self) -> LaplaceLaw:
        """Return the law of the noise."""
        return LaplaceLaw(self.scale, self.step)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """Return what one release costs."""
        moved = _steps(self.sensitivity, self.step, self.dimension)
        return self.noise.loss(moved * self.step, self.relation)

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        return (
            Case({"epsilon": 1, "sensitivity": 1}, (0, 1)),
            Case({"scale": 3, "sensitivity": 2, "relation": "replace"}, (5, 3)),
        )


def _steps(sensitivity: Fraction, step: Fraction, dimension: int) -> int:
    """Return by how many steps rounded values differ, added up: less than sensitivity/step + dimension."""
    return math.ceil(sensitivity / step) + (dimension - 1 if Lattice(step).moves else 0)
