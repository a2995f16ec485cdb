"""The SQLite store: one file, many processes and threads, durable before it is acknowledged.

Why a rollback journal and not a write-ahead log: the ledger is then one file. After a crash, whoever moves
or copies it without its log would silently lose acknowledged charges; without its rollback journal, the
file shows a broken chain and is refused. Journal mode TRUNCATE with synchronous EXTRA syncs the journal,
the file and the end of the journal, in this order, before COMMIT returns: a power cut at any point leaves
either all of the work or none of it.
"""

import ctypes
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from discreet.errors import DiscreetError, LedgerConflict
from discreet.ledger.commits import CommitQueue, Job
from discreet.ledger.connection import Line, check_file, locks_of, make_file, translated_errors
from discreet.ledger.owner import Owner, is_alive, sweep
from discreet.ledger.schema import check_tables, migrate
from discreet.ledger.store import Guard, Transaction
from discreet.ledger.tables import Tables

T = TypeVar("T")
Work: TypeAlias = Callable[[Transaction], Any]


class SqliteStore:
    """A ledger in one SQLite file. Thread-safe; after a fork the child opens connections of its own."""

    def __init__(self, path: Path, *, guard: Guard, patience: float, create: bool) -> None:
        self._path, self.guard, self._patience = path, guard, patience
        with translated_errors():
            self._prepare(create)
        self._session, self._is_closed = _Session(self), False
        _OPEN.add(self)

    def _prepare(self, create: bool) -> None:
        if create and not self._path.exists():
            make_file(self._path)
        check_file(self._path)
        with self.line() as line, line.turns.alone():
            (migrate if create else check_tables)(line.connection)
            sweep(self.locks)

    def line(self) -> Line:
        """A connection of its own."""
        return Line(self._path, patience=self._patience)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run the work alone and return once it is on disk; work of other threads may share the commit."""
        self._check_open()
        result: T = self._session.queue.submit(work)
        return result

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run the work on one consistent picture of the ledger."""
        self._check_open()
        with translated_errors(), self._session.reader() as line, line.turns.together():
            line.connection.execute("BEGIN")
            result = work(Tables(line.connection))
            line.connection.execute("COMMIT")
            return result

    def owner(self) -> str:
        """The name under which this process's charges run."""
        self._check_open()
        with translated_errors():
            return self._session.owner().name

    def is_alive(self, owner: str) -> bool:
        with translated_errors():
            return is_alive(self.locks, owner)

    @property
    def locks(self) -> Path:
        return locks_of(self._path)

    def close(self) -> None:
        self._is_closed = True
        self._session.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise LedgerConflict("the ledger must be open, and it was closed.")

    def after_fork(self) -> None:
        """In a forked child: leave the parent's connections alone, for their locks are the parent's."""
        self._session.leave_to_parent()
        self._session = _Session(self)


class _Session:
    """What belongs to one process: its connections, its queue, its ownership."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = weakref.proxy(store)
        self.queue: CommitQueue[Work] = CommitQueue(self._commit)
        self._lock = threading.Lock()
        self._writer: Line | None = None
        self._readers: list[Line] = []
        self._owner: Owner | None = None

    def owner(self) -> Owner:
        with self._lock:
            if self._owner is None:
                self._owner = Owner(self._store.locks)
            return self._owner

    @contextmanager
    def reader(self) -> Iterator[Line]:
        try:
            line = self._readers.pop()
        except IndexError:
            line = self._store.line()
        try:
            yield line
        except BaseException:
            line.close()
            raise
        self._readers.append(line)

    def _commit(self, batch: list[Job[Work]]) -> None:
        """All the work that waits, in one transaction; each alone may fail, the commit fails for all."""
        guard = self._store.guard
        with translated_errors(), self._transaction() as connection:
            tables = Tables(connection)
            guard.check(tables)
            before = tables.head()
            outcomes = [(job, *_attempt(connection, tables, job.work)) for job in batch]
            head = tables.head()
            if head != before:
                tables.set_seal(guard.seal(head))
        if head != before:
            with translated_errors():
                later = guard.publish(head)
            if later:
                self._store.read(lambda transaction: guard.confirm(transaction, later))
        for job, result, error in outcomes:
            job.finish(result=result, error=error)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if self._writer is None:
            self._writer = self._store.line()
        line = self._writer
        try:
            with line.turns.alone():
                line.connection.execute("BEGIN IMMEDIATE")
                yield line.connection
                line.connection.execute("COMMIT")
        except BaseException:
            # After an error nothing that this connection remembers is to be trusted: closing it rolls back.
            self._writer = None
            line.close()
            raise

    def close(self) -> None:
        with self._lock:
            for line in (self._writer, *self._readers):
                if line is not None:
                    line.close()
            self._writer, self._readers = None, []
            if self._owner is not None:
                self._owner.release()
                self._owner = None

    def leave_to_parent(self) -> None:
        for line in (self._writer, *self._readers):
            if line is not None:
                line.turns.close()
                _keep_for_ever(line.connection)
        if self._owner is not None:
            self._owner.forget()


def _attempt(connection: sqlite3.Connection, tables: Tables, work: Work) -> tuple[Any, DiscreetError | None]:
    connection.execute("SAVEPOINT work")
    try:
        result = work(tables)
    except DiscreetError as error:
        connection.execute("ROLLBACK TO work")
        return None, error
    finally:
        connection.execute("RELEASE work")
    return result, None


def _keep_for_ever(connection: sqlite3.Connection) -> None:
    """In a forked child: never close the parent's connection, not even at exit.

    Closing one in the middle of a transaction would roll it back on disk, under the parent's hands.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


_OPEN: "weakref.WeakSet[SqliteStore]" = weakref.WeakSet()


def _after_fork() -> None:
    for store in list(_OPEN):
        store.after_fork()


os.register_at_fork(after_in_child=_after_fork)
