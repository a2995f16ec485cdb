"""Connections to a ledger in PostgreSQL: durable by proof of the server's own settings.

Tested by: tests/ledger/test_postgres.py, tests/ledger/test_postgres_processes.py
"""

import os
import re
import select
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.ledger.tables import Rows, Tables

if TYPE_CHECKING:
    import psycopg

UNREACHABLE = (
    "the ledger's server must answer, and it did not: nothing was acknowledged. "
    "Look at its address, its log and its locks."
)
OLDEST, NEWEST = 14, 18  # major versions on which all tests of the ledger ran; others are refused
SCHEMA = "discreet"

# What the server must report; asked with the first statement of every transaction that writes.
_SETTINGS = {
    "fsync": ("on",),
    "full_page_writes": ("on",),
    "synchronous_commit": ("on", "remote_apply"),
    "in recovery": ("false",),
}
_REPORT = (
    "current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), "
    "pg_is_in_recovery()::text"
)
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
_LOCK = f"SELECT {_REPORT}, pg_current_xact_id()::text FROM head FOR UPDATE"  # noqa: S608  constants


class Address:
    """The place of a ledger: a libpq address, and the schema of its tables. Its text is never shown."""

    def __init__(self, text: str) -> None:
        place, _, query = text.partition("?")
        options = dict(parse_qsl(query))
        self.schema = options.pop("schema", SCHEMA)
        if not re.fullmatch("[a-z_][a-z0-9_]{0,62}", self.schema) or self.schema.startswith("pg_"):
            raise InvalidParameter(
                "schema of the ledger's address must be a plain lower-case name.", parameter="ledger"
            )
        self.text = f"{place}?{urlencode(options)}"

    def __repr__(self) -> str:
        return f"Address(schema={self.schema!r})"


def driver() -> Any:
    """Return psycopg, loaded when a server is first needed."""
    try:
        import psycopg
    except ImportError:
        raise InvalidParameter(
            "a ledger in PostgreSQL needs psycopg. Install it: pip install 'discreet[postgres]'."
        ) from None
    return psycopg


def connect(address: Address, *, patience: float) -> "psycopg.Connection[Any]":
    """Return a connection that has proved its settings and looks at the ledger's schema alone."""
    connection: psycopg.Connection[Any] = driver().connect(
        address.text,
        autocommit=True,
        connect_timeout=max(2, int(patience)),
        application_name="discreet ledger",
    )
    try:
        _configure(connection, address.schema, patience)
    except BaseException:
        connection.close()
        raise
    return connection


def _configure(connection: "psycopg.Connection[Any]", schema: str, patience: float) -> None:
    major = connection.info.server_version // 10000
    if not OLDEST <= major <= NEWEST:
        raise LedgerConflict(f"the ledger's server must be PostgreSQL {OLDEST} to {NEWEST}, got {major}.")
    check_settings(connection.execute(f"SELECT {_REPORT}".encode()).fetchone())
    milliseconds = max(1, int(1000 * patience))
    for name, value in {
        # Pinned: a reloaded configuration must not loosen what was just checked.
        "synchronous_commit": connection.execute("SHOW synchronous_commit").fetchone()[0],  # type: ignore[index]
        "default_transaction_isolation": "read committed",
        "default_transaction_read_only": "off",
        "search_path": f'pg_catalog, "{schema}", pg_temp',
        "lock_timeout": milliseconds,
        # A client that stops in the middle of a charge must not stop all others.
        "idle_in_transaction_session_timeout": milliseconds,
        # A machine that is gone is noticed, and what it was running is abandoned.
        "tcp_keepalives_idle": 15,
        "tcp_keepalives_interval": 5,
        "tcp_keepalives_count": 3,
    }.items():
        connection.execute("SELECT set_config(%s, %s, false)", [name, str(value)])


def check_settings(report: Any) -> None:
    """Refuse a server that could forget a commit, and one that only repeats another's."""
    if report is None:
        raise LedgerConflict("the ledger must have a head, and it has none. It was changed by another hand.")
    for (name, allowed), found in zip(_SETTINGS.items(), report, strict=False):
        if found not in allowed:
            raise LedgerConflict(
                f"the ledger's server must run with {name} = {allowed[0]}, got {found}. "
                "Charges would not be safe."
            )


class PostgresConnection:
    """A connection to the server. The head's row is the one lock that every unit of work takes first."""

    def __init__(self, address: Address, *, patience: float) -> None:
        self.connection = connect(address, patience=patience)
        self.transaction = ""  # the number of the transaction that wrote last
        self._scans = 0

    @contextmanager
    def writing(self) -> Iterator[Tables]:
        """Write alone; the work is on the server's disk once this ends.

        READ COMMITTED suffices: each statement sees all that was committed before it began, and while the
        head's row is locked no one else commits.
        """
        self.transaction = ""
        cursor = self.connection.execute((_BEGIN + _LOCK).encode())
        cursor.nextset()
        *report, self.transaction = cursor.fetchone() or (None, "")
        check_settings(report if self.transaction else None)
        yield Tables(self._run)
        if self.connection.info.transaction_status:  # else the work was taken back
            self.connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        """Read one consistent picture of the ledger."""
        self.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield Tables(self._run, self._scan)
        self.connection.execute("COMMIT")

    def _run(self, statement: str, values: Any = ()) -> Rows:
        return self.connection.execute(_translated(statement), values or None)

    def _scan(self, statement: str) -> Iterator[Any]:
        """Yield a long result, fetched in parts."""
        self._scans += 1  # two may be open at once
        with self.connection.cursor(name=f"scan {self._scans}") as cursor:
            cursor.itersize = 5000
            yield from cursor.execute(_translated(statement))

    @property
    def is_lost(self) -> bool:
        """Whether the server has hung up; looks, and waits for nothing."""
        waiting = select.poll()
        try:
            waiting.register(self.connection.fileno(), select.POLLIN)
            while waiting.poll(0):  # a farewell first, and then the end
                self.connection.pgconn.consume_input()
        except (driver().OperationalError, OSError):
            return True
        return self.connection.closed or self.connection.broken

    def close(self) -> None:
        self.connection.close()

    def leave_to_parent(self) -> "psycopg.Connection[Any]":
        """Close, in a forked child, its copy of the socket, without a message to the server."""
        os.close(self.connection.fileno())
        return self.connection


@lru_cache(maxsize=256)
def _translated(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
