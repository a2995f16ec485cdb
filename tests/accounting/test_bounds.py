"""What a loss is known to be at most: exact where it can be, never below."""

import math
from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import given, strategies as st

from discreet.kernel.accounting import covers
from discreet.kernel.losses import (
    GDP,
    ZCDP,
    ApproxDP,
    PureDP,
    RenyiDP,
    approximate,
    bounded_range,
    channel,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    pure,
    zcdp,
)
from discreet.kernel.losses.bounds import (
    epsilon_and_delta_at_most,
    epsilon_at_most,
    mu_squared_at_most,
    renyi_at_most,
    rho_and_delta_at_most,
    rho_at_most,
)

SCALES = st.fractions(Fraction(1, 100), 100)


@given(SCALES, st.integers(1, 50))
def test_the_largest_loss_is_exact_where_it_is_rational(scale, count):
    assert epsilon_at_most(count * laplace(scale=scale, sensitivity=1)) == count / scale
    assert epsilon_at_most(count * discrete_laplace(scale=scale)) == count / scale


@pytest.mark.parametrize("loss", [pure(epsilon=0.1), bounded_range(epsilon=0.1)])
def test_a_tenth_is_a_tenth(loss):
    assert epsilon_at_most(loss) == Fraction(1, 10)


def test_an_irrational_loss_is_a_float_that_is_not_below_it():
    bound = epsilon_at_most(channel([[0.75, 0.25], [0.25, 0.75]]))
    assert math.log(3) <= bound <= math.nextafter(math.log(3), 2) + 1e-15


@given(SCALES)
def test_rho_and_mu_of_gaussians_are_exact(sigma):
    assert rho_at_most(gaussian(sigma=sigma, sensitivity=1)) == 1 / (2 * sigma**2)
    assert rho_at_most(discrete_gaussian(sigma=sigma)) == 1 / (2 * sigma**2)
    assert mu_squared_at_most(4 * gaussian(sigma=sigma, sensitivity=1)) == 4 / sigma**2
    assert renyi_at_most(gaussian(sigma=sigma, sensitivity=1), Fraction(3)) == 3 / (2 * sigma**2)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 8])
def test_the_mu_of_a_pure_loss_is_that_of_the_gaussian_whose_sign_it_is(epsilon):
    mu = math.sqrt(mu_squared_at_most(pure(epsilon=epsilon)))
    above = math.erfc(-mu / 2 / math.sqrt(2)) / 2
    assert above == pytest.approx(1 / (1 + math.exp(-epsilon)), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("at", [0, 0.05, 0.5, 1, 2.9])
def test_a_gaussian_of_that_mu_is_nowhere_more_private_than_the_pure_loss(epsilon, at):
    mu = math.nextafter(math.sqrt(mu_squared_at_most(pure(epsilon=epsilon))), 9)
    wider = GDP(mu).loss
    assert pure(epsilon=epsilon).delta_interval(epsilon=at).lower <= wider.delta(epsilon=at)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 8])
def test_the_mu_of_laplace_noise_is_the_least(epsilon):
    """Its test errs by 1 − e^ε·α, e^(−ε)/(4α) or e^(−ε)(1 − α): nowhere below the Gaussian's, and on it
    where both errors are alike.
    """
    mu = laplace(scale=1 / Fraction(epsilon)).mu
    grown, normal = math.exp(epsilon), NormalDist()

    def missed(alpha):
        first, last = 1 - grown * alpha, (1 - alpha) / grown
        return first if alpha <= 0.5 / grown else last if alpha >= 0.5 else 0.25 / grown / alpha

    def gaussian_missed(alpha):
        return normal.cdf(normal.inv_cdf(1 - alpha) - mu)

    for alpha in [10.0**-n for n in range(1, 9)] + [n / 200 for n in range(1, 200)]:
        assert missed(alpha) >= gaussian_missed(alpha) - 1e-12
    alike = math.exp(-epsilon / 2) / 2
    assert missed(alike) == pytest.approx(alike, rel=1e-12)
    assert gaussian_missed(alike) == pytest.approx(alike, rel=1e-9)


def test_mu_adds_in_squares_over_gaussians_and_bounded_losses():
    one, other, third = pure(epsilon=0.1), laplace(scale=5), gaussian(sigma=3)
    together = 7 * one + 2 * other + third
    assert together.mu == pytest.approx(math.sqrt(7 * one.mu**2 + 2 * other.mu**2 + 1 / 9), rel=1e-12)
    assert (zcdp(rho=1) + third).mu == gaussian(sigma=1).sampled(0.1).mu == math.inf


def test_what_has_no_bound_has_none():
    assert epsilon_at_most(gaussian(sigma=1, sensitivity=1)) is None
    assert epsilon_at_most(approximate(epsilon=1, delta=1e-6)) is None
    assert rho_at_most(approximate(epsilon=1, delta=1e-6)) is None
    assert mu_squared_at_most(zcdp(rho=1)) is None
    assert epsilon_and_delta_at_most(zcdp(rho=1)) is None


@pytest.mark.parametrize(
    ("promise", "loss"),
    [
        (PureDP(0.1), laplace(scale=10, sensitivity=1)),
        (ApproxDP(0.1, 1e-9), laplace(scale=10, sensitivity=1)),
        (ApproxDP(0.2, 2e-7), 2 * approximate(epsilon=0.1, delta=1e-7)),
        (ApproxDP(1, 1e-5), gaussian(sigma=5, sensitivity=1)),
        (ZCDP(0.1), zcdp(rho=0.1)),
        (ZCDP(0.125), discrete_gaussian(sigma=2)),
        (GDP(0.5), gaussian(sigma=2, sensitivity=1)),
        (RenyiDP(4, 0.5), gaussian(sigma=2, sensitivity=1)),
    ],
)
def test_a_promise_covers_what_keeps_it_and_no_more(promise, loss):
    assert covers(promise, loss)
    assert not covers(promise, 2 * loss)


def test_rho_outside_a_failure_is_that_of_the_rest_and_failures_add():
    mixed = (
        2 * approximate(epsilon=0.5, delta=1e-6)
        + zcdp(rho=0.1, delta=1e-7)
        + gaussian(sigma=10, sensitivity=1)
    )
    rho, delta = rho_and_delta_at_most(mixed)
    assert delta == 2 * Fraction(1, 10**6) + Fraction(1, 10**7)
    assert Fraction(rho) >= rho_at_most(2 * pure(epsilon=0.5)) + Fraction(1, 10) + Fraction(1, 200)
    assert float(rho) == pytest.approx(float(rho_at_most(2 * pure(epsilon=0.5))) + 0.105)
    assert rho_at_most(mixed) is None
    assert covers(ZCDP(rho, delta), mixed)
    assert not covers(ZCDP(rho, 2e-6), mixed)  # the planted fault: a failure left out
    assert not covers(ZCDP(rho * Fraction(99, 100), delta), mixed)


def test_what_rho_promises_outside_a_failure_covers_the_exact_curve():
    loss = 5 * approximate(epsilon=0.3, delta=1e-5)
    promise = ZCDP(*rho_and_delta_at_most(loss)).loss
    for epsilon in (0.5, 1, 1.5):
        assert loss.delta_interval(epsilon=epsilon).lower <= promise.delta(epsilon=epsilon)
