"""The staircase mechanism: the least noise for pure differential privacy at one sensitivity.

Tested by: tests/mechanisms/test_noise_laws.py, tests/conformance/test_mechanisms.py
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from discreet.kernel.laws import StaircaseLaw, choose_width, show
from discreet.kernel.losses import PrivacyLoss, Relation, staircase
from discreet.kernel.mechanisms.lattice import SMALLEST_PRICE, choose_step
from discreet.kernel.mechanisms.mechanism import Additive, Case
from discreet.kernel.numerics import Real, exact_epsilon, exact_whole


@dataclass(frozen=True, init=False, repr=False)
class Staircase(Additive):
    """Pr[noise = ±(j·d + i) steps] ∝ e^(-jε) for i < r, e^(-(j+1)ε) for r ≤ i < d; d steps are one
    sensitivity.

    `width` r is the inner stair; the default has the least variance. With d = 1 this is discrete Laplace
    noise.

    Privacy: ε-DP, because a shift by at most d steps moves by at most one stair (docs/theory/statistics.md;
    Geng and Viswanath, IEEE Trans. Inf. Theory 2016). If one unit changes `dimension` numbers
    at once, each gets ε/dimension: the stairs do not add up over an l1 ball. For several numbers it must be
    given.
    Accuracy: at ε = 6 its variance is about a quarter of Laplace noise's.

    >>> Staircase(epsilon=3, sensitivity=8).width
    3
    """

    epsilon: Fraction
    sensitivity: Fraction
    step: Fraction
    width: int
    dimension: int
    relation: Relation

    _loss_needs_dimension: ClassVar[bool] = True

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real,
        step: Real | None = None,
        width: Real | None = None,
        dimension: Real | None = None,
        relation: Relation = "add/remove",
    ) -> None:
        price = exact_epsilon(epsilon)
        reach, _ = self._declare(sensitivity=sensitivity, dimension=dimension, relation=relation)
        grid = choose_step(step, scale=reach / max(price, SMALLEST_PRICE), sensitivity=reach)
        self._fix(epsilon=price, step=grid)
        if width is None:
            inner = choose_width(float(self._price), self._stairs)
        else:
            inner = min(exact_whole(width, name="width", least=1), self._stairs)
        self._fix(width=inner)

    @property
    def _price(self) -> Fraction:
        """Return the ε of each released number."""
        return self.epsilon / self.dimension

    @property
    def _stairs(self) -> int:
        """Return d, the sensitivity in steps after rounding."""
        return math.ceil(self.sensitivity / self.step)

    @cached_property
    def noise(self) -> StaircaseLaw:
        """Return the law of the noise of each released number."""
        return StaircaseLaw(self._price, self._stairs, self.width, self.step)

    @property
    def loss(self) -> PrivacyLoss:
        """Return the exact loss of each number, once for each of them."""
        each = staircase(epsilon=self._price, stairs=self._stairs, width=self.width, relation=self.relation)
        return self.dimension * each

    def describe(self) -> str:
        """Return a sentence that states the law."""
        together = f", epsilon {show(self.epsilon)} together" if self.dimension > 1 else ""
        return f"{super().describe()} in {self.dimension} numbers at once{together}"

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        return (
            Case({"epsilon": 1, "sensitivity": 4}, (0, 4)),
            Case({"epsilon": Fraction(1, 2), "sensitivity": 3, "width": 3}, (0, 2)),
        )
