import math

import mpmath
import numpy as np
import pytest

import discreet as dp
from discreet.apps.pictures.densities import noise_law

WHOLE = np.arange(-400, 401)
MECHANISMS = [
    dp.Laplace(scale=2, sensitivity=1),
    dp.Laplace(scale=0.5, sensitivity=0.25, step=0.25),
    dp.Gaussian(sigma=3, sensitivity=1),
    dp.Gaussian(sigma=0.3, sensitivity=1),
    dp.DiscreteGaussian(sigma=3, sensitivity=1),
    dp.DiscreteGaussian(sigma=9, sensitivity=1),
    dp.Staircase(epsilon=1, sensitivity=4),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.describe())
def test_the_drawn_law_is_a_law_with_the_stated_variance(mechanism):
    law = noise_law(mechanism)
    masses = np.exp(law.log_mass(WHOLE))
    assert math.fsum(masses) == pytest.approx(1, abs=1e-12)
    assert math.fsum(masses * (WHOLE * law.step) ** 2) == pytest.approx(mechanism.variance, rel=1e-9)


def test_the_gaussian_tail_is_drawn_without_cancellation():
    law = noise_law(dp.Gaussian(sigma=1, sensitivity=1))
    drawn = law.log_mass(np.array([30.0]))[0]
    exact = mpmath.log(mpmath.ncdf(-29.5) - mpmath.ncdf(-30.5))
    assert drawn == pytest.approx(float(exact), rel=1e-12)


def test_a_fine_lattice_is_thinned_to_points_of_the_lattice():
    law = noise_law(dp.Laplace(scale=1, sensitivity=1, step=2**-20))
    outputs = law.outputs(-5, 5)
    assert not law.looks_discrete
    assert len(outputs) <= 401
    assert (outputs == np.round(outputs)).all()


def test_a_mechanism_without_noise_is_refused():
    with pytest.raises(dp.InvalidParameter, match=r"adds noise \(.*Laplace.*\), got str"):
        noise_law("Laplace")
