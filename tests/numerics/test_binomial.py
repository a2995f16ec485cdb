from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import beta

from discreet.numerics import clopper_pearson

COUNTS = st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.sampled_from([Fraction(1, 2), Fraction(95, 100), 1 - Fraction(1, 10**6)]))
def test_limits_enclose_the_exact_ones_and_hardly_more(counts, confidence):
    c, n = counts
    tail = float(1 - confidence) / 2
    lower = float(beta.ppf(tail, c, n - c + 1)) if c else 0.0
    upper = float(beta.isf(tail, c + 1, n - c)) if c < n else 1.0
    found = clopper_pearson(successes=c, trials=n, confidence=confidence)
    assert found.lower <= lower * (1 + 1e-9)
    assert found.upper >= upper * (1 - 1e-9)
    assert found.width <= (upper - lower) * 1.06 + 1e-9


@pytest.mark.parametrize(
    ("successes", "trials"), [(0, 1), (1, 1), (0, 10**9), (10**9, 10**9), (1, 10**7), (0, 0)]
)
def test_extreme_counts_have_limits_at_once(successes, trials):
    found = clopper_pearson(successes=successes, trials=trials, confidence=Fraction(95, 100))
    assert 0 <= found.lower <= found.upper <= 1
