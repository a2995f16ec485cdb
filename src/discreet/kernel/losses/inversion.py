"""ε(δ) from a certified curve: found in floating point, then both ends proved in balls."""

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from discreet.kernel.numerics import Arb, Interval, state_down, state_up

Curve = Callable[[Arb], tuple[Arb, Arb]]
FARTHEST = 2.0**40  # beyond any loss that a curve could still tell from infinity


def invert_from_scratch(curve: Curve, delta: Arb, *, ceiling: float) -> Interval:
    """`invert` for a curve that is good everywhere, and proved to be done at `ceiling`."""
    high = 1.0
    while high < ceiling and not curve(arb(high))[1] <= delta:
        high *= 4
        if high > FARTHEST:
            return Interval(0.0, ceiling)
    return invert(curve, delta, near=min(high, ceiling), slope=math.nan, high=min(high, ceiling))


def invert(
    curve: Curve,
    delta: Arb,
    *,
    near: float,
    slope: float,
    high: float,
    about: Callable[[float], float] | None = None,
) -> Interval:
    """An interval around the least ε >= 0 with δ(ε) <= delta, given some proved `high` at or above it.

    The search, in `about` ln δ, starts at `near` and goes in steps of 2/slope where it falls that fast. The
    lower end e has δ(e) > delta, the upper δ(e) <= delta, by the curve's own proved ends; where the curve
    proves nothing, 0 and `high` are the ends.
    """
    root = locate(about or middle_of(curve), delta, near=near, slope=slope, high=high)
    return prove(curve, delta, root, slope=slope, high=high)


def locate(about: Callable[[float], float], delta: Arb, *, near: float, slope: float, high: float) -> float:
    """About the ε at which `about` is ln δ; the search starts at `near`."""
    target, start = float(delta.log().mid()), min(max(near, 0.0), high)

    def excess(epsilon: float) -> float:
        return about(epsilon) - target

    left, right = _bracket(excess, start, 2 / slope, high)
    return _root(excess, left, right, 1e-13)


def prove(curve: Curve, delta: Arb, root: float, *, slope: float, high: float) -> Interval:
    """The ends around a root, as near to it as the curve's own ends allow."""
    guess = 0.0 if math.isnan(slope) else 0.6 * _open_share(curve, root) / slope
    step = max(guess, 2.0**-50 * root, 2.0**-60)  # no answer needs to be finer than the least epsilon
    return Interval(_prove_below(curve, delta, root, step), _prove_above(curve, delta, root, step, high))


def middle_of(curve: Curve) -> Callable[[float], float]:
    """About ln δ, from the curve's own ends."""

    def about(epsilon: float) -> float:
        low, up = curve(arb(epsilon))
        middle = (low + up) / 2
        return float(middle.log().mid()) if middle > 0 else -math.inf

    return about


def _bracket(excess: Callable[[float], float], near: float, reach: float, high: float) -> tuple[float, float]:
    """Two points around the zero, from `near` in growing steps; [0, near] where the step is not known."""
    if math.isnan(reach):
        return 0.0, near
    left = right = near
    if excess(near) > 0:
        while right < high and excess(right) > 0:
            left, right, reach = right, min(right + reach, high), 2 * reach
    else:
        while left > 0 and not excess(left) > 0:
            left, right, reach = max(left - reach, 0.0), left, 2 * reach
    return left, right


def _root(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """A zero of a falling function between two ends, by the secant that stays between them (Illinois)."""
    at_low, at_high = function(low), function(high)
    if not at_low > 0:
        return low
    side = 0
    for _ in range(100):
        if high - low <= 4e-16 * high:
            break
        share = at_low / (at_low - at_high) if -math.inf < at_high < 0 else 0.5
        middle = low + (high - low) * min(max(share, 1e-6), 1 - 1e-6)
        value = function(middle)
        if abs(value) < tolerance:
            return middle
        now = 1 if value > 0 else -1
        if now > 0:
            low, at_low, at_high = middle, value, at_high / 2 if side == now else at_high
        else:
            high, at_high, at_low = middle, value, at_low / 2 if side == now else at_low
        side = now
    return (low + high) / 2


def _open_share(curve: Curve, epsilon: float) -> float:
    """How wide the curve's proved ends are, as a share of δ."""
    low, up = curve(arb(epsilon))
    return float(((up - low) / up).mid()) if low > 0 else 1.0


def _prove_below(curve: Curve, delta: Arb, root: float, step: float) -> float:
    while root - step > 0:
        if curve(arb(root - step))[0] > delta:
            return state_down(Fraction(root - step))
        step *= 2
    return 0.0


def _prove_above(curve: Curve, delta: Arb, root: float, step: float, high: float) -> float:
    while root + step < high:
        if curve(arb(root + step))[1] <= delta:
            return min(state_up(Fraction(root + step)), high)
        step *= 2
    return high
