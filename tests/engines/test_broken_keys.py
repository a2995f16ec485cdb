"""A key that is no longer unique costs accuracy, not the bound; data may change after an engine opened."""

import contextlib
from dataclasses import replace

import psycopg
import pytest

from discreet.asking.engines import DuckDBEngine, MemoryEngine, PostgresEngine, SparkEngine
from discreet.asking.engines.sql import relations
from discreet.asking.planning import plan_exact
from discreet.asking.policy import from_toml
from discreet.asking.queries import Joined, read_question
from discreet.errors import PolicyViolation
from engines.people import as_arrow
from engines.registry import fill

SHOP = from_toml("""
[dataset]
id = "shop"
budget = { epsilon = 1 }
[tables.customers]
unit = "person"
[tables.customers.columns]
person = { type = "integer" }
id = { type = "integer" }
[tables.orders]
unit = { through = "customers", on = { buyer = "id" } }
[tables.orders.columns]
number = { type = "integer" }
buyer = { type = "integer" }
[tables.lines]
unit = { through = "orders", on = { part_of = "number" } }
[tables.lines.columns]
part_of = { type = "integer" }
city = { type = "text" }
[tables.survey]
each_row = true
[tables.survey.columns]
city = { type = "text" }
[public.cities]
key = "city"
[public.cities.columns]
city = { type = "text" }
area = { type = "text" }
""")
SOUND = {
    "customers": [{"person": person, "id": person} for person in range(40)],
    "orders": [{"number": number, "buyer": number} for number in range(40)],
    "lines": [{"part_of": 1, "city": "Oslo"}],
    "survey": [{"city": "Oslo"}] * 2,
    "cities": [{"city": "Oslo", "area": "x"}],
}
BROKEN = {
    "customers": [{"person": person, "id": 1} for person in range(40)],
    "orders": [{"number": 1, "buyer": number} for number in range(40)],
    "lines": [{"part_of": 1, "city": "Oslo"}],
    "survey": [{"city": "Oslo"}] * 2,
    "cities": [{"city": "Oslo", "area": area} for area in "xyz"] * 10,
}
UNIQUE_ORDERS = {**BROKEN, "orders": [{"number": 1, "buyer": 1}]}
UNIQUE_CUSTOMERS = {**BROKEN, "customers": SOUND["customers"]}
TWICE = (
    "SELECT COUNT(DISTINCT b.person) AS n FROM orders AS o JOIN customers AS a ON o.buyer = a.id "
    "JOIN customers AS b ON o.buyer = b.id WHERE a.person = 0"
)
TWO_ORDERS = (
    "SELECT COUNT(*) AS n FROM lines JOIN orders AS o ON part_of = o.number "
    "JOIN orders AS q ON part_of = q.number WHERE o.buyer = 0"
)
LATER = (
    "SELECT COUNT(*) AS n FROM lines JOIN orders AS o ON part_of = o.number "
    "JOIN customers AS c ON o.buyer = c.id JOIN orders AS q ON part_of = q.number WHERE c.person = 0"
)
CASES = [(TWICE, UNIQUE_ORDERS), (TWO_ORDERS, UNIQUE_CUSTOMERS), (LATER, UNIQUE_CUSTOMERS)]
PUBLIC = "SELECT COUNT(*) AS n FROM survey JOIN cities ON survey.city = cities.city"
CHAIN = "SELECT COUNT(*) AS n FROM lines LEFT JOIN cities ON lines.city = cities.city"


@contextlib.contextmanager
def on_memory(request, tmp_path):
    engine = MemoryEngine(SHOP, SOUND)

    def change(rows):
        for name, each in rows.items():
            engine._tables[name][:] = each  # what it copied when it was opened

    yield engine, change


@contextlib.contextmanager
def on_duckdb(request, tmp_path):
    """Tables that change behind it: it copies what it can, but not files of private rows."""
    with contextlib.closing(DuckDBEngine(SHOP, as_arrow(SHOP, SOUND))) as engine:

        def change(rows):
            for index, table in enumerate((*SHOP.tables, *SHOP.public)):
                engine._connection.execute(f"DELETE FROM t{index}")
                values = [list(row.values()) for row in rows[table.name]]
                marks = ", ".join(["?"] * len(table.columns))
                engine._connection.executemany(f"INSERT INTO t{index} VALUES ({marks})", values)

        yield engine, change


@contextlib.contextmanager
def on_postgres(request, tmp_path):
    """Rows of a live database."""
    address = request.getfixturevalue("postgres_database")
    fill(address, SHOP, SOUND)
    with contextlib.closing(PostgresEngine(SHOP, address=address)) as engine:

        def change(rows):
            with psycopg.connect(address) as connection:
                for name, each in rows.items():
                    connection.execute(f"DELETE FROM {name}".encode())
                    for row in each:
                        marks = ", ".join(["%s"] * len(row))
                        connection.execute(
                            f"INSERT INTO {name} VALUES ({marks})".encode(), list(row.values())
                        )

        yield engine, change


