from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import beta

from discreet.numerics import clopper_pearson, success_lower, success_upper, wilson

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


def at_least(count, trials, p):
    """The obvious oracle: Pr[Bin(trials, p) >= count], summed in fractions."""
    return sum(comb(trials, j) * p**j * (1 - p) ** (trials - j) for j in range(count, trials + 1))


counts = st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
risks = st.sampled_from([Fraction(1, 3), Fraction(1, 20), Fraction(1, 10**6), Fraction(1, 10**12)])


@given(counts, risks)
def test_the_lower_bound_is_safe_and_tight(count, risk):
    k, n = count
    p = success_lower(k, n, risk=risk)
    assert k == 0 or at_least(k, n, p) <= risk
    closer = p + Fraction(1, 10**12)
    assert k == 0 or at_least(k, n, closer) > risk


@given(counts, risks)
def test_the_upper_bound_is_the_lower_one_of_failures(count, risk):
    k, n = count
    assert success_upper(k, n, risk=risk) == 1 - success_lower(n - k, n, risk=risk)


@pytest.mark.parametrize("k", [0, 1, 3, 1000, 188_000, 699_999])
def test_large_counts_are_certified_too(k):
    n, risk = 700_000, Fraction(1, 10**9)
    low, high = success_lower(k, n, risk=risk), success_upper(k, n, risk=risk)
    assert low <= Fraction(k, n) < high
    if k >= 1000:
        assert float(low) == pytest.approx(wilson(k, n, z=-5.998), rel=0.01)


def test_an_equality_at_the_risk_is_allowed():
    assert 0 <= Fraction(1, 2) - success_lower(10, 10, risk=Fraction(1, 1024)) <= Fraction(1, 10**30)
