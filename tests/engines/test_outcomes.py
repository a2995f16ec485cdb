"""What becomes of a question (answered, refused, failed) is the same whatever one person's rows hold.

Generated questions at the ends of every range and type are asked of tables in which one person holds all
those ends, and of the same tables without them. A question that was planned is answered, on every engine:
nothing that is charged can fail by a value.
"""

import contextlib
import datetime
import itertools
import time
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from sqlglot import exp

from discreet.asking.answers import Answer, Book, Receipt
from discreet.asking.engines import DuckDBEngine, MemoryEngine, PostgresEngine, SparkEngine
from discreet.asking.engines.duckdb.dialect import DuckDBDialect
from discreet.asking.engines.sql import SQL_TYPES, binary, cast, whole
from discreet.asking.engines.sql.dialect import TryCasting
from discreet.asking.engines.sql.measures import position_of
from discreet.asking.engines.sql.relations import _clamp, place
from discreet.asking.planning import plan_asked, plan_book, plan_exact
from discreet.asking.policy import from_toml
from discreet.asking.queries import read_question, to_sql
from discreet.asking.queries.functions import FUNCTIONS
from discreet.asking.queries.nodes import Aggregate, Call
from discreet.asking.release import rehearse_draws
from discreet.errors import DiscreetError, InvalidParameter, UnsupportedQuery
from discreet.kernel.plan import run_invented
from engines.extremes import AGGREGATES, LAST, LIMITED, NEIGHBOURS, POLICY, ROWS, books, nodes, questions
from engines.people import as_arrow
from engines.registry import MAKERS as ENGINE_MAKERS, fill

NODES = {"Aggregate", "Call", "Case", "Join", "Literal", "Name", "Nested", "Order", "Output", "Select",
         "TableName", "Union"}  # fmt: skip
TRIES = 60


class Written:
    """A statement as text, where engines expect its tree."""

    def __init__(self, text):
        self.text = text

    def sql(self, **options):
        return self.text

    def find_all(self, *kinds):
        return ()


class Remembering:
    """Builds a statement once for all tables: they are named alike, and building costs more than running.
    Plans with a limit are built anew."""

    written: ClassVar = {}

    def _bounding(self, plan):
        kind, dialect, written = super()._bounding(plan), self._dialect, self.written

        class Remembered(kind):
            def build(self):
                key = kind, dialect.printer, self.plan
                if key not in written:
                    written[key] = Written(dialect.write(super().build()))
                return written[key]

        return Remembered


class OnDuckDB(Remembering, DuckDBEngine):
    """As DuckDB."""


class OnPostgres(Remembering, PostgresEngine):
    """As PostgreSQL."""


class OnSpark(Remembering, SparkEngine):
    """As Spark."""


def on_memory(request, name, rows):
    return MemoryEngine(POLICY, rows)


def on_duckdb(request, name, rows):
    return OnDuckDB(POLICY, as_arrow(POLICY, rows), threads=1, timeout_s=120)


def on_postgres(request, name, rows):
    address = request.getfixturevalue("postgres_server").database(f"outcomes_{name}")
    fill(address, POLICY, rows)
    return OnPostgres(POLICY, address=address, timeout_s=120)


def on_spark(request, name, rows):
    session = request.getfixturevalue("spark_session")
    return OnSpark(POLICY, as_arrow(POLICY, rows), session=session)


MAKERS = {"memory": on_memory, "duckdb": on_duckdb, "postgresql": on_postgres, "spark": on_spark}
COUNTS = {"memory": (150, 10_000), "duckdb": (150, 10_000), "postgresql": (40, 2000), "spark": (12, 300)}
UNDER_LIMITS = {"memory": (40, 3000), "duckdb": (24, 3000), "postgresql": (12, 600), "spark": (4, 60)}
LEAST_MADE = 40  # questions under limits, of which those are asked that take one
OF_BOOKS = {"memory": (30, 1000), "duckdb": (30, 1000), "postgresql": (10, 300), "spark": (3, 40)}


@pytest.fixture(scope="module", params=list(MAKERS))
def opened(request):
    """The name of an engine, and that engine on the extreme rows and on each of their neighbours."""
    with contextlib.ExitStack() as stack:
        engines = []
        for name, rows in {"extreme": ROWS, **NEIGHBOURS}.items():
            engines.append(
                stack.enter_context(contextlib.closing(MAKERS[request.param](request, name, rows)))
            )
        yield request.param, engines


def planned(tree, policy):
    """The plan of a question; None where it is refused."""
    try:
        (plan,) = plan_asked(tree, policy, epsilon=1, delta=1e-6)
    except (UnsupportedQuery, InvalidParameter):
        return None
    return plan


@cache
def asked(policy, seed, count):
    """Generated questions with their plans: functions of the policy alone. A few are refused."""
    made = []
    for tries in questions(seed, count):
        for tree in itertools.islice(tries, TRIES):
            plan = planned(tree, policy)
            if plan is not None:
                break
        made.append((tree, plan))
    return made


