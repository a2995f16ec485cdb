"""The privacy loss as a random variable, against laws that are summed by hand."""

import math
from itertools import product

import pytest

import discreet as dp

EPSILON, USES = 1, 5
TRUTH = 1 / (1 + math.exp(-EPSILON))


def exact_tail(value):
    """Pr[the loss of USES randomised responses > value], over all outcomes."""
    total = 0.0
    for outcome in product((EPSILON, -EPSILON), repeat=USES):
        if sum(outcome) > value:
            total += math.prod(TRUTH if one > 0 else 1 - TRUTH for one in outcome)
    return total


@pytest.mark.parametrize("value", [-6, -2, 0.5, 2, 4, 4.9])
def test_the_tail_of_many_uses_is_never_below_the_sum_over_outcomes(value):
    law = (USES * dp.PureDP(EPSILON).loss).distribution()
    truth = exact_tail(value)
    assert truth * (1 - 1e-12) <= law.tail(value) <= 1


def test_beyond_the_largest_loss_there_is_next_to_nothing():
    law = (USES * dp.PureDP(EPSILON).loss).distribution()
    assert law.tail(USES * EPSILON + 4) <= 1e-12


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_means_and_ends_add_up_over_uses(direction):
    one, many = dp.PureDP(EPSILON).loss, USES * dp.PureDP(EPSILON).loss
    mean = EPSILON * (2 * TRUTH - 1)
    assert one.distribution(direction).mean == pytest.approx(mean)
    assert many.distribution(direction).mean == pytest.approx(USES * mean)
    assert many.distribution(direction).support.upper == pytest.approx(USES * EPSILON)


def test_a_loss_that_may_fail_has_no_end_and_says_how_often():
    law = (2 * dp.ApproxDP(1, 0.25).loss).distribution()
    assert law.failure == pytest.approx(1 - 0.75**2)
    assert law.support.upper == math.inf
    assert law.mean == math.inf
