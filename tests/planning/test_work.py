"""The work that a plan reckons with is the work there is, and one unit cannot make a question late."""

import itertools
import statistics
import time
from dataclasses import replace
from functools import partial

import pandas
import pytest

import discreet as dp
from discreet.asking.engines.duckdb import DuckDBEngine
from discreet.asking.engines.duckdb.dialect import DuckDBDialect
from discreet.asking.engines.memory import MemoryEngine
from discreet.asking.engines.postgres.dialect import PostgresDialect
from discreet.asking.engines.spark.dialect import SparkDialect
from discreet.asking.engines.sql import column
from discreet.asking.engines.sql.expressions import build
from discreet.asking.planning import plan_asked, work
from discreet.asking.planning.planner import read_asked
from discreet.asking.planning.work import work_of
from discreet.asking.policy import from_toml
from discreet.asking.queries import Call, Literal, Name
from discreet.asking.queries.functions import FUNCTIONS
from discreet.asking.queries.resolve_source import scan
from discreet.asking.queries.types import Scope, assign_types
from discreet.asking.release import release_invented
from discreet.errors import UnsupportedQuery
from planning.hard_questions import GROUPS, POLICY, POPULATION, ROWS, question, rows
from queries.bank import BANK

REFERENCE = 20  # how much longer the reference in plain Python takes for a row
SAMPLE = 60


def accepted(numbers, policy=POLICY):
    for number in numbers:
        try:
            (plan,) = plan_asked(question(number), policy, epsilon=0.01, delta=1e-9)
        except UnsupportedQuery:
            continue
        yield number, plan


def seconds(work):
    before = time.process_time()
    work()
    return time.process_time() - before


def too_slow(numbers, engine, *, pace=1):
    """The generated questions that take more than three times what their plan says."""
    late = []
    for number, plan in numbers:
        known = work_of(plan.question, POLICY)
        estimate = known.fixed_s + pace * known.people_s
        run = partial(release_invented, plan, engine.run)
        taken = seconds(run)
        if taken > 3 * estimate:  # once in some hundred runs it is Python that collects its garbage
            taken = statistics.median(seconds(run) for _ in range(5))
        if taken > 3 * estimate:
            late.append((number, taken, estimate))
    return late


@pytest.fixture(scope="module")
def duckdb():
    engine = DuckDBEngine(POLICY, {"buys": pandas.DataFrame(rows())})
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def memory():
    return MemoryEngine(POLICY, {"buys": rows()})


def test_generated_questions_take_no_more_than_three_times_their_estimate(duckdb, memory):
    numbers = list(itertools.islice(accepted(range(10_000)), SAMPLE))
    assert too_slow(numbers, duckdb) == []
    assert too_slow(numbers[::10], memory, pace=REFERENCE) == []


def test_an_estimate_that_forgets_the_functions_is_noticed(duckdb, monkeypatch):
    text = "SELECT COUNT(*) FILTER (WHERE {}) AS n FROM buys AS l JOIN buys AS r ON l.person = r.person"
    names = "LOWER(UPPER(LOWER(UPPER(LOWER(SUBSTR(l.code, {}, 9))))))"
    heavy = text.format(" OR ".join(f"{names.format(place)} = '~'" for place in range(1, 3)))
    (plan,) = plan_asked(heavy, POLICY, epsilon=0.01)
    assert too_slow([(0, plan)], duckdb) == []
    for name in ("PASS_S", "BUILT_S", "TABLE_S", "CELL_S", "JOIN_S", "KEYED_S", "CAP_S", "CAP_FIELD_S"):
        monkeypatch.setattr(work, name, getattr(work, name) / 1000)
    monkeypatch.setattr(work, "TEXT_S", 20e-9)
    assert too_slow([(0, plan)], duckdb) != []


def test_a_choice_among_thousands_of_labels_takes_no_more_than_it_says():
    """Labels are joined; a CASE of them, the value written out in each, took many times as long."""
    table = POLICY.table("buys")
    columns = [
        replace(each, keys=tuple(f"shop {n}" for n in range(3000))) if each.name == "shop" else each
        for each in table.columns
    ]
    many = replace(POLICY, tables=(replace(table, columns=tuple(columns)),))
    (plan,) = plan_asked("SELECT MODE(LOWER(UPPER(LOWER(UPPER(shop))))) AS m FROM buys", many, epsilon=0.01)
    engine = DuckDBEngine(many, {"buys": pandas.DataFrame(rows())})
    assert too_slow([(0, plan)], engine) == []
    engine.close()


