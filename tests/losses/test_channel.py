"""Channels that can fail outright: what one row shows and the other never does."""

import math

import pytest

import discreet as dp

LEAK = [[0.99, 0.01, 0], [0.99, 0, 0.01]]  # everything is published with probability 1/100
UNEVEN = [[0.9, 0.1, 0], [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]


def test_at_the_very_probability_of_failing_epsilon_is_that_of_the_rest():
    loss = dp.losses.channel(LEAK)
    assert loss.epsilon(delta=0.01) < 1e-9
    assert loss.epsilon_interval(delta=0.01).lower == 0
    assert loss.epsilon(delta=0.0099) == math.inf


@pytest.mark.parametrize("matrix", [LEAK, UNEVEN])
def test_delta_never_falls_below_the_probability_of_failing(matrix):
    loss = dp.losses.channel(matrix)
    failure = max(
        sum(p for p, q in zip(first, second, strict=True) if q == 0) for first in matrix for second in matrix
    )
    assert loss.delta(epsilon=50) == pytest.approx(failure)
    assert math.isfinite(loss.epsilon(delta=failure))


def test_a_channel_that_tells_all_has_no_epsilon():
    everything = dp.losses.channel([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert everything.delta(epsilon=5) == 1
    assert everything.epsilon(delta=0.5) == math.inf
    assert (2 * everything).delta(epsilon=5) == 1
    assert (everything + dp.losses.laplace(scale=1, sensitivity=1)).delta(epsilon=5) == 1
