"""The stated laws by their textbook formulas, in mpmath, and a chi-square test with stated error rates."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise

import numpy as np
from mpmath import mp, mpf
from scipy.stats import chi2

mp.prec = 200
ALARM = 1e-11  # false-alarm probability of one chi-square test; all tests of a run together stay below 1e-9
LEAST_EXPECTED = 100.0  # in each bin, so that its count is nearly normal as far out as ALARM reaches
MOST_BINS = 40  # of the bulk; each halving of a tail adds one


def geometric_below(k: int, scale: Fraction) -> mpf:
    """Pr[X < k]."""
    return 1 - mp.exp(-mpf(k) / _mpf(scale)) if k > 0 else mpf(0)


def laplace_below(k: int, scale: Fraction) -> mpf:
    rate = 1 / _mpf(scale)
    tail = mp.exp(-rate * (1 - k if k <= 0 else k)) / (1 + mp.exp(-rate))
    return tail if k <= 0 else 1 - tail


def rounded_gaussian_below(k: int, sigma: Fraction) -> mpf:
    return mp.ncdf((k - mpf(1) / 2) / _mpf(sigma))


def discrete_gaussian_below(k: int, sigma: Fraction) -> mpf:
    if sigma >= 1000:  # a sum of a smooth function over whole numbers: the midpoint rule, right to sigma^-2
        return rounded_gaussian_below(k, sigma)
    reach, sums = _discrete_gaussian_sums(sigma)
    return sums[min(max(k + reach, 0), len(sums) - 1)] / sums[-1]


@cache
def _discrete_gaussian_sums(sigma: Fraction) -> tuple[int, list[mpf]]:
    reach = int(12 * sigma) + 2
    weights = (mp.exp(-(mpf(j) ** 2) / (2 * _mpf(sigma) ** 2)) for j in range(-reach, reach + 1))
    return reach, [mpf(0), *accumulate(weights)]


def _mpf(value: Fraction) -> mpf:
    return mpf(value.numerator) / mpf(value.denominator)


Below = Callable[[int, Fraction], mpf]


def bins(below: Below, scale: Fraction, size: int) -> tuple[list[int], np.ndarray]:
    """Edges that cut the whole numbers into bins, finer in the tails, and the bins' exact probabilities."""
    rare = LEAST_EXPECTED / size
    edges, cuts = [], [mpf(0)]
    for edge in _candidates(scale):
        now = below(edge, scale)
        wanted = max(rare, min(1 / MOST_BINS, min(now, 1 - now) / 2))
        if now - cuts[-1] >= wanted and 1 - now >= rare:
            edges.append(edge)
            cuts.append(now)
    return edges, np.array([float(b - a) for a, b in pairwise([*cuts, mpf(1)])])


def _candidates(scale: Fraction) -> Sequence[int]:
    return sorted({int(scale * Fraction(i, 64)) for i in range(-64 * 12, 64 * 12)} | set(range(-8, 9)))


def counts(draws: Sequence[int], edges: Sequence[int]) -> np.ndarray:
    values = np.array(draws, dtype=float)  # only compared with edges that are far apart or small
    return np.histogram(values, [-np.inf, *map(float, edges), np.inf])[0]


def fits(draws: Sequence[int], below: Below, scale: Fraction) -> bool:
    """Whether draws pass the chi-square test of their law."""
    edges, probabilities = bins(below, scale, len(draws))
    if not edges:  # a law that is 0 but for less than the least bin
        return set(draws) == {0}
    expected = probabilities * len(draws)
    statistic = float((((counts(draws, edges) - expected) ** 2) / expected).sum())
    return statistic < chi2.isf(ALARM, len(edges))


def agree(some: Sequence[int], many: Sequence[int], below: Below, scale: Fraction) -> bool:
    """Whether two samples pass the two-sample chi-square test on bins of equal probability."""
    edges, _ = bins(below, scale, len(some))
    if not edges:
        return set(some) == set(many) == {0}
    a, b = counts(some, edges), counts(many, edges)
    n, m = a.sum(), b.sum()
    statistic = float((((a * np.sqrt(m / n) - b * np.sqrt(n / m)) ** 2) / (a + b)).sum())
    return statistic < chi2.isf(ALARM, len(edges))
