"""The Gaussian mechanism, exactly: the continuous Gaussian rounded to a lattice."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Literal, get_args

from discreet.errors import InvalidParameter
from discreet.kernel.laws import GaussianLaw, show
from discreet.kernel.losses import PrivacyLoss, Relation, gaussian as gaussian_loss
from discreet.kernel.mechanisms.lattice import SMALLEST_PRICE, Lattice, choose_step
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

Calibration = Literal["analytic", "classic"]

_BITS = 256


@dataclass(frozen=True, init=False, repr=False)
class Gaussian(Additive):
    """Gaussian noise, rounded to the multiples of a step.

    noise = step · ⌊Y/step + 1/2⌋,  Y ~ N(0, sigma²)

    `sensitivity` is the most that one unit changes the released numbers, in Euclidean distance; `dimension`
    how many of them it can change at once (1 unless given), which matters only where rounding moves numbers.

    Privacy: Gaussian DP with mu = s/sigma in any dimension, because rounding the noisy value to the lattice
    is post-processing (Dong, Roth and Su 2022); s counts the sensitivity after the values were rounded
    (docs/theory/lattice.md). "analytic" takes the least sigma for (epsilon, delta) (Balle and Wang 2018,
    Thm 8), "classic" sigma = √(2 ln(1.25/delta)) · s/epsilon, for epsilon < 1 (Dwork and Roth 2014, Thm A.1).
    Accuracy: `error` and `interval` hold exactly for this law.

    >>> Gaussian(sigma=20, sensitivity=1).step
    Fraction(1, 1)
    """

    sigma: Fraction
    sensitivity: Fraction
    step: Fraction
    dimension: int
    relation: Relation
    norm = 2

    def __init__(
        self,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        sigma: Real | None = None,
        sensitivity: Real,
        step: Real | None = None,
        calibration: Calibration = "analytic",
        dimension: Real | None = None,
        relation: str = "add/remove",
    ) -> None:
        reach, numbers = self._declare(sensitivity=sensitivity, dimension=dimension, relation=relation)
        if sigma is not None and epsilon is None and delta is None:
            fixed = exact_positive(sigma, name="sigma")
            grid = choose_step(step, scale=fixed, sensitivity=reach)
        elif sigma is None and epsilon is not None and delta is not None:
            unit = calibrate(epsilon, delta, calibration)
            nominal = min(unit, 1 / SMALLEST_PRICE) * reach
            grid = choose_step(step, scale=nominal, sensitivity=reach)
            fixed = unit * rounded_distance(reach, grid, numbers)
        else:
            raise InvalidParameter(
                "Gaussian must have either sigma, or epsilon and delta.", parameter="sigma"
            )
        self._fix(sigma=fixed, step=grid)

    @cached_property
    def noise(self) -> GaussianLaw:
        """Return the law of the noise."""
        return GaussianLaw(self.sigma, self.step)

    @cached_property
    def loss(self) -> PrivacyLoss:
        """Return what one release costs."""
        distance = rounded_distance(self.sensitivity, self.step, self.dimension)
        return self.noise.loss(distance, self.relation)

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        calibrated = {"epsilon": 1, "delta": Fraction(1, 1000), "sensitivity": 2, "relation": "replace"}
        return (
            Case({"sigma": Fraction(3, 2), "sensitivity": 1}, (0, 1)),
            Case(calibrated, (5, 3)),
        )


def rounded_distance(sensitivity: Fraction, step: Fraction, dimension: int) -> Fraction:
    """Return the distance of rounded values: each of `dimension` numbers moves by less than a step."""
    if not Lattice(step).moves:
        return sensitivity
    if dimension == 1:
        return math.ceil(sensitivity / step) * step
    with working_precision(_BITS):
        return sensitivity + Fraction(round_up(ball(dimension).sqrt())) * step


def calibrate(epsilon: Real, delta: Real, calibration: Calibration) -> Fraction:
    """Return a sigma for sensitivity 1 that gives (epsilon, delta), never too small."""
    price, failure = exact_epsilon(epsilon), exact_delta(delta)
    if failure == 0:
        raise InvalidParameter("delta must be > 0 for Gaussian noise, got 0.", parameter="delta")
    if calibration not in get_args(Calibration):
        raise InvalidParameter(
            f"calibration must be analytic or classic, got {str(calibration)[:60]}.", parameter="calibration"
        )
    return _classic(price, failure) if calibration == "classic" else _analytic(price, failure)


def _classic(epsilon: Fraction, delta: Fraction) -> Fraction:
    if epsilon >= 1:
        raise InvalidParameter(
            f"epsilon must be < 1 for classic calibration, got {show(epsilon)}. Use analytic.",
            parameter="epsilon",
        )
    with working_precision(_BITS):
        return Fraction(round_up((2 * (ball(Fraction(5, 4)) / ball(delta)).log()).sqrt() / ball(epsilon)))


@lru_cache(maxsize=256)
def _analytic(epsilon: Fraction, delta: Fraction) -> Fraction:
    return least_passing(
        lambda sigma: Fraction(gaussian_loss(sigma=sigma, sensitivity=1).delta(epsilon=epsilon)) <= delta
    )
