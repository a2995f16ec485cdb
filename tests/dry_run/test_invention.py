"""Invented people lie in the policy's domain, and their rows find each other."""

import datetime
from dataclasses import replace
from fractions import Fraction

from discreet.asking.dry_run import Belief, complete, invent, rehearse
from discreet.asking.policy import from_arguments
from planning.frozen import plan_of
from queries.bank import BANK

BELIEF = Belief(people=40, rows=3, beyond=Fraction(0))
TABLES = invent(BANK, BELIEF)


def test_values_lie_in_the_declared_domain():
    for row in TABLES["accounts"]:
        assert 0 <= row["debt"] <= 10_000_000
        assert isinstance(row["age"], int)
        assert 0 <= row["age"] <= 120
        assert row["city"] in ("Ottawa", "Toronto", "Québec")
        assert datetime.date(2020, 1, 1) <= row["opened"] <= datetime.date(2020, 12, 31)


def test_values_go_beyond_a_bound_as_often_as_believed():
    far = invent(BANK, replace(BELIEF, beyond=Fraction(1)))
    assert all(row["debt"] >= 10_000_000 for row in far["accounts"])


def test_everybody_has_rows_and_every_foreign_key_leads_to_one_row():
    assert len({row["person"] for row in TABLES["accounts"]}) == 40
    ids = [row["id"] for row in TABLES["accounts"]]
    assert len(set(ids)) == len(ids)
    assert {row["account"] for row in TABLES["payments"]} <= set(ids)
    assert len(TABLES["survey"]) == 40  # each row is a person


def test_the_keys_of_a_public_table_are_unique_and_are_found():
    found = [row["city"] for row in TABLES["cities"]]
    assert len(set(found)) == len(found)
    sql = """SELECT province, COUNT(DISTINCT person) AS n FROM accounts
             JOIN cities ON accounts.city = cities.city GROUP BY province"""
    dry = rehearse(plan_of(sql, epsilon=1), BELIEF)
    people = [row["every_row"] for row in dry.rows]
    assert max(people) <= 40 <= sum(people)


def test_units_and_foreign_keys_that_nobody_described_are_added():
    bare = from_arguments(
        sources={"a": None, "b": None},
        unit={"a": "person", "b": ("a", {"account": "id"})},
        bounds={"a": {"person": (0, 9)}},
        id="x",
        budget={"epsilon": 1},
        types={"a": {"person": "integer"}},
    )
    tables = {table.name: [each.name for each in table.columns] for table in complete(bare).tables}
    assert tables == {"a": ["person", "id"], "b": ["account"]}


def test_many_people_are_a_few_that_stand_for_several():
    crowd = Belief(people=10**6, rows=3, beyond=Fraction(0))
    assert crowd.invented(BANK) * 3 <= 4000
    assert abs(crowd.invented(BANK) * crowd.alike(BANK) - 10**6) < 1000