def outcome(plan, engine):
    """What an asker sees of a plan that was charged, all ways of reading the answer included."""

    def run(exact):
        return engine.run(replace(exact, salt=5))

    try:
        done, numbers, _ = rehearse_draws(plan, run)
        answer = Answer(done, numbers, Receipt.of(done, charge=1, remaining=None))
        for read in (answer.to_json, answer.__str__, answer.to_csv):
            read()
    except DiscreetError as error:
        return f"failed: {type(error).__name__}"
    return "answered"


def differing(engines, seed, count, *, known=None, reached=None, having=frozenset()):
    """The questions whose plan or outcome differs on neighbouring tables, or that fail on any."""
    extreme, *others = engines
    assert all(other.policy == extreme.policy for other in others)  # and so is every plan
    known = asked(extreme.policy, seed, count) if known is None else known
    for other, (tree, plan) in zip(itertools.cycle(others), known, strict=False):
        if having - set(_names(tree)):
            continue
        seen = [outcome(plan, engine) for engine in (extreme, other)] if plan is not None else []
        if set(seen) - {"answered"}:
            yield seen, to_sql(tree)
        if seen and reached is not None:
            reached["answered"] += 1
            reached["weighed"] += plan.weighs
            reached.update(_names(tree))
            reached.update(each.aggregate.function for each in plan.question.measures)


def _names(tree):
    for node in nodes(tree):
        yield type(node).__name__
        if isinstance(node, Call | Aggregate):
            yield node.function


def check(opened, seed, count):
    name, engines = opened
    reached = Counter()
    assert list(differing(engines, seed, count, reached=reached)) == [], name
    missing = {*FUNCTIONS, *AGGREGATES, *NODES} - set(reached)
    assert missing == set(), f"{name}: no answered question has them"
    assert reached["answered"] >= 0.8 * count


def test_one_person_changes_no_outcome(opened):
    check(opened, 1, COUNTS[opened[0]][0])


def check_limits(opened, seed, count):
    name, engines = opened
    reached = Counter()
    made = asked(LIMITED, seed, max(count, LEAST_MADE))
    known = [(tree, plan) for tree, plan in made if plan is not None and plan.weighs][:count]
    assert list(differing(engines, seed, count, known=known, reached=reached)) == [], name
    assert reached["weighed"] == len(known) >= min(count, LEAST_MADE) / 2


def test_one_person_changes_no_outcome_under_limits(opened):
    check_limits(opened, 3, UNDER_LIMITS[opened[0]][0])


def outcome_of_book(plan, engine):
    """What an asker sees of a book that was charged."""
    try:
        ran = run_invented(plan.stages, lambda exact: engine.run(replace(exact, salt=5)))
        sizes = plan.noise.workload.sizes
        measured = {
            columns: np.array(each.output.numbers, dtype=np.int64).reshape([sizes[one] for one in columns])
            for columns, each in zip(plan.measured, ran, strict=True)
        }
        Book(plan, measured, Receipt.of(plan, charge=1, remaining=None)).to_json()
    except DiscreetError as error:
        return f"failed: {type(error).__name__}"
    return "answered"


def differing_books(engines, seed, count, *, reached=None):
    """The books that fail on any of neighbouring tables."""
    extreme, *others = engines
    for other, (tree, limit) in zip(itertools.cycle(others), books(seed, count), strict=False):
        try:
            plan = plan_book([tree], extreme.policy, rho=1, limit=limit)
        except (UnsupportedQuery, InvalidParameter):
            continue
        seen = [outcome_of_book(plan, engine) for engine in (extreme, other)]
        if seen != ["answered"] * 2:
            yield seen, to_sql(tree)
        if reached is not None:
            reached["answered"] += 1
            reached.update(each.expression.type for each in plan.book.keys)


def check_books(opened, seed, count):
    name, engines = opened
    reached = Counter()
    assert list(differing_books(engines, seed, count, reached=reached)) == [], name
    assert reached["answered"] >= count / 2
    assert len({"text", "boolean", "integer"} & set(reached)) >= 2


def test_one_person_changes_no_outcome_of_a_book(opened):
    check_books(opened, 4, OF_BOOKS[opened[0]][0])


@pytest.mark.parametrize("aggregate", ["SUM", "VARIANCE", "MEDIAN"])
def test_the_widest_range_there_is_tells_nothing(opened, aggregate):
    _, engines = opened
    wide = "9223372036854775807 * (9223372036854775807 + 1500000000000000000)"
    told = f"CASE WHEN person = 7 AND a = 1 THEN {wide} ELSE 0 - {wide} END"
    for engine in engines:
        plan = planned(f"SELECT {aggregate}({told}) AS m, MIN(a * a) AS n FROM t", engine.policy)
        assert outcome(plan, engine) == "answered"


ENDS = """
[dataset]
id = "ends"
budget = { epsilon = 1, delta = 1e-6 }
[tables.e]
unit = "person"
[tables.e.columns]
person = { type = "integer" }
d = { type = "date" }
m = { type = "timestamp" }
"""
ENDS_OF_TIME = [
    (day, moment)
    for day in (datetime.date(1, 1, 1), datetime.date(9999, 12, 31))
    for moment in (datetime.datetime(1, 1, 1), datetime.datetime(1, 1, 1, 23, 59, 59, 999999), LAST,
                   datetime.datetime(9999, 12, 31), datetime.datetime(2026, 3, 29, 2, 30))
]  # fmt: skip


