"""Exact confidence limits for a binomial proportion."""

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from discreet.numerics.enclosure import ball, working_precision
from discreet.numerics.interval import Interval
from discreet.numerics.rounding import round_down, round_up

HALVINGS = 16  # of the gap between the share and a simple limit: digits enough for any reader
MANY = 40
MARGINS = (Fraction(1, 1000), Fraction(1, 200), Fraction(1, 50), Fraction(1, 20))
BITS = 53  # more would only move the limits in digits that nobody reads


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
    inside, outside = Fraction(successes, trials), _chernoff(successes, trials, tail)
    if min(successes, trials - successes) >= MANY:
        # With many of both, Wilson's limit misses by little: the first few points beyond it bracket the
        # answer.
        guess = Fraction(_wilson(successes, trials, tail))
        for margin in MARGINS:
            point = min(outside, guess + (guess - inside) * margin)
            if _is_safe(successes, trials, tail, point):
                return point
            inside = max(inside, point)
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        if _is_safe(successes, trials, tail, middle):
            outside = middle
        else:
            inside = middle
    return outside


def _is_safe(successes: int, trials: int, tail: Fraction, p: Fraction) -> bool:
    """Pr[Bin(n, p) <= c] < tail, by a regularised incomplete beta function; if open, unsafe."""
    with working_precision(BITS):
        below = ball(1 - p).beta_lower(ball(trials - successes), ball(successes + 1), 1)
        return bool(below < ball(tail))


def _wilson(successes: int, trials: int, tail: Fraction) -> float:
    """Wilson's upper limit with continuity correction: near the truth, on either side of it."""
    z = -NormalDist().inv_cdf(float(tail))
    c, n = successes + 0.5, trials
    return (c + z * z / 2 + z * math.sqrt(c * (n - c) / n + z * z / 4)) / (n + z * z)


def _chernoff(successes: int, trials: int, tail: Fraction) -> Fraction:
    """A safe p, because KL(x‖p) ≥ (p-x)²/2p and ≥ (p-x)²/2(1-x) for x < p.

    Further away the incomplete beta function would need many bits.
    """
    x, log = successes / trials, 1.001 * math.log(1 / tail) / trials + 1e-12
    near_zero = x + math.sqrt(2 * x * log) + 2 * log
    near_one = x + math.sqrt(2 * (1 - x) * log)
    return Fraction(min(near_zero, near_one, 1.0))
