"""Four clients for real: connect, list, describe, ask, be refused, ask again free, run out of budget."""

import asyncio
import os
import subprocess

import asyncpg
import pandas
import psycopg
import pytest
import sqlalchemy

from server.running import promptly, write_policy

COUNT = "SELECT city, COUNT(*) AS n FROM town GROUP BY city"
ROWS = "SELECT * FROM town"
TOTAL = "SELECT COUNT(*) AS n FROM town"
COLUMNS = {"person": "bigint", "debt": "double precision", "city": "text", "shop": "text"}


@pytest.fixture
def town(tmp_path):
    """A data set whose budget is two questions."""
    with promptly(write_policy(tmp_path, epsilon=1)) as served:
        yield served


def place(town):
    return {"host": "127.0.0.1", "port": town.postgres.port, "user": "ann", "password": town.tokens["ann"]}


def psql(town, *commands):
    words = [
        "psql",
        "-X",
        "-A",
        "-t",
        "-h",
        "127.0.0.1",
        "-p",
        str(town.postgres.port),
        "-U",
        "ann",
        "-d",
        "town",
    ]
    for command in commands:
        words += ["-c", command]
    settings = {"PGPASSWORD": town.tokens["ann"], "PGOPTIONS": "-c discreet.epsilon=0.5", "LC_ALL": "C"}
    environment = {**os.environ, **settings}
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_psql(town):
    assert psql(town, "\\dt").stdout.split("|")[:3] == ["public", "town", "table"]
    assert "town|discreet|UTF8" in psql(town, "\\l").stdout
    described = [line.split("|")[:2] for line in psql(town, "\\d town").stdout.splitlines() if "|" in line]
    assert dict(described) == COLUMNS
    assert "from 0 to 1000" in psql(town, "\\d+ town").stdout
    asked = psql(town, COUNT)
    assert [line.split("|")[0] for line in asked.stdout.splitlines()] == ["Ottawa", "Toronto"]
    assert "charged epsilon 0.5; left: epsilon 0.5" in asked.stderr
    assert "must aggregate" in psql(town, ROWS).stderr
    again = psql(town, COUNT)
    assert again.stdout == asked.stdout
    assert "free" in again.stderr
    psql(town, TOTAL)
    assert "must fit account" in psql(town, "SELECT COUNT(*) AS more FROM town").stderr
    for command in (
        "\\d",
        "\\dn",
        "\\du",
        "\\df",
        "\\dv",
        "\\di",
        "\\dp",
        "\\dT",
        "\\d+",
        "\\dt+",
        "\\dn+",
        "\\conninfo",
    ):
        assert "ERROR" not in psql(town, command).stderr, command
    assert town.spent().epsilon == 1


def test_psycopg(town):
    said = []
    with psycopg.connect(**place(town), dbname="town", autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary))
        connection.execute("SET discreet.epsilon = 0.5")
        assert connection.execute("SELECT table_name FROM information_schema.tables").fetchall() == [
            ("town",)
        ]
        question = "SELECT city, COUNT(*) AS n FROM town WHERE debt > %s AND city = %s GROUP BY city"
        first = connection.execute(question, (5.5, "Ottawa")).fetchall()
        assert said[-1].startswith("charged")
        for options in ({"binary": True}, {"prepare": True}):
            assert connection.execute(question, (5.5, "Ottawa"), **options).fetchall() == first
            assert "free" in said[-1]
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="must aggregate"):
            connection.execute(ROWS)
        with (
            pytest.raises(psycopg.errors.FeatureNotSupported),
            connection.transaction(),
            connection.cursor("named") as cursor,
        ):
            cursor.execute(TOTAL)
        with connection.cursor().copy(f"COPY ({TOTAL}) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int8"])
            ((copied,),) = copy.rows()
        assert connection.execute(TOTAL).fetchone() == (copied,)
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            connection.execute("SELECT COUNT(*) AS more FROM town")
    assert town.spent().epsilon == 1


def test_asyncpg(town):
    async def journey():
        connection = await asyncpg.connect(
            **place(town), database="town", server_settings={"discreet.epsilon": "0.5"}
        )
        columns = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1"
        assert {row[0]: row[1] for row in await connection.fetch(columns, "town")} == COLUMNS
        question = "SELECT city, COUNT(*) AS n FROM town WHERE debt > $1 AND city = $2 GROUP BY city"
        first = await connection.fetch(question, 5.5, "Ottawa")
        with pytest.raises(asyncpg.FeatureNotSupportedError, match="must aggregate"):
            await connection.fetch(ROWS)
        assert await connection.fetch(question, 5.5, "Ottawa") == first
        async with connection.transaction():  # a portal of one row at a time
            assert [row async for row in connection.cursor(question, 5.5, "Ottawa", prefetch=1)] == first
        await connection.execute("SET discreet.intervals = on")  # the driver prepares it anew
        wider = await connection.fetch(question, 5.5, "Ottawa")
        assert list(wider[0].keys()) == ["city", "n", "n_lower", "n_upper"]
        await connection.fetch(TOTAL)
        with pytest.raises(asyncpg.ConfigurationLimitExceededError):
            await connection.fetch("SELECT COUNT(*) AS more FROM town")
        await connection.close()
        async with asyncpg.create_pool(**place(town), database="town", min_size=1, max_size=2) as pool:
            assert await pool.fetchval("SELECT 5") == await pool.fetchval("SELECT 5") == 5

    asyncio.run(journey())
    assert town.spent().epsilon == 1


def test_sqlalchemy_and_pandas(town):
    address = sqlalchemy.URL.create(
        "postgresql+psycopg", "ann", town.tokens["ann"], "127.0.0.1", town.postgres.port, "town"
    )
    engine = sqlalchemy.create_engine(address, connect_args={"options": "-c discreet.epsilon=0.5"})
    known = sqlalchemy.MetaData()
    known.reflect(engine)
    table = known.tables["town"]
    assert {each.name: str(each.type) for each in table.columns} == {
        name: kind.upper() for name, kind in COLUMNS.items()
    }
    assert table.comment == "private; protected: each person"
    counted = sqlalchemy.func.count().label("n")
    question = sqlalchemy.select(table.c.city, counted).where(table.c.debt > 5).group_by(table.c.city)
    with engine.connect() as connection:
        first = pandas.read_sql(question, connection)
        assert list(first.city) == ["Ottawa", "Toronto"]
        with pytest.raises(sqlalchemy.exc.NotSupportedError, match="must aggregate"):
            connection.execute(sqlalchemy.select(table))
        connection.rollback()
        assert pandas.read_sql(question, connection).equals(first)
        connection.execute(sqlalchemy.text(TOTAL))
        with pytest.raises(sqlalchemy.exc.OperationalError):
            connection.execute(sqlalchemy.text("SELECT COUNT(*) AS more FROM town"))
    with pytest.raises(sqlalchemy.exc.InternalError, match="not allowed"):
        first.to_sql("copy", engine)
    engine.dispose()
    assert town.spent().epsilon == 1
