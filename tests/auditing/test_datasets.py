"""Invented neighbours differ in one unit, lie in the policy's tables, and reach its edges."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings

from discreet.apps.auditing.datasets import SOMEBODY, invent_neighbours
from discreet.apps.auditing.people import literals_of, odd_values, plain_values
from discreet.apps.auditing.stage import Stage
from discreet.asking.policy import Column, from_arguments
from discreet.asking.queries import read_sql
from discreet.errors import InvalidParameter
from discreet.testing import neighbouring
from queries.bank import BANK

PAIRS = invent_neighbours(BANK, [18, "baker"])


def owners(rows, name):
    """Whose each row of a table is; None for nobody's."""
    units = {"accounts": "person", "visits": "visitor"}
    if name in units:
        return [row[units[name]] for row in rows[name]]
    people = {row["id"]: row["person"] for row in rows["accounts"]}
    return [people.get(row["account"]) for row in rows["payments"]]


def others(rows, name, somebody):
    return [
        repr(row) for row, owner in zip(rows[name], owners(rows, name), strict=True) if owner not in somebody
    ]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.second.words[:70])
def test_neighbours_differ_in_one_unit(pair):
    if pair.tables == {"survey"}:
        assert len(pair.second.rows["survey"]) == len(pair.first.rows["survey"]) + 1
        return
    people = [{*owners(pair.first.rows, name)} ^ {*owners(pair.second.rows, name)} for name in pair.tables]
    assert len(set.union(*people)) == 1
    for name in pair.tables:
        assert others(pair.first.rows, name, ()) == others(pair.second.rows, name, set.union(*people))
    assert pair.first.rows["survey"] == pair.second.rows["survey"]


@given(pair=neighbouring(BANK))
@settings(max_examples=20, deadline=None)
def test_drawn_neighbours_differ_in_one_unit(pair):
    for name in pair.tables:
        assert others(pair.first.rows, name, {9}) == others(pair.second.rows, name, ())


def test_somebody_exceeds_every_limit_and_every_bound():
    rows = [row for pair in PAIRS for row in pair.second.rows["accounts"] if row["person"] == SOMEBODY]
    assert max(row["age"] for row in rows if row["age"] is not None) == 2**63 - 1
    assert any(row["debt"] is not None and math.isnan(row["debt"]) for row in rows)
    assert any(row["city"] is None for row in rows)
    heap = [row for row in PAIRS[0].second.rows["accounts"] if row["person"] == SOMEBODY]
    assert len(heap) > 3 * 10
    assert len({row["job"] for row in heap}) > 3


def test_a_replaced_unit_is_there_on_both_sides():
    for pair in invent_neighbours(replace(BANK, relation="replace")):
        for name in pair.tables:
            assert len(pair.first.rows[name]) > 0
            assert len(pair.second.rows[name]) > 0


def test_a_policy_that_describes_next_to_nothing_is_enough():
    bare = from_arguments(id="x", sources={"t": None}, unit="who", budget={"epsilon": 1})
    with Stage(bare) as stage:
        answer = stage.curator(invent_neighbours(bare)[0].second).ask(
            "SELECT COUNT(DISTINCT who) AS n FROM t", epsilon=1
        )
    assert len(answer.rows) == 1


def test_only_engines_that_take_invented_rows_are_used():
    with pytest.raises(InvalidParameter, match="engine must be one of"):
        Stage(BANK, engine="postgresql://somewhere/bank")


def test_constants_of_a_question_are_met_from_both_sides():
    literals = literals_of([read_sql("SELECT COUNT(*) FROM accounts WHERE age < 18 AND job LIKE 'ba%'")])
    ages = plain_values(Column.read("age", type="integer", bounds=(0, 120)), literals)
    assert {17, 18, 19} <= set(ages)
    assert "ba" in plain_values(Column.read("job", type="text"), literals)


def test_a_promise_that_nothing_is_missing_is_broken_on_purpose():
    column = Column.read("age", type="integer", bounds=(0, 120), nullable=False)
    assert None in odd_values(column)
    assert None not in plain_values(column)
