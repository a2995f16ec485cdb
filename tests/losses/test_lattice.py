"""Noise on the whole numbers: its ρ is the supremum over every order, by direct sums."""

import mpmath
import pytest

from discreet.losses import discrete_laplace


def renyi_over_order(scale, shift, order):
    """D_α/α by summing over the whole numbers."""
    with mpmath.workdps(40):
        a, total = mpmath.mpf(1) / scale, mpmath.mpf(0)
        reach = int(120 * scale) + shift
        for k in range(-reach, reach + shift):
            p, q = mpmath.exp(-a * abs(k)), mpmath.exp(-a * abs(k - shift))
            total += p**order * q ** (1 - order)
        return mpmath.log(total * mpmath.tanh(a / 2)) / (order - 1) / order


@pytest.mark.parametrize(("scale", "shift"), [(1, 1), (1, 2), (2, 3), (0.5, 4), (3, 10)])
def test_rho_is_the_supremum_over_all_orders(scale, shift):
    rho = discrete_laplace(scale=scale, sensitivity=shift).rho
    orders = [mpmath.mpf(x) for x in ("1.0001", "1.01", "1.1", "1.5", "2", "3", "5", "10", "40")]
    values = [renyi_over_order(scale, shift, order) for order in orders]
    assert all(value <= rho for value in values)
    assert values == sorted(values, reverse=True)  # it falls with the order, as the theorem says
    assert values[0] >= rho * (1 - 1e-3)


def test_rho_is_that_of_randomised_response_for_one_step_and_less_for_more():
    import math

    assert discrete_laplace(scale=2).rho == pytest.approx(0.5 * math.tanh(0.25), rel=1e-14)
    assert discrete_laplace(scale=2, sensitivity=4).rho < 0.8 * 2 * math.tanh(1)
