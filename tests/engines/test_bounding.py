"""One unit moves at most max_groups groups, each by at most max_rows of its rows: for all data and hashes."""

import math
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from discreet.asking.engines import DuckDBEngine, MemoryEngine, memory
from discreet.asking.engines.rows import Row, cap_rows
from discreet.asking.engines.sql import bounding, column, relations, whole
from discreet.asking.planning import RowCount, UnitCount, plan_exact
from discreet.asking.queries import read_question
from engines.people import BIG, as_arrow, tables
from queries.bank import BANK
from queries.test_read import ACCEPTED

EMPTY = {table.name: [] for table in (*BANK.tables, *BANK.public)}


def exact(text, rows, *, salt=0, engine=DuckDBEngine, **options):
    """The first exact table of a question's first grouping set, with its plan."""
    plan = plan_exact(read_question(text, BANK), salt=salt)[0].plans[0]
    data = as_arrow(BANK, {**EMPTY, **rows}) if engine is DuckDBEngine else {**EMPTY, **rows}
    made = engine(BANK, data, **options)
    try:
        return plan, made.run(plan)
    finally:
        made.close()


def account(person, **values):
    return {"person": person, "id": None} | values


def without(rows, person):
    """The same tables without one person: their accounts, the payments of those, their visits."""
    gone = {row["id"] for row in rows["accounts"] if row["person"] == person}
    return {
        **rows,
        "accounts": [row for row in rows["accounts"] if row["person"] != person],
        "payments": [row for row in rows["payments"] if row["account"] not in gone],
        "visits": [row for row in rows["visits"] if row["visitor"] != person],
        "survey": rows["survey"][1:] if person == 1 else rows["survey"],
    }


def most_moved(measure, plan):
    if isinstance(measure, UnitCount):
        return 1
    return plan.max_rows * (1 if isinstance(measure, RowCount) else measure.largest)


def moved(plan, one, other):
    """For each group that differs, by how much each measure (or the tally as a whole) does."""
    tables = [dict(zip(each.groups, each.tallies or each.totals, strict=True)) for each in (one, other)]
    found = []
    for group in set(tables[0]) | set(tables[1]):
        here, there = (table.get(group) for table in tables)
        if plan.tally is not None:
            here, there = here or {}, there or {}
            found.append([sum(abs(here.get(key, 0) - there.get(key, 0)) for key in {*here, *there})])
        else:
            nothing = (0,) * len(plan.measures)
            found.append([abs(a - b) for a, b in zip(here or nothing, there or nothing, strict=True)])
    return [each for each in found if any(each)]


def assert_bounded(plan, one, other):
    differences = moved(plan, one, other)
    most_groups = 1 if plan.each_row else plan.max_groups
    assert len(differences) <= most_groups
    for each in differences:
        limits = [most_moved(measure, plan) for measure in plan.measures] or [plan.max_rows]
        assert all(difference <= limit for difference, limit in zip(each, limits, strict=True))


def run_pair(engine_type, rows, person, texts, salt):
    pair = []
    for data in (rows, without(rows, person)):
        made = engine_type(BANK, as_arrow(BANK, data) if engine_type is DuckDBEngine else data)
        pair.append(made)
    for text in texts:
        for plans in plan_exact(read_question(text, BANK), salt=salt):
            for plan in plans.plans:
                yield plan, pair[0].run(plan), pair[1].run(plan)
    for made in pair:
        made.close()


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
SOME = st.lists(st.sampled_from(ACCEPTED), min_size=8, max_size=8)


@pytest.mark.parametrize(("engine", "examples"), [(MemoryEngine, 40), (DuckDBEngine, 12)])
def test_one_person_moves_no_more_than_the_limits(engine, examples):
    @given(rows=tables(), person=st.sampled_from([1, 2, BIG]), texts=SOME, salt=st.integers(0, 99))
    @settings(max_examples=examples, deadline=None, suppress_health_check=QUIET)
    def check(rows, person, texts, salt):
        for plan, one, other in run_pair(engine, rows, person, texts, salt):
            assert_bounded(plan, one, other)

    check()


MANY = {
    "accounts": [
        account(1, age=age, active=True, job=f"j{age % 9}", debt=5.0) for age in range(60) for _ in range(2)
    ]
}
BY_JOB = "SELECT job, COUNT(*) AS n, SUM(debt) AS s, COUNT(DISTINCT person) AS u FROM accounts GROUP BY job"
BY_AGE = "SELECT age, COUNT(*) AS n, SUM(debt) AS s FROM accounts GROUP BY age"
BY_BOTH = "SELECT age, active, COUNT(*) AS n, SUM(debt) AS s FROM accounts GROUP BY age, active"  # 242 labels
MEDIANS = "SELECT age, MEDIAN(debt) AS m FROM accounts GROUP BY age"


