"""What a loss answers in the corners."""

import math
from itertools import pairwise

import pytest

from discreet.kernel import losses
from discreet.kernel.losses import questions, work


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


def test_where_nothing_is_told_a_repeated_sample_tells_nothing():
    silent = 5 * losses.channel([[1], [1]])
    for loss in (100 * silent.sampled(1e-5), 3 * silent.sampled(0.5) + losses.pure(epsilon=1)):
        assert loss.epsilon(delta=1e-6) <= 1
        assert loss.delta(epsilon=1.001) <= 1e-9


@pytest.mark.parametrize("sigma", [1e-5, 1e-9, 1e-12])
def test_what_tells_all_but_never_fails_has_an_epsilon(sigma):
    loss = 132 * losses.gaussian(sigma=sigma)
    assert loss.rho / 1.01 < loss.epsilon(delta=1e-6) < 1.01 * loss.rho < math.inf


def test_epsilon_falls_with_delta_where_delta_is_nearly_1():
    loss = 2000 * losses.discrete_gaussian(sigma=0.605384064340665, sensitivity=4)
    found = [loss.epsilon(delta=delta) for delta in (0.4, 0.9, 1 - 1e-9, 1 - 1e-12)]
    assert all(later <= earlier * 1.001 for earlier, later in pairwise(found))


def test_what_a_search_along_a_chain_proved_on_its_way_counts():
    loss = 12 * losses.discrete_gaussian(sigma=9.327, sensitivity=2).sampled(0.04996).for_group(3)
    before = work.done()
    assert loss.epsilon(delta=1e-5) < 0.45
    assert work.done() - before <= questions.ALLOWED
