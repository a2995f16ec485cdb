"""Calibration: the least noise that keeps a target, over any mix of mechanisms."""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.losses import GDP, ZCDP, ApproxDP, PrivacyLoss, PureDP, RenyiDP
from discreet.numerics import least_passing, stated

Target = PureDP | ApproxDP | ZCDP | GDP | RenyiDP
TOLERANCE = Fraction(1, 2**30)


def keeps(loss: PrivacyLoss, target: Target) -> bool:
    """Whether the loss, by its proved upper ends, is within the target.

    >>> from discreet.losses import gaussian
    >>> keeps(gaussian(sigma=2), GDP(0.5)), keeps(gaussian(sigma=1.99), GDP(0.5))
    (True, False)
    """
    if loss.relation != target.relation:
        raise InvalidParameter(
            f"loss and target must share one relation, got {loss.relation} and {target.relation}.",
            parameter="relation",
        )
    if isinstance(target, PureDP):
        return _is_within(loss.epsilon(delta=0), target.epsilon)
    if isinstance(target, ApproxDP):
        return _is_within(loss.epsilon(delta=target.delta), target.epsilon)
    if isinstance(target, GDP):
        return _is_within(loss.mu, target.mu)
    if isinstance(target, RenyiDP):
        return _is_within(loss.renyi(target.order), target.epsilon)
    if target.delta:
        raise InvalidParameter("the target must be zCDP without a failure probability.", parameter="target")
    return _is_within(loss.rho, target.rho)


def _is_within(answer: float, limit: Fraction) -> bool:
    return answer < math.inf and stated(answer) <= limit


def calibrate(plan: Callable[[Fraction], PrivacyLoss], target: Target) -> Fraction:
    """The least noise x, to one part in 10⁹, whose plan keeps the target; more noise must never cost more.

    Privacy: the answer was itself tested against the target, by proved upper ends.

    >>> from discreet.losses import gaussian, laplace
    >>> sigma = calibrate(lambda x: 10 * gaussian(sigma=x) + laplace(scale=x), ApproxDP(1, 1e-6))
    >>> (10 * gaussian(sigma=sigma) + laplace(scale=sigma)).epsilon(delta=1e-6) <= 1
    True
    """
    return least_passing(lambda noise: keeps(plan(noise), target), tolerance=TOLERANCE)
