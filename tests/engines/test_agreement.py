"""Every engine gives the exact table of the naive reference, bit for bit."""

import contextlib
import random

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings, strategies as st

from discreet.engines import DuckDBEngine, MemoryEngine
from discreet.errors import UnsupportedQuery
from discreet.planning import plan_exact
from discreet.queries import read_question
from engines.people import as_arrow, tables
from engines.questions import questions
from queries.bank import BANK
from queries.test_read import ACCEPTED

QUIET = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
]


# Without shrinking: a failing example is small already, and shrinking tables takes minutes.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]


def plans_of(text, salt):
    try:
        question = read_question(text, BANK)
        return [plan for plans in plan_exact(question, salt=salt) for plan in plans.plans]
    except UnsupportedQuery:
        return []


def seen(table):
    """All of an exact table, floats by their bits (labels may be -0.0)."""
    return repr((table.groups, table.totals, tuple(sorted(each.items()) for each in table.tallies)))


def shuffled(rows, seed):
    order = {name: list(each) for name, each in rows.items()}
    for each in order.values():
        random.Random(seed).shuffle(each)
    return order


def agree(rows, texts, salt, seed):
    reference = MemoryEngine(BANK, rows)
    engines = [
        DuckDBEngine(BANK, as_arrow(BANK, rows), hashing="md5", threads=1),
        DuckDBEngine(BANK, as_arrow(BANK, shuffled(rows, seed)), hashing="md5", threads=2),
    ]
    with contextlib.ExitStack() as stack:
        for engine in engines:
            stack.callback(engine.close)
        for text in texts:
            for plan in plans_of(text, salt):
                expected = seen(reference.run(plan))
                for engine in engines:
                    assert seen(engine.run(plan)) == expected, text


@given(
    rows=tables(), texts=st.lists(st.sampled_from(ACCEPTED), min_size=8, max_size=8), salt=st.integers(0, 9)
)
@settings(max_examples=12, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_golden_questions_agree_on_any_data(rows, texts, salt):
    agree(rows, texts, salt, seed=salt)


@given(rows=tables(), texts=st.lists(questions(), min_size=6, max_size=6), salt=st.integers(0, 9))
@settings(max_examples=20, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_generated_questions_agree_on_any_data(rows, texts, salt):
    assume(any(plans_of(text, salt) for text in texts))
    agree(rows, texts, salt, seed=salt)


@pytest.mark.soak
@given(rows=tables(), texts=st.lists(questions(3), min_size=10, max_size=10), salt=st.integers(0, 9))
@settings(max_examples=400, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_many_generated_questions_agree_on_any_data(rows, texts, salt):
    agree(rows, texts, salt, seed=salt)


@pytest.mark.soak
@given(rows=tables(30), salt=st.integers(0, 9))
@settings(max_examples=60, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_all_golden_questions_agree_on_any_data(rows, salt):
    agree(rows, ACCEPTED, salt, seed=salt)


@pytest.mark.parametrize("text", ACCEPTED)
def test_every_golden_question_runs_on_empty_tables(text):
    empty = {table.name: [] for table in (*BANK.tables, *BANK.public)}
    agree(empty, [text], 0, 0)
