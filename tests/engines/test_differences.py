"""What each engine's own functions give where they mean something else: what the page on engines is about.

An engine whose next version gives something else here fails this test, and its dialect is looked at again.
"""

import datetime
import math

import duckdb
import psycopg
import pytest

DAY = datetime.date(2020, 3, 1)  # a Sunday

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
