"""Exact confidence limits for a binomial proportion."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from discreet.numerics.enclosure import ball, working_precision
from discreet.numerics.interval import Interval
from discreet.numerics.rounding import round_down, round_up

HALVINGS = 14  # of the gap between the share and a simple limit: digits enough for any reader
BITS = 53  # more would only move the limits in digits that the halvings do not reach


@lru_cache(maxsize=4096)
def clopper_pearson(*, successes: int, trials: int, confidence: Fraction) -> Interval:
    """The interval of p that holds with at least this confidence, whatever p is.

    Lower limit: the p with Pr[Bin(n, p) ≥ c] = (1 - confidence)/2; upper limit likewise from below.
    Accuracy: never too short (Clopper and Pearson, Biometrika 1934); independent trials whose probabilities
    differ only make it more careful (Hoeffding, Ann. Math. Statist. 1956, Theorem 4).

    >>> low, high = clopper_pearson(successes=0, trials=10, confidence=Fraction(95, 100))
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    if trials == 0 or confidence == 1:
        return Interval(0.0, 1.0)
    tail = (1 - confidence) / 2
    upper = _upper(successes, trials, tail)
    lower = 1 - _upper(trials - successes, trials, tail)
    return Interval(round_down(lower), round_up(upper))


def _upper(successes: int, trials: int, tail: Fraction) -> Fraction:
    """A p with Pr[Bin(trials, p) <= successes] < tail, close to the least one."""
    if successes == trials:
        return Fraction(1)
    share = Fraction(successes, trials)

    def safe(p: Fraction) -> bool:  # Pr[Bin(n, 1-p) >= n-c] < tail, a regularised incomplete beta function
        with working_precision(BITS):
            below = ball(1 - p).beta_lower(ball(trials - successes), ball(successes + 1), 1)
            return bool(below < ball(tail))  # an undecided ball counts as unsafe

    return _first_safe(share, _simple_limit(share, trials, tail), safe)


def _simple_limit(share: Fraction, trials: int, tail: Fraction) -> Fraction:
    """A safe p not far off, from KL(x‖p) ≥ (p-x)²/2p and, for its mirror, ≥ (p-x)²/2(1-x), for x < p (Chernoff).

    Far away the incomplete beta function would need many bits.
    """
    x, log = float(share), 1.001 * math.log(1 / tail) / trials + 1e-12
    near_zero = x + math.sqrt(2 * x * log) + 2 * log
    near_one = x + math.sqrt(2 * (1 - x) * log)
    return min(Fraction(min(near_zero, near_one)), Fraction(1))


def _first_safe(inside: Fraction, outside: Fraction, safe: Callable[[Fraction], bool]) -> Fraction:
    """A safe point between the two, close to where safety begins; `outside` is safe."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        if safe(middle):
            outside = middle
        else:
            inside = middle
    return outside
