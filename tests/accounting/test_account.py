"""What every account promises, whatever its rule."""

import math
import time
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from discreet.errors import BudgetExceeded, InvalidParameter
from discreet.kernel.accounting import Account, rule_for
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP, approximate, gaussian, laplace

BUDGETS = [
    (PureDP(1), None, PureDP),
    (ApproxDP(1, 1e-6), None, PureDP),
    (ApproxDP(1, 1e-6), "advanced", PureDP),
    (ZCDP(0.5), None, ZCDP),
    (GDP(1), None, GDP),
    (RenyiDP(4, 2), None, lambda value: RenyiDP(4, value)),
]
GARBAGE = [math.nan, math.inf, -math.inf, -1, 0, -0.0, 1e-320, 1e308, True, "1", None, [1]]


def test_ten_tenths_fit_one_exactly_and_no_eleventh():
    account = Account(PureDP(1))
    for _ in range(10):
        account.charge(laplace(scale=10, sensitivity=1))
    assert account.remaining.epsilon == 0
    with pytest.raises(BudgetExceeded):
        account.charge(PureDP(Fraction(1, 2**60)))


@pytest.mark.parametrize(("notion", "parts"), [(PureDP, (0.1, 0.2)), (ZCDP, (0.1, 0.2))])
def test_a_tenth_and_two_tenths_fit_three_tenths(notion, parts):
    account = Account(notion(0.3))
    for part in parts:
        account.charge(notion(part))
    assert not account.fits(notion(1e-15))


@pytest.mark.parametrize("garbage", GARBAGE, ids=repr)
@pytest.mark.parametrize(("budget", "rule", "charge"), BUDGETS, ids=lambda part: str(part)[:20])
def test_garbage_is_refused_before_anything_is_charged(budget, rule, charge, garbage):
    account = Account(budget, filter=rule)
    before = account.total
    with pytest.raises(InvalidParameter):
        account.charge(garbage)
    if garbage in (1e-320, 1e308) and charge in (ZCDP, GDP):
        return  # these notions take any exact number > 0; whether it fits is the account's question
    with pytest.raises(InvalidParameter):
        account.charge(charge(garbage))
    assert account.total == before


@pytest.mark.parametrize("delta", [1, 1.0000001, -1e-9, math.nan, math.inf, True, "0"])
def test_a_delta_outside_zero_to_one_is_refused(delta):
    account = Account(ApproxDP(1, 1e-6))
    with pytest.raises(InvalidParameter):
        account.charge(ApproxDP(0.1, delta))
    assert account.spent.epsilon == 0


@pytest.mark.parametrize("huge", [1e308, 10**15])
def test_a_huge_rho_or_mu_never_fits(huge):
    for account, price in ((Account(ZCDP(1)), ZCDP(huge)), (Account(GDP(1)), GDP(huge))):
        with pytest.raises((InvalidParameter, BudgetExceeded)):
            account.charge(price)
        assert account.total == (0, 0, 0)


def test_a_tiny_charge_is_counted_and_never_absorbed():
    account = Account(ZCDP(1))
    account.charge(ZCDP(1e-320))
    assert account.total.main == 1


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "rule", "charge"), BUDGETS, ids=lambda part: str(part)[:20])
@given(costs=st.lists(st.fractions(Fraction(1, 1000), Fraction(1, 2)), max_size=30))
def test_what_remains_fits_and_anything_more_does_not(budget, rule, charge, costs):
    account = Account(budget, filter=rule)
    for cost in costs:
        if account.fits(charge(cost)):
            account.charge(charge(cost))
    left = account.remaining
    number = {PureDP: "epsilon", ApproxDP: "epsilon", ZCDP: "rho", GDP: "mu", RenyiDP: "epsilon"}[type(left)]
    largest = getattr(left, number)
    assert type(left) is type(budget)
    if largest >= Fraction(1, 2**60):
        assert account.fits(charge(largest))
    assert not account.fits(charge(largest + Fraction(1, 10**18)))


@pytest.mark.slow
@given(st.lists(st.fractions(Fraction(1, 10**6), 1), min_size=1, max_size=40))
def test_the_total_never_falls_below_the_exact_sum(costs):
    account = Account(PureDP(10**4))
    for cost in costs:
        account.charge(PureDP(cost))
    assert 0 <= account.spent.epsilon - sum(costs) <= len(costs) * Fraction(1, 10**48)


def test_a_relation_is_never_mixed():
    with pytest.raises(InvalidParameter, match="relation"):
        Account(PureDP(1)).charge(PureDP(0.1, relation="replace"))


def test_a_named_price_must_cover_the_loss_and_is_then_what_is_taken():
    account = Account(ApproxDP(1, 1e-6))
    noise = gaussian(sigma=20, sensitivity=1)
    account.charge(noise, price=ApproxDP(0.5, 1e-7))
    assert (account.spent.epsilon, account.spent.delta) == (Fraction(1, 2), Fraction(1, 10**7))
    with pytest.raises(InvalidParameter, match="cover"):
        account.charge(noise, price=ApproxDP(0.1, 1e-9))


@pytest.mark.parametrize("rule", [None, "advanced"])
def test_a_loss_of_pure_and_approximate_parts_costs_their_sums(rule):
    account = Account(ApproxDP(1, 1e-6), filter=rule)
    account.charge(2 * approximate(epsilon=0.1, delta=1e-7) + laplace(scale=10, sensitivity=1))
    assert (account.total.main, account.total.delta) == (3 * 10**47, 2 * 10**41)


@pytest.mark.parametrize(
    ("budget", "loss"),
    [
        (PureDP(1), gaussian(sigma=10, sensitivity=1)),
        (GDP(1), ZCDP(0.1)),
        (ZCDP(1), RenyiDP(2, 0.1)),
        (RenyiDP(2, 1), ApproxDP(0.1, 1e-6)),
    ],
)
def test_what_a_rule_cannot_price_is_refused(budget, loss):
    with pytest.raises(InvalidParameter, match="must be charged by"):
        Account(budget).charge(loss)


@pytest.mark.parametrize(
    ("budget", "rule"), [(PureDP(1), "advanced"), (ApproxDP(1, 0), "advanced"), (PureDP(1), "x")]
)
def test_a_filter_that_does_not_suit_the_budget_is_refused(budget, rule):
    with pytest.raises(InvalidParameter, match="filter"):
        rule_for(budget, filter=rule)


@pytest.mark.slow
def test_a_hundred_thousand_charges_take_seconds_and_constant_state():
    account, loss = Account(PureDP(10**4)), laplace(scale=100, sensitivity=1)
    start = time.process_time()  # what others do on the machine does not count
    for _ in range(10**5):
        account.charge(loss)
    assert time.process_time() - start < 10
    assert account.spent.epsilon == 1000
