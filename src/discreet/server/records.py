"""Small tables that people and approvals live in: a file beside the ledger, or the ledger's database."""

import os
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from discreet.errors import LedgerConflict

Row: TypeAlias = tuple[Any, ...]


class Records(Protocol):
    """Statements with `?` for values, each one a transaction of its own, durable when it returns."""

    def rows(self, statement: str, *values: object) -> list[Row]:
        """What a SELECT finds."""

    def change(self, statement: str, *values: object) -> int:
        """Run one INSERT, UPDATE or CREATE; how many rows it changed."""

    def close(self) -> None:
        """Give back files and connections."""


class SqliteRecords:
    """A file that only its owner may read."""

    def __init__(self, path: str | Path) -> None:
        self._path, self._lock = Path(path), threading.Lock()
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        self._connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 10000"):
            self._run(f"PRAGMA {setting}")

    def rows(self, statement: str, *values: object) -> list[Row]:
        return self._run(statement, *values)[0]

    def change(self, statement: str, *values: object) -> int:
        return self._run(statement, *values)[1]

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str, *values: object) -> tuple[list[Row], int]:
        try:
            with self._lock:
                cursor = self._connection.execute(statement, values)
                return cursor.fetchall(), cursor.rowcount
        except sqlite3.IntegrityError:
            return [], 0  # a name that is taken: nothing changed
        except sqlite3.Error:
            raise unreadable() from None


def open_records(place: str | Path) -> Records:
    """A file, or the tables of a PostgreSQL database named by its address."""
    if "://" not in str(place):
        return SqliteRecords(place)
    from discreet.server.postgres_records import PostgresRecords

    return PostgresRecords(str(place))


def unreadable() -> LedgerConflict:
    """The one error of records that cannot be read or written; it says nothing more."""
    return LedgerConflict("the records of people must be readable and writable, and they are not.")


def make_tables(records: Records, statements: Sequence[str]) -> None:
    """Make what is not there yet."""
    for statement in statements:
        records.change(statement)
