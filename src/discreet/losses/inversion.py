"""ε(δ) from a certified curve: found in floating point, then both ends proved in balls."""

import math
from collections.abc import Callable

from discreet.numerics import Arb, Interval

Curve = Callable[[float], tuple[Arb, Arb]]


def invert(curve: Curve, delta: Arb, *, near: float, reach: float, high: float) -> Interval:
    """An interval around the least ε >= 0 with δ(ε) <= delta, given some proved `high` at or above it.

    The search starts at `near` and goes down in steps of `reach`. The lower end e has δ(e) > delta, the upper
    δ(e) <= delta, by the curve's own proved ends; where the curve proves nothing, 0 and `high` are the ends.
    """
    target = float(delta.log().mid())

    def excess(epsilon: float) -> float:
        low, up = curve(epsilon)
        middle = (low + up) / 2
        return float(middle.log().mid()) - target if middle > 0 else -math.inf

    right = min(near, high)
    left = max(right - reach, 0.0)
    while left > 0 and not excess(left) > 0:
        reach *= 2
        left, right = max(left - reach, 0.0), left
    root = _root(excess, left, right)
    return Interval(_prove_below(curve, delta, root), _prove_above(curve, delta, root, high))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """A zero of a falling function between two ends, by the secant and bisection."""
    at_low, at_high = function(low), function(high)
    if not at_low > 0:
        return low
    if not at_high < 0:
        return high
    for _ in range(100):
        if high - low <= 4e-16 * high:
            break
        share = at_low / (at_low - at_high) if math.isfinite(at_high) else 0.5
        middle = low + (high - low) * min(max(share, 1e-6), 1 - 1e-6)
        value = function(middle)
        if abs(value) < 1e-13:
            return middle
        if value > 0:
            low, at_low, at_high = middle, value, at_high / 2
        else:
            high, at_high, at_low = middle, value, at_low / 2
    return (low + high) / 2


def _prove_below(curve: Curve, delta: Arb, root: float) -> float:
    step = 2.0**-50 * root
    while 0 < step < root:
        if curve(root - step)[0] > delta:
            return root - step
        step *= 4
    return 0.0


def _prove_above(curve: Curve, delta: Arb, root: float, high: float) -> float:
    step = 2.0**-50 * root or 2.0**-60
    while root + step < high:
        if curve(root + step)[1] <= delta:
            return root + step
        step *= 4
    return high
