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


@pytest.mark.parametrize("uses", [1, 2, 10])
@pytest.mark.parametrize("epsilon", [0, 1, 20])
def test_total_variation_alone_adds_up_whatever_epsilon(uses, epsilon):
    loss = uses * dp.ApproxDP(0, Fraction(1, 1000)).loss
    truth = 1 - 0.999**uses
    found = loss.delta_interval(epsilon=epsilon)
    assert found.lower <= truth * (1 + 1e-12)
    assert found.upper == pytest.approx(truth, rel=1e-12)
    assert loss.epsilon(delta=truth * 1.001) < 1e-9
    assert loss.epsilon(delta=truth * 0.999) == math.inf


@pytest.mark.parametrize("epsilon", [0, 0.5, 1])
def test_every_channel_of_that_distance_is_below_it_alone_and_with_noise(epsilon):
    """Rows at total variation 1/10, composed with themselves by all pairs of outputs."""
    rows = (
        [Fraction(6, 10), Fraction(3, 10), Fraction(1, 10)],
        [Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)],
    )
    worst = 2 * dp.ApproxDP(0, Fraction(1, 10)).loss
    for p, q in (rows, rows[::-1]):
        twice = [(a * b, c * d) for a, c in zip(p, q, strict=True) for b, d in zip(p, q, strict=True)]
        exactly = sum(max(float(one) - math.exp(epsilon) * float(other), 0) for one, other in twice)
        assert exactly <= worst.delta(epsilon=epsilon)
    mixed = dp.ApproxDP(0, Fraction(1, 10)).loss + dp.losses.gaussian(sigma=1)
    alone = dp.losses.gaussian(sigma=1).delta(epsilon=epsilon)
    assert mixed.delta(epsilon=epsilon) == pytest.approx(0.1 + 0.9 * alone, rel=1e-6)


def test_what_promises_nothing_and_never_fails_is_refused():
    with pytest.raises(dp.InvalidParameter, match="epsilon must be > 0"):
        dp.ApproxDP(0, 0)