@pytest.mark.soak
def test_a_thousand_generated_questions_take_no_more_than_three_times_their_estimate(duckdb, memory):
    numbers = list(itertools.islice(accepted(range(10_000)), 1000))
    assert too_slow(numbers, duckdb) == []
    assert too_slow(numbers, memory, pace=REFERENCE) == []


def heavy_filter(size):
    parts = [f"UPPER(LOWER(UPPER(SUBSTR(s.code, {1 + part}, 9)))) = '~'" for part in range(size)]
    return " OR ".join(parts) or "TRUE"


def family(source, keys=""):
    shown = "".join(f"{key}, " for key in keys.split())
    grouped = f" GROUP BY {keys}" if keys else ""
    return lambda size: (
        f"SELECT {shown}COUNT(*) FILTER (WHERE {heavy_filter(size)}) AS n, SUM(s.paid) AS t "
        f"FROM {source}{grouped}"
    )


KEPT = "(SELECT person, paid, code, shop FROM buys WHERE person = 3)"
STACKED = f"(SELECT * FROM {KEPT} AS a UNION ALL SELECT * FROM {KEPT} AS b)"
PAIRED = f"{STACKED} AS l JOIN {STACKED} AS r ON l.person = r.person"
JOINED = f"(SELECT l.person, l.paid, r.code, r.shop FROM {PAIRED})"
WRITTEN = (
    f"(SELECT person, paid, shop, CASE WHEN person = 3 THEN '{'a' * 150}' ELSE code END AS code FROM buys)"
)
FAMILIES = {
    "texts of the question": family(f"{WRITTEN} AS s"),
    "rows": family(f"{KEPT} AS s"),
    "unions": family(f"{STACKED} AS s"),
    "joins": family(f"{JOINED} AS s"),
    "found keys": family(f"{JOINED} AS s", "code"),
}


def hardest(family):
    """The last question of a family that is accepted."""
    low, high = 0, 80
    while high - low > 1:
        size = (low + high) // 2
        try:
            (last,) = plan_asked(family(size), POLICY, epsilon=0.01, delta=1e-9)
            low = size
        except UnsupportedQuery:
            high = size
    assert 0 < low < 79
    return last


@pytest.mark.parametrize("kind", FAMILIES)
def test_one_person_is_not_noticed_in_the_time_of_the_hardest_questions(kind):
    plan = hardest(FAMILIES[kind])
    everyone = rows()
    others = [row for row in everyone if row["person"] != 3]
    assert len(everyone) - len(others) == GROUPS * ROWS
    taken = []
    for part in (everyone, others):
        engine = DuckDBEngine(POLICY, {"buys": pandas.DataFrame(part)})
        release_invented(plan, engine.run)
        run = partial(release_invented, plan, engine.run)
        taken.append(statistics.median(seconds(run) for _ in range(5)))
        engine.close()
    assert taken[0] - taken[1] < max(0.05, taken[1] / 10)


def attack(*, copies, levels, terms, depth):
    """Late only if a person is there: rows are multiplied, and texts changed a thousand times on each."""
    text = "s"
    for place in range(depth):
        text = f"{('LOWER', 'UPPER')[place % 2]}({text})"
    test = " OR ".join([f"{text} = '~'"] * terms)
    both = "SELECT CASE WHEN l.paid >= r.paid THEN l.code ELSE r.code END AS s FROM u AS l"
    steps = [
        "b AS (SELECT person, paid, code FROM buys WHERE person = 3 AND age > 40)",
        f"u AS ({' UNION ALL '.join(['SELECT person, paid, code FROM b'] * copies)})",
        f"d0 AS ({both} JOIN u AS r ON l.person = r.person)",
        *(
            f"d{level + 1} AS (SELECT s FROM d{level} UNION ALL SELECT s FROM d{level})"
            for level in range(levels)
        ),
    ]
    return f"WITH {', '.join(steps)} SELECT COUNT(*) FILTER (WHERE {test}) AS n FROM d{levels}"


