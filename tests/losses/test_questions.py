"""What a loss answers in the corners."""

import pytest

from discreet.kernel import losses


@pytest.mark.parametrize(
    "loss",
    [
        2 * losses.bounded_range(epsilon=0.5),
        3 * losses.laplace(scale=1, sensitivity=1) + losses.gaussian(sigma=1, sensitivity=1),
        2 * losses.discrete_laplace(scale=3, sensitivity=2),
    ],
    ids=repr,
)
def test_beyond_the_total_variation_epsilon_is_next_to_nothing(loss):
    interval = loss.epsilon_interval(delta=0.95)
    assert interval.lower == 0
    assert 0 < interval.upper <= 2.0**-59
    assert not str(loss.delta(epsilon=1000)).startswith("-")
