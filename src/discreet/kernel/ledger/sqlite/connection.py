"""Connections to a ledger's file: durable by proof of their own settings, and queued fairly.

Tested by: tests/ledger/test_sqlite.py, tests/ledger/test_fair_lock.py, tests/ledger/test_crash.py
"""

import contextlib
import os
import select
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.ledger.entry import unavailable
from discreet.kernel.ledger.file_locks import fcntl
from discreet.kernel.ledger.tables import Tables

SHORTEST_S, LONGEST_S = 50e-6, 1e-3  # between two looks at a lock


class FairLock:
    """One connection's place in the queue. Locks belong to the open file, so each connection has its own."""

    def __init__(self, folder: Path, *, patience: float) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._patience = patience
        self._files = [
            os.open(folder / name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600) for name in ("gate", "turn")
        ]
        with contextlib.suppress(FileExistsError):
            os.mkfifo(folder / "bell", 0o600)
        self._files.append(os.open(folder / "bell", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))
        self._ears = select.poll()
        self._ears.register(self._files[-1], select.POLLIN)

    def alone(self) -> AbstractContextManager[None]:
        """Exclude others: while this runs, no other process reads or writes through its own turn."""
        return self._turn(fcntl.LOCK_EX)

    def together(self) -> AbstractContextManager[None]:
        """Exclude writers: while this runs, others may read."""
        return self._turn(fcntl.LOCK_SH)

    @contextmanager
    def _turn(self, kind: int) -> Iterator[None]:
        gate, turn, bell = self._files
        deadline = time.monotonic() + self._patience
        _take(gate, fcntl.LOCK_EX, deadline, time.sleep)
        try:
            _take(turn, kind, deadline, self._listen)
        finally:
            fcntl.flock(gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(turn, fcntl.LOCK_UN)
            with contextlib.suppress(
                OSError
            ):  # full, for no one has listened: the turn is given up all the same
                os.write(bell, b"!")

    def _listen(self, pause: float) -> None:
        """Wait until the bell rings, but not for long: the holder may have died without ringing."""
        if self._ears.poll(max(1, 1000 * pause)):
            with contextlib.suppress(BlockingIOError):
                os.read(self._files[2], 1 << 16)

    def close(self) -> None:
        while self._files:
            os.close(self._files.pop())


def _take(file: int, kind: int, deadline: float, wait: Callable[[float], None]) -> None:
    """Wait for a lock, but not for ever: a stopped process may hold it."""
    pause = SHORTEST_S
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
        else:
            return
        wait(pause)
        pause = min(2 * pause, LONGEST_S)


# What each connection must report; a build of SQLite that says otherwise is refused.
PRAGMAS = (
    ("journal_mode", "truncate"),
    ("synchronous", 3),  # EXTRA: all that FULL does, and the journal's own end is synced
    ("fullfsync", 1),  # where the system's fsync does not reach the disk
    ("ignore_check_constraints", 0),
    ("writable_schema", 0),
    ("trusted_schema", 0),
    ("read_uncommitted", 0),
    ("mmap_size", 0),
)


def configure(connection: sqlite3.Connection) -> None:
    """Set what durability needs, and refuse a connection that does not then report it."""
    for name, wanted in PRAGMAS:
        connection.execute(f"PRAGMA {name} = {wanted}")
        found = connection.execute(f"PRAGMA {name}").fetchone()
        if found is None and name == "mmap_size":
            continue  # built without it, so it is off
        if found is None or found[0] != wanted:
            raise LedgerConflict(
                f"SQLite must run with {name} = {wanted}, got {found}. Charges would not be safe."
            )


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    """Return a connection that has proved its settings."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        configure(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def locks_of(path: Path) -> Path:
    """Return the folder of files that only carry locks: the queue's, and one for each process that
    charges.
    """
    return path.with_name(path.name + "-locks")


class SqliteConnection:
    """A connection to the file, and its place in the queue."""

    def __init__(self, path: Path, *, patience: float) -> None:
        self.lock = FairLock(locks_of(path), patience=patience)
        try:
            with self.lock.together():
                self.connection = _connect(path, patience)
        except BaseException:
            self.lock.close()
            raise

    @contextmanager
    def writing(self) -> Iterator[Tables]:
        """Write alone; the work is on disk once this ends."""
        with self.lock.alone():
            self.connection.execute("BEGIN IMMEDIATE")
            yield Tables(self.connection.execute)
            if self.connection.in_transaction:
                self.connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[Tables]:
        """Read one consistent picture of the ledger."""
        with self.lock.together():
            self.connection.execute("BEGIN")
            yield Tables(self.connection.execute)
            self.connection.execute("COMMIT")

    def close(self) -> None:
        self.connection.close()
        self.lock.close()

    def leave_to_parent(self) -> sqlite3.Connection:
        """Give up, in a forked child, the locks' files, and what must never be closed."""
        self.lock.close()
        return self.connection

    def __enter__(self) -> "SqliteConnection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn every failure of the disk or of SQLite into the one constant error."""
    try:
        yield
    except (sqlite3.Error, OSError):
        raise unavailable() from None


def check_file(path: Path) -> None:
    """Refuse what SQLite could not repair after a crash."""
    status = os.stat(path)
    if not path.is_file():
        raise InvalidParameter("the ledger's path must name a file.", parameter="ledger")
    if status.st_nlink > 1:
        # SQLite names its journal after the path: under two names a crash would not be repaired.
        raise LedgerConflict("the ledger must have one name on disk, and it has hard links. Remove them.")


def make_file(path: Path) -> None:
    """Make an empty file, and its entry in the folder durable.

    A file that exists is never opened here: closing it again would drop every lock that SQLite has on it in
    this process.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return  # another was first
    file = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