@pytest.mark.parametrize(
    "size",
    [
        {"copies": 10, "levels": 2, "terms": 70, "depth": 18},
        {"copies": 3, "levels": 3, "terms": 70, "depth": 18},
        {"copies": 3, "levels": 0, "terms": 20, "depth": 18},
        {"copies": 1, "levels": 2, "terms": 10, "depth": 10},
        {"copies": 1, "levels": 0, "terms": 70, "depth": 18},
    ],
)
def test_what_is_late_only_for_some_is_refused_before_it_is_charged(size):
    for policy in (POLICY, replace(POLICY, relation="replace")):
        with pytest.raises(UnsupportedQuery) as caught:
            plan_asked(attack(**size), policy, epsilon=1e-12)
        assert caught.value.fields["reason"] in ("work", "too_many_tables", "too_long")
    with pytest.raises(UnsupportedQuery):
        read_asked(attack(**size), POLICY)  # what a watch is asked goes the same way


@pytest.mark.parametrize(
    "source",
    [
        "(SELECT {} AS s FROM buys) AS t",
        "(SELECT s FROM (SELECT {} AS s FROM buys) AS a UNION ALL SELECT code AS s FROM buys) AS t",
        "(SELECT s FROM (SELECT person, {} AS s FROM buys) AS l JOIN buys AS r ON l.person = r.person) AS t",
    ],
)
def test_a_long_text_of_the_question_is_reckoned_by_its_letters(source):
    text = "SELECT COUNT(*) FILTER (WHERE LOWER(UPPER(LOWER(s))) = '~') AS n FROM " + source
    plan_asked(text.format("CASE WHEN person = 3 THEN 'a' ELSE code END"), POLICY, epsilon=1)
    with pytest.raises(UnsupportedQuery, match="rows of one unit"):
        plan_asked(text.format(f"CASE WHEN person = 3 THEN '{'a' * 9000}' ELSE code END"), POLICY, epsilon=1)


def test_the_limit_follows_the_deadline():
    text = "SELECT COUNT(*) FILTER (WHERE LOWER(code) = 'a') AS n FROM buys"
    serving = replace(POLICY.serving, deadline_s=0.05)
    plan_asked(text, replace(POLICY, serving=serving), epsilon=1)
    many = text.replace("LOWER(code) = 'a'", " OR ".join([f"LOWER(code) = '{n}'" for n in range(80)]))
    plan_asked(many, POLICY, epsilon=1)
    with pytest.raises(UnsupportedQuery, match=r"at most 0\.01 s"):
        plan_asked(many, replace(POLICY, serving=replace(serving, deadline_s=0.02)), epsilon=1)
    with pytest.raises(UnsupportedQuery, match=r"at most 0\.025 s"):
        plan_asked([many, many], POLICY, epsilon=1)


def test_columns_computed_from_columns_are_counted_as_often_as_they_are_written_out():
    text = "SELECT paid AS x FROM buys"
    for level in range(20):
        text = f"SELECT x + x AS x FROM ({text}) AS s{level}"
    with pytest.raises(UnsupportedQuery, match=r"at most 10,000 parts"):
        plan_asked(f"SELECT COUNT(*) AS n FROM ({text}) AS s WHERE x > 3", POLICY, epsilon=1)


# --- what engines write several times ----------------------------------------------------------------------

KINDS = {
    "integer": "age",
    "number": "debt",
    "text": "code",
    "boolean": "active",
    "date": "opened",
    "timestamp": "seen",
}
OTHERS = {"integer": Literal(3), "number": Literal(2.5), "text": Literal("a"), "boolean": Literal(True)}
FIXED = {
    "width_bucket": (None, Literal(0), Literal(100), Literal(7)),
    "substr": (None, Literal(1), Literal(4)),
    "replace": (None, Literal("x"), Literal("yz")),
    "split_part": (None, Literal(" "), Literal(2)),
    "like": (None, Literal("a_%")),
}


def calls():
    """Every function of every type, one argument being a column and the others constants."""
    scope = Scope(scan(BANK.table("accounts"), "accounts").fields)
    for name, function in FUNCTIONS.items():
        for kind, place in itertools.product(KINDS, range(function.least)):
            given = list(FIXED.get(name, [OTHERS.get(kind)] * function.least))
            given[place] = Name(KINDS[kind])
            try:
                yield assign_types(Call(name, tuple(given)), scope)
            except (UnsupportedQuery, AttributeError, TypeError):
                continue  # not a function of this type


def understated():
    """The functions whose argument some dialect writes more often than the plan reckons with."""
    found = set()
    for dialect, call in itertools.product((DuckDBDialect(), PostgresDialect(), SparkDialect()), calls()):
        built = build(call, lambda name: column(f"marked_{name.name}"), dialect).sql("duckdb")
        if built.count("marked_") > work.COPIES.get(call.function, 1):
            found.add(call.function)
    return found


