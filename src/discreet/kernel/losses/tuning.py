"""Where to put the contour: tilt, window and number of nodes, found in floating point.

Nothing here is part of a proof: a bad choice makes an interval wide, never wrong.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from discreet.kernel.losses.contour import Part
from discreet.kernel.losses.work import spend

GOLDEN = (math.sqrt(5) - 1) / 2
FARTHEST = 1e100  # squares and products of what is below are floats too
FAR_LESS = 2.0  # of logarithms: a gain that is worth another contour


@dataclass(frozen=True)
class Tilt:
    """The saddlepoint: its tilt θ, K(θ), and the deviation of the tilted loss."""

    theta: float
    log_moment: float
    mean: float
    deviation: float
    size: float  # about ln of e^(θε)δ(ε)/e^K, what the errors are compared with

    @property
    def is_finite(self) -> bool:
        """Whether floats reach so far that a contour can be put here."""
        numbers = (self.theta, 1 / self.theta, self.log_moment, self.mean, self.deviation, self.size)
        return all(abs(number) < FARTHEST for number in numbers)


def log_chernoff_factor(theta: float) -> float:
    """ln of the factor (θ/(1+θ))^θ/(1+θ), without overflow."""
    return -theta * math.log1p(1 / theta) - math.log1p(theta)


def minimise(function: Callable[[float], float], *, end: float = math.inf) -> float:
    """About the least point of a function of 0 < θ <= end with one valley, on a logarithmic scale.

    Beyond the end, where there is one, the function is taken to stay as it is there: the end itself is found.
    """
    return min(_valley(lambda theta: function(min(theta, end)), min(1.0, end)), end)


def _valley(function: Callable[[float], float], start: float) -> float:
    low, middle, high = start / 4, start, start * 4
    at_low, at_middle, at_high = function(low), function(middle), function(high)
    for _ in range(60):
        flat = abs(at_middle - at_high) <= 1e-6 * abs(
            at_middle
        )  # a bounded loss: the valley goes on for ever
        if at_middle <= at_low and (at_middle <= at_high or flat):
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
    """About K(θ) at the saddlepoint and around it; every value is remembered."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self._known: dict[float, float] = {}
        self.chernoff = 1.0

    def __call__(self, theta: float) -> float:
        if theta not in self._known:
            spend(2 * len(self.parts))
            value = sum(count * pair.about_log_moment(theta) for pair, count in self.parts)
            self._known[theta] = math.inf if math.isnan(value) else value
        return self._known[theta]

    def at_delta(self, delta: float) -> tuple[Tilt, float]:
        """A good tilt for a target δ, and about the ε to expect; `chernoff` keeps the best bound's tilt."""
        target = math.log(delta)

        def epsilon(theta: float) -> float:
            return (self(theta) - target + log_chernoff_factor(theta)) / theta

        self.chernoff = minimise(epsilon)
        tilt = self._tilt(self.chernoff)
        if tilt.theta * tilt.deviation > 1.5 * math.sqrt(-2 * target) + 1:
            return self._main_mode(tilt, target, epsilon(self.chernoff))  # there is a second mode, far out
        return tilt, epsilon(self.chernoff)

    def _main_mode(self, fallback: Tilt, target: float, bound: float) -> tuple[Tilt, float]:
        """The least tilt whose saddlepoint approximation of δ reaches the target, or the last of one mode."""
        theta, limit = fallback.theta / 10, 1.5 * math.sqrt(-2 * target) + 1
        best = fallback
        while theta < fallback.theta:
            tilt = self._tilt(theta)
            if theta * tilt.deviation > limit:
                break
            best = tilt
            if tilt.log_moment - theta * tilt.mean + tilt.size <= target:
                return tilt, tilt.mean
            theta *= 1.15
        near = max(bound - 4 / best.theta, best.mean)  # Chernoff's bound is about e^4 too high there
        return replace(best, size=min(best.size, target + best.theta * near - best.log_moment) - 2), near

    def better(self, tilt: Tilt, epsilon: float, target: float) -> Tilt:
        """The tilt now that ε is known better: how small e^(θε)δ/e^K is there; or a far better one."""
        known, other = (
            self._seen(tilt, epsilon, target),
            self._seen(self.at_epsilon(epsilon), epsilon, target),
        )
        return other if other.size > known.size + FAR_LESS else known

    def _seen(self, tilt: Tilt, epsilon: float, target: float) -> Tilt:
        return replace(tilt, size=min(tilt.size, target + tilt.theta * epsilon - tilt.log_moment))

    def at_epsilon(self, epsilon: float) -> Tilt:
        """The saddlepoint for a given ε."""
        return self._tilt(minimise(lambda theta: self(theta) - theta * epsilon + log_chernoff_factor(theta)))

    def _tilt(self, theta: float) -> Tilt:
        step = 2.0**-7 * theta
        below, here, above = self(theta - step), self(theta), self(theta + step)
        variance, mean = (above - 2 * here + below) / step**2, (above - below) / (2 * step)
        spread = math.sqrt(max(variance, 1e-300))
        height = -math.log(theta * (1 + theta) * spread * math.sqrt(2 * math.pi))
        return Tilt(theta, here, mean, spread, min(log_chernoff_factor(theta), height))


