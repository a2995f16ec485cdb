"""Every engine that must agree with the naive reference: how a test opens it on rows in memory.

MAKERS holds functions of a pytest request, a policy and rows that give an open engine with the md5 order, as
a context manager. An engine of the product's registry that takes frames needs no line here.
"""

import contextlib
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg

from discreet.asking.engines import ENGINES, DuckDBEngine, Engine, MemoryEngine, PostgresEngine, SparkEngine
from discreet.asking.engines.sql.numbering import NumberedStatement
from engines.people import as_arrow

POSTGRES = {
    "integer": "bigint",
    "number": "double precision",
    "text": "text",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
}


def shuffled(rows: Any, seed: int = 7) -> Any:
    """The same tables, their rows in another order."""
    return {name: random.Random(seed).sample(list(each), len(each)) for name, each in rows.items()}


@contextlib.contextmanager
def on_duckdb(request: Any, policy: Any, rows: Any) -> Iterator[Engine]:
    """On one thread."""
    with contextlib.closing(DuckDBEngine(policy, as_arrow(policy, rows), hashing="md5", threads=1)) as engine:
        yield engine


@contextlib.contextmanager
def on_duckdb_otherwise(request: Any, policy: Any, rows: Any) -> Iterator[Engine]:
    """On two threads, in another order."""
    frames = as_arrow(policy, shuffled(rows))
    with contextlib.closing(DuckDBEngine(policy, frames, hashing="md5", threads=2)) as engine:
        yield engine


class Numbering:
    """Bounds as Spark does where one unit has too many rows."""

    def _bounding(self, plan: Any) -> Any:
        return NumberedStatement


class NumberingDuckDB(Numbering, DuckDBEngine):
    """DuckDB runs all questions so in seconds."""


class NumberingSpark(Numbering, SparkEngine):
    """Spark itself."""


@contextlib.contextmanager
def on_duckdb_numbered(request: Any, policy: Any, rows: Any) -> Iterator[Engine]:
    """On one thread, by numbering."""
    frames = as_arrow(policy, rows)
    with contextlib.closing(NumberingDuckDB(policy, frames, hashing="md5", threads=1)) as engine:
        yield engine


@contextlib.contextmanager
def on_postgres(request: Any, policy: Any, rows: Any) -> Iterator[Engine]:
    """On a real server, in another order."""
    address = request.getfixturevalue("conformance_database")
    fill(address, policy, shuffled(rows))
    with contextlib.closing(PostgresEngine(policy, address=address, hashing="md5")) as engine:
        yield engine


@contextlib.contextmanager
def on_spark(request: Any, policy: Any, rows: Any, kind: type[SparkEngine] = SparkEngine) -> Iterator[Engine]:
    """On a real Spark with two threads, in another order."""
    session, frames = request.getfixturevalue("spark_session"), as_arrow(policy, shuffled(rows))
    with contextlib.closing(kind(policy, frames, session=session, hashing="md5")) as engine:
        yield engine


MAKERS: dict[str, Callable[[Any, Any, Any], contextlib.AbstractContextManager[Engine]]] = {
    "duckdb": on_duckdb,
    "duckdb otherwise": on_duckdb_otherwise,
    "duckdb numbered": on_duckdb_numbered,
    "postgresql": on_postgres,
    "spark": on_spark,
    "spark numbered": partial(on_spark, kind=NumberingSpark),
}


@contextlib.contextmanager
def on_frames(request: Any, policy: Any, rows: Any, kind: Any) -> Iterator[Engine]:
    """On any engine that takes frames, in another order."""
    frames = as_arrow(policy, shuffled(rows))
    with contextlib.closing(kind(policy, frames, hashing="md5")) as engine:
        yield engine


MAKERS |= {
    name: partial(on_frames, kind=kind)
    for name, kind in ENGINES.items()
    if name not in MAKERS and kind is not MemoryEngine
}


def fill(address: str, policy: Any, rows: Any, types: dict[str, str] | None = None) -> None:
    """Make the policy's tables anew in a database, with these rows; `types` for columns stored otherwise."""
    with psycopg.connect(address) as connection:
        connection.execute("SET LOCAL synchronous_commit = off")
        for table in (*policy.tables, *policy.public):
            columns = {each.name: (types or {}).get(each.name, POSTGRES[each.type]) for each in table.columns}
            listed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
            connection.execute(f'DROP TABLE IF EXISTS "{table.name}"'.encode())
            connection.execute(f'CREATE TABLE "{table.name}" ({listed})'.encode())
            with connection.cursor().copy(f'COPY "{table.name}" FROM STDIN'.encode()) as copy:
                for row in rows[table.name]:
                    copy.write_row([row.get(name) for name in columns])
