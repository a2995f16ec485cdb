"""Losses that may fail: every use fails by itself, and what holds loses as randomised response does."""

import math
from fractions import Fraction

import pytest

import discreet as dp

DELTA = Fraction(1, 4)


def exact_delta(uses, epsilon):
    """δ of so many uses of the worst (1, 1/4)-DP mechanism, summed over the answers of those that hold."""
    truth, kept = 1 / (1 + math.exp(-1)), float((1 - DELTA) ** uses)
    finite = 0.0
    for lies in range(uses + 1):
        p = math.comb(uses, lies) * truth ** (uses - lies) * (1 - truth) ** lies
        finite += p * max(0.0, 1 - math.exp(epsilon - (uses - 2 * lies)))
    return 1 - kept + kept * finite


@pytest.mark.parametrize("uses", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0, 0.5, 1, 2, 5, 50])
def test_delta_is_that_of_the_sum_over_all_answers(uses, epsilon):
    loss = uses * dp.ApproxDP(1, DELTA).loss
    found = loss.delta_interval(epsilon=epsilon)
    assert found.lower - 1e-9 <= exact_delta(uses, epsilon) <= found.upper + 1e-15
    assert found.width < 1e-9


@pytest.mark.parametrize("epsilon", [1, 10, 100])
def test_a_failure_beside_rho_stays_whatever_epsilon(epsilon):
    once, twice = (n * dp.ZCDP(Fraction(1, 10), DELTA).loss for n in (1, 2))
    assert once.delta(epsilon=epsilon) >= DELTA
    assert twice.delta(epsilon=epsilon) >= 1 - (1 - DELTA) ** 2