@dataclass(frozen=True)
class Window:
    """Λ, and the tilts at which Chernoff bounds the aliases best."""

    width: float
    below: float
    above: float


def choose_window(landscape: Landscape, tilt: Tilt, epsilon: float, log_tolerance: float) -> Window:
    """The least window, on a coarse scale, whose aliases are below the tolerance."""
    theta, wide = tilt.theta, max(tilt.deviation, 1e-3 / tilt.theta)
    ups = [theta + step for step in (0.05 * theta, 0.2 * theta, theta, 3 * theta, 5 / wide, 12 / wide)]
    downs = [0.0] + [theta - step for step in (0.1 * theta, 0.4 * theta, 5 / wide, 12 / wide) if step < theta]

    def above(other: float, size: float) -> float:
        drop = landscape(other) - tilt.log_moment - (other - theta) * (epsilon + size)
        return drop + log_chernoff_factor(other) - math.log(-math.expm1(-(other - theta) * size))

    def below(other: float, size: float) -> float:
        known = landscape(other) + log_chernoff_factor(other) if other else 0.0
        drop = known - tilt.log_moment + (theta - other) * (epsilon - size)
        return drop - math.log(-math.expm1(-(theta - other) * size))

    size = 8 * wide
    for _ in range(40):
        up, down = min(ups, key=lambda t: above(t, size)), min(downs, key=lambda t: below(t, size))
        if max(above(up, size), below(down, size)) <= log_tolerance:
            break
        size *= 1.25
    return Window(size, down, up)


def choose_last(
    parts: Sequence[Part],
    tilt: Tilt,
    window: Window,
    log_tolerance: float,
    *,
    most: int,
    end: float = math.inf,
) -> int:
    """The least number of nodes, on a coarse scale, that leaves less than the tolerance up to the end."""
    spacing = 2 * math.pi / window.width

    def enough(last: int) -> bool:
        spend(10 * len(parts))
        return about_beyond(parts, tilt.theta, window.width, spacing * last, end) <= log_tolerance

    last = 16
    while last < most and not enough(last):
        last *= 2
    if last >= most:
        if not enough(most):
            return most
        last = most
    for share in (0.5625, 0.625, 0.6875, 0.75, 0.8125, 0.875):
        if last > 16 and enough(int(last * share)):
            return int(last * share)
    return last


def about_beyond(
    parts: Sequence[Part], theta: float, window: float, start: float, end: float = math.inf
) -> float:
    """About ln of `beyond`, of a lattice up to the end, its half period."""
    halves = [math.inf if (p := pair.period()) is None else float(p) / 2 for pair, _ in parts]
    worst = -math.inf
    for stretch in [start, *(half for half in halves if start < half < end * (1 - 1e-9))]:
        decays = sum(
            count * pair.about_decay(theta, stretch)
            for (pair, count), half in zip(parts, halves, strict=True)
            if stretch < half
        )
        worst = max(worst, decays + math.log(1 / (math.pi * stretch) + 2 / (window * stretch**2)))
    return worst
