"""The mechanisms of a first course. Ours and a planted fault are judged by one rule, and the fault fails.

Statistical judgements use 7 standard errors: a false alarm in less than 10⁻¹¹ of runs; the faults planted lie
hundreds of standard errors away.
"""

import math

import mpmath
import numpy as np
import pytest

import discreet as dp

SIGMAS = 7
DRAWS = 100_000


def worst_ratio(law, shift):
    """max |ln(Pr[k] / Pr[k + shift])| over a wide window: the loss of the law itself."""
    outputs = np.arange(-200, 201)
    return max(abs(law(k) - law(k + shift)) for k in outputs.tolist())


def log_laplace(scale):
    """ln Pr[noise = k] of whole-number Laplace noise."""
    return lambda k: math.log(math.tanh(1 / (2 * scale))) - abs(k) / scale


def mean_is(values, expected):
    return abs(np.mean(values) - expected) <= SIGMAS * np.std(values) / math.sqrt(len(values))


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_m1_a_count_gets_noise_of_scale_one_over_epsilon(epsilon):
    def is_private_and_as_stated(mechanism):
        scale = float(mechanism.scale)
        loss = worst_ratio(log_laplace(scale), 1)
        noise = np.abs(mechanism.release(np.zeros(DRAWS, dtype=np.int64)))
        # E|Y| = 1/sinh(1/b), the whole-number twin of E|Y| = b
        return loss <= epsilon * (1 + 1e-12) and mean_is(noise, 1 / math.sinh(epsilon))

    assert is_private_and_as_stated(dp.Laplace(epsilon=epsilon, sensitivity=1))
    assert not is_private_and_as_stated(dp.Laplace(scale=0.9 / epsilon, sensitivity=1))  # too little noise
    assert not is_private_and_as_stated(dp.Laplace(scale=1.2 / epsilon, sensitivity=1))  # another law


def test_m2_every_coordinate_gets_its_own_noise_for_the_l1_sensitivity():
    def is_independent(release):
        x, y = release(np.zeros((DRAWS, 2), dtype=np.int64)).T.astype(float)
        return mean_is(x * y, 0) and mean_is(x**2, variance) and mean_is(y**2, variance)

    mechanism = dp.Laplace(epsilon=0.5, sensitivity=2)
    variance = 1 / (2 * math.sinh(1 / 8) ** 2)  # 2q/(1−q)², beside 2b² of the continuous law

    def one_draw_for_all(zeros):
        return np.repeat(mechanism.release(zeros[:, :1]), 2, axis=1)

    def last_left_out(zeros):
        return np.column_stack([mechanism.release(zeros[:, :1]), zeros[:, 1:]])

    assert mechanism.scale == 4
    assert is_independent(mechanism.release)
    assert not is_independent(one_draw_for_all)
    assert not is_independent(last_left_out)


@pytest.mark.parametrize("dimension", [1, 10, 100])
def test_m3_the_error_is_the_quantile_of_our_noise_and_the_slides_bound_is_not(dimension):
    beta = math.exp(-3)

    def covers(error):
        tail = 2 * math.exp(-(math.floor(error) + 1)) / (1 + math.exp(-1))  # Pr[|noise| > error], ε = 1
        return 1 - (1 - tail) ** dimension <= beta

    stated = dp.Laplace(epsilon=1, sensitivity=1).error(confidence=1 - beta, dimension=dimension)
    assert covers(stated)
    assert not covers(stated - 1)  # and it is the least
    if dimension == 1:  # Pr[|noise| >= ln(1/β)] = Pr[|noise| > 2] = 0.073 > 0.050
        assert not covers(math.log(1 / beta) - 1e-9)


def gaussian_delta(sigma, epsilon):
    """δ(ε) of N(0, σ²) against N(1, σ²), by 50-digit arithmetic."""
    with mpmath.workdps(50):
        a, b = 1 / (2 * mpmath.mpf(sigma)), mpmath.mpf(epsilon) * sigma
        return mpmath.ncdf(a - b) - mpmath.exp(epsilon) * mpmath.ncdf(-a - b)


@pytest.mark.parametrize("epsilon", [0.1, 0.9, 5, 20])
def test_m9_gaussian_noise_is_enough_and_the_classic_rule_is_refused_where_it_fails(epsilon):
    delta = 1e-6

    def is_private(sigma):
        return gaussian_delta(sigma, epsilon) <= delta

    classic = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    ours = float(dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1).sigma)
    assert is_private(ours)
    assert not is_private(ours * 0.999)  # and tight
    if epsilon < 1:
        assert (
            float(dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1, calibration="classic").sigma)
            >= classic
        )
        assert ours < classic
    else:
        with pytest.raises(dp.InvalidParameter, match="epsilon must be < 1"):
            dp.Gaussian(epsilon=epsilon, delta=delta, sensitivity=1, calibration="classic")
    if epsilon == 20:
        assert not is_private(classic)
