import math
from fractions import Fraction as F

import mpmath
import pytest

import discreet as dp


def test_basic_composition_adds_up_exactly():
    total = dp.compose_basic([dp.ApproxDP(0.1, 1e-7)] * 10)
    assert (total.epsilon, total.delta) == (1, F(1, 10**6))


@pytest.mark.parametrize(("epsilon", "times"), [(0.01, 10_000), (0.1, 100), (1, 10)])
def test_advanced_composition_is_the_theorem_rounded_up(epsilon, times):
    with mpmath.workdps(40):
        e = mpmath.mpf(str(epsilon))
        theorem = e * mpmath.sqrt(2 * times * mpmath.log(10**6)) + times * e * mpmath.expm1(e)
        stated = dp.compose_advanced(epsilon=epsilon, delta=1e-9, times=times, slack=1e-6)
        assert 0 <= mpmath.mpf(stated.epsilon.numerator) / stated.epsilon.denominator - theorem <= 1e-12
    assert stated.delta == times * F(1, 10**9) + F(1, 10**6)


def optimal_by_definition(epsilon, times, slack):
    """The least ε' whose δ is at most slack, from the binomial law of randomised response, by bisection."""
    truth = 1 / (1 + math.exp(-epsilon))

    def delta(bound):
        return math.fsum(
            math.comb(times, h) * truth**h * (1 - truth) ** (times - h) * max(0, 1 - math.exp(bound - loss))
            for h in range(times + 1)
            if (loss := epsilon * (2 * h - times)) > bound
        )

    low, high = 0.0, epsilon * times
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if delta(middle) <= slack else (middle, high)
    return high


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 100), (0.5, 20), (1, 5)])
def test_optimal_composition_is_the_least_that_randomised_response_allows(epsilon, times):
    stated = dp.compose_optimal([dp.ApproxDP(epsilon, 1e-8)] * times, slack=1e-5)
    truth = optimal_by_definition(epsilon, times, 1e-5)
    assert truth * (1 - 1e-9) <= float(stated.epsilon) <= truth * (1 + 2e-3)
    assert float(stated.delta) == pytest.approx(1 - (1 - 1e-5) * (1 - 1e-8) ** times, rel=1e-6)


def test_each_theorem_is_better_than_the_one_before():
    terms = [dp.PureDP(0.1)] * 100
    basic = dp.compose_basic(terms).epsilon
    advanced = dp.compose_advanced(epsilon=0.1, times=100, slack=1e-6).epsilon
    assert dp.compose_optimal(terms, slack=1e-6).epsilon < advanced < basic


def test_thousands_of_terms_compose_and_mixed_ones_too():
    many = dp.compose_optimal([dp.ApproxDP(0.01, 1e-12)] * 2000, slack=1e-6)
    assert 1 < float(many.epsilon) < float(dp.compose_advanced(epsilon=0.01, times=2000, slack=1e-6).epsilon)
    mixed = dp.compose_optimal([dp.PureDP(0.1)] * 10 + [dp.ApproxDP(0.2, 1e-9)] * 10, slack=1e-6)
    ends = [dp.compose_optimal([dp.PureDP(e)] * 20, slack=1e-6).epsilon for e in (0.1, 0.2)]
    assert ends[0] < mixed.epsilon < ends[1]


def test_promises_of_two_relations_do_not_mix():
    with pytest.raises(dp.InvalidParameter, match="one relation"):
        dp.compose_basic([dp.PureDP(1), dp.PureDP(1, "replace")])
    with pytest.raises(dp.InvalidParameter, match="one or more"):
        dp.compose_basic([])


def test_a_promise_too_large_to_compose_is_refused():
    with pytest.raises(dp.InvalidParameter, match="composes to a finite number"):
        dp.compose_advanced(epsilon=9000, times=1, slack=1e-6)
