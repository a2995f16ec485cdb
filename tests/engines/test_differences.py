"""What each engine's own functions give where they mean something else: what the page on engines is about.

An engine whose next version gives something else here fails this test, and its dialect is looked at again.
"""

import contextlib
import datetime
import math
from decimal import Decimal

import duckdb
import psycopg
import pytest

from discreet.asking.engines.spark.session import open_beside

DAY = datetime.date(2020, 3, 1)  # a Sunday
LONG = "CAST('10000000000000000000000000000000001' AS DECIMAL(38, 0))"  # 35 digits

# function -> (its own words there, what they give)
ON_DUCKDB = {
    "divide": ("1e0 / 0e0", math.inf),
    "round": ("round(-2.5e0)", -3.0),
    "less": ("'ﬀ' < '🦆'", True),
    "lower": ("lower('É')", "é"),
    "length": ("length('🦆é')", 2),
    "to_integer": ("TRY_CAST('1e3' AS BIGINT)", 1000),
    "to_integer of a number": ("CAST(2.5e0 AS BIGINT)", 2),
    "to_number": ("TRY_CAST('1e999' AS DOUBLE)", math.inf),
    "to_boolean": ("TRY_CAST('t' AS BOOLEAN)", True),
    "to_date": ("TRY_CAST('2020-3-1' AS DATE)", DAY),
    "dow": ("date_part('dow', DATE '2020-03-01')", 0),
    "isodow": ("date_part('isodow', DATE '2020-03-01')", 7),
    "second": ("date_part('second', TIMESTAMP '2020-03-01 10:20:30.5')", 30),
    "sums": ("typeof(sum(1::BIGINT))", "HUGEINT"),
}
ON_POSTGRES = {
    "round": ("round(2.5::float8)", 2.0),
    "sign": ("pg_typeof(sign(2.5::float8))::text", "double precision"),
    "like": (r"'a%' LIKE 'a\%'", True),
    "length": ("length('🦆é')", 2),
    "to_integer of a number": ("2.5::float8::bigint", 2),
    "to_boolean": ("'yes'::boolean", True),
    "to_date": ("'2020-3-1'::date", DAY),
    "dow": ("date_part('dow', DATE '2020-03-01')", 0.0),
    "isodow": ("date_part('isodow', DATE '2020-03-01')", 7.0),
    "second": ("date_part('second', TIMESTAMP '2020-03-01 10:20:30.5')", 30.5),
    "trunc_month": ("pg_typeof(date_trunc('month', DATE '2020-03-05'))::text", "timestamp with time zone"),
    "sums": ("pg_typeof(sum(1::bigint))::text", "numeric"),
}
RAISES_ON_POSTGRES = ("1e200::float8 * 1e200::float8", "1e-200::float8 * 1e-200::float8", "'1e999'::float8",
                      "'1e-999'::float8", "1 / 0", "'x'::bigint", "'2019-02-29'::date")  # fmt: skip
ON_SPARK = {
    "add": ("typeof(1L + 1L)", "bigint"),
    "subtract of dates": ("typeof(DATE '2020-03-01' - DATE '2020-02-01')", "interval day"),
    "divide_whole": (f"{LONG} DIV CAST(1 AS DECIMAL(38, 0))", (10**34 + 1) % 2**64),  # wrapped around
    "negate": (f"-({LONG}) = 0BD - {LONG}", False),  # rounded to 34 digits
    "sign": ("typeof(sign(2.5D))", "double"),
    "floor": ("typeof(floor(2.5D))", "bigint"),
    "ceil": ("typeof(ceil(2.5D))", "bigint"),
    "round": ("round(-2.5D)", -3.0),
    "less": ("'ﬀ' < '🦆'", True),
    "like": (r"'a%' LIKE 'a\\%'", True),
    "lower": ("lower('É')", "é"),
    "length": ("length('🦆é')", 2),
    "to_integer": ("TRY_CAST(' 1 ' AS BIGINT)", 1),
    "to_integer of a number": ("TRY_CAST(2.9D AS BIGINT)", 2),
    "to_integer at the end": ("TRY_CAST(9.223372036854775808E18D AS BIGINT)", 2**63 - 1),
    "rint": ("rint(2.5D)", 2.0),
    "to_number": ("TRY_CAST('1e999' AS DOUBLE)", math.inf),
    "to_number with a letter": ("TRY_CAST('1d' AS DOUBLE)", 1.0),
    "to_boolean": ("TRY_CAST('yes' AS BOOLEAN)", True),
    "to_date": ("TRY_CAST('2020-3-1' AS DATE)", DAY),
    "dow": ("date_part('dow', DATE '2020-03-01')", 1),
    "isodow": ("date_part('dow_iso', DATE '2020-03-01')", 7),
    "second": ("date_part('second', TIMESTAMP '2020-03-01 10:20:30.5')", Decimal("30.500000")),
    "trunc_month": ("typeof(date_trunc('month', DATE '2020-03-05'))", "timestamp"),
    "sums": ("typeof(sum(1L))", "bigint"),
    "equal keys": ("NULL <=> NULL", True),
}
RAISES_ON_SPARK = ("1D / 0D", "9223372036854775807L + 1L", "CAST('x' AS BIGINT)")


def one_row(witnesses):
    return "SELECT " + ", ".join(sql for sql, _ in witnesses.values())


def assert_as_witnessed(found, witnesses):
    for (name, (sql, wanted)), value in zip(witnesses.items(), found, strict=True):
        assert value == wanted, f"{name}: {sql} gave {value!r}"


def test_duckdb_differs_as_the_page_says():
    with duckdb.connect(":memory:") as connection:
        assert_as_witnessed(connection.execute(one_row(ON_DUCKDB)).fetchone(), ON_DUCKDB)
        with pytest.raises(duckdb.OutOfRangeException):
            connection.execute("SELECT 9223372036854775807::BIGINT + 1::BIGINT")


def test_postgresql_differs_as_the_page_says(postgres_server):
    with postgres_server.connect() as connection:
        assert_as_witnessed(connection.execute(one_row(ON_POSTGRES)).fetchone(), ON_POSTGRES)
        for sql in RAISES_ON_POSTGRES:
            with pytest.raises(psycopg.errors.DataError):
                connection.execute(f"SELECT {sql}")


def test_spark_differs_as_the_page_says(spark_session):
    with contextlib.closing(open_beside(spark_session)) as opened:
        (row,) = opened.session.sql(one_row(ON_SPARK)).collect()
        assert_as_witnessed(tuple(row), ON_SPARK)
        for sql in RAISES_ON_SPARK:
            with pytest.raises(Exception, match=r"DIVIDE_BY_ZERO|ARITHMETIC_OVERFLOW|CAST_INVALID_INPUT"):
                opened.session.sql(f"SELECT {sql}").collect()
