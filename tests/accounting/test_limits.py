"""At the limit, in every number: what is spent never exceeds the budget, and every cost is rounded up."""

from fractions import Fraction

import pytest

from discreet.errors import BudgetExceeded
from discreet.kernel.accounting import Account, Total, raised_rule, rule_for
from discreet.kernel.accounting.rule import Advanced, Rule
from discreet.kernel.accounting.units import from_units, units_down
from discreet.kernel.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP

NAMES = ("epsilon", "delta", "rho", "mu")
THIRD = Fraction(1, 3)

# Budget, filter, and charges that each reach another number of it first.
CASES = [
    (PureDP(1), None, [PureDP(THIRD)]),
    (ApproxDP(1, 1e-6), None, [ApproxDP(THIRD, 1e-9), ApproxDP(0.001, Fraction(1, 3 * 10**6))]),
    (ApproxDP(1, 1e-6), "advanced", [PureDP(0.02), ApproxDP(0.001, 1e-7), ApproxDP(0.001, 1e-6)]),
    (ZCDP(1), None, [ZCDP(THIRD)]),
    (ZCDP(1, 1e-6), None, [ZCDP(THIRD, 1e-9), ZCDP(0.001, Fraction(1, 3 * 10**6))]),
    (RenyiDP(2, 1), None, [RenyiDP(2, THIRD)]),
    (GDP(1), None, [GDP(THIRD)]),
]


def fill(budget, chosen, price):
    """An account that was charged this price until it was refused."""
    account = Account(budget, filter=chosen)
    for _ in range(2000):
        try:
            account.charge(price)
        except BudgetExceeded:
            return account
    raise AssertionError("the account was never full")


def is_within(budget, spent):
    return all(getattr(spent, name) <= getattr(budget, name) for name in NAMES if hasattr(budget, name))


@pytest.mark.parametrize(("budget", "chosen", "prices"), CASES, ids=lambda part: str(part)[:40])
def test_what_is_spent_is_within_the_budget_in_every_number(budget, chosen, prices):
    for price in prices:
        account = fill(budget, chosen, price)
        assert is_within(budget, account.spent), price
        assert all(getattr(account.remaining, name, 0) >= 0 for name in NAMES)


def test_a_filter_that_sets_no_slack_aside_would_be_noticed(monkeypatch):
    budget = ApproxDP(1, 1e-6)

    def careless(self):
        return honest(self)._replace(delta=units_down(self.budget.delta))

    honest = Advanced.limit.func
    monkeypatch.setattr(Advanced, "limit", property(careless))
    account = Account.__new__(Account)
    account.rule, account.total = Advanced(budget), Total()
    account.charge(ApproxDP(0.001, 1e-6))
    assert not is_within(budget, account.spent)


@pytest.mark.parametrize(
    ("rule", "price"),
    [
        (rule_for(PureDP(1)), PureDP(THIRD)),
        (rule_for(ZCDP(1)), ZCDP(THIRD)),
        (rule_for(RenyiDP(2, 1)), RenyiDP(2, THIRD)),
        (rule_for(GDP(1)), GDP(Fraction(7, 9))),
    ],
    ids=["epsilon", "rho", "renyi", "mu"],
)
def test_a_cost_that_no_decimal_holds_is_rounded_up_by_promise_and_by_loss(rule, price):
    exactly = price.mu**2 if isinstance(price, GDP) else THIRD
    for cost in (rule.cost_of_promise(price), rule.cost_of_loss(price.loss)):
        assert from_units(cost.main) > exactly


def test_three_thirds_of_rho_do_not_fit_one_by_their_losses(monkeypatch):
    def charge_thrice():
        account = Account(ZCDP(1))
        for _ in range(3):
            account.charge(ZCDP(THIRD).loss)

    with pytest.raises(BudgetExceeded):
        charge_thrice()

    def careless(self, loss):
        cost = honest(self, loss)
        return cost._replace(main=cost.main - 1)

    honest = Rule.cost_of_loss
    monkeypatch.setattr(Rule, "cost_of_loss", careless)
    charge_thrice()  # the fault would let them in


# --- raising an advanced account --------------------------------------------------------------------------


def spend(rule, total, *epsilons):
    for epsilon in epsilons:
        total = total.plus(rule.cost(PureDP(epsilon)))
        assert rule.limit.admits(total)
    return total


def test_each_raise_costs_the_slack_of_the_budget_before():
    rule = rule_for(ApproxDP(1, 1e-6), filter="advanced")
    total = spend(rule, Total(), *[0.01] * 100)
    for raises, budget in enumerate([ApproxDP(2, 2e-6), ApproxDP(4, 4e-6), ApproxDP(8, 8e-6)], start=1):
        before = rule.spent(total)
        rule, total = raised_rule(rule, budget, total)
        after = rule.spent(total)
        assert after.epsilon == before.epsilon  # what was spent stays spent
        assert after.delta == sum(Fraction(2**each, 2 * 10**6) for each in range(raises + 1))
        assert rule.limit.admits(total)
        assert is_within(budget, after)
        total = spend(rule, total, *[0.01] * 100)


def test_at_one_delta_there_is_one_raise_and_not_another():
    rule = rule_for(ApproxDP(1, 1e-6), filter="advanced")
    rule, total = raised_rule(rule, ApproxDP(2, 1e-6), spend(rule, Total(), 0.5))
    assert rule.limit.admits(total)
    assert rule.spent(total).delta == Fraction(1, 10**6)  # delta'' + (k + 1) delta/2 with k = 1
    again, total = raised_rule(rule, ApproxDP(3, 1e-6), total)
    assert not again.limit.admits(total)


def test_after_a_raise_the_squares_begin_anew_on_what_came_on_top():
    rule = rule_for(ApproxDP(1, 1e-6), filter="advanced")
    total = spend(rule, Total(), 1)
    raised, begun = raised_rule(rule, ApproxDP(2, 2e-6), total)
    fresh = rule_for(ApproxDP(1, 2e-6), filter="advanced")  # what is left of it, and its own slack
    assert raised.limit.square == fresh.limit.square
    assert begun.square == 0
    assert raised.remaining(begun).epsilon == 1


def test_a_rule_with_what_it_carries_is_read_back():
    from discreet.kernel.accounting import read_rule

    rule = rule_for(ApproxDP(1, 1e-6), filter="advanced")
    raised, _ = raised_rule(rule, ApproxDP(2, 2e-6), spend(rule, Total(), 0.5))
    assert read_rule(raised.to_json()) == raised
    assert raised.carried == Fraction(1, 2)
    assert "carried" not in rule.to_json()
