"""Limits that a question states, by column: those that were found before, for free."""

import re
from fractions import Fraction

import pandas
import pytest

import discreet as dp
from discreet.apps.auditing.replay import Replay
from discreet.asking.planning.limit_stages import Limited
from discreet.asking.policy import from_toml

BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward"
MEANS = "SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward"
POLICY = """
[dataset]
id = "visits"
relation = "{relation}"
budget = {{ epsilon = 1 }}
[tables.visits]
unit = "person"
limit = "auto"
[tables.visits.columns]
person = {{ type = "integer" }}
ward = {{ type = "text", keys = ["a", "b", "c"] }}
cost = {{ type = "number", bounds = [0, 1000] }}
"""
ROWS = [(person, "abc"[(person + turn) % 3], 10.0 * (turn + 1)) for person in range(400)
        for turn in range(1 + person % 4)]  # fmt: skip


@pytest.fixture
def opened(tmp_path):
    def open_visits(**terms):
        frame = pandas.DataFrame(ROWS, columns=["person", "ward", "cost"])
        stated = {"unit": "person", "budget": {"epsilon": 10**4}, "limit": "auto"}
        stated |= {"bounds": {"cost": (0, 1000)}, "keys": {"ward": list("abc")}}
        return dp.Curator.open(frame, name="visits", ledger=tmp_path / "visits.ledger", **(stated | terms))

    return open_visits


def truth(ward):
    return sum(row[1] == ward for row in ROWS)


def test_a_limit_that_was_found_may_be_stated_again(opened):
    """It is a released number: nothing is spent on finding it again, and the error is known before."""
    curator = opened()
    found = re.search(r"at most (\d+) to the number of rows", curator.ask(BY_WARD, epsilon=2000).notes[0])
    assert found is not None
    plain = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    stated = {"n": int(found[1])}
    assert curator.explain(plain, epsilon=1).errors == {"n": None}
    plan = curator.explain(plain, epsilon=1, limit=stated)
    assert plan.errors["n"] == pytest.approx(3 * int(found[1]) / 0.95, rel=0.02)
    assert curator.explain(plain, within=50, limit=stated).errors["n"] <= 50
    assert not any(isinstance(stage, Limited) for each in plan.sets for stage in each.stages)
    answer = curator.ask(plain, epsilon=100, limit=stated)
    assert [row["n"] for row in answer.rows] == pytest.approx([truth(ward) for ward in "abc"], abs=4)
    assert curator.ask(plain, epsilon=100, limit=stated).charged is False
    assert curator.ask(plain, epsilon=100, limit={"n": 1}).charged  # another question


def test_a_stated_limit_of_a_sum_is_in_its_own_unit(opened):
    plan = opened().explain(BY_WARD, epsilon=1, limit={"s": 100})
    assert plan.errors["n"] is None
    assert plan.errors["s"] == pytest.approx(3 * 100 / 0.475, rel=0.02)


@pytest.mark.parametrize(
    ("question", "limit"),
    [
        (BY_WARD, {"nobody": 3}),
        (BY_WARD, {"n": 0}),
        (BY_WARD, {"n": 2**70}),
        (BY_WARD, {"s": Fraction(1, 2**50)}),
        (BY_WARD, 3),
        (MEANS, {"m": 3}),
        ("SELECT MEDIAN(cost) AS m, COUNT(*) AS n FROM visits", {"n": 3}),
    ],
    ids=str,
)
def test_a_limit_that_cannot_be_stated_is_refused_before_the_charge(question, limit, opened):
    curator = opened()
    with pytest.raises(dp.InvalidParameter) as error:
        curator.ask(question, epsilon=1, limit=limit)
    assert error.value.fields["parameter"] == "limit"
    assert curator.remaining.epsilon == 10**4


def test_budgets_in_mu_take_a_limit_that_the_question_states(opened):
    curator = opened(budget=dp.GDP(2))
    plain = "SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY ward"
    assert not curator.explain(plain, rho=0.5).weighs
    answer = curator.ask(plain, rho=0.5, limit={"n": 4})
    assert answer.plan.weighs
    assert [row["n"] for row in answer.rows] == pytest.approx([truth(ward) for ward in "abc"], abs=60)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_stages_under_a_stated_limit_replay_alike(relation):
    with Replay([BY_WARD], policy=from_toml(POLICY.format(relation=relation)), engine="memory") as stage:
        report = stage.run(BY_WARD, epsilon=0.1, limit={"n": 3, "s": 700})
        assert not report.violated, report
        assert report.answered == report.pairs


def test_one_stated_count_states_the_limit_of_all_counts(opened):
    """Counts share a limit, so that none is left to be found."""
    counts = "SELECT ward, COUNT(*) AS n, COUNT(cost) AS k FROM visits GROUP BY ward"
    assert opened(budget=dp.GDP(2)).explain(counts, rho=0.5, limit={"n": 4}).weighs


@pytest.mark.parametrize("question", [BY_WARD, MEANS])
@pytest.mark.parametrize("first", [0.3, 0.99])
def test_a_stored_answer_is_read_by_the_noise_it_was_drawn_with_at_any_confidence(question, first, opened):
    """What is charged is a promise: it does not tell which noise was drawn after a limit was found."""
    curator = opened(budget=dp.ZCDP(100))
    answer, second = curator.ask(question, rho=2, confidence=first), Fraction(7, 10)
    again = curator.ask(question, rho=2, confidence=second)
    assert not again.charged
    assert again.records(confidence=second) == answer.records(confidence=second)
    assert again.records(confidence=first) == answer.records(confidence=first)
