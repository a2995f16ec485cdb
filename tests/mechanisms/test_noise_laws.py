"""The discrete Gaussian and the staircase: laws, variances, errors, prices."""

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.kernel.mechanisms import mechanism as mechanism_module
from oracles import mechanism_laws as oracle

STAIRCASES = [
    dp.Staircase(epsilon=1, sensitivity=4),
    dp.Staircase(epsilon=3, sensitivity=5, width=2),
    dp.Staircase(epsilon=Fraction(1, 2), sensitivity=1),
]
GAUSSIANS = [dp.DiscreteGaussian(sigma=sigma, sensitivity=1) for sigma in (Fraction(1, 3), 1, 4, 15)]


@pytest.mark.parametrize("mechanism", [*STAIRCASES, *GAUSSIANS], ids=lambda m: m.describe()[:40])
def test_variance_and_error_are_those_of_the_law(mechanism):
    law = {k: float(p) for k, p in oracle.law(mechanism, 0).items()}
    variance = math.fsum(k * k * p for k, p in law.items())
    assert mechanism.variance == pytest.approx(variance, rel=1e-9)
    for confidence in (0.5, 0.95, 1 - 1e-6):
        reach = mechanism.error(confidence=confidence)
        outside = math.fsum(p for k, p in law.items() if abs(k) > reach)
        assert outside <= 1 - confidence
        nearer = math.fsum(p for k, p in law.items() if abs(k) > reach - 2)
        assert reach < 2 or nearer > 1 - confidence  # no more than one step too careful


@pytest.mark.parametrize("mechanism", STAIRCASES, ids=lambda m: m.describe()[:40])
def test_a_shift_of_one_sensitivity_moves_one_stair_and_one_more_step_moves_two(mechanism):
    law = oracle.staircase(mechanism, 0)
    d, epsilon = int(mechanism.sensitivity), float(mechanism.epsilon)

    def worst(shift):
        reach = range(-4 * d, 4 * d + 1)
        return max(abs(math.log(law[k] / law[k + shift])) for k in reach)

    assert max(worst(shift) for shift in range(1, d + 1)) == pytest.approx(epsilon)
    assert worst(d + 1) > epsilon * 1.5


@pytest.mark.parametrize(("epsilon", "variance"), [(3, 0.1527), (6, 0.0141)])
def test_the_staircase_reaches_the_least_variance(epsilon, variance):
    mechanism = dp.Staircase(epsilon=epsilon, sensitivity=1, step=2**-16)
    assert mechanism.variance == pytest.approx(variance, abs=1e-4)
    assert mechanism.variance < dp.Laplace(epsilon=epsilon, sensitivity=1, step=2**-16).variance


def test_stairs_do_not_add_up_over_coordinates_so_dimension_divides_the_price():
    split = dp.Staircase(epsilon=2, sensitivity=4, dimension=2)
    law = oracle.staircase(dp.Staircase(epsilon=1, sensitivity=4, width=split.width), 0)
    both = 2 * max(abs(math.log(law[k] / law[k + 2])) for k in range(-20, 21))  # each moves by 2, 4 in all
    assert both == pytest.approx(2)
    assert split.loss.epsilon(delta=0) == 2
    assert split.variance == pytest.approx(dp.Staircase(epsilon=1, sensitivity=4).variance)


def test_every_cell_has_noise_of_its_own():
    for mechanism in (
        dp.Staircase(epsilon=1, sensitivity=3, dimension=1),
        dp.DiscreteGaussian(sigma=5, sensitivity=1, dimension=1),
    ):
        noise = mechanism.release(np.zeros(20000, dtype=np.int64))
        assert noise.var() == pytest.approx(mechanism.variance, rel=0.25)
        assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 0.06  # 8 standard errors
        assert [type(x) for x in mechanism.release([1, 2])] == [int, int]
        assert isinstance(mechanism.release(3), int)


def test_the_discrete_gaussian_is_calibrated_on_its_own_curve():
    mechanism = dp.DiscreteGaussian(epsilon=1, delta=1e-6, sensitivity=3)
    assert mechanism.loss.delta(epsilon=1) <= 1e-6
    less = dp.DiscreteGaussian(sigma=mechanism.sigma * Fraction(99, 100), sensitivity=3)
    assert less.loss.delta(epsilon=1) > 1e-6


