"""Every engine gives the exact table of the naive reference, bit for bit."""

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings, strategies as st

from discreet.asking.engines import MemoryEngine
from discreet.asking.engines.rows import Rows
from discreet.asking.planning import plan_exact
from discreet.asking.queries import Call, read_question
from discreet.asking.queries.functions import FUNCTIONS
from discreet.errors import UnsupportedQuery
from engines import functions
from engines.people import crowd, tables
from engines.questions import questions
from engines.registry import MAKERS
from queries.asked import asked
from queries.bank import BANK
from queries.sources import joined_questions
from queries.test_read import ACCEPTED

QUIET = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
]


# Without shrinking: a failing example is small already, and shrinking tables takes minutes.
PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
MIXED, DEEPER = (st.one_of(questions(depth), asked(), joined_questions()) for depth in (2, 3))
EMPTY = {table.name: [] for table in (*BANK.tables, *BANK.public)}


SLOW = ("spark numbered",)


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.soak if name in SLOW else ()) for name in MAKERS],
)
def opened(request):
    """Opens one of the engines on a policy and rows."""
    return lambda policy, rows: MAKERS[request.param](request, policy, rows)


def plans_of(text, salt):
    try:
        question = read_question(text, BANK)
        return [plan for plans in plan_exact(question, salt=salt) for plan in plans.plans]
    except UnsupportedQuery:
        return []


def seen(table):
    """All of an exact table, floats by their bits (labels may be -0.0)."""
    return repr((table.groups, table.totals, tuple(sorted(each.items()) for each in table.tallies)))


def agree(opened, rows, texts, salt):
    reference = MemoryEngine(BANK, rows)
    with opened(BANK, rows) as engine:
        for text in texts:
            for plan in plans_of(text, salt):
                assert seen(engine.run(plan)) == seen(reference.run(plan)), text


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_all_golden_questions_agree_on_a_crowd(opened, seed):
    agree(opened, crowd(seed), ACCEPTED, seed)


def test_all_golden_questions_agree_on_empty_tables(opened):
    agree(opened, EMPTY, ACCEPTED, 0)


def test_public_keys_beyond_64_bits_agree(opened):
    keys = ("9223372036854775807 + ABS(age)", "-9223372036854775807 - 5 - children")
    texts = [f"SELECT {key} AS k, COUNT(*) AS n, SUM(debt) AS s FROM accounts GROUP BY {key}" for key in keys]
    assert all(plans_of(text, 0) for text in texts)
    agree(opened, crowd(1), texts, 0)


def test_every_function_gives_what_the_reference_says_row_by_row(opened):
    rows, (plan,) = functions.rows(), plans_of(functions.QUESTION, 0)
    wanted = [list(row.values.values()) for row in Rows(rows).read(plan.rows)]
    with opened(BANK, rows) as engine:
        found = engine._rows(engine._relations.select(plan.rows).select)
    by_place = {row[0]: row[1:-1] for row in found}  # the last column is the unit
    for place, *values in wanted:
        for expression, ours, theirs in zip(functions.EXPRESSIONS, by_place[place], values, strict=True):
            assert shown(ours) == shown(theirs), expression


def shown(value):
    """A value by its bits; the sign of a zero aside, which no question can ask for."""
    return repr(value + 0.0 if isinstance(value, float) else value)


def test_no_function_is_left_out():
    (plan,) = plans_of(functions.QUESTION, 0)
    used, waiting = set(), [expression for _, expression in plan.rows.outputs]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call):
            used.add(node.function)
            waiting += node.arguments
    assert used == set(FUNCTIONS)


@given(
    rows=tables(), texts=st.lists(st.sampled_from(ACCEPTED), min_size=16, max_size=16), salt=st.integers(0, 9)
)
@settings(max_examples=3, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_golden_questions_agree_on_any_data(opened, rows, texts, salt):
    agree(opened, rows, texts, salt)


@given(rows=tables(), texts=st.lists(MIXED, min_size=15, max_size=15), salt=st.integers(0, 9))
@settings(max_examples=4, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_generated_questions_agree_on_any_data(opened, rows, texts, salt):
    assume(any(plans_of(text, salt) for text in texts))
    agree(opened, rows, texts, salt)


@pytest.mark.soak
@given(rows=tables(), texts=st.lists(DEEPER, min_size=10, max_size=10), salt=st.integers(0, 9))
@settings(max_examples=50, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_many_generated_questions_agree_on_any_data(opened, rows, texts, salt):
    agree(opened, rows, texts, salt)


@pytest.mark.soak
@given(rows=tables(30), salt=st.integers(0, 9))
@settings(max_examples=12, deadline=None, suppress_health_check=QUIET, phases=PHASES)
def test_all_golden_questions_agree_on_any_data(opened, rows, salt):
    agree(opened, rows, ACCEPTED, salt)
