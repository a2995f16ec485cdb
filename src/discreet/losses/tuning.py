"""Where to put the contour: tilt, window and number of nodes, found in floating point.

Nothing here is part of a proof: a bad choice makes an interval wide, never wrong.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import arb

from discreet.losses.contour import Part, beyond, log_moment
from discreet.numerics import Arb

GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Tilt:
    """The saddlepoint: its tilt θ, K(θ), and the deviation of the tilted loss."""

    theta: float
    log_moment: float
    mean: float
    deviation: float


def log_chernoff_factor(theta: float) -> float:
    """ln of the factor (θ/(1+θ))^θ/(1+θ), without overflow."""
    return -theta * math.log1p(1 / theta) - math.log1p(theta)


def minimise(function: Callable[[float], float], start: float = 1.0) -> float:
    """About the least point of a function of θ > 0 with one valley, on a logarithmic scale."""
    low, middle, high = start / 4, start, start * 4
    at_low, at_middle, at_high = function(low), function(middle), function(high)
    for _ in range(60):
        if at_middle <= at_low and at_middle <= at_high:
            break
        if at_low < at_high:
            low, middle, high = low / 4, low, middle
            at_low, at_middle, at_high = function(low), at_low, at_middle
        else:
            low, middle, high = middle, high, high * 4
            at_low, at_middle, at_high = at_middle, at_high, function(high)
    left, right = math.log(low), math.log(high)
    a, b = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
    at_a, at_b = function(math.exp(a)), function(math.exp(b))
    for _ in range(10):
        if at_a < at_b:
            right, b, at_b = b, a, at_a
            a = right - GOLDEN * (right - left)
            at_a = function(math.exp(a))
        else:
            left, a, at_a = a, b, at_b
            b = left + GOLDEN * (right - left)
            at_b = function(math.exp(b))
    return math.exp((left + right) / 2)


class Landscape:
    """K(θ) at the saddlepoint and around it; every value is remembered."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self._known: dict[float, Arb] = {}

    def exact(self, theta: float) -> Arb:
        """K(θ), in balls."""
        if theta not in self._known:
            self._known[theta] = log_moment(self.parts, arb(theta))
        return self._known[theta]

    def __call__(self, theta: float) -> float:
        return float(self.exact(theta).mid())

    def at_delta(self, delta: float) -> tuple[Tilt, float]:
        """The saddlepoint for a target δ, and Chernoff's ε there."""
        target = math.log(delta)

        def epsilon(theta: float) -> float:
            return (self(theta) - target + log_chernoff_factor(theta)) / theta

        theta = minimise(epsilon)
        return self._tilt(theta), epsilon(theta)

    def at_epsilon(self, epsilon: float) -> Tilt:
        """The saddlepoint for a given ε."""
        return self._tilt(minimise(lambda theta: self(theta) - theta * epsilon + log_chernoff_factor(theta)))

    def _tilt(self, theta: float) -> Tilt:
        step = 2.0**-10 * theta
        below, here, above = self.exact(theta - step), self.exact(theta), self.exact(theta + step)
        variance = float(((above - 2 * here + below) / arb(step) ** 2).mid())
        mean = float(((above - below) / (2 * arb(step))).mid())
        return Tilt(theta, float(here.mid()), mean, math.sqrt(max(variance, 0.0)))


@dataclass(frozen=True)
class Window:
    """Λ, and the tilts at which Chernoff bounds the aliases best."""

    width: float
    below: float
    above: float


def typical_size(tilt: Tilt) -> float:
    """About ln of e^(θε)δ(ε)/e^K near the saddlepoint: what the errors are compared with."""
    theta, spread = tilt.theta, max(tilt.deviation, 1e-300)
    return min(log_chernoff_factor(theta), -math.log(theta * (1 + theta) * spread * math.sqrt(2 * math.pi)))


def choose_window(landscape: Landscape, tilt: Tilt, epsilon: float, log_tolerance: float) -> Window:
    """The least window, on a coarse scale, whose aliases are below the tolerance."""
    size = max(12 * tilt.deviation, 1e-3 / tilt.theta)
    for _ in range(60):
        window, errors = _best_tilts(landscape, tilt, epsilon, size)
        if errors <= log_tolerance:
            break
        size *= 1.25
    return window


def _best_tilts(landscape: Landscape, tilt: Tilt, epsilon: float, size: float) -> tuple[Window, float]:
    theta = tilt.theta
    steps = [fraction * size / max(tilt.deviation, size * 1e-4) ** 2 for fraction in (0.15, 0.4, 0.8)]

    def above(other: float) -> float:
        drop = landscape(other) - tilt.log_moment - (other - theta) * (epsilon + size)
        return drop + log_chernoff_factor(other) - math.log(-math.expm1(-(other - theta) * size))

    def below(other: float) -> float:
        known = landscape(other) + log_chernoff_factor(other) if other else 0.0
        drop = known - tilt.log_moment + (theta - other) * (epsilon - size)
        return drop - math.log(-math.expm1(-(theta - other) * size))

    ups = {theta + min(step, 8 * theta + 8): 0.0 for step in steps}
    downs = {theta - min(step, theta): 0.0 for step in steps} | {0.0: 0.0}
    ups = {other: above(other) for other in ups}
    downs = {other: below(other) for other in downs}
    best_up, best_down = min(ups, key=ups.__getitem__), min(downs, key=downs.__getitem__)
    return Window(size, best_down, best_up), max(ups[best_up], downs[best_down])


def choose_last(parts: Sequence[Part], tilt: Tilt, window: Window, log_tolerance: float, most: int) -> int:
    """The least number of nodes, on a coarse scale, after which the rest is below the tolerance."""
    theta, width = arb(tilt.theta), arb(window.width)
    spacing = 2 * math.pi / window.width
    last = 16
    while last < most:
        rest = beyond(parts, theta, width, arb(spacing * last))
        if rest.is_zero() or float((rest.log() - arb(tilt.log_moment)).mid()) <= log_tolerance:
            return last
        last = last + last // 4
    return most
