"""Every rule against the worst adaptive adversary there is, found by exact search."""

import math
from fractions import Fraction
from functools import cache

import pytest

from discreet.kernel.accounting import Total, rule_for
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP, gaussian
from oracles.adversary import above, delta_at, moment, worst_value

STEP = Fraction(1, 20)
CHOICES = (1, 2, 5, 20)


def game(rule, limit=None, choices=CHOICES):
    """The adversary's game against an account with this rule, or with another limit planted into it."""
    return {
        "step": float(STEP),
        "prices": {choice: rule.cost(PureDP(choice * STEP)) for choice in choices},
        "admits": (limit or rule.limit).admits,
        "start": Total(),
    }


def test_sums_never_lose_more_than_their_sum():
    assert worst_value(above(1.0), **game(rule_for(PureDP(1)))) == 0


@pytest.mark.parametrize("delta", [1e-2, 1e-3, 1e-4])
def test_no_adversary_beats_the_advanced_filter(delta):
    rule = rule_for(ApproxDP(1, delta), filter="advanced")
    assert worst_value(above(1.0), **game(rule)) <= delta / 2
    assert worst_value(delta_at(1.0), **game(rule)) <= delta / 2


def test_the_search_comes_close_to_what_the_advanced_filter_allows():
    rule = rule_for(ApproxDP(1, 1e-2), filter="advanced")
    assert worst_value(above(1.0), **game(rule)) > 1e-2 / 2 / 20  # with these few prices


@pytest.mark.slow
def test_the_adversary_beats_a_filter_that_admits_three_times_the_squares():
    rule = rule_for(ApproxDP(1, 1e-2), filter="advanced")
    faulty = rule.limit._replace(square=3 * rule.limit.square)  # the planted fault
    assert worst_value(above(1.0), **game(rule, faulty, choices=(1, 2))) > 5e-3


@pytest.mark.parametrize("order", [1.5, 2, 8, 32])
def test_no_adversary_beats_the_concentrated_filter(order):
    rho = Fraction(1, 20)
    bound = math.exp((order - 1) * order * float(rho))
    assert worst_value(moment(order), **game(rule_for(ZCDP(rho)))) <= bound * (1 + 1e-12)


def test_the_adversary_beats_a_concentrated_filter_that_admits_a_tenth_more():
    rule = rule_for(ZCDP(Fraction(1, 20)))
    faulty = rule.limit._replace(main=rule.limit.main * 11 // 10)  # the planted fault
    assert worst_value(moment(1.01), **game(rule, faulty)) > math.exp(0.01 * 1.01 / 20)


@pytest.mark.parametrize("order", [2, 8])
def test_no_adversary_beats_the_filter_at_one_order(order):
    rule = rule_for(RenyiDP(order, Fraction(1, 10)))
    assert worst_value(moment(order), **game(rule)) <= math.exp((order - 1) / 10) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3, 1.0])
def test_no_adversary_beats_the_gaussian_filter(epsilon):
    rule, limit = rule_for(GDP(Fraction(1, 2))), gaussian(sigma=2, sensitivity=1).delta(epsilon=epsilon)
    assert worst_value(delta_at(epsilon), **game(rule)) <= limit


def test_the_advanced_limit_solves_its_equation():
    squares = rule_for(ApproxDP(1, 1e-6), filter="advanced").limit.square / 10**48
    assert math.sqrt(2 * math.log(2e6) * squares) + squares / 2 == pytest.approx(1, abs=1e-14)


def test_taking_either_rule_admits_what_each_alone_would():
    rule = rule_for(ApproxDP(1, 1e-6), filter="advanced")
    one, many = rule.cost(PureDP(1)), Total(*(300 * part for part in rule.cost(PureDP(0.01))))
    assert [rule.limit.admits(total) for total in (one, many, one.plus(many))] == [True, True, False]


def test_what_was_spent_under_the_advanced_filter_is_the_better_bound():
    rule = rule_for(ApproxDP(1, 1e-6), filter="advanced")
    assert rule.spent(rule.cost(PureDP(0.5))) == ApproxDP(Fraction(1, 2), Fraction(1, 2 * 10**6))
    full = rule.spent(Total(10**50, rule.limit.square, 0))
    assert float(full.epsilon) == pytest.approx(1, abs=1e-15)


@pytest.mark.slow
def test_no_adversary_stops_when_more_is_lost_than_the_advanced_account_says():
    rule = rule_for(ApproxDP(1, 1e-2), filter="advanced")
    wide = rule.limit._replace(square=2 * rule.limit.square)  # beyond the limit too
    assert worst_value(lambda loss, total: float(loss > said(rule, total)), **game(rule, wide)) <= 5e-3
    assert worst_value(lambda loss, total: float(loss > said(rule, total) / 2), **game(rule, wide)) > 5e-3


@cache
def said(rule, total):
    return float(rule.spent(total).epsilon) + 1e-12
