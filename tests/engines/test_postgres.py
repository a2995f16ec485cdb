"""PostgreSQL as an engine: pinned sessions, silent failures, any storage of the same values."""

import contextlib
import datetime
import math
import multiprocessing
import threading
from decimal import Decimal

import psycopg
import pytest

from discreet.asking.engines import MemoryEngine, PostgresEngine, open_engine, postgres
from discreet.asking.planning import plan_exact
from discreet.asking.policy import from_arguments
from discreet.asking.queries import read_question
from discreet.errors import EngineFailure, InvalidParameter, PolicyViolation
from servers.postgres import PASSWORD

CANARY = "canary-7431"
BY_CITY = "SELECT city, COUNT(*) AS n, SUM(debt) AS s FROM t GROUP BY city"


def policy(source=None, **changes):
    declared = {
        "unit": "person", "budget": {"epsilon": 1}, "id": "bank", "bounds": {"debt": (0, 100)},
        "keys": {"city": ["Ottawa", "Toronto"]}, **changes,
    }  # fmt: skip
    return from_arguments(sources={"t": source}, **declared)


@pytest.fixture
def address(postgres_database):
    with psycopg.connect(postgres_database) as connection:
        connection.execute("CREATE TABLE t (person bigint, city text, debt float8, active boolean)")
        connection.execute(
            "INSERT INTO t VALUES (1, 'Ottawa', 5, true), (2, 'Ottawa', 50, false), (3, 'Toronto', 500, null)"
        )
    return postgres_database


def run(engine, text=BY_CITY):
    (plans,) = plan_exact(read_question(text, engine.policy), salt=1)
    return engine.run(plans.plans[0])


@contextlib.contextmanager
def opened(address, given=None, **options):
    with contextlib.closing(PostgresEngine(given or policy(), address=address, **options)) as engine:
        yield engine


def test_the_schema_is_read_and_a_plan_is_run(address):
    with opened(address) as engine:
        assert engine.schema()["t"] == {
            "person": "integer", "city": "text", "debt": "number", "active": "boolean"
        }  # fmt: skip
        assert [total[0] for total in run(engine).totals] == [2, 1]


def test_an_engine_is_opened_by_its_address(address):
    with contextlib.closing(open_engine(address, policy(), {})) as engine:
        assert isinstance(engine, PostgresEngine)


def test_the_environment_of_libpq_is_enough(address, monkeypatch):
    for name, value in psycopg.conninfo.conninfo_to_dict(address).items():
        monkeypatch.setenv({"dbname": "PGDATABASE"}.get(name, f"PG{name.upper()}"), str(value))
    with contextlib.closing(open_engine("postgresql://", policy(), {})) as engine:
        assert [total[0] for total in run(engine).totals] == [2, 1]


def test_sources_name_schema_and_table(address):
    with psycopg.connect(address) as connection:
        connection.execute('CREATE SCHEMA bank; CREATE TABLE bank."Big Table" AS SELECT * FROM public.t')
    for source in ("t", "public.T", 'bank."Big Table"'):
        with opened(address, policy(source)) as engine:
            assert [total[0] for total in run(engine).totals] == [2, 1]


@pytest.mark.parametrize("source", ["t.csv", "none", "a.b.c", "t; DROP TABLE t", "", "t--", 'x"."t'])
def test_anything_but_a_table_is_refused(source, address):
    with pytest.raises(InvalidParameter, match="source of table 't'"):
        PostgresEngine(policy(source), address=address)


def test_questions_can_only_read_whatever_the_role_may_do(address):
    with opened(address) as engine, engine._session() as connection:
        for statement in (
            "INSERT INTO public.t VALUES (9)",
            "CREATE TABLE public.u (x int)",
            "TRUNCATE public.t",
        ):
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), engine._pinned(connection):
                connection.execute(statement)
        wanted = {
            "transaction_isolation": "repeatable read", "search_path": "pg_catalog, pg_temp",
            "timezone": "UTC", "statement_timeout": "10min", "lock_timeout": "10s", "client_encoding": "UTF8",
        }  # fmt: skip
        with engine._pinned(connection):
            shown = {name: connection.execute(f"SHOW {name}").fetchone()[0] for name in wanted}
    assert shown == wanted


BREAKS_OUT = r"\' OR TRUE --"  # where a backslash quotes, the text ends here and the rest is SQL
LOOSE = {
    "standard_conforming_strings": "off", "backslash_quote": "on", "escape_string_warning": "off",
    "transform_null_equals": "on", "default_transaction_read_only": "off", "timezone": "Pacific/Auckland",
    "datestyle": "SQL, DMY", "search_path": "public", "client_encoding": "LATIN1",
}  # fmt: skip


def matched(engine):
    quoted = BREAKS_OUT.replace("'", "''")
    return run(engine, f"SELECT COUNT(*) AS n FROM t WHERE city = '{quoted}'").totals[0][0]


