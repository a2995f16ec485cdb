"""The discrete Gaussian mechanism."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from discreet.errors import InvalidParameter
from discreet.losses import (
    PrivacyLoss,
    Relation,
    check_relation,
    discrete_gaussian as discrete_gaussian_loss,
    zcdp,
)
from discreet.mechanisms.additive import Additive, show
from discreet.mechanisms.example import Example
from discreet.mechanisms.gaussian import calibrate, rounded_distance
from discreet.mechanisms.lattice import SMALLEST_PRICE, choose_step
from discreet.numerics import (
    Arb,
    Real,
    ball,
    exact_delta,
    exact_epsilon,
    exact_positive,
    exact_whole,
    least_passing,
    round_up,
    working_precision,
)
from discreet.randomness import Source, discrete_gaussian

_TOLERANCE = Fraction(1, 2**20)


@dataclass(frozen=True, init=False)
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
        reach = exact_positive(sensitivity, name="sensitivity")
        numbers = 1 if dimension is None else exact_whole(dimension, name="dimension", least=1)
        unit = _unit_sigma(epsilon=epsilon, delta=delta, rho=rho)
        nominal = exact_positive(sigma, name="sigma") if sigma is not None else unit * reach
        grid = choose_step(step, scale=min(nominal, reach / SMALLEST_PRICE), sensitivity=reach)
        fixed = nominal if sigma is not None else unit * rounded_distance(reach, grid, numbers)
        known = check_relation(relation)
        self._fix(sigma=fixed, sensitivity=reach, step=grid, dimension=numbers, relation=known)
        self._fix(_assumed=dimension is None)
        if epsilon is not None and delta is not None:
            self._fix(sigma=self._least_sigma(exact_epsilon(epsilon), exact_delta(delta)))

    def _least_sigma(self, epsilon: Fraction, delta: Fraction) -> Fraction:
        """Noise enough for (ε, δ), tested on the law that is sampled."""
        return least_passing(
            lambda sigma: self._loss(sigma).delta(epsilon=epsilon) <= delta,
            start=self.sigma,
            tolerance=_TOLERANCE,
        )

    def _loss(self, sigma: Fraction) -> PrivacyLoss:
        distance = rounded_distance(self.sensitivity, self.step, self.dimension)
        if self.dimension == 1:
            steps = math.ceil(distance / self.step)
            return discrete_gaussian_loss(sigma=sigma / self.step, sensitivity=steps, relation=self.relation)
        return zcdp(rho=distance**2 / (2 * sigma**2), relation=self.relation)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """What one release costs."""
        return self._loss(self.sigma)

    @cached_property
    def variance(self) -> float:
        """The variance of the noise; σ² but for a σ of few steps, where it is less."""
        spread = self.sigma / self.step
        return float(self.sigma**2) if spread > 10 else float(self.step) ** 2 * _small_variance(spread)

    @property
    def _length(self) -> Fraction:
        return self.sigma

    def _noise(self, source: Source, size: int | None) -> Any:
        return discrete_gaussian(source, self.sigma / self.step, size)

    def _reach(self, confidence: Arb) -> Arb:
        return ball(2).sqrt() * ball(self.sigma / self.step) * confidence.erfinv()

    def describe(self) -> str:
        """The law in words."""
        return (
            f"discrete Gaussian noise of sigma {show(self.sigma)} on multiples of {show(self.step)}, "
            f"for a sensitivity of {show(self.sensitivity)} in {self.dimension} numbers at once"
        )

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Cases for the shared checks."""
        one = cls(sigma=Fraction(3, 2), sensitivity=1)
        two = cls(epsilon=1, delta=Fraction(1, 1000), sensitivity=2, relation="replace")
        return Example(one, (0, 1), one._release), Example(two, (3, 1), two._release)


def _unit_sigma(*, epsilon: Real | None, delta: Real | None, rho: Real | None) -> Fraction:
    """σ for sensitivity 1: exact for ρ, a first guess for (ε, δ)."""
    if rho is not None:
        with working_precision(128):
            return Fraction(round_up((2 * ball(exact_positive(rho, name="rho"))).rsqrt()))
    if epsilon is not None and delta is not None:
        return calibrate(epsilon, delta, "analytic")
    return Fraction(1)


@lru_cache(maxsize=256)
def _small_variance(spread: Fraction) -> float:
    """Σ k²·exp(-k²/2s²) / Σ exp(-k²/2s²) for s <= 10, where 400 terms leave nothing out."""
    masses = [math.exp(-k * k / (2 * float(spread) ** 2)) for k in range(1, 400)]
    return math.fsum(k * k * mass for k, mass in enumerate(masses, 1)) / (0.5 + math.fsum(masses))
