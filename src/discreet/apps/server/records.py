"""Small tables for users and approvals: a file next to the ledger, or in its PostgreSQL database."""

import os
import secrets
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import LedgerConflict
from discreet.kernel.ledger.postgres.connection import Address, connect, driver

if TYPE_CHECKING:
    import psycopg

Row: TypeAlias = tuple[Any, ...]
Result: TypeAlias = tuple[list[Row], int]  # rows found, number of rows changed
PATIENCE_S = 10.0
_SECRETS = ("CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL)",)


class Records(ABC):
    """Statements with `?` for values; each is a transaction of its own, durable when it returns."""

    def rows(self, statement: str, *values: object) -> list[Row]:
        """Return the rows that a SELECT finds."""
        return self._run(statement, *values)[0]

    def change(self, statement: str, *values: object) -> int:
        """Run one INSERT, UPDATE or CREATE, and return how many rows it changed."""
        return self._run(statement, *values)[1]

    @abstractmethod
    def close(self) -> None:
        """Close files and connections."""

    @abstractmethod
    def _run(self, statement: str, *values: object) -> Result: ...


class SqliteRecords(Records):
    """Tables in a file that only its owner may read."""

    def __init__(self, path: str | Path) -> None:
        self._path, self._lock = Path(path), threading.Lock()
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        self._connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 10000"):
            self._run(f"PRAGMA {setting}")

    def _run(self, statement: str, *values: object) -> Result:
        try:
            with self._lock:
                cursor = self._connection.execute(statement, values)
                return cursor.fetchall(), cursor.rowcount
        except sqlite3.IntegrityError:
            return [], 0  # the name is taken: nothing changed
        except sqlite3.Error:
            raise _unreadable() from None

    def close(self) -> None:
        self._connection.close()


class PostgresRecords(Records):
    """Tables next to the ledger's, in a schema of their own, so that several servers share them."""

    def __init__(self, address: str) -> None:
        self._address, self._lock = Address(address), threading.Lock()
        self._address.schema += "_people"
        self._connection: psycopg.Connection[Any] | None = None
        self._run(f"CREATE SCHEMA IF NOT EXISTS {self._address.schema}")

    def _run(self, statement: str, *values: object) -> Result:
        errors = driver()
        with self._lock:
            for may_try_again in (True, False):
                try:
                    return self._run_once(statement, values)
                except errors.errors.UniqueViolation:
                    return [], 0  # the name is taken: nothing changed
                except errors.OperationalError:
                    self._connection = None  # the database was restarted: retry once on a new connection
                    if not may_try_again:
                        raise _unreadable() from None
                except errors.Error:
                    raise _unreadable() from None
        raise _unreadable()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _run_once(self, statement: str, values: tuple[object, ...]) -> Result:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._address, patience=PATIENCE_S)
            # Tables are created in this schema, so it comes first in the search path.
            self._connection.execute("SELECT set_config('search_path', %s, false)", [self._address.schema])
        cursor = self._connection.execute(statement.replace("?", "%s").encode(), values)
        return (cursor.fetchall() if cursor.description else []), cursor.rowcount


def open_records(place: str | Path) -> Records:
    """Open a file, or the tables of a PostgreSQL database given by its address."""
    return PostgresRecords(str(place)) if "://" in str(place) else SqliteRecords(place)


def make_tables(records: Records, statements: Sequence[str]) -> None:
    """Create the tables that do not exist yet."""
    for statement in statements:
        records.change(statement)


def secret_of(records: Records, name: str) -> bytes:
    """Return the secret of this name, 32 random bytes: made once, and shared by all servers of one ledger."""
    make_tables(records, _SECRETS)
    made = secrets.token_hex(32)
    records.change("INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING", name, made)
    return bytes.fromhex(records.rows("SELECT value FROM secrets WHERE name = ?", name)[0][0])


def _unreadable() -> LedgerConflict:
    return LedgerConflict("The records of users could not be read or written. Check the file or database.")
