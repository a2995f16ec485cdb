"""Calibration: the least noise that keeps a target, over any mix of mechanisms."""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PrivacyLoss, PureDP, RenyiDP
from discreet.kernel.numerics import least_passing, stated

Target = PureDP | ApproxDP | ZCDP | GDP | RenyiDP
TOLERANCE = Fraction(1, 2**30)
CLOSE = Fraction(1, 2**22)  # the same for an ε at some δ, which has an interval of its own
NEAR = Fraction(21, 20)  # ends as near as this need costs as good as can be had
WIDTHS = (1e-3, 3e-5)  # of ε: as little as a question needs, and where that leaves it open


def keeps(loss: PrivacyLoss, target: Target) -> bool:
    """Whether the loss, by its proved upper ends, is within the target.

    >>> from discreet.kernel.losses import gaussian
    >>> keeps(gaussian(sigma=2), GDP(0.5)), keeps(gaussian(sigma=1.99), GDP(0.5))
    (True, False)
    """
    if loss.relation != target.relation:
        raise InvalidParameter(
            f"loss and target must share one relation, got {loss.relation} and {target.relation}.",
            parameter="relation",
        )
    if isinstance(target, ApproxDP) and target.delta:
        return _keeps_approximate(loss, target)
    return _is_within(_cost(loss, target), _limit(target))


def _keeps_approximate(loss: PrivacyLoss, target: ApproxDP) -> bool:
    """By ends that are as near as it takes: where the target lies between them, nothing is known yet."""
    for width in WIDTHS:
        found = loss.epsilon_interval(delta=target.delta, width=width)
        if _is_within(found.upper, target.epsilon):
            return True
        if found.lower > target.epsilon:
            return False
    return stated(loss.delta(epsilon=target.epsilon)) <= target.delta


def _cost(loss: PrivacyLoss, target: Target, width: float = WIDTHS[0]) -> float:
    """What the target bounds, by its proved upper end."""
    match target:
        case PureDP():
            return loss.epsilon(delta=0)
        case ApproxDP():
            return loss.epsilon_interval(delta=target.delta, width=width).upper
        case GDP():
            return loss.mu
        case RenyiDP():
            return loss.renyi(target.order)
        case ZCDP():
            if target.delta:
                raise InvalidParameter(
                    "the target must be zCDP without a failure probability.", parameter="target"
                )
            return loss.rho


def _limit(target: Target) -> Fraction:
    match target:
        case GDP():
            return target.mu
        case ZCDP():
            return target.rho
        case _:
            return target.epsilon


def _is_within(answer: float, limit: Fraction) -> bool:
    return answer < math.inf and stated(answer) <= limit


def calibrate(plan: Callable[[Fraction], PrivacyLoss], target: Target) -> Fraction:
    """The least noise x whose plan keeps the target; more noise must never cost more.

    To one part in 10⁹, or in 10⁴ where the target is an ε at some δ of a plan whose curve has no closed form.

    Privacy: the answer was itself tested against the target, by proved upper ends.

    >>> from discreet.kernel.losses import gaussian, laplace
    >>> sigma = calibrate(lambda x: 10 * gaussian(sigma=x) + laplace(scale=x), ApproxDP(1, 1e-6))
    >>> (10 * gaussian(sigma=sigma) + laplace(scale=sigma)).epsilon(delta=1e-6) <= 1
    True
    """
    high = least_passing(lambda noise: keeps(plan(noise), target), tolerance=Fraction(1))
    low = high / 2
    tolerance = CLOSE if isinstance(target, ApproxDP) and target.delta else TOLERANCE
    while high > low * (1 + tolerance):
        width = high - low
        for side in (1, -1, 0):  # above where it should be, below it; the middle, if that was of no use
            if side or high - low > width / 4:
                noise = _guess(plan, target, (low, high), side)
                low, high = (low, noise) if keeps(plan(noise), target) else (noise, high)
    return high


def _guess(
    plan: Callable[[Fraction], PrivacyLoss], target: Target, ends: tuple[Fraction, Fraction], side: int
) -> Fraction:
    """A place beside where the cost, taken for a power of the noise, meets the target; or the middle."""
    low, high = ends
    width = WIDTHS[high < low * NEAR]
    first, second = (_cost(plan(noise), target, width) / float(_limit(target)) for noise in ends)
    if side == 0 or not 0 < second < first < math.inf:
        return (low + high) / 2
    share = math.log(max(first, 1.0)) / math.log(first / second)
    place = float(low) * float(high / low) ** share + side * float(high - low) / 64
    digits = 12 - math.frexp(float(high - low))[1]
    rounded = Fraction(round(place * 2.0**digits)) / Fraction(2) ** digits
    return rounded if low < rounded < high else (low + high) / 2
