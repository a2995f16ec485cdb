"""What is charged for questions that are asked together, where the loss itself is the price."""

from fractions import Fraction

import pandas
import pytest

import discreet as dp

QUESTIONS = ["SELECT COUNT(*) AS n FROM people", "SELECT SUM(debt) AS total FROM people"]


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize(
    "budget", [dp.GDP(2), dp.ZCDP(2), dp.PureDP(2)], ids=lambda each: type(each).__name__
)
def test_a_list_is_charged_for_all_its_questions(tmp_path, budget, relation):
    price = {"epsilon": 1} if isinstance(budget, dp.PureDP) else {"rho": Fraction(1, 8)}
    data = pandas.DataFrame({"person": range(40), "debt": [5.0] * 40})
    declared = {"unit": "person", "bounds": {"debt": (-10, 10)}, "relation": relation, "budget": budget}
    with dp.Curator.open(data, name="people", ledger=tmp_path / "x.ledger", **declared) as curator:
        plans = curator.explain(QUESTIONS, **price)
        assert len(curator.ask(QUESTIONS, **price)) == 2
        spent = curator.ledger.spent
    if isinstance(budget, dp.GDP):
        assert float(spent.mu) ** 2 == pytest.approx(sum(plan.loss.mu**2 for plan in plans))
    elif isinstance(budget, dp.ZCDP):
        assert spent.rho == Fraction(1, 8)
    else:
        assert spent.epsilon == 1
