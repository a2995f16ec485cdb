"""PostgreSQL where the data lives: each plan is one generated SELECT in a read-only transaction.

Rows never leave the server, only their bounded sums. Address, password and certificates come from the
address, libpq's environment, its password file or its service file; none of them is shown anywhere.
"""

import contextlib
import os
import re
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from discreet.asking.engines.base import cannot_open, cannot_reach
from discreet.asking.engines.postgres.dialect import PostgresDialect
from discreet.asking.engines.sql.engine import SQLEngine
from discreet.asking.policy import Policy, PublicTable, Table
from discreet.errors import InvalidParameter, PolicyViolation

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST, NEWEST = 14, 18  # major versions; others are refused
MOST_IDLE = 4  # connections kept for the next questions
NAME = r'"(?:[^"\x00]|"")+"|[A-Za-z_][A-Za-z0-9_$]*'
# What libpq would else wait for without end, unless the address says otherwise.
PATIENCE = {
    "connect_timeout": "10", "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
    "tcp_user_timeout": "60000", "application_name": "discreet",
}  # fmt: skip
COLUMNS = """
SELECT a.attname, CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod)
    ELSE format_type(a.atttypid, a.atttypmod) END
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
WHERE n.nspname = %s AND c.relname = %s AND c.relkind = ANY (ARRAY['r', 'p', 'v', 'm', 'f']::"char"[])
    AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> 'v'
    AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY a.attnum"""


LONGEST_S = 600.0  # of one statement, where no other limit is set


class PostgresEngine(SQLEngine):
    """Tables of one PostgreSQL database; a table's source is its name there, "schema.table".

    Transactions are pinned: read-only, repeatable read, UTC, a search path without anybody's own functions,
    and timeouts for statements and locks, whatever the role, the database or the view before has set. A
    connection that broke is replaced at the next question.
    """

    dialect = PostgresDialect
    has_address = True

    def __init__(
        self,
        policy: Policy,
        sources: Mapping[str, object] | None = None,
        *,
        address: str | None = None,
        timeout_s: float | None = None,
        work_memory: str = "64MB",
        hashing: str = "fast",
    ) -> None:
        super().__init__(policy, hashing)
        self._sources, self._address = dict(sources or {}), address or ""
        self._settings = {
            "statement_timeout": f"{int(1000 * (LONGEST_S if timeout_s is None else timeout_s))}ms",
            "lock_timeout": "10s",
            "idle_in_transaction_session_timeout": "60s",
            "search_path": "pg_catalog, pg_temp",
            "timezone": "UTC",
            "datestyle": "ISO, YMD",
            "extra_float_digits": "1",
            "standard_conforming_strings": "on",  # a backslash in a text stays one, and ends no quotation
            "transform_null_equals": "off",
            "work_mem": work_memory,
            "jit": "off",  # generated expressions are long: compiling them costs more than it gains
        }
        self._idle: list[tuple[int, Connection[Any]]] = []
        self._lock = threading.Lock()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def reach(self) -> None:
        """Make sure that the server answers, on the connection that the next question takes."""
        try:
            with self._session() as connection:
                connection.execute(b"SELECT 1")
        except Exception:  # noqa: BLE001  # its message names hosts and users
            cannot_reach()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            held, self._idle = self._idle, []
        for pid, connection in held:
            if pid == os.getpid():  # a forked child leaves its parent's connections alone
                connection.close()

    def _rows(self, statement: exp.Expression) -> list[tuple[Any, ...]]:
        with self._session() as connection, self._pinned(connection):
            return connection.execute(self._dialect.write(statement).encode()).fetchall()

    def _open(self) -> None:
        """Read how the tables are stored; what the owner must mend is said, what failed is not."""
        places = {table.name: self._place(table) for table in self._every}
        try:
            with self._session() as connection, self._pinned(connection):
                _check_server(connection)
                stored = {
                    name: dict(connection.execute(COLUMNS, place).fetchall())
                    for name, place in places.items()
                }
        except (InvalidParameter, PolicyViolation):
            raise
        except Exception:  # noqa: BLE001  # its message names hosts and users
            cannot_open()
        for name, columns in stored.items():
            if not columns:
                raise InvalidParameter(
                    f"source of table {name!r} must be a table of the database that the role may read, got "
                    f"{'.'.join(places[name])!r}."
                )
        tables = {
            name: exp.Table(
                this=exp.to_identifier(relation, quoted=True), db=exp.to_identifier(schema, quoted=True)
            )
            for name, (schema, relation) in places.items()
        }
        self._adopt(stored, tables)

    def _place(self, table: Table | PublicTable) -> tuple[str, str]:
        """Return schema and name of a table in the database."""
        source = self._sources.get(table.name, table.source)
        if source is None:
            return "public", table.name.lower()
        parts = re.fullmatch(rf"(?:({NAME})\.)?({NAME})", source) if isinstance(source, str) else None
        if parts is None:
            raise InvalidParameter(
                f'source of table {table.name!r} must name a table of the database, as "schema.table", got '
                f"{source if isinstance(source, str) else type(source).__name__!r}."
            )
        return _folded(parts[1] or "public"), _folded(parts[2])

    @contextlib.contextmanager
    def _session(self) -> "Iterator[Connection[Any]]":
        """Lend a connection to one thread; it is kept if it is still sound afterwards."""
        connection = self._take()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append((os.getpid(), connection))
                return
        connection.close()

    @contextlib.contextmanager
    def _pinned(self, connection: "Connection[Any]") -> Iterator[None]:
        """Open a transaction under our settings, which end with it: a pooler may give the next another
        backend.
        """
        listed = ", ".join(["pg_catalog.set_config(%s, %s, true)"] * len(self._settings))
        values = [part for setting in self._settings.items() for part in setting]
        with connection.transaction():
            connection.execute(f"SELECT {listed}".encode(), values)
            yield

    def _take(self) -> "Connection[Any]":
        import psycopg

        while True:
            with self._lock:
                mine = [each for each in self._idle if each[0] == os.getpid()]
                if not mine:
                    break
                self._idle.remove(mine[-1])
            try:
                mine[-1][1].execute(b"SELECT 1")  # before any data is read: a server may have restarted
            except psycopg.Error:
                mine[-1][1].close()
            else:
                return mine[-1][1]
        return self._connect()

    def _connect(self) -> "Connection[Any]":
        import psycopg
        from psycopg.conninfo import conninfo_to_dict, make_conninfo

        given = conninfo_to_dict(self._address)
        missing = {name: value for name, value in PATIENCE.items() if name not in given}
        address = make_conninfo(self._address, **missing, client_encoding="UTF8")
        connection = psycopg.connect(address, autocommit=True, prepare_threshold=None)
        connection.adapters.register_loader("numeric", _whole_loader())
        connection.read_only, connection.isolation_level = True, psycopg.IsolationLevel.REPEATABLE_READ
        return connection


def _check_server(connection: "Connection[Any]") -> None:
    major = connection.info.server_version // 10000
    if not OLDEST <= major <= NEWEST:
        raise InvalidParameter(
            f"the server must be PostgreSQL {OLDEST} to {NEWEST}, got {major}.", parameter="engine"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise InvalidParameter(f"the database must be encoded in UTF8, got {encoding}.", parameter="engine")


def _folded(name: str) -> str:
    """Return a name as SQL reads it: small letters, unless it is quoted."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name.lower()


def _whole_loader() -> Any:
    from psycopg.adapt import Loader

    class WholeLoader(Loader):
        """NUMERIC comes back as the whole number that it is here."""

        def load(self, data: Any) -> int:
            return int(bytes(data))

    return WholeLoader