def test_every_copy_that_an_engine_writes_is_reckoned_with():
    assert {call.function for call in calls()} == set(FUNCTIONS)
    assert understated() == set()


@pytest.mark.parametrize("function", work.COPIES)
def test_a_copy_that_is_forgotten_is_noticed(monkeypatch, function):
    monkeypatch.setitem(work.COPIES, function, 1)
    assert understated() == {function}


# --- cells -------------------------------------------------------------------------------------------------

WIDE = from_toml(
    """
[dataset]
id = "wide"
budget = { epsilon = 1 }
[tables.t]
unit = "person"
[tables.t.columns]
person = { type = "integer" }
a = { type = "integer", bounds = [0, 299] }
b = { type = "integer", bounds = [0, 331] }
v = { type = "number", bounds = [0, 1] }
"""
)


def sums(count):
    return ", ".join(f"SUM(v * {place + 1}) AS s{place}" for place in range(count))


@pytest.mark.parametrize(
    ("asked", "cells"),
    [
        (f"SELECT a, b, {sums(24)} FROM t GROUP BY a, b", 300 * 332 * 26),
        (f"SELECT {sums(11)} FROM t GROUP BY a, b", 300 * 332 * 11),
        ([f"SELECT {sums(6)} FROM t GROUP BY a, b"] * 2, 300 * 332 * 12),
        ("SELECT MODE(b) AS m FROM t GROUP BY a, b", 300 * 332 * 332),
        (f"SELECT {sums(6)} FROM t GROUP BY GROUPING SETS ((a, b), (a, b))", 300 * 332 * 12),
        (
            f"SELECT {' + '.join(f'SUM(v * {n})' for n in range(1, 12))} AS s FROM t GROUP BY a, b",
            300 * 332 * 11,
        ),
    ],
)
def test_an_answer_has_a_limited_number_of_cells(asked, cells):
    before = time.process_time()
    with pytest.raises(UnsupportedQuery) as caught:
        plan_asked(asked, WIDE, epsilon=1)
    assert caught.value.fields["reason"] == "cells"
    assert (
        f"at most 1,000,000 cells (groups x columns x grouping sets), got {cells:,}" in caught.value.message
    )
    assert time.process_time() - before < 2
    larger = replace(WIDE, serving=replace(WIDE.serving, max_cells=10**9))
    work.check_work(
        [read_asked(each, larger)[1] for each in ([asked] if isinstance(asked, str) else asked)], larger
    )


def test_one_cell_beyond_the_limit_is_refused():
    asked = "SELECT shop, COUNT(*) AS n FROM buys GROUP BY shop"  # 16 cells
    enough, few = (replace(POLICY, serving=replace(POLICY.serving, max_cells=most)) for most in (16, 15))
    assert plan_asked(asked, enough, epsilon=0.1)
    with pytest.raises(UnsupportedQuery) as caught:
        plan_asked(asked, few, epsilon=0.1)
    assert caught.value.fields["reason"] == "cells"


def test_the_owner_may_set_the_cells_and_stored_answers_stay_theirs():
    text = '[dataset]\nid = "t"\nbudget = { epsilon = 1 }\n[tables.t]\nunit = "p"\n'
    plain, stated = from_toml(text), from_toml(f"{text}[server]\nmax_cells = 10\n")
    assert (plain.serving.max_cells, stated.serving.max_cells) == (1_000_000, 10)
    assert plain.digest == stated.digest
    for wrong in ("0", "1.5", '"many"', "true", "1e400", "10000000000"):
        with pytest.raises(dp.InvalidParameter):
            from_toml(f"{text}[server]\nmax_cells = {wrong}\n")


def test_a_plan_shows_its_work():
    (plan,) = plan_asked("SELECT shop, COUNT(*) AS n FROM buys GROUP BY shop", POLICY, epsilon=0.1)
    shown = plan.to_json()["work"]
    assert shown["passes"] == plan.passes == 1
    assert shown["cells"] == 16
    assert 0 < shown["unit_s"] < shown["fixed_s"] < shown["total_s"]
    assert (POPULATION, plan.policy.population) == (10, 10)
    unknown = replace(POLICY, population=None)
    assert (
        plan_asked("SELECT COUNT(*) AS n FROM buys", unknown, epsilon=1)[0].to_json()["work"]["total_s"]
        is None
    )
