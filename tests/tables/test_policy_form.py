"""A policy that is typed: its text says what was typed and nothing else, and a setting is changed alone."""

import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from discreet.asking.policy import ColumnDraft, Draft, change_setting, from_toml, guess_type, guess_unit
from discreet.errors import InvalidParameter

DRAFT = Draft(
    id="visits",
    source="visits.csv",
    table="visits",
    unit="patient",
    epsilon="1",
    delta="0.000001",
    columns=(
        ColumnDraft(name="patient", type="text"),
        ColumnDraft(name="age", type="integer", low="0", high="120"),
        ColumnDraft(name='the "old" day', type="date", low="2025-01-01", high="2025-12-31"),
        ColumnDraft(name="clinic", keys='North, "South, by the sea", 心臓'),
    ),
)
WRITTEN = """
[dataset]
id = "bank"   # for ever
version = "1"  # of the data
budget = { epsilon = 1 }
[tables.bank]   # the "only" one
unit = "person"
limit = "auto"
[tables.bank.columns]
version = { type = "text" }
"""


def test_a_draft_is_the_policy_that_was_typed():
    policy = from_toml(DRAFT.to_toml())
    (table,) = policy.tables
    assert (policy.id, policy.version, table.source, str(table.unit)) == (
        "visits",
        "1",
        "visits.csv",
        "each patient",
    )
    assert dict(policy.budget) == {"epsilon": 1, "delta": pytest.approx(1e-6)}
    assert table.limit == "auto"
    assert table.column("age").bounds == (0, 120)
    assert [str(end) for end in table.column('the "old" day').bounds] == ["2025-01-01", "2025-12-31"]
    assert table.column("clinic").keys == ("North", "South, by the sea", "心臓")
    assert table.column("patient") is None  # what names the person needs no promise


def test_what_is_left_empty_is_left_out_and_limits_are_stated():
    document = tomllib.loads(DRAFT.to_toml())
    assert set(document) == {"dataset", "tables"}
    more = replace(DRAFT, unit="", per_analyst="0.5", approve_above="0.2", ledger="house.ledger")
    document = tomllib.loads(more.to_toml())
    assert document["dataset"]["per_analyst"] == {"epsilon": 0.5, "delta": 1e-6}
    assert document["server"]["approve_above"] == {"epsilon": 0.2, "delta": 1e-6}
    assert document["ledger"] == {"place": "house.ledger"}
    assert document["tables"]["visits"]["each_row"] is True
    assert "limit" not in document["tables"]["visits"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": "one"},
        {"epsilon": "1e999999"},
        {"delta": "1 }\n[server]\npostgres = 1"},
        {"population": "many"},
        {"limit": "some"},
        {"id": "../visits"},
        {"id": ""},
        {"columns": (ColumnDraft(name="age", type="whole"),)},
        {"columns": (ColumnDraft(name="age", type="integer", low="0"),)},
        {"columns": (ColumnDraft(name="age", type="integer", low="0", high="]"),)},
    ],
)
def test_what_is_no_number_and_no_name_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        replace(DRAFT, **wrong).to_toml()


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_nothing_that_is_typed_adds_a_setting(text, label, version):
    """Whatever a version, a label or a column's name holds, the document has the same settings."""
    column = ColumnDraft(name=text or "x", keys='"' + label.replace('"', '""') + '"')
    draft = replace(DRAFT, version=version, columns=(column,), unit="")
    try:
        document = tomllib.loads(draft.to_toml())
    except (InvalidParameter, tomllib.TOMLDecodeError):
        return
    assert set(document) == {"dataset", "tables"}
    assert set(document["dataset"]) == {"id", "version", "budget"}
    assert set(document["tables"]) == {"visits"}
    assert set(document["tables"]["visits"]["columns"]) == {text or "x"}


def test_a_setting_is_changed_alone_and_comments_stay():
    changed = change_setting(WRITTEN, ("dataset",), "version", "2026-11")
    assert changed == WRITTEN.replace('version = "1"', 'version = "2026-11"')
    added = change_setting(WRITTEN, ("server",), "deadline_s", 5)
    assert tomllib.loads(added) == {**tomllib.loads(WRITTEN), "server": {"deadline_s": 5}}
    limited = change_setting(WRITTEN, ("tables", "bank"), "limit", 3)
    assert tomllib.loads(limited)["tables"]["bank"]["limit"] == 3
    assert 'the "only" one' in limited
    more = change_setting(WRITTEN, ("dataset",), "population", 100)
    assert tomllib.loads(more)["dataset"]["population"] == 100
    assert change_setting(more, ("dataset",), "population", None) == WRITTEN
    assert change_setting(WRITTEN, ("dataset",), "population", None) == WRITTEN


@pytest.mark.parametrize(
    "text",
    [
        'dataset = { id = "bank", version = "1" }\n',
        '[dataset]\nid = "bank"\nversion = """\n1"""\n',
        'dataset.version = "1"\n',
    ],
)
def test_a_setting_that_does_not_stand_on_a_line_of_its_own_is_left_alone(text):
    with pytest.raises(InvalidParameter, match="line of its own"):
        change_setting(text, ("dataset",), "version", "2")


def test_types_and_the_person_are_guessed_from_names_alone():
    names = ["Visit_Date", "patientID", "age", "cost_2025", "is_smoker", "name", "seen_at"]
    assert guess_unit(names) == "patientID"
    assert [guess_type(name) for name in names] == [
        "date",
        "text",
        "integer",
        "number",
        "boolean",
        "text",
        "timestamp",
    ]


def test_labels_may_be_pasted_line_by_line():
    given = ColumnDraft(name="city", keys='Ottawa\r\n"Paris, Ontario"\n\nToronto\r')
    assert given.facts()["keys"] == ["Ottawa", "Paris, Ontario", "Toronto"]


def test_a_label_of_a_boolean_is_true_or_false():
    assert ColumnDraft(name="paid", type="boolean", keys="True, false").facts()["keys"] == [True, False]
    with pytest.raises(InvalidParameter, match="must be true or false"):
        ColumnDraft(name="paid", type="boolean", keys="yes, no").facts()


@pytest.mark.parametrize("mark", ["\u2028", "\x85", "\u2029"])
def test_a_label_with_a_mark_that_is_no_end_of_a_line_is_kept(mark):
    text = f'[dataset]\nid = "t"\nversion = "1"\n[tables.t.columns]\nx = {{ keys = ["a{mark}b"] }}\n'
    assert change_setting(text, ("dataset",), "version", "2") == text.replace('"1"', '"2"')
