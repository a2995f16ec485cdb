from fractions import Fraction

import pytest

from discreet.errors import InvalidParameter
from discreet.planning import plan_asked
from discreet.server.pages.standing import Standing, cost_of_plan
from discreet.tables import from_arguments

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


BUDGETS = {
    "epsilon": ({"epsilon": 1}, {"epsilon": 0.1}, Fraction(1, 10)),
    "rho": ({"rho": 1}, {"rho": 0.1}, Fraction(1, 10)),
    "rho of a pure price": ({"rho": 1}, {"epsilon": 0.1}, Fraction(1, 200)),
}


@pytest.mark.parametrize("name", BUDGETS)
def test_a_plan_costs_what_its_account_would_be_charged(name):
    budget, terms, most = BUDGETS[name]
    policy = from_arguments(sources={"t": None}, id="t", unit="person", budget=budget)
    (plan,) = plan_asked("SELECT COUNT(*) AS n FROM t", policy, **terms)
    ((_, cost),) = cost_of_plan(plan).items()
    assert Fraction(9, 10) * most < cost <= most  # a pure ε costs at most ε²/2 of ρ


def test_a_price_that_the_account_does_not_take_is_refused_beforehand():
    policy = from_arguments(sources={"t": None}, id="t", unit="person", budget={"epsilon": 1})
    (plan,) = plan_asked("SELECT COUNT(*) AS n FROM t", policy, rho=0.1)
    with pytest.raises(InvalidParameter, match="charged by epsilon"):
        cost_of_plan(plan)


def test_a_gaussian_budget_is_counted_in_squares():
    standing = Standing.read({"budget": {"mu": "1/2"}, "remaining": {"mu": "2/5"}})
    assert standing.spent == Fraction(9, 100)
    assert standing.fits({"mu": Fraction(4, 100)}) == 4


def test_a_price_beyond_the_budget_fills_the_gauge_and_no_more():
    assert HALF.parts({"epsilon": Fraction(5)})["next"] == 100