def test_the_settings_of_a_database_change_no_answer(address, postgres_server):
    for name, value in LOOSE.items():
        postgres_server.execute(f"ALTER DATABASE reused SET {name} = '{value}'")
    with opened(address) as engine:
        assert matched(engine) == 0
        assert run(engine, "SELECT COUNT(*) AS n FROM t WHERE city < 'Québec'").totals == ((2,),)
        engine._settings.pop("standard_conforming_strings")  # a planted fault: the rest is read as SQL
        with pytest.raises(EngineFailure):
            matched(engine)


def test_what_a_view_loosens_is_pinned_again(address):
    with psycopg.connect(address) as connection:
        connection.execute(
            "CREATE VIEW sly AS SELECT t.* FROM t, (SELECT set_config('search_path', 'public', false), "
            "set_config('timezone', 'Pacific/Auckland', false), "
            "set_config('default_transaction_read_only', 'off', false) OFFSET 0) AS loose"
        )
    with opened(address, policy("sly")) as engine:
        assert run(engine) == run(engine)
        with engine._session() as connection, engine._pinned(connection):
            shown = [connection.execute(f"SHOW {name}").fetchone()[0]
                     for name in ("search_path", "timezone", "transaction_read_only")]  # fmt: skip
    assert shown == ["pg_catalog, pg_temp", "UTC", "on"]


def test_functions_of_others_are_not_called(address):
    with psycopg.connect(address) as connection:
        for name, kind in (("abs", "float8"), ("floor", "float8"), ("length", "text")):
            connection.execute(
                f"CREATE FUNCTION public.{name}(x {kind}) RETURNS float8 LANGUAGE sql AS 'SELECT 1e6::float8'"
            )
        connection.execute(
            "ALTER DATABASE " + connection.info.dbname + " SET search_path = public, pg_catalog"
        )
    with opened(address) as engine:
        assert run(
            engine, "SELECT COUNT(*) AS n FROM t WHERE FLOOR(debt) < 100 AND LENGTH(city) < 9"
        ).totals == ((2,),)


def test_a_role_that_may_only_select_is_enough(address, postgres_server):
    with psycopg.connect(address) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute(
            "CREATE ROLE reader LOGIN PASSWORD 'reads'; GRANT SELECT (person, city, debt) ON t TO reader"
        )
        database = connection.info.dbname
    reader = postgres_server.url(database, user="reader", password="reads")
    with pytest.raises(InvalidParameter, match="may read"):
        PostgresEngine(policy(), address=reader)
    postgres_server.execute("GRANT USAGE ON SCHEMA public TO reader", database)
    with opened(reader) as engine:
        assert "active" not in engine.schema()["t"]
        assert [total[0] for total in run(engine).totals] == [2, 1]
    postgres_server.execute("DROP OWNED BY reader", database)
    postgres_server.execute("DROP ROLE reader")


@pytest.mark.parametrize("wrong", [{"password": "wrong-" + CANARY}, {"user": CANARY}])
def test_a_server_that_refuses_is_one_constant(wrong, address, postgres_server, capfd):
    with pytest.raises(EngineFailure, match="could not be opened") as caught:
        PostgresEngine(policy(), address=postgres_server.url("postgres", **wrong))
    assert caught.value.__suppress_context__
    shown = f"{caught.value!r} {caught.value.fields} {capfd.readouterr()}"
    assert CANARY not in shown
    assert PASSWORD not in shown


def test_the_address_is_not_shown(address):
    with opened(address) as engine:
        assert PASSWORD not in repr(engine)


def test_errors_of_the_server_are_one_constant(address, monkeypatch, capfd):
    with opened(address) as engine:
        monkeypatch.setattr(engine._dialect, "write", lambda tree: f"SELECT CAST('{CANARY}' AS integer)")
        with pytest.raises(EngineFailure, match="could not run the plan") as caught:
            run(engine)
    assert caught.value.__suppress_context__
    assert CANARY not in f"{caught.value!r} {caught.value.fields} {capfd.readouterr()}"


def test_a_timeout_is_the_same_constant(address):
    with psycopg.connect(address) as connection:
        connection.execute("CREATE VIEW slow AS SELECT t.* FROM t, (SELECT pg_sleep(20) OFFSET 0) AS pause")
    with (
        opened(address, policy("slow"), timeout_s=0.2) as engine,
        pytest.raises(EngineFailure, match="could not run"),
    ):
        run(engine)