@contextlib.contextmanager
def on_spark(request, tmp_path):
    """A frame of the session, made anew under its name."""
    session = request.getfixturevalue("spark_session")

    def write(rows):
        for name, table in as_arrow(SHOP, rows).items():
            session.createDataFrame(table).createOrReplaceGlobalTempView(f"live_{name}")

    write(SOUND)
    frames = {name: session.table(f"global_temp.live_{name}") for name in SOUND}
    with contextlib.closing(SparkEngine(SHOP, frames, session=session)) as engine:

        def change(rows):
            write(rows)
            for index, table in enumerate((*SHOP.tables, *SHOP.public)):
                engine._session.table(f"global_temp.live_{table.name}").createOrReplaceTempView(f"t{index}")

        yield engine, change
    for name in SOUND:  # the session outlives the test
        session.catalog.dropGlobalTempView(f"live_{name}")


@pytest.fixture(params=[on_memory, on_duckdb, on_postgres, on_spark], ids=lambda each: each.__name__[3:])
def live(request, tmp_path):
    """An engine that opened on sound tables, and a function that changes them."""
    with request.param(request, tmp_path) as opened:
        yield opened


def plan_of(text):
    return plan_exact(read_question(text, SHOP), salt=1)[0].plans[0]


def without(rows, person):
    """The same tables without one person's own rows; what also leads to others is theirs too, and stays."""
    gone = {row["id"] for row in rows["customers"] if row["person"] == person}
    kept = [row for row in rows["customers"] if row["person"] != person]
    left = {row["id"] for row in kept}
    orders = [row for row in rows["orders"] if row["buyer"] not in gone or row["buyer"] in left]
    return {**rows, "customers": kept, "orders": orders}


def moved(live, plan, rows, fewer):
    """How far the number moves from one data set to the other."""
    engine, change = live
    totals = []
    for each in (rows, fewer):
        change(each)
        totals.append(engine.run(plan).totals[0][0])
    return abs(totals[0] - totals[1])


def test_no_one_decides_over_the_rows_of_others(live):
    for text, rows in CASES:
        assert moved(live, plan_of(text), rows, without(rows, 0)) <= 1, text


def test_a_row_meets_one_row_of_a_public_table_at_most(live):
    one_row_less = {**BROKEN, "survey": BROKEN["survey"][1:]}
    assert moved(live, plan_of(PUBLIC), BROKEN, one_row_less) == 1


def test_all_engines_take_the_same_row_of_a_public_table(live):
    engine, change = live
    change(BROKEN)
    text = PUBLIC + " WHERE area = 'x'"
    assert engine.run(plan_of(text)).totals == ((2,),)


def test_with_sound_keys_nothing_is_lost(live):
    engine, change = live
    change(SOUND)
    for text in (TWICE, TWO_ORDERS, LATER):
        everybody = text[: text.index(" WHERE")]
        assert engine.run(plan_of(everybody)).totals[0][0] == (40 if text == TWICE else 1)
    assert engine.run(plan_of(CHAIN)).totals == ((1,),)


def test_the_reference_refuses_keys_that_are_there_twice_when_it_opens():
    for rows in (UNIQUE_ORDERS, UNIQUE_CUSTOMERS, {**SOUND, "cities": BROKEN["cities"]}):
        with pytest.raises(PolicyViolation, match="must differ in every row"):
            MemoryEngine(SHOP, rows)


def careless(relation):
    """The same joins, without the demand for one unit."""
    if not isinstance(relation, Joined):
        source = getattr(relation, "source", None)
        return relation if source is None else replace(relation, source=careless(source))
    left, right = careless(relation.left), careless(relation.right)
    return replace(relation, left=left, right=right, one_unit=False)


@pytest.mark.parametrize("made", [on_memory, on_duckdb])
def test_the_check_would_notice_joins_of_two_units(made, tmp_path):
    for text, rows in CASES:
        plan = plan_of(text)
        careless_plan = replace(plan, rows=careless(plan.rows), max_rows=40)
        assert careless_plan.rows != plan.rows
        with made(None, tmp_path) as live:
            assert moved(live, careless_plan, rows, without(rows, 0)) > 1


def test_the_check_would_notice_a_public_table_read_as_it_is(monkeypatch, tmp_path):
    monkeypatch.setattr(relations, "_first_of_each", lambda public, scan: public)
    one_row_less = {**BROKEN, "survey": BROKEN["survey"][1:]}
    with on_duckdb(None, tmp_path) as live:
        assert moved(live, plan_of(PUBLIC), BROKEN, one_row_less) == 30
