"""Groups under a family whose two directions differ: Poisson-sampled Gaussian noise."""

import math

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from discreet.losses import gaussian

RATE = 0.1
NOBODY = norm.pdf


def one(x, shift=1):
    return (1 - RATE) * norm.pdf(x) + RATE * norm.pdf(x - shift)


def both(x):
    return (1 - RATE) ** 2 * norm.pdf(x) + 2 * RATE * (1 - RATE) * norm.pdf(x - 1) + RATE**2 * norm.pdf(x - 2)


def delta(p, q, epsilon):
    return quad(
        lambda x: max(0.0, p(x) - math.exp(epsilon) * q(x)), -12, 14, limit=400, points=[-1, 0, 1, 2]
    )[0]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2])
@pytest.mark.parametrize(
    ("p", "q"),
    [(both, NOBODY), (NOBODY, both), (one, lambda x: one(x, -1))],
    ids=["two come", "two go", "one comes and one goes"],
)
def test_two_people_lose_no_more_than_is_said(p, q, epsilon):
    group = gaussian(sigma=1, sensitivity=1).sampled(RATE).for_group(2)
    assert delta(p, q, epsilon) <= group.delta(epsilon=epsilon) + 1e-9


def test_a_group_of_two_loses_more_than_one_person():
    single = gaussian(sigma=1, sensitivity=1).sampled(RATE)
    assert delta(both, NOBODY, 0.5) > single.delta(epsilon=0.5)