def constant_hash(dialect, hashing, salt, values):
    return whole(7)


@pytest.mark.parametrize("text", [BY_JOB, BY_AGE, BY_BOTH, MEDIANS])
def test_the_limits_hold_when_every_hash_ties(text, monkeypatch):
    monkeypatch.setattr(bounding, "hash_of", constant_hash)
    monkeypatch.setattr(memory, "order_hash", lambda salt, values: 7)
    plan, found = exact(text, MANY)
    assert sum(1 for total in found.tallies or found.totals if any(total)) == plan.max_groups
    _, reference = exact(text, MANY, engine=MemoryEngine)
    assert (found.groups, found.totals) == (reference.groups, reference.totals)
    assert list(map(dict, found.tallies)) == list(map(dict, reference.tallies))


def test_a_place_without_the_group_would_let_ties_through(monkeypatch):
    monkeypatch.setattr(bounding, "hash_of", constant_hash)
    monkeypatch.setattr(bounding.Statement, "_place", lambda self, table: whole(7))
    plan, found = exact(BY_BOTH, MANY)
    assert sum(1 for total in found.totals if any(total)) > plan.max_groups


def test_the_order_is_that_of_the_unit_alone():
    other = [account(person, age=age, job=f"a{age}", debt=1.0) for person in (2, 3) for age in range(9)]
    _, alone = exact(BY_JOB, MANY, salt=3)
    _, among = exact(BY_JOB, {"accounts": [*other, *MANY["accounts"]]}, salt=3)
    mine = {group for group, total in zip(alone.groups, alone.totals, strict=True) if any(total)}
    assert mine <= set(among.groups)
    assert len(mine) == 3


def test_equal_rows_count_up_to_the_limit_and_no_further():
    rows = {"accounts": [account(1, debt=16.0)] * 100 + [account(2, debt=16.0)] * 4}
    plan, found = exact("SELECT COUNT(*) AS n, SUM(debt) AS s, COUNT(debt) AS c FROM accounts", rows)
    step = plan.measures[1].lattice.step
    assert found.totals == ((14, 14 * 16 / step, 14),)


def test_values_are_clamped_after_the_expression():
    rows = {"accounts": [account(1, age=125, debt=1e9)]}
    text = "SELECT SUM(age % 7) AS a, SUM(age * 1000) AS b, SUM(debt * -1000) AS c FROM accounts"
    plan, found = exact(text, rows)
    # Clamped before the expression, the first would be 120 % 7 = 1.
    assert found.totals[0] == (125 % 7, 120_000, plan.measures[2].lattice.lowest)
    assert abs(plan.measures[2].lattice.lowest * plan.measures[2].lattice.step + 10**10) <= 10**4


@pytest.mark.parametrize("value", [math.nan, None])
def test_a_missing_value_is_not_the_upper_bound(value):
    rows = {"accounts": [account(1, debt=value), account(2, debt=16.0)]}
    plan, found = exact("SELECT SUM(debt) AS s, COUNT(debt) AS n, MEDIAN(debt) AS m FROM accounts", rows)
    assert found.totals == ((16 / plan.measures[0].lattice.step, 1),)


@pytest.mark.parametrize(
    ("value", "steps"), [(math.inf, "highest"), (-math.inf, "lowest"), (1e308, "highest")]
)
def test_an_infinity_is_clamped_like_any_number(value, steps):
    plan, found = exact("SELECT SUM(debt) AS s FROM accounts", {"accounts": [account(1, debt=value)]})
    assert found.totals == ((getattr(plan.measures[0].lattice, steps),),)


def test_one_missing_value_does_not_poison_not_in():
    rows = {"accounts": [account(1, age=None), account(2, age=5), account(3, age=1)]}
    _, found = exact("SELECT COUNT(*) AS n FROM accounts WHERE age NOT IN (1, 2)", rows)
    assert found.totals == ((1,),)


def test_ids_beyond_two_to_the_53_stay_two_people():
    rows = {"accounts": [account(BIG), account(BIG + 1)]}
    _, found = exact("SELECT COUNT(DISTINCT person) AS n FROM accounts", rows)
    assert found.totals == ((2,),)


def test_rows_without_a_unit_are_dropped():
    _, found = exact("SELECT COUNT(*) AS n FROM accounts", {"accounts": [account(None), account(1)]})
    assert found.totals == ((1,),)


def test_rows_are_bounded_after_the_join():
    rows = {
        "accounts": [{**account(1, debt=1.0), "id": index} for index in range(20)],
        "visits": [{"visitor": 1, "branch": "north", "minutes": minute} for minute in range(20)],
    }
    plan, found = exact("SELECT COUNT(*) AS n FROM visits JOIN accounts ON visitor = person", rows)
    assert plan.max_rows == 1
    assert found.totals == ((1,),)


