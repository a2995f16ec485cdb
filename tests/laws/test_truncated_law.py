"""Noise that is cut off has the stated law also where the cut is near, and folding is no rare event.

Draws are real; a correct sampler fails with probability below 1e-11 for each law (chi-square). Power: where 0
collects both signs, its probability is off by 0.03 or more, 12 deviations beyond what is accepted.
"""

import math
from collections import Counter
from fractions import Fraction

import pytest
from scipy.stats import chi2

from discreet.kernel.laws import TruncatedLaplaceLaw
from discreet.kernel.randomness import fresh_source
from oracles import laws

DRAWS = 100_000
CASES = [(Fraction(2), 1), (Fraction(3), 2), (Fraction(5), 4), (Fraction(1), 1), (Fraction(100), 3)]


def stated(scale, most):
    weights = {k: math.exp(-abs(k) / float(scale)) for k in range(-most, most + 1)}
    return {k: weight / math.fsum(weights.values()) for k, weight in weights.items()}


def fits(draws, law):
    seen = Counter(draws)
    assert set(seen) <= set(law)
    statistic = sum((seen[k] - DRAWS * p) ** 2 / (DRAWS * p) for k, p in law.items())
    return statistic < chi2.isf(laws.ALARM, len(law) - 1)


@pytest.mark.parametrize(("scale", "most"), CASES)
def test_truncated_noise_has_the_law_that_is_stated(scale, most):
    draws = TruncatedLaplaceLaw(scale, most=most).draw(fresh_source(), DRAWS).tolist()
    assert fits(draws, stated(scale, most))
    assert not fits(draws, stated(2 * scale, most) if scale < 50 else stated(scale / 50, most))


@pytest.mark.parametrize(("scale", "most"), CASES)
def test_the_tail_is_that_of_the_law(scale, most):
    law = stated(scale, most)
    for k in range(-most, most + 2):
        expected = math.fsum(p for value, p in law.items() if value >= k)
        assert float(TruncatedLaplaceLaw(scale, most=most).tail(k)) == pytest.approx(expected, rel=1e-12)
