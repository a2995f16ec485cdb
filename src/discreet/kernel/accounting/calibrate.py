"""Calibration: the least noise that keeps a target, over any mix of mechanisms."""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.kernel.losses import Notion, PrivacyLoss
from discreet.kernel.numerics import least_passing, stated

TOLERANCE = Fraction(1, 2**30)
CLOSE = Fraction(1, 2**22)  # the same for an ε at some δ, which has an interval of its own
NEAR = Fraction(21, 20)  # ends as near as this need costs as good as can be had
WIDTHS = (1e-3, 3e-5)  # of ε: as little as a question needs, and where that leaves it open


def keeps(loss: PrivacyLoss, target: Notion) -> bool:
    """Return whether the loss, by its proved upper ends, is within the target.

    >>> from discreet.kernel.losses import GDP, gaussian
    >>> keeps(gaussian(sigma=2), GDP(0.5)), keeps(gaussian(sigma=1.99), GDP(0.5))
    (True, False)
    """
    if loss.relation != target.relation:
        raise InvalidParameter(
            f"loss and target must share one relation, got {loss.relation} and {target.relation}.",
            parameter="relation",
        )
    for width in WIDTHS:  # ends that are as near as it takes
        found = target.ends_of(loss, width=width)
        if found.upper < math.inf and stated(found.upper) <= target.value:
            return True
        if found.lower > target.value:
            return False
    return target.is_kept(loss)


def calibrate(plan: Callable[[Fraction], PrivacyLoss], target: Notion) -> Fraction:
    """Return the least noise x whose plan keeps the target; more noise must never cost more.

    To one part in 10⁹, or in 10⁴ where the target is an ε at some δ of a plan whose curve has no closed form.

    Privacy: the answer was itself tested against the target, by proved upper ends.

    >>> from discreet.kernel.losses import ApproxDP, gaussian, laplace
    >>> sigma = calibrate(lambda x: 10 * gaussian(sigma=x) + laplace(scale=x), ApproxDP(1, 1e-6))
    >>> (10 * gaussian(sigma=sigma) + laplace(scale=sigma)).epsilon(delta=1e-6) <= 1
    True
    """
    high = least_passing(lambda noise: keeps(plan(noise), target), tolerance=Fraction(1))
    low = high / 2
    tolerance = CLOSE if target.has_ends else TOLERANCE
    while high > low * (1 + tolerance):
        width = high - low
        for side in (1, -1, 0):  # above where it should be, below it; the middle, if that was of no use
            if side or high - low > width / 4:
                noise = _guess(plan, target, (low, high), side)
                low, high = (low, noise) if keeps(plan(noise), target) else (noise, high)
    return high


def _guess(
    plan: Callable[[Fraction], PrivacyLoss], target: Notion, ends: tuple[Fraction, Fraction], side: int
) -> Fraction:
    """Return a place close to where the cost, as a power of the noise, meets the target; or the middle."""
    low, high = ends
    width = WIDTHS[high < low * NEAR]
    first, second = (target.ends_of(plan(noise), width=width).upper / float(target.value) for noise in ends)
    if side == 0 or not 0 < second < first < math.inf:
        return (low + high) / 2
    share = math.log(max(first, 1.0)) / math.log(first / second)
    place = float(low) * float(high / low) ** share + side * float(high - low) / 64
    digits = 12 - math.frexp(float(high - low))[1]
    rounded = Fraction(round(place * 2.0**digits)) / Fraction(2) ** digits
    return rounded if low < rounded < high else (low + high) / 2
