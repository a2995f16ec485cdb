"""The catalogue: what psql, drivers and BI tools ask to list and describe tables, answered from the policy.

An engine of its own, in memory, holds PostgreSQL's system tables filled from the policy, and the data set's
tables without a single row. It has no data, no files, no network and no extensions. What it runs is generated
from the allowed nodes of `catalogue_sql.py`, within limits of time, memory and rows.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from discreet.apps.postgres.catalogue_tables import EMPTY, FILLED, INFORMATION, MACROS
from discreet.apps.postgres.failures import Refused
from discreet.apps.postgres.formats import (
    BOOL,
    DATE,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    OID,
    OURS,
    TEXT,
    TIMESTAMP,
    TYPES,
    Column,
    PgType,
)
from discreet.apps.postgres.settings import DEFAULTS, FIXED
from discreet.apps.server.http_errors import busy
from discreet.asking.policy import Policy, PublicTable, Table

T = TypeVar("T")
LONGEST_S = 2.0
MOST_WAITING = 64
MOST_ROWS = 20_000
MEMORY = "128MB"
OWNER, PUBLIC, FIRST_TABLE, FIRST_DATABASE = 10, 2200, 16384, 5
_SCHEMAS = ((11, "pg_catalog"), (PUBLIC, "public"), (13000, "information_schema"))
_APART = ("date", "time", "timestamp", "timestamptz", "interval", "numeric", "uuid", "json", "jsonb")
_DUCKDB = {"integer": "BIGINT", "number": "DOUBLE", "text": "VARCHAR", "boolean": "BOOLEAN",
           "date": "DATE", "timestamp": "TIMESTAMP"}  # fmt: skip
_FROM_DUCKDB = {
    "BIGINT": INT8, "INTEGER": INT4, "SMALLINT": INT2, "UINTEGER": OID, "VARCHAR": TEXT, "BOOLEAN": BOOL,
    "DOUBLE": FLOAT8, "FLOAT": FLOAT8, "DATE": DATE, "TIMESTAMP": TIMESTAMP, "HUGEINT": NUMERIC,
}  # fmt: skip


@dataclass(frozen=True)
class FreeAnswer:
    """The rows of a free answer."""

    columns: tuple[Column, ...]
    rows: Sequence[tuple[Any, ...]]


class Catalogue:
    """The system tables of one data set. Safe from several threads; one statement at a time."""

    def __init__(self, policy: Policy, datasets: Iterable[str]) -> None:
        import duckdb

        self.policy, self._lock = policy, threading.Lock()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="catalogue")
        self._waiting = 0
        self.numbers = {each.name.lower(): FIRST_TABLE + n for n, each in enumerate(_tables(policy))}
        self._connection = duckdb.connect(
            ":memory:", config={"threads": 1, "memory_limit": MEMORY, "enable_external_access": False}
        )
        for statement in (*_statements(policy, sorted(datasets)), "SET lock_configuration = true"):
            self._connection.execute(statement)

    async def use(self, work: Callable[[], T]) -> T:
        """Do work on the catalogue in its own thread, so that it never keeps questions from being planned."""
        if self._waiting >= MOST_WAITING:
            raise busy()
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1

    def run(self, sql: str) -> FreeAnswer:
        """Run generated SQL; raise one constant error, whatever is wrong with it."""
        import duckdb

        with self._lock:
            timer = threading.Timer(LONGEST_S, self._connection.interrupt)
            timer.start()
            try:
                found = self._connection.execute(sql)
                names = [(each[0], str(each[1])) for each in found.description]
                rows = found.fetchmany(MOST_ROWS + 1)
            except duckdb.InterruptException:
                raise Refused("57014", f"A question about the catalogue may take {LONGEST_S:g} s.") from None
            except (duckdb.Error, RuntimeError):
                raise unknown() from None
            finally:
                timer.cancel()
        if len(rows) > MOST_ROWS:
            raise Refused("54000", f"A question about the catalogue may have {MOST_ROWS} rows.")
        return FreeAnswer(tuple(Column(name, _type_of(kind)) for name, kind in names), rows)

    def close(self) -> None:
        """Free its memory."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._connection.close()


def unknown() -> Refused:
    """Return the one error for what the catalogue cannot answer."""
    return Refused(
        "0A000",
        "This question about the catalogue is not supported. information_schema.tables and "
        "information_schema.columns describe everything; no data was read and nothing charged.",
    )


def _type_of(kind: str) -> PgType:
    if kind.endswith("[]"):
        return TYPES[_type_of(kind[:-2]).array]
    return _FROM_DUCKDB.get(kind, NUMERIC if kind.startswith("DECIMAL") else TEXT)


