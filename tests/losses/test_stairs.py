"""Staircase noise against the sum over every outcome, at every move."""

from fractions import Fraction as F

import mpmath
import pytest

import discreet as dp
from discreet.kernel.losses import PrivacyLoss, pure, staircase

EPSILONS = [F(0), F(1, 10), F(1, 2), F(9, 10)]


def hockey_stick(first, second, epsilon):
    """Σ (p − e^ε·q)₊ over outcomes."""
    with mpmath.workdps(40):
        scale = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        return mpmath.fsum(max(mpmath.mpf(0), p - scale * q) for p, q in zip(first, second, strict=True))


def staircase_rows(epsilon, stairs, width, move):
    """The noise, stair by stair, and itself moved: until what is left is below 10^−40."""
    with mpmath.workdps(60):
        price = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        reach = int(100 / price + 3) * stairs

        def weight(k):
            block, place = divmod(abs(k), stairs)
            return mpmath.exp(-price * (block + (place >= width)))

        total = mpmath.fsum(weight(k) for k in range(-reach, reach + 1))
        places = range(-reach, reach + move + 1)
        return [weight(k) / total for k in places], [weight(k - move) / total for k in places]


def check_holds(interval, truth):
    assert interval.lower - 1e-18 <= truth <= interval.upper + 1e-18
    assert interval.width <= 1e-12


@pytest.mark.parametrize(
    ("stairs", "width"), [(1, 1), (2, 1), (2, 2), (3, 2), (5, 1), (5, 2), (5, 3), (5, 4), (5, 5)]
)
@pytest.mark.parametrize("price", [F(1), F(4)])
def test_a_staircase_costs_the_sum_over_its_worst_move(stairs, width, price):
    loss = staircase(epsilon=price, stairs=stairs, width=width)
    rows = [staircase_rows(price, stairs, width, move) for move in range(1, stairs + 1)]
    for share in EPSILONS:
        truths = [hockey_stick(*pair, share * price) for pair in rows]
        check_holds(loss.delta_interval(epsilon=share * price), max(truths))


def test_it_costs_less_than_what_is_only_known_to_be_pure():
    loss = staircase(epsilon=1, stairs=8, width=3)
    assert (100 * loss).epsilon(delta=1e-6) < 0.99 * (100 * pure(epsilon=1)).epsilon(delta=1e-6)
    assert loss.epsilon(delta=0) == 1
    assert PrivacyLoss.from_json(loss.to_json()) == loss


def test_the_mechanism_charges_its_exact_curve():
    noise = dp.Staircase(epsilon=1, sensitivity=8)
    assert noise.loss == staircase(epsilon=1, stairs=8, width=noise.width)
    both = dp.Staircase(epsilon=1, sensitivity=8, dimension=2)
    assert both.loss == 2 * staircase(epsilon=F(1, 2), stairs=8, width=both.width)
    assert both.loss.epsilon(delta=0) == 1


@pytest.mark.parametrize("width", [0, 5])
def test_a_stair_that_does_not_fit_is_refused(width):
    with pytest.raises(dp.InvalidParameter, match="width must"):
        staircase(epsilon=1, stairs=4, width=width)