@pytest.fixture
def clock(monkeypatch):
    """Sets the clock of this machine to a time zone."""

    def turn(zone):
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield turn
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("name", ["duckdb", "postgresql", "spark"])
def test_the_ends_of_time_are_groups_like_others_on_any_clock(request, clock, name):
    """A group is read back as it is stored, from the first microsecond of the year 1 to the last of 9999."""
    policy = from_toml(ENDS)
    rows = {"e": [{"person": place, "d": day, "m": moment}
                  for place, (day, moment) in enumerate(ENDS_OF_TIME)]}  # fmt: skip
    question = read_question("SELECT d, m, COUNT(*) AS n FROM e GROUP BY d, m", policy)
    (found,) = plan_exact(question, salt=5)
    with ENGINE_MAKERS[name](request, policy, rows) as engine:
        for zone in ("UTC", "Pacific/Kiritimati", "Pacific/Niue", "Europe/Berlin"):
            clock(zone)
            table = engine.run(found.plans[0])
            assert sorted(table.groups) == sorted(ENDS_OF_TIME), zone


@pytest.mark.soak
def test_one_person_changes_no_outcome_of_many_questions(opened):
    check(opened, 2, COUNTS[opened[0]][1])


@pytest.mark.soak
def test_one_person_changes_no_outcome_of_many_questions_under_limits(opened):
    check_limits(opened, 5, UNDER_LIMITS[opened[0]][1])


@pytest.mark.soak
def test_one_person_changes_no_outcome_of_many_books(opened):
    check_books(opened, 6, OF_BOOKS[opened[0]][1])


def _place_as_a_difference(lattice, argument, dialect):
    """Puts a whole number on its lattice by a difference from the lower end, which may leave 128 bits."""
    if lattice.type == "number" or lattice.step == 1:
        return place(lattice, argument, dialect)
    step = int(lattice.step)
    ends = [whole(end * step, "HUGEINT") for end in (lattice.lowest, lattice.highest)]
    value = _clamp(cast(argument, "HUGEINT"), *ends)
    shifted = binary(exp.Sub, value, whole(lattice.lowest * step - step // 2, "HUGEINT"))
    steps = dialect.quotient(shifted, whole(step, "HUGEINT"))
    return binary(exp.Add, steps, whole(lattice.lowest, "HUGEINT"))


@pytest.fixture(scope="module")
def on_three():
    """DuckDB on the extreme rows and on their neighbours."""
    with contextlib.ExitStack() as stack:
        tables = {"extreme": ROWS, **NEIGHBOURS}
        yield [stack.enter_context(contextlib.closing(on_duckdb(None, name, rows)))
               for name, rows in tables.items()]  # fmt: skip


def test_a_difference_that_may_overflow_is_noticed(on_three, monkeypatch):
    monkeypatch.setattr(Remembering, "written", {})
    monkeypatch.setattr("discreet.asking.engines.sql.measures.place", _place_as_a_difference)
    assert next(differing(on_three, 1, 150), None) is not None


def _unguarded(kind):
    """A cast that raises where the value does not fit."""
    return lambda self, value, wanted=None: cast(value, SQL_TYPES.get(wanted, kind))


@pytest.mark.parametrize(
    ("owner", "word", "used"),
    [
        (TryCasting, "narrow", {"Union", "multiply"}),
        (DuckDBDialect, "nearest_whole", {"to_integer"}),
        (TryCasting, "read_text", {"to_number"}),
    ],
)
def test_a_cast_that_is_not_total_is_noticed(on_three, monkeypatch, owner, word, used):
    monkeypatch.setattr(owner, word, _unguarded("BIGINT"))
    monkeypatch.setattr(Remembering, "written", {})
    assert next(differing(on_three, 1, 150, having=used), None) is not None


def test_a_norm_that_leaves_64_bits_is_noticed(on_three, monkeypatch):
    extreme, absent, _ = on_three
    plan = planned("SELECT SUM(a) AS s FROM t", LIMITED)
    assert plan.weighs
    assert [outcome(plan, engine) for engine in on_three] == ["answered"] * 3
    monkeypatch.setattr("discreet.asking.engines.sql.weighing.Weighing._is_narrow", True)
    assert outcome(plan, extreme) != outcome(plan, absent) == "answered"


def _place_of_any(select, key, domain, dialect, *, name, rest=False):
    """Subtracts the first label from a key that may be far from all of them."""
    if type(domain[0]) is not int:
        return position_of(select, key, domain, dialect, name=name, rest=rest)
    return binary(exp.Sub, cast(key, "BIGINT"), whole(domain[0], "BIGINT"))


def test_a_place_that_is_computed_for_other_keys_too_is_noticed(on_three, monkeypatch):
    monkeypatch.setattr("discreet.asking.engines.sql.weighing.position_of", _place_of_any)
    assert next(differing_books(on_three, 4, 30), None) is not None
