"""Sampled Gaussians over noise, rate, steps and δ, as in training: all intervals are narrow, and cheap."""

import random
from itertools import product

import pytest

from discreet.kernel.losses import gaussian, work

GRID = list(
    product(
        (0.5, 0.7, 1, 1.4, 2), (1e-4, 1e-3, 1e-2, 0.05, 0.1), (100, 10**4, 10**6), (1e-5, 1e-7, 1e-9, 1e-12)
    )
)
# what floats lose is most of δ there, at every tilt that the law's tail allows
HARD = [(1, 1e-4, 100, 1e-12), (1.4, 1e-4, 100, 1e-12), (1, 1e-4, 10**4, 1e-12)]
SECOND = 10**6  # units of work


def ask(point):
    sigma, rate, steps, delta = point
    before = work.done()
    found = (steps * gaussian(sigma=sigma).sampled(rate)).epsilon_interval(delta=delta)
    return found, work.done() - before


def is_narrow(point):
    found, done = ask(point)
    assert done <= SECOND
    return found.upper - found.lower <= max(1e-3 * found.upper, 1e-6)


@pytest.mark.parametrize("point", HARD, ids=str)
def test_a_rare_sample_at_a_tiny_delta_is_narrow(point):
    assert is_narrow(point)


@pytest.mark.slow
def test_points_of_the_grid_are_narrow():
    chosen = random.Random(21).sample(GRID, 40)
    assert [point for point in chosen if not is_narrow(point)] == []


@pytest.mark.soak
def test_the_whole_grid_is_narrow():
    assert [point for point in GRID if not is_narrow(point)] == []
