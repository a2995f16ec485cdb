"""Noise on the whole numbers: its ρ is the supremum over every order, by direct sums."""

from fractions import Fraction as F

import mpmath
import pytest
from flint import acb, arb

from discreet.kernel.losses import discrete_laplace, lattice
from discreet.kernel.numerics import ball, working_precision


def renyi_over_order(scale, shift, order):
    """D_α/α by summing over the whole numbers."""
    with mpmath.workdps(40):
        a, total = mpmath.mpf(1) / scale, mpmath.mpf(0)
        reach = int(120 * scale) + shift
        for k in range(-reach, reach + shift):
            p, q = mpmath.exp(-a * abs(k)), mpmath.exp(-a * abs(k - shift))
            total += p**order * q ** (1 - order)
        return mpmath.log(total * mpmath.tanh(a / 2)) / (order - 1) / order


@pytest.mark.slow
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


class Early:
    """Stands for the working precision where a series asks how long it must be: it stops far too early."""

    prec = 4


def gaussian_moment(variance, shift, z):
    """Σ Pr[k]·e^(z·loss) over the whole numbers, by a long sum."""
    masses = [(-(arb(k) ** 2) / (2 * variance)).exp() for k in range(-60, 61)]
    losses = [arb(shift**2 - 2 * k * shift) / (2 * variance) for k in range(-60, 61)]
    total = sum((mass * (z * loss).exp() for mass, loss in zip(masses, losses, strict=True)), acb(0))
    return total / sum(masses, arb(0))


@pytest.mark.parametrize("variance", [F(3, 2), F(1)])  # by Poisson's formula, and directly
def test_without_what_its_series_leave_out_a_moment_of_the_discrete_gaussian_is_wrong(monkeypatch, variance):
    z = acb(0.75, 0.5)
    with working_precision(128):
        exact = gaussian_moment(ball(variance), 1, z)
        monkeypatch.setattr(lattice, "ctx", Early)
        assert lattice.DiscreteGaussianPair(variance, 1).moment(z).overlaps(exact)
        monkeypatch.setattr(lattice, "_disc", lambda radius: acb(0))  # the planted fault
        assert not lattice.DiscreteGaussianPair(variance, 1).moment(z).overlaps(exact)


def test_without_what_its_series_leaves_out_a_tail_of_the_discrete_gaussian_is_wrong(monkeypatch):
    with working_precision(128):
        pair, faulty = (lattice.DiscreteGaussianPair(F(4), 1) for _ in range(2))
        masses = {k: (-(arb(k) ** 2) / 8).exp() for k in range(-90, 91)}
        exact = sum((mass for k, mass in masses.items() if k > 2), arb(0)) / sum(masses.values(), arb(0))
        monkeypatch.setattr(lattice, "ctx", Early)
        assert pair._above(2).overlaps(exact)
        monkeypatch.setattr(lattice, "_at_most", lambda rest: arb(0))  # the planted fault
        assert not faulty._above(2).overlaps(exact)
