"""The discrete Gaussian mechanism.

Tested by: tests/mechanisms/test_gaussian.py, tests/conformance/test_mechanisms.py
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from discreet.errors import InvalidParameter
from discreet.kernel.laws import DiscreteGaussianLaw
from discreet.kernel.losses import PrivacyLoss, Relation, zcdp
from discreet.kernel.mechanisms.gaussian import calibrate, rounded_distance
from discreet.kernel.mechanisms.lattice import SMALLEST_PRICE, choose_step
from discreet.kernel.mechanisms.mechanism import Additive, Case
from discreet.kernel.numerics import (
    Real,
    ball,
    exact_delta,
    exact_epsilon,
    exact_positive,
    least_passing,
    round_up,
    working_precision,
)

_TOLERANCE = Fraction(1, 2**20)


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussian(Additive):
    """Noise on the multiples of a step with Pr[noise = k·step] ∝ exp(-(k·step)²/2σ²).

    `sensitivity` is Euclidean; `dimension` promises how many of the released numbers one unit can change at
    once, and decides which of the two guarantees is charged; to release several it must be given.

    Privacy: s²/2σ²-zCDP in any dimension, and the exact curve in one (Canonne, Kamath and Steinke, NeurIPS
    2020, Theorems 4 and 7); s counts the sensitivity after rounding. Never Gaussian DP: its tails are not
    Gaussian.
    Accuracy: Var ≤ σ² (same); Pr[|noise| > a] ≤ Pr[|N(0, σ²)| ≥ a] (same).

    >>> DiscreteGaussian(sigma=10, sensitivity=1).loss.rho
    0.005
    """

    sigma: Fraction
    sensitivity: Fraction
    step: Fraction
    dimension: int
    relation: Relation

    _loss_needs_dimension: ClassVar[bool] = True
    norm = 2

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        sigma: Real | None = None,
        rho: Real | None = None,
        sensitivity: Real,
        step: Real | None = None,
        dimension: Real | None = None,
        relation: Relation = "add/remove",
    ) -> None:
        if (epsilon is None) != (delta is None) or [epsilon, sigma, rho].count(None) != 2:
            raise InvalidParameter(
                "DiscreteGaussian must have exactly one of sigma, rho, and epsilon with delta.",
                parameter="sigma",
            )
        reach, numbers = self._declare(sensitivity=sensitivity, dimension=dimension, relation=relation)
        unit = _unit_sigma(epsilon=epsilon, delta=delta, rho=rho)
        nominal = exact_positive(sigma, name="sigma") if sigma is not None else unit * reach
        grid = choose_step(step, scale=min(nominal, reach / SMALLEST_PRICE), sensitivity=reach)
        fixed = nominal if sigma is not None else unit * rounded_distance(reach, grid, numbers)
        self._fix(sigma=fixed, step=grid)
        if epsilon is not None and delta is not None:
            self._fix(sigma=self._least_sigma(exact_epsilon(epsilon), exact_delta(delta)))

    def _least_sigma(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Return noise enough for (ε, δ), tested on the law that is sampled."""
        return least_passing(
            lambda sigma: self._loss(sigma).delta(epsilon=epsilon) <= delta,
            start=self.sigma,
            tolerance=_TOLERANCE,
        )

    def _loss(self, sigma: Fraction) -> PrivacyLoss:
        distance = rounded_distance(self.sensitivity, self.step, self.dimension)
        if self.dimension == 1:
            return DiscreteGaussianLaw(sigma, self.step).loss(distance, self.relation)
        return zcdp(rho=distance**2 / (2 * sigma**2), relation=self.relation)

    @cached_property
    def noise(self) -> DiscreteGaussianLaw:
        """Return the law of the noise."""
        return DiscreteGaussianLaw(self.sigma, self.step)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """Return what one release costs."""
        return self._loss(self.sigma)

    def describe(self) -> str:
        """Return a sentence that states the law."""
        return f"{super().describe()} in {self.dimension} numbers at once"

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        calibrated = {"epsilon": 1, "delta": Fraction(1, 1000), "sensitivity": 2, "relation": "replace"}
        return (
            Case({"sigma": Fraction(3, 2), "sensitivity": 1}, (0, 1)),
            Case(calibrated, (3, 1)),
        )


def _unit_sigma(*, epsilon: Real | None, delta: Real | None, rho: Real | None) -> Fraction:
    """Return σ for sensitivity 1: exact for ρ, a first guess for (ε, δ)."""
    if rho is not None:
        with working_precision(128):
            return Fraction(round_up((2 * ball(exact_positive(rho, name="rho"))).rsqrt()))
    if epsilon is not None and delta is not None:
        return calibrate(epsilon, delta, "analytic")
    return Fraction(1)