def test_many_dimensions_are_charged_as_zcdp_and_never_as_gaussian_dp():
    flat = dp.DiscreteGaussian(rho=0.5, sensitivity=1, dimension=10)
    assert flat.loss.rho == pytest.approx(0.5)
    assert flat.loss.mu == math.inf
    assert dp.DiscreteGaussian(sigma=1, sensitivity=1).loss.mu == math.inf  # nor are its losses bounded


@pytest.mark.parametrize(
    "given",
    [{}, {"sigma": 1, "rho": 1}, {"epsilon": 1}, {"delta": 0.1}, {"sigma": 1, "epsilon": 1, "delta": 0.1}],
)
def test_the_discrete_gaussian_takes_exactly_one_calibration(given):
    with pytest.raises(dp.InvalidParameter):
        dp.DiscreteGaussian(sensitivity=1, **given)


def test_the_textbook_bound_on_laplace_noise_fails_for_whole_numbers():
    """Pr[|noise| >= ln(k/β)·Δ/ε] <= β holds for continuous noise, not at ε = 1, k = 1, β = e^-3."""
    mechanism = dp.Laplace(epsilon=1, sensitivity=1)
    law = oracle.laplace(mechanism, 0)
    beta = math.exp(-3)
    outside = math.fsum(float(p) for k, p in law.items() if abs(k) >= 3)
    assert outside == pytest.approx(0.0728, abs=1e-4)
    assert outside > beta
    reach = mechanism.error(confidence=1 - beta)
    assert math.fsum(float(p) for k, p in law.items() if abs(k) > reach) <= beta
    assert math.fsum(float(p) for k, p in law.items() if abs(k) > reach - 1) > beta  # the exact quantile


def test_staircase_noise_has_one_law_for_scalars_and_arrays():
    """Each cell within 7.5 standard deviations: a false alarm below 1e-12 for each."""
    mechanism, size = dp.Staircase(epsilon=1, sensitivity=4, dimension=1), 4000
    law = oracle.staircase(mechanism, 0)
    for draws in (
        np.array([mechanism.release(0) for _ in range(size)]),
        mechanism.release(np.zeros(size, dtype=np.int64)),
    ):
        for k in range(-9, 10):
            p = float(law[k])
            assert abs((draws == k).sum() - size * p) < 7.5 * math.sqrt(size * p * (1 - p))


def no_source():
    pytest.fail("something was drawn")


@pytest.mark.parametrize(
    "value", [[1, 2], [[1], [2]], np.zeros(2, dtype=np.int64), np.zeros((2, 2))], ids=repr
)
@pytest.mark.parametrize("kind", [dp.Staircase, dp.DiscreteGaussian])
def test_several_numbers_need_a_declared_dimension(kind, value, monkeypatch):
    price = {"epsilon": 1} if kind is dp.Staircase else {"sigma": 1}
    monkeypatch.setattr(mechanism_module, "fresh_source", no_source)
    with pytest.raises(dp.InvalidParameter, match="dimension must be given"):
        kind(**price, sensitivity=2).release(value)
    monkeypatch.undo()
    wholes = np.asarray(value).astype(np.int64)
    assert np.shape(kind(**price, sensitivity=2, dimension=2).release(wholes)) == wholes.shape
    for alone in (1, [1], np.array([1])):
        assert np.shape(kind(**price, sensitivity=2).release(alone)) == np.shape(alone)


def test_one_dimension_would_not_be_enough_for_two_numbers():
    # Two numbers moved by 1 each are moved by 2 in sum: on stairs of 2 both may take a stair.
    alone = dp.Staircase(epsilon=1, sensitivity=2)
    law = oracle.staircase(alone, 0)
    both = 2 * max(abs(math.log(law[k] / law[k + 1])) for k in range(-20, 21))
    assert both == pytest.approx(2 * alone.loss.epsilon(delta=0))
    assert dp.Staircase(epsilon=1, sensitivity=2, dimension=2)._price == Fraction(1, 2)
