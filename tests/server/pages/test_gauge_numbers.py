import re
import time
from fractions import Fraction

import pytest

from discreet.apps.server.pages.gauge import BudgetGauge, cost_of_plan, odds_of_account
from discreet.asking.planning import plan_asked
from discreet.asking.policy import from_arguments
from discreet.errors import InvalidParameter
from discreet.kernel.accounting import Account
from discreet.kernel.ledger import Balance
from discreet.kernel.losses import GDP, ZCDP, ApproxDP

HALF = BudgetGauge(
    {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)},
    {"epsilon": Fraction(1, 3), "delta": Fraction(1, 10**7)},
)


def test_what_is_left_is_rounded_down_and_what_is_spent_up():
    assert HALF.texts["remaining"] == "0.333333"
    assert HALF.texts["spent"] == "0.666667"


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


def balance(account, budget, remaining):
    return Balance(account, "basic", budget, budget, remaining)


def pair(epsilon, delta=0):
    return ApproxDP(epsilon, delta)


ACCOUNTS = {
    "t": (pair(6, 1e-6), pair(4, 1e-7)),
    "t/analyst/ann": (pair(2, 1e-6), pair(2, 1e-6)),
    "t/rest": (pair(6, 1e-6), pair(3, 5e-8)),
    "t/share/ann": (pair(1, 1e-8), pair(0.5, 1e-8)),
}
STANDINGS = {
    ("t",): ("spent by all", "2", "4", "6", "10⁻⁷"),
    ("t", "t/analyst/ann"): ("you spent", "0", "2", "2", "10⁻⁷"),
    ("t", "t/rest"): ("spent, or kept for others", "3", "3", "6", "5·10⁻⁸"),
    ("t", "t/analyst/ann", "t/rest"): ("you spent", "0", "2", "2", "5·10⁻⁸"),
    ("t", "t/analyst/ann", "t/share/ann"): ("you spent", "0.5", "0.5", "1", "10⁻⁸"),
}


@pytest.mark.parametrize("names", STANDINGS, ids=" ".join)
def test_the_gauge_shows_the_account_that_binds_and_nobody_elses_spending(names):
    words = BudgetGauge.of([balance(name, *ACCOUNTS[name]) for name in names]).texts
    shown = tuple(words[part] for part in ("gone", "spent", "remaining", "limit", "delta_remaining"))
    assert shown == STANDINGS[names]


def test_of_two_accounts_with_as_much_left_ones_own_is_shown():
    accounts = [balance("t", pair(6), pair(2)), balance("t/analyst/ann", pair(2), pair(2))]
    assert BudgetGauge.of(accounts).whose == "analyst"
    assert BudgetGauge.of(accounts).spent == 0


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
    standing = BudgetGauge.of([balance("t", GDP(0.5), GDP(0.4))])
    assert standing.spent == Fraction(9, 100)
    assert standing.fits({"mu": Fraction(4, 100)}) == 4


def test_a_price_beyond_the_budget_fills_the_gauge_and_no_more():
    assert HALF.parts({"epsilon": Fraction(5)})["next"] == 100


@pytest.mark.parametrize("budget", [ApproxDP(1000, 1e-3), ZCDP(100), GDP(50)])
def test_the_odds_of_a_thousand_charges_take_no_time(budget):
    """By the account's own rule: a sum, whatever the number of charges, never their distributions."""
    account = Account(budget)
    kinds = {ApproxDP: lambda e: ApproxDP(e, 1e-9), ZCDP: ZCDP, GDP: GDP}
    for n in range(1, 1001):
        account.charge(kinds[type(budget)](Fraction(n, 7919)))
    balance = Balance("town", "basic", budget, account.spent, account.remaining)
    begun = time.process_time()
    said = odds_of_account(balance, "all")
    assert time.process_time() - begun < 0.1
    assert re.fullmatch(
        r"After all that is spent so far: (all|[\d.]+) of 100; after .*: (all|[\d.]+)\.", said
    )
