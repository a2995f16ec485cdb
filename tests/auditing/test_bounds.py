from fractions import Fraction
from math import comb, log

import pytest
from hypothesis import given, strategies as st

from discreet.auditing.bounds import epsilon_lower, success_lower, success_upper, wilson


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


def test_epsilon_is_a_safe_log_ratio():
    found = epsilon_lower((900, 1000), (100, 1000), delta=Fraction(0), risk=Fraction(1, 1000))
    assert 0 < found < log(9)


def test_an_event_that_is_likelier_elsewhere_proves_nothing():
    assert epsilon_lower((1, 1000), (900, 1000), delta=Fraction(0), risk=Fraction(1, 1000)) == 0


def test_delta_is_taken_off_before_the_ratio():
    assert epsilon_lower((10, 1000), (0, 1000), delta=Fraction(1, 2), risk=Fraction(1, 1000)) == 0