VISITS = {
    "visits": [
        {"visitor": person, "branch": "north", "minutes": minute}
        for person in range(30)
        for minute in range(20)
    ]
}
PAIRS = (
    "SELECT SUM(a.minutes * 100 + b.minutes) AS s FROM visits AS a JOIN visits AS b ON a.visitor = b.visitor"
)


def capped():
    """A self-join of 30 people with 20 rows each, every side cut to 3, and nothing cut after it."""
    plan = plan_exact(read_question(PAIRS, BANK), salt=5)[0].plans[0]
    plan = replace(plan, rows=replace(plan.rows, cap=3), max_rows=10**6)
    rows = {**EMPTY, **VISITS}
    reference = MemoryEngine(BANK, rows).run(plan).totals
    engine = DuckDBEngine(BANK, as_arrow(BANK, rows), hashing="md5")
    count = replace(plan, measures=(RowCount(),))
    try:
        return reference, engine.run(plan).totals, engine.run(count).totals
    finally:
        engine.close()


def test_each_side_of_a_join_is_cut_before_it():
    reference, found, pairs = capped()
    assert found == reference
    assert pairs == ((30 * 3 * 3,),)


def test_a_join_cut_on_one_side_would_be_noticed(monkeypatch):
    whole_cap = relations.Relations._cap
    monkeypatch.setattr(
        relations.Relations,
        "_cap",
        lambda self, side, cap, number: side if number else whole_cap(self, side, cap, number),
    )
    reference, found, pairs = capped()
    assert found != reference
    assert pairs == ((30 * 3 * 20,),)


def test_the_sides_of_a_join_are_cut_by_choices_of_their_own():
    rows = [Row(1, {("a", "x"): value}) for value in range(100)]
    sides = [{row.values["a", "x"] for row in cap_rows(rows, 50, 5, side=side)} for side in (0, 1)]
    assert sides[0] != sides[1]


def test_foreign_keys_that_lead_nowhere_are_dropped():
    rows = {
        "accounts": [{**account(1), "id": 5}],
        "payments": [{"account": key, "amount": 10.0} for key in (5, 6, None)],
    }
    plan, found = exact("SELECT SUM(amount) AS s FROM payments", rows)
    assert found.totals == ((10 / plan.measures[0].lattice.step,),)


def test_sums_at_the_ends_of_64_bits_neither_wrap_nor_fail():
    largest = 2**63 - 1
    rows = {"accounts": [account(person, age=largest) for person in (1, 2, 3)]}
    either = f"CASE WHEN active THEN {largest} ELSE -{largest} END"
    _, found = exact(f"SELECT SUM({either}) AS s FROM accounts", rows)
    assert found.totals == ((-3 * largest,),)


def test_every_public_label_appears_and_no_other():
    rows = {"accounts": [account(1, city="Ottawa"), account(2, city="Atlantis"), account(3, city=None)]}
    _, found = exact("SELECT city, COUNT(*) AS n FROM accounts GROUP BY city", rows)
    assert found.groups == (("Ottawa",), ("Toronto",), ("Québec",))
    assert found.totals == ((1,), (0,), (0,))


def test_an_exact_table_shows_nothing_of_itself():
    _, found = exact("SELECT COUNT(*) AS n FROM accounts", MANY)
    assert repr(found) == "ExactTable(...)"


def test_the_sensitivity_check_would_notice_a_missing_limit():
    class Unbounded(MemoryEngine):
        def run(self, plan):
            return super().run(plan.__class__(**{**vars(plan), "max_rows": 10**6, "max_groups": 10**6}))

    rows = {**EMPTY, **MANY}
    ((plan, one, other),) = run_pair(Unbounded, {**rows, "survey": []}, 1, [BY_AGE], 0)
    with pytest.raises(AssertionError):
        assert_bounded(plan, one, other)


@pytest.mark.parametrize(
    "name", ["O'Brien", "a\\'b", 'x"y', "line\nbreak", "'; DROP TABLE t0; --", "%_", "é🦆"]
)
def test_a_text_in_a_question_is_only_ever_compared(name):
    rows = {"accounts": [account(1, job=name), account(2, job="other")]}
    quoted = name.replace("'", "''")
    _, found = exact(f"SELECT COUNT(*) AS n FROM accounts WHERE job = '{quoted}'", rows)
    assert found.totals == ((1,),)


def test_columns_are_named_by_discreet_alone():
    assert column('x"; DROP TABLE t').sql(dialect="duckdb") == '"x""; DROP TABLE t"'
