"""What every rule takes for every promise and loss, by hand and in every number: delta too."""

from dataclasses import fields
from fractions import Fraction

import pytest

from discreet.kernel.accounting import Total, covers, rule_for
from discreet.kernel.accounting.units import ONE
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

THIRD, THOUSANDTH = Fraction(1, 3), Fraction(1, 1000)


def units(value):
    """A cost, rounded up once."""
    return -(-(value.numerator * ONE) // value.denominator)


# Budget, filter, what is charged, and its cost: main, squares, delta.
COSTS = [
    (PureDP(1), None, PureDP(THIRD), (THIRD, 0, 0)),
    (ApproxDP(1, THOUSANDTH), None, PureDP(THIRD), (THIRD, 0, 0)),
    (ApproxDP(1, THOUSANDTH), None, ApproxDP(THIRD, THOUSANDTH), (THIRD, 0, THOUSANDTH)),
    (ApproxDP(1, THOUSANDTH), "advanced", ApproxDP(THIRD, THOUSANDTH / 2), (THIRD, THIRD**2, THOUSANDTH / 2)),
    (ZCDP(1, THOUSANDTH), None, ZCDP(THIRD, THOUSANDTH), (THIRD, 0, THOUSANDTH)),
    (ZCDP(1), None, GDP(THIRD), (THIRD**2 / 2, 0, 0)),
    (RenyiDP(4, 1), None, ZCDP(THIRD / 4), (THIRD, 0, 0)),
    (RenyiDP(4, 1), None, RenyiDP(8, THIRD), (THIRD, 0, 0)),
    (RenyiDP(4, 1), None, GDP(THIRD), (4 * THIRD**2 / 2, 0, 0)),
    (GDP(1), None, GDP(THIRD), (THIRD**2, 0, 0)),
]


@pytest.mark.parametrize(("budget", "rule", "promise", "cost"), COSTS, ids=str)
def test_a_promise_and_its_loss_cost_what_they_cost_by_hand(budget, rule, promise, cost):
    expected = Total(*(units(Fraction(part)) for part in cost))
    rules = rule_for(budget, filter=rule)
    assert rules.cost(promise) == expected
    if not isinstance(promise, RenyiDP):  # whose loss is known as a float, rounded up beyond a third
        assert rules.cost(promise.loss, promise) == expected
    priced_by_loss = rules.cost_of_loss(promise.loss)
    assert priced_by_loss is None or all(
        mine >= theirs for mine, theirs in zip(priced_by_loss, expected, strict=True)
    )


@pytest.mark.parametrize(("budget", "rule", "promise", "cost"), COSTS, ids=str)
def test_a_charge_just_beyond_the_limit_is_refused_in_every_number(budget, rule, promise, cost):
    limit = rule_for(budget, filter=rule).limit
    for part in ("main", "delta"):
        full = Total(limit.main, max(limit.square, 0), limit.delta)
        beyond = full._replace(**{part: getattr(full, part) + 1})
        assert limit.admits(full)
        if part == "delta" or limit.square < 0:
            assert not limit.admits(beyond)


def test_a_promise_covers_no_larger_failure_however_small_its_epsilon():
    promise = ApproxDP(1, THOUSANDTH)
    assert covers(promise, ApproxDP(1, THOUSANDTH).loss)
    for epsilon in (1, Fraction(1, 2), Fraction(1, 100)):
        assert not covers(promise, ApproxDP(epsilon, 2 * THOUSANDTH).loss)
    assert not covers(promise, ApproxDP(Fraction(3, 2), THOUSANDTH).loss)
    assert not covers(ZCDP(1, THOUSANDTH), ZCDP(Fraction(1, 2), 2 * THOUSANDTH).loss)


@pytest.mark.parametrize(("budget", "rule", "promise", "cost"), COSTS, ids=str)
def test_what_is_spent_at_the_limit_keeps_the_budget_in_every_number(budget, rule, promise, cost):
    chosen = rule_for(budget, filter=rule)
    limit = chosen.limit
    spent = chosen.spent(Total(limit.main, max(limit.square, 0), limit.delta))
    for each in fields(budget):
        if each.name != "relation":
            assert getattr(spent, each.name) <= getattr(budget, each.name)
