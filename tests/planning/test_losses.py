"""The loss of a plan is the sum of all that it draws: every group, set and number, under both relations."""

from dataclasses import replace
from fractions import Fraction

import pytest

from planning.frozen import plan_of
from queries.bank import BANK

ONE = Fraction(1)
RELATIONS = [BANK, replace(BANK, relation="replace")]
# Questions that use the whole of a pure price.
SPENT = [
    "SELECT city, COUNT(*) AS n FROM accounts GROUP BY city",
    "SELECT city, active, COUNT(*) AS n FROM accounts GROUP BY ROLLUP(city, active)",
    "SELECT city, SUM(debt) AS d, AVG(age) AS a FROM accounts GROUP BY city",
    "SELECT city, MEDIAN(age) AS m FROM accounts GROUP BY city",
    "SELECT city, MEDIAN(age) AS m, COUNT(*) AS n, MODE(city) AS top FROM accounts GROUP BY city",
    "SELECT COUNT(DISTINCT city) AS c, MIN(age) AS least FROM accounts",
]
FOUND = [
    "SELECT job, COUNT(DISTINCT person) AS n FROM accounts GROUP BY job",
    "SELECT job, SUM(debt) AS d FROM accounts GROUP BY job",
    "SELECT job, COUNT(*) AS n FROM accounts GROUP BY ROLLUP(job)",
    "SELECT job, city, SUM(debt) AS d FROM accounts GROUP BY GROUPING SETS ((job), (city))",
]


@pytest.mark.parametrize("policy", RELATIONS, ids=lambda policy: policy.relation)
@pytest.mark.parametrize("text", SPENT)
def test_a_pure_price_is_the_loss_and_the_loss_is_the_price(text, policy):
    loss = plan_of(text, policy, epsilon=ONE).loss
    assert 1 - 1e-9 <= loss.epsilon(delta=0) <= 1


@pytest.mark.parametrize("policy", RELATIONS, ids=lambda policy: policy.relation)
@pytest.mark.parametrize("text", FOUND)
def test_found_keys_are_in_the_loss_and_their_delta_is_in_the_price(text, policy):
    plan = plan_of(text, policy, epsilon=ONE)
    assert plan.needs_delta
    assert 0 < plan.loss.delta(epsilon=100) <= plan.price.delta
    assert plan.loss.delta(epsilon=plan.price.epsilon) <= plan.price.delta


@pytest.mark.parametrize("policy", RELATIONS, ids=lambda policy: policy.relation)
@pytest.mark.parametrize("text", [*SPENT, *FOUND])
def test_under_rho_the_sum_of_all_draws_keeps_the_price_and_comes_near(text, policy):
    policy = replace(policy, budget=(("delta", Fraction(1, 1000)), ("rho", ONE)))
    plan = plan_of(text, policy, rho=Fraction(1, 8))
    drawn = sum((step.loss for each in plan.sets for step in each.columns), 0 * plan.loss)
    keys = [each.keys_stage for each in plan.sets if each.keys_stage is not None]
    chosen = sum((step.loss for step in keys if step.column is None), 0 * plan.loss)
    assert plan.loss == drawn + chosen
    if text in FOUND:  # in any of the grouping sets
        assert plan.needs_delta
        assert 0 < plan.price.delta <= Fraction(1, 1000)
    if text in SPENT:
        assert 0.99 / 8 <= plan.loss.rho <= 1 / 8
