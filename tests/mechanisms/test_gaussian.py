import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

import discreet as dp
from oracles import laws


def balle_wang(mu, epsilon):
    """delta of the Gaussian mechanism by its textbook formula, in 60 digits."""
    with mp.workdps(60):
        mu, epsilon = mpf(mu), mpf(epsilon)
        return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_analytic_calibration_is_enough_and_hardly_more(epsilon, delta):
    sigma = dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma
    exact = mpf(sigma.numerator) / sigma.denominator
    assert balle_wang(1 / exact, epsilon) <= delta
    assert balle_wang(1 / (exact * (1 - mpf(10) ** -9)), epsilon) > delta


def test_classic_calibration_is_the_textbook_formula():
    sigma = dp.Gaussian(epsilon=0.5, delta=1e-6, sensitivity=2, calibration="classic").sigma
    assert float(sigma) == pytest.approx(math.sqrt(2 * math.log(1.25e6)) * 4, rel=1e-12)


@pytest.mark.parametrize("epsilon", [1, 2])
def test_classic_calibration_is_refused_where_it_is_unproved(epsilon):
    with pytest.raises(dp.InvalidParameter, match="analytic"):
        dp.Gaussian(epsilon=epsilon, delta=1e-6, sensitivity=1, calibration="classic")


def test_mu_is_sensitivity_over_sigma_for_whole_numbers_in_any_dimension():
    assert dp.Gaussian(sigma=20, sensitivity=1).loss.mu == 0.05
    assert dp.Gaussian(sigma=20, sensitivity=1, dimension=100).loss.mu == 0.05
    assert dp.Gaussian(sigma=2, sensitivity=1.5, step=1).loss.mu == 0.75


def test_rounded_floats_are_charged_after_rounding():
    m = dp.Gaussian(sigma=10, sensitivity=0.3, step=0.25)
    assert m.loss.mu == pytest.approx(0.05)
    several = dp.Gaussian(sigma=10, sensitivity=0.3, step=0.25, dimension=4)
    assert several.loss.mu == pytest.approx((0.3 + 2 * 0.25) / 10)


@pytest.mark.parametrize("dimension", [1, 5, 1000])
def test_a_priced_release_of_floats_costs_no_more_than_its_price(dimension):
    m = dp.Gaussian(epsilon=0.7, delta=1e-6, sensitivity=0.3, dimension=dimension)
    assert m.loss.delta(epsilon=0.7) <= 1e-6
    assert m.loss.delta(epsilon=0.69) > 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [Fraction(7, 5), Fraction(20), Fraction(10**6)])
def test_releases_have_the_law_that_is_charged(sigma):
    m = dp.Gaussian(sigma=sigma, sensitivity=1)
    released = m.release(np.full(10**6, -3)) + 3
    assert laws.fits(released, laws.rounded_gaussian_below, sigma)
    assert not laws.fits(released, laws.rounded_gaussian_below, sigma * Fraction(102, 100))


def test_a_float_release_has_the_law_that_is_charged():
    m = dp.Gaussian(sigma=10, sensitivity=0.5)
    steps = m.release(np.zeros(10**6)) / float(m.step)
    assert laws.fits(steps, laws.rounded_gaussian_below, m.sigma / m.step)


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(1), Fraction(100)])
def test_the_variance_is_that_of_the_rounded_law(sigma):
    m = dp.Gaussian(sigma=sigma, sensitivity=1)
    reach = int(12 * sigma) + 2
    exact = sum(
        k * k * (laws.rounded_gaussian_below(k + 1, sigma) - laws.rounded_gaussian_below(k, sigma))
        for k in range(-reach, reach + 1)
    )
    assert m.variance == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("sigma", [Fraction(1, 3), Fraction(3), Fraction(1000)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-9])
def test_the_error_is_the_least_that_holds(sigma, confidence):
    m = dp.Gaussian(sigma=sigma, sensitivity=1)
    reach = int(m.error(confidence=confidence))
    inside = [1 - 2 * laws.rounded_gaussian_below(-k, sigma) for k in (reach, reach - 1)]
    exact = mpf(Fraction(str(confidence)).numerator) / Fraction(str(confidence)).denominator
    assert inside[0] >= exact
    assert reach == 0 or inside[1] < exact


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"epsilon": 1},
        {"delta": 1e-6},
        {"epsilon": 1, "delta": 1e-6, "sigma": 1},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"sigma": -1},
        {"sigma": math.nan},
        {"epsilon": 1, "delta": 1e-6, "calibration": "guess"},
        {"sigma": 1, "relation": "cousins"},
    ],
    ids=str,
)
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(dp.InvalidParameter):
        dp.Gaussian(**({"sensitivity": 1} | parameters))


def test_the_words_say_the_law():
    text = dp.Gaussian(sigma=20, sensitivity=1).describe()
    assert text == "Gaussian noise of sigma 20 rounded to multiples of 1, for a sensitivity of 1"