def test_other_versions_and_encodings_are_refused(address, postgres_server, monkeypatch):
    postgres_server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(InvalidParameter, match="UTF8"):
        PostgresEngine(policy(), address=postgres_server.url("latin"))
    for end, major in (("OLDEST", 99), ("NEWEST", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(postgres, end, major)
            with pytest.raises(InvalidParameter, match=f"{major}.*, got"):
                PostgresEngine(policy(), address=address)


def test_keys_that_are_not_unique_are_refused(address):
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE cities AS SELECT city, 1 AS region FROM t")
    with pytest.raises(PolicyViolation, match="differ"):
        PostgresEngine(policy(public={"cities": ("city", None)}), address=address)
    with psycopg.connect(address) as connection:
        connection.execute(
            "DELETE FROM cities WHERE ctid = (SELECT ctid FROM cities WHERE city = 'Ottawa' LIMIT 1)"
        )
    with opened(address, policy(public={"cities": ("city", None)})) as engine:
        text = "SELECT COUNT(*) AS n FROM t JOIN cities ON t.city = cities.city WHERE region = 1"
        assert run(engine, text).totals == ((3,),)


def test_a_restart_between_questions_is_not_noticed(address, postgres_server):
    with opened(address) as engine:
        before = run(engine)
        postgres_server.restart()
        assert run(engine) == before


def test_threads_may_ask_at_once(address):
    with opened(f"{address}?connect_timeout=120") as engine:  # eight at once, on however slow a machine
        expected, found = run(engine), []
        threads = [threading.Thread(target=lambda: found.append(run(engine))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [expected] * 8
        assert len(engine._idle) <= postgres.MOST_IDLE


def _in_child(engine, queue):
    queue.put(run(engine).totals)


def test_a_fork_opens_its_own_connection(address):
    with opened(address) as engine:
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=_in_child, args=(engine, queue))
        child.start()
        assert queue.get(timeout=60) == run(engine).totals
        child.join()
        assert run(engine).totals == run(engine).totals


STORED = {
    "smallint": [1, -5, 32767, None],
    "integer": [1, -5, 2**31 - 1, None],
    "numeric(20,0)": [1, -5, 2**53 + 1, 10**19, Decimal("NaN"), None],
    "numeric(10,2)": [Decimal("0.10"), Decimal("-99999999.99"), Decimal("NaN"), None],
    "numeric": [Decimal("1e400"), Decimal("-1e400"), Decimal("1e-400"), Decimal("0.1"), Decimal("NaN"),
                Decimal("Infinity"), Decimal(2) ** 1024 - Decimal(2) ** 970, Decimal("2.5e-324"), None],
    "real": [0.5, -math.inf, math.nan, 16777216.0, None],
    "varchar(9)": ["Ottawa", "", "é", None],
    "char(6)": ["Ottawa", None],
    "uuid": ["6a2f41a3-c54c-fce8-32d2-0324e1c32e22", None],
    "timestamptz": [datetime.datetime(2020, 1, 1, 12), None],
    "date": [datetime.date(2020, 2, 29), None],
}  # fmt: skip


@pytest.mark.parametrize("kind", STORED)
def test_a_column_is_read_as_the_values_it_stands_for(kind, postgres_database):
    values = STORED[kind]
    with psycopg.connect(postgres_database) as connection:
        connection.execute("SET timezone = 'UTC'")
        connection.execute(f"CREATE TABLE t (person bigint, x {kind})")
        for person, value in enumerate(values):
            connection.execute("INSERT INTO t VALUES (%s, %s)", (person, value))
    given = from_arguments(sources={"t": None}, unit="person", budget={"epsilon": 1, "delta": 1e-6}, id="x")
    with opened(postgres_database, given, hashing="md5") as engine:
        rows = [{"person": person, "x": value} for person, value in enumerate(values)]
        reference = MemoryEngine(engine.policy, {"t": rows})
        text = "SELECT x, COUNT(*) AS n FROM t GROUP BY x"
        found, expected = run(engine, text), run(reference, text)
        assert repr((found.groups, found.totals)) == repr((expected.groups, expected.totals))


def test_infinite_times_and_odd_types_are_missing_or_left_out(postgres_database):
    with psycopg.connect(postgres_database) as connection:
        connection.execute(
            "CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN age AS int CHECK (value > 0)"
        )
        connection.execute("CREATE TABLE t (person bigint, d date, m mood, a age, parts int[], spot point)")
        connection.execute("INSERT INTO t VALUES (1, 'infinity', 'sad', 7, '{1}', '(1,2)')")
        connection.execute("INSERT INTO t VALUES (2, '4713-01-01 BC', 'happy', 8)")
    given = from_arguments(sources={"t": None}, unit="person", budget={"epsilon": 1, "delta": 1e-6}, id="x")
    with opened(postgres_database, given) as engine:
        assert engine.schema()["t"] == {"person": "integer", "d": "date", "m": "text", "a": "integer"}
        assert run(engine, "SELECT d, COUNT(*) AS n FROM t GROUP BY d").groups == ((None,),)
        assert run(engine, "SELECT m, COUNT(*) AS n FROM t GROUP BY m").groups == (("happy",), ("sad",))


def test_order_is_that_of_code_points_whatever_the_locale(postgres_database):
    with psycopg.connect(postgres_database) as connection:
        connection.execute('CREATE TABLE t (person bigint, x text COLLATE "und-x-icu")')
        for person, value in enumerate(["b", "B", "a", "é", "z"]):
            connection.execute("INSERT INTO t VALUES (%s, %s)", (person, value))
    given = from_arguments(sources={"t": None}, unit="person", budget={"epsilon": 1, "delta": 1e-6}, id="x")
    with opened(postgres_database, given) as engine:
        found = run(engine, "SELECT x, COUNT(*) AS n FROM t WHERE x < 'c' OR x > 'y' GROUP BY x")
        assert found.groups == (("B",), ("a",), ("b",), ("z",), ("é",))
