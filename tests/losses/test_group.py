"""Groups under a family whose two directions differ: Poisson-sampled Gaussian noise."""

import math

import pytest
from scipy.integrate import quad
from scipy.stats import norm

from discreet.losses import channel, gaussian, zcdp

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


@pytest.mark.parametrize("size", [1, 2, 5])
def test_rho_of_a_group_grows_with_its_square(size):
    """Bun and Steinke 2016, Proposition 1.9; for sampled, finite and approximate losses alike."""
    skewed = channel([[0.75, 0.25], [0.5, 0.5]])
    for loss in (skewed, gaussian(sigma=3).sampled(0.5), gaussian(sigma=3), zcdp(rho=0.25)):
        assert loss.for_group(size).rho == pytest.approx(size**2 * loss.rho)
