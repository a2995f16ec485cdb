"""What is said to have a value has one, in every row that is left."""

from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from discreet.asking.engines.rows import Rows
from discreet.asking.queries import evaluate, read_question, relations
from discreet.errors import UnsupportedQuery
from engines.people import crowd
from engines.questions import expressions
from queries.bank import BANK

ROWS = Rows(crowd(1))
MADE = expressions(2)
QUIET = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
    "phases": [Phase.explicit, Phase.generate],
}


def lacking(text):
    """Where a value is promised and there is none: columns of the rows, and arguments of the aggregates."""
    question = read_question(text, BANK)
    rows = ROWS.read(question.rows)
    promised = [field for field in question.rows.fields if not field.nullable]
    found = [field.name for field in promised for row in rows if row.values[field.table, field.name] is None]
    for measure in question.measures:
        if measure.present and measure.aggregate.argument is not None:
            found += [text for row in rows if evaluate(measure.aggregate.argument, row.value) is None]
    return found


@given(test=MADE["boolean"], value=st.one_of(MADE["number"], MADE["integer"]))
@settings(max_examples=100, **QUIET)
def test_what_a_filter_needs_is_in_every_row(test, value):
    try:
        found = lacking(f"SELECT COUNT({value}) AS n FROM accounts WHERE {test}")
    except UnsupportedQuery:
        return
    assert not found


def test_a_promise_that_forgets_coalesce_is_noticed(monkeypatch):
    text = "SELECT COUNT(*) AS n FROM accounts WHERE COALESCE(debt, 9.0) > 5"
    assert not lacking(text)
    monkeypatch.setattr(relations, "_LENIENT", ())
    assert lacking(text)


def test_the_crowd_lacks_values_for_this_to_matter():
    question = read_question("SELECT COUNT(*) AS n FROM accounts", BANK)
    assert any(row.values["accounts", "debt"] is None for row in ROWS.read(question.rows))
