from fractions import Fraction

import pytest

from discreet.server.pages.standing import Standing

HALF = Standing(
    {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)},
    {"epsilon": Fraction(1, 3), "delta": Fraction(1, 10**7)},
)


def test_what_is_left_is_rounded_down_and_what_is_spent_up():
    assert HALF.words["remaining"] == "0.333333"
    assert HALF.words["spent"] == "0.666667"


@pytest.mark.parametrize(
    ("price", "fits"),
    [
        ({"epsilon": Fraction(1, 10)}, 3),
        ({"epsilon": Fraction(1, 10), "delta": Fraction(1, 10**7)}, 1),
        ({"epsilon": Fraction(1, 10), "delta": Fraction(1, 10**6)}, 0),
        ({"epsilon": Fraction(1, 2)}, 0),
        ({"rho": Fraction(1, 10)}, None),
        ({}, None),
    ],
)
def test_the_scarcer_of_epsilon_and_delta_says_how_many_fit(price, fits):
    assert HALF.fits(price) == fits


def test_a_price_beyond_the_budget_fills_the_gauge_and_no_more():
    assert HALF.parts({"epsilon": Fraction(5)})["next"] == 100