def _tables(policy: Policy) -> tuple[Table | PublicTable, ...]:
    return (*policy.tables, *policy.public)


def _statements(policy: Policy, datasets: Sequence[str]) -> Iterable[str]:
    yield "CREATE SCHEMA catalogue"
    for name, columns in {**FILLED, **EMPTY}.items():
        yield f"CREATE TABLE catalogue.{name} ({columns})"
    for name, rows in _rows(policy, datasets).items():
        if rows:
            values = ", ".join(map(_row, rows))
            yield f"INSERT INTO catalogue.{name} VALUES {values}"  # noqa: S608  literals of the policy, quoted
    yield f"CREATE MACRO current_database_name() AS {_literal(policy.id)}"
    for name, macro in MACROS.items():
        yield f"CREATE MACRO {name}{macro}"
    for name, query in INFORMATION.items():
        yield f"CREATE VIEW catalogue.{name} AS {query}"
    for table in _tables(policy):
        columns = ", ".join(f"{_quoted(each.name)} {_DUCKDB[each.type]}" for each in table.columns)
        yield f"CREATE TABLE {_quoted(table.name)} ({columns or 'nothing BIGINT'})"


def _rows(policy: Policy, datasets: Sequence[str]) -> dict[str, list[tuple[Any, ...]]]:
    tables = list(enumerate(_tables(policy), FIRST_TABLE))
    return {
        "pg_namespace": [(oid, name, OWNER, None) for oid, name in _SCHEMAS],
        "pg_class": [_class(oid, table) for oid, table in tables],
        "pg_attribute": [
            _attribute(oid, place, each.name, OURS[each.type])
            for oid, table in tables
            for place, each in enumerate(table.columns, 1)
        ],
        "pg_type": [_type(each) for each in TYPES.values()],
        "pg_database": [
            (oid, name, OWNER, 6, "C", "C", False, True, -1, 1663, None)
            for oid, name in enumerate(datasets, FIRST_DATABASE)
        ],
        "pg_authid": [(OWNER, "discreet", False, True, False, False, False, False, -1, None)],
        "pg_tablespace": [(1663, "pg_default", OWNER, None, None)],
        "pg_settings": [
            (name, value, None, "", "", "default")
            for name, value in {**FIXED, **DEFAULTS, "max_index_keys": "32"}.items()
        ],
        "pg_am": [(2, "heap", "t")],
        "pg_collation": [(100, "default", 11, OWNER, "d", True, -1, None, None)],
        "pg_description": [row for oid, table in tables for row in _descriptions(oid, table)],
    }


def _class(oid: int, table: Table | PublicTable) -> tuple[Any, ...]:
    return (oid, table.name, PUBLIC, 0, 0, OWNER, 2, 0, 0, 0, -1.0, 0, 0, False, False, "p", "r",
            len(table.columns), 0, False, False, False, False, False, True, "d", False, 0,
            None, None, None)  # fmt: skip


def _attribute(oid: int, place: int, name: str, kind: PgType) -> tuple[Any, ...]:
    collation = 100 if kind is TEXT else 0
    return (oid, name, kind.oid, -1, kind.size, place, 0, -1, -1, True, "p", "i", "", False, False, False,
            "", "", False, True, 0, collation, None, None, None, None)  # fmt: skip


def _type(each: PgType) -> tuple[Any, ...]:
    texts, dates = ("text", "name", "varchar", "bpchar"), ("date", "timestamp", "timestamptz")
    category = "S" if each.name in texts else "D" if each.name in dates else "B" if each is BOOL else "N"
    category = "A" if each.element else category
    element = each.element.oid if each.element else 0
    reads = "array_in" if each.element else f"{each.name}in"
    between = "_" if each.name in _APART else ""
    receive = "array_recv" if each.element else f"{each.name}{between}recv"
    return (each.oid, each.name, 11, OWNER, each.size, each.size in (1, 2, 4, 8), "b", category, False, True,
            ",", 0, element, each.array, reads, f"{each.name}out", receive, f"{each.name}send",
            0, -1, 0, 100 if category == "S" else 0, False, None)  # fmt: skip


def _descriptions(oid: int, table: Table | PublicTable) -> Iterable[tuple[Any, ...]]:
    if isinstance(table, PublicTable):
        yield (oid, 1259, 0, "a public table")
    else:
        yield (oid, 1259, 0, f"private; protected: {table.unit}")
    for place, each in enumerate(table.columns, 1):
        said = []
        if each.bounds is not None:
            low, high = each.bounds
            said.append(f"from {low} to {high}")
        if each.keys is not None:
            said.append(f"{len(each.keys)} declared keys")
        if said:
            yield (oid, 1259, place, "; ".join(said))


def _row(values: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(_literal, values)) + ")"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)
