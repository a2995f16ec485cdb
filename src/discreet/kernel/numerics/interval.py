"""Certified enclosures and the intervals that they prove.

A ball of Arb holds the true value whatever the precision; more precision only makes it smaller. So a decision
taken from a ball is a proof, and an undecided one is asked again with twice the bits. So are confidence
intervals for shares and means.

Tested by: tests/numerics/test_enclosure.py, tests/numerics/test_interval.py
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from flint import acb, arb, ctx, fmpq
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.kernel.numerics.rational import Arb, round_down, round_up

START_BITS = 128
MOST_BITS = (
    1 << 20
)  # a question that this many bits leave open is an equality that the caller should have excluded

_precision_lock = threading.RLock()  # flint's precision is one global of the process
if hasattr(
    os, "register_at_fork"
):  # a child must not inherit the lock, or a precision, in another thread's use
    os.register_at_fork(
        before=_precision_lock.acquire,
        after_in_parent=_precision_lock.release,
        after_in_child=_precision_lock.release,
    )


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Compute with balls of this many bits; the process's own precision is restored."""
    with _precision_lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Fraction | int) -> Arb:
    """Return the ball around an exact number, at the working precision."""
    return arb(fmpq(value.numerator, value.denominator))


def power(value: Arb, count: int) -> Arb:
    """value^count for a whole count >= 0, also where the ball holds 0: Arb's own power knows nothing there.

    >>> power(arb(0, 0.5), 2) < 0.26
    True
    """
    return value**count if value > 0 else (acb(value) ** count).real


def _decide(question: Callable[[], int | None]) -> int:
    bits = START_BITS
    while bits <= MOST_BITS:
        with working_precision(bits):
            answer = question()
        if answer is not None:
            return answer
        bits *= 2
    raise InternalError("a certified decision stayed open at the highest precision")


def certified_floor(compute: Callable[[], Arb]) -> int:
    """⌊x⌋ for the real number that `compute` encloses at any working precision; x must not be whole.

    >>> certified_floor(lambda: ball(20).exp())
    485165195
    """

    def floor() -> int | None:
        whole = compute().floor().unique_fmpz()
        return None if whole is None else int(whole)

    return _decide(floor)


def certified_sign(compute: Callable[[], Arb]) -> int:
    """+1 or -1 for the real number that `compute` encloses; the number must not be 0.

    >>> certified_sign(lambda: ball(1).exp() - ball(Fraction(2718281828, 10**9)))
    1
    """

    def sign() -> int | None:
        value = compute()
        return 1 if value > 0 else -1 if value < 0 else None

    return _decide(sign)


@dataclass(frozen=True)
class Interval:
    """Two ends between which the truth lies.

    >>> 2.5 in Interval(2, 3), Interval(2, 3).width
    (True, 1)
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:  # also false for NaN
            raise InternalError("an interval must have lower <= upper")

    @property
    def width(self) -> float:
        return self.upper - self.lower

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __iter__(self) -> Iterator[float]:
        return iter((self.lower, self.upper))

    def __str__(self) -> str:
        return f"[{self.lower}, {self.upper}]"


@dataclass(frozen=True)
class Estimate:
    """An estimated quantity, its standard error, and an interval of the stated confidence."""

    value: float
    standard_error: float
    interval: Interval
    confidence: float = 0.95

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        lower, upper = self.interval
        return f"{self.value:.6g} ({self.confidence:.0%} interval {lower:.6g} to {upper:.6g})"


# Certified bounds on a probability from a count: Clopper and Pearson's, by sums in balls.
#
#     p_L = sup{p : Pr[Bin(n, p) ≥ k] ≤ risk},  p_U = inf{p : Pr[Bin(n, p) ≤ k] ≤ risk},  k of n
#     succeeded
#
# Each holds with probability at least 1 - risk whatever the true probability is: no approximation,
# any n and k.

BITS = 160
GRID = 1 << 112  # the bounds are multiples of 1/GRID: short to print, far finer than any sample can tell
MOST_STEPS = 60
NEGLIGIBLE_TERM = 2.0**-70
NEGLIGIBLE_STEP = 2.0**-27  # Newton squares it: what is left is below the precision of a float

Shape = TypeVar("Shape", float, NDArray[np.float64])


@lru_cache(maxsize=4096)
def clopper_pearson(*, successes: int, trials: int, confidence: Fraction) -> Interval:
    """Return an interval for p with at least this confidence, whatever p is: half the risk at each end.

    Accuracy: never too short (Clopper and Pearson, Biometrika 1934), for equal probabilities in every trial.

    >>> low, high = clopper_pearson(successes=0, trials=10, confidence=Fraction(95, 100))
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    if trials == 0 or confidence == 1:
        return Interval(0.0, 1.0)
    risk = (1 - confidence) / 2
    lower = success_lower(successes, trials, risk=risk)
    return Interval(round_down(lower), round_up(success_upper(successes, trials, risk=risk)))


