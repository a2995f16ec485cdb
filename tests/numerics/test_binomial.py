from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import beta

from discreet.kernel.numerics import clopper_pearson, mean_limits, success_lower, success_upper, wilson

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


def missed_by(limits, first, second, people, risk):
    """The worst probability that the mean of coins of two kinds lies below, or above, the interval."""
    worst = Fraction(0)
    for holders in range(people + 1):
        coins = [first] * holders + [second] * (people - holders)
        law = [Fraction(1)]
        for p in coins:
            law = [a * (1 - p) + b * p for a, b in zip([*law, 0], [0, *law], strict=True)]
        mean = sum(coins) / people
        ends = [limits(successes=c, trials=people, confidence=1 - 2 * risk) for c in range(people + 1)]
        below = sum(mass for mass, (low, _) in zip(law, ends, strict=True) if mean < Fraction(low))
        above = sum(mass for mass, (_, high) in zip(law, ends, strict=True) if mean > Fraction(high))
        worst = max(worst, below, above)
    return worst


RISKS = [Fraction(1, 1000), Fraction(1, 40), Fraction(1, 10), Fraction(3, 10), Fraction(9, 20)]
KINDS = [(Fraction(a, 100), Fraction(b, 100)) for a in (0, 1, 3, 10, 30, 90, 100) for b in (0, 2, 25, 50, 99)]


@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_the_mean_of_unequal_coins_is_missed_no_more_often_than_said(risk):
    assert all(
        missed_by(mean_limits, *kinds, people, risk) <= risk for kinds in KINDS for people in (1, 2, 5, 9)
    )


def test_binomial_limits_miss_the_mean_of_unequal_coins_more_often():
    # The planted fault: Hoeffding's comparison used within one success of the mean, where it does not hold.
    worst = [
        missed_by(clopper_pearson, *kinds, people, Fraction(9, 20)) for kinds in KINDS for people in (2, 5)
    ]
    assert max(worst) > Fraction(9, 20)