def mean_limits(*, successes: int, trials: int, confidence: Fraction) -> Interval:
    """Return the interval of the mean of p₁ … p_n for independent trials, each with a probability of its own.

    Accuracy: the binomial one where a tail begins at least one success beyond the mean, which is the
    condition of Hoeffding (Ann. Math. Statist. 1956, Theorem 4); so its ends leave at least one success.

    >>> low, high = mean_limits(successes=1, trials=10, confidence=Fraction(95, 100))
    >>> low, round(high, 4)
    (0.0, 0.445)
    """
    if trials == 0:
        return Interval(0.0, 1.0)
    lower, upper = clopper_pearson(successes=successes, trials=trials, confidence=confidence)
    below, above = Fraction(max(0, successes - 1), trials), Fraction(min(trials, successes + 1), trials)
    return Interval(min(lower, round_down(below)), max(upper, round_up(above)))


def success_lower(count: int, trials: int, *, risk: Fraction) -> Fraction:
    """Return a lower bound on the probability of success, wrong with probability at most `risk`.

    >>> float(success_lower(10, 10, risk=Fraction(1, 1024)))
    0.5
    """
    if count == 0:
        return Fraction(0)
    return _largest_argument(count, trials - count + 1, risk)


def success_upper(count: int, trials: int, *, risk: Fraction) -> Fraction:
    """Return an upper bound on the probability of success, wrong with probability at most `risk`.

    >>> float(success_upper(0, 10, risk=Fraction(1, 1024)))
    0.5
    """
    if count == trials:
        return Fraction(1)
    return 1 - _largest_argument(trials - count, count + 1, risk)


def _largest_argument(a: int, b: int, risk: Fraction) -> Fraction:
    """Return the largest y found with I(y) = Pr[Bin(a + b - 1, y) ≥ a] ≤ risk, proved; a, b ≥ 1.

    I is the distribution function of Beta(a, b), and ln I is concave in ln y, because the density of ln Beta
    is log-concave. So a Newton step from anywhere lands at or below the root, and the later ones climb to it.
    """
    with working_precision(BITS):
        y, target = arb(_first_guess(a, b, risk)), ball(risk).log()
        for _ in range(MOST_STEPS):
            mass = _at_least(y, a, b)
            step = ((target - mass.log()) * mass / (y * _density(y, a, b))).mid()
            y = (y * step.exp()).mid()
            if abs(step) < NEGLIGIBLE_STEP * (1 - y):
                break
        return _step_down_until_proved(int((y * GRID).floor().unique_fmpz()), a, b, risk)


def _step_down_until_proved(grains: int, a: int, b: int, risk: Fraction) -> Fraction:
    slack = 1
    while grains > 0 and not _at_least(arb(grains) / GRID, a, b) <= ball(risk):
        grains -= slack
        slack *= 4
    return Fraction(max(grains, 0), GRID)


def _at_least(y: Arb, a: int, b: int) -> Arb:
    """Pr[Bin(n, y) ≥ a] for n = a + b - 1: terms from a on, relative to the first, until they stop mattering.

    The ratio of successive terms falls, so once it is r < 1 what is left is at most term · r/(1 - r).
    """
    n, odds = a + b - 1, y / (1 - y)
    term = total = ratio = arb(1)
    for j in range(a, n):
        ratio = odds * (n - j) / (j + 1)
        term *= ratio
        total += term
        if j % 16 == 0 and ratio < 1 and term < NEGLIGIBLE_TERM * total:
            total += (term * ratio / (1 - ratio)).union(arb(0))
            break
    return y * _density(y, a, b) / a * total


def _density(y: Arb, a: int, b: int) -> Arb:
    log_beta = arb(a).lgamma() + arb(b).lgamma() - arb(a + b).lgamma()
    return ((a - 1) * y.log() + (b - 1) * (1 - y).log() - log_beta).exp()


def _first_guess(a: int, b: int, risk: Fraction) -> float:
    return min(max(wilson(a, a + b - 1, z=-normal_quantile(risk)), 1e-12), 1 - 1e-12)


def normal_quantile(risk: Fraction) -> float:
    """About the z with Pr[N(0, 1) > z] = risk: for guesses and plans only."""
    return -NormalDist().inv_cdf(min(max(float(risk), 1e-300), 0.5))


def wilson(count: Shape, trials: int, *, z: float) -> Shape:
    """Wilson's approximate bound, upper for z > 0 and lower for z < 0: for guesses and plans only."""
    share = count / trials
    centre = share + z * z / (2 * trials)
    spread = z * (share * (1 - share) / trials + z * z / (4 * trials * trials)) ** 0.5
    bound: Shape = (centre + spread) / (1 + z * z / trials)
    return bound
