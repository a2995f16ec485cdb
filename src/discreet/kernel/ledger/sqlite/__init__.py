"""The SQLite store: one file, many processes and threads, durable before it is acknowledged.

Why a rollback journal and not a write-ahead log: the ledger is then one file. After a crash, anyone who moves
or copies it without its log would silently lose acknowledged charges; without its rollback journal, the
file shows a broken chain and is refused. Journal mode TRUNCATE with synchronous EXTRA syncs the journal,
the file and the end of the journal, in this order, before COMMIT returns: a power cut at any point leaves
either all of the work or none of it.

Tested by: tests/ledger/test_schema.py, tests/ledger/test_sqlite.py
"""

import os
import secrets
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from discreet.errors import LedgerConflict
from discreet.kernel.ledger.file_locks import check_locks, fcntl
from discreet.kernel.ledger.sessions import SharedStore
from discreet.kernel.ledger.sqlite.connection import (
    SqliteConnection,
    check_file,
    locks_of,
    make_file,
    translated_errors,
)
from discreet.kernel.ledger.store import Guard

PREFIX = "owner-"


class OwnerLock:
    """This process's lock: made before its first charge, kept to its end."""

    def __init__(self, folder: Path) -> None:
        self.name = PREFIX + secrets.token_hex(16)
        self._path = folder / self.name
        folder.mkdir(mode=0o700, exist_ok=True)
        # Locked before it has its name: any process that sees the name sees the lock.
        unnamed = self._path.with_suffix(".new")
        self._file = os.open(unnamed, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        unnamed.rename(self._path)

    def hold(self) -> None:
        """Do nothing: the lock was taken when it was made."""

    def release(self) -> None:
        """End the ownership: charges without an answer are abandoned from now on."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)

    def forget(self) -> None:
        """Close a forked child's copy; the lock stays with the parent."""
        os.close(self._file)


def is_alive(folder: Path, name: str) -> bool:
    """Return whether the process that holds this name still runs."""
    path = folder / Path(name).name
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two processes that look at once do not take each other for the owner.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        path.unlink(missing_ok=True)
        return False
    finally:
        os.close(file)


def sweep(folder: Path) -> None:
    """Remove the files of processes that are gone."""
    for path in folder.glob(f"{PREFIX}*"):
        if path.suffix != ".new":
            is_alive(folder, path.name)


class SqliteStore(SharedStore):
    """A ledger in one SQLite file."""

    def __init__(self, path: str | Path, *, guard: Guard, patience: float, create: bool) -> None:
        check_locks()
        self._path, self._patience = Path(path), patience
        with translated_errors():
            self._prepare(create)
        super().__init__(guard)

    def _prepare(self, create: bool) -> None:
        if create and not self._path.exists():
            make_file(self._path)
        check_file(self._path)
        with self.connect() as opened, opened.lock.alone():
            (migrate if create else check_tables)(opened.connection)
            sweep(self.locks)

    def connect(self) -> SqliteConnection:
        return SqliteConnection(self._path, patience=self._patience)

    def translated_errors(self) -> AbstractContextManager[None]:
        return translated_errors()

    def new_owner(self) -> OwnerLock:
        return OwnerLock(self.locks)

    def is_alive(self, owner: str) -> bool:
        with translated_errors():
            return is_alive(self.locks, owner)

    @property
    def locks(self) -> Path:
        return locks_of(self._path)


# The tables of the SQLite store, and how an older file becomes a newer one.
#
# A migration is one step forward, run in one transaction with the new version number. Numbers are kept as
# decimal texts of a fixed width, whose order is the order of the numbers: the table itself can then refuse an
# overspent account.

APPLICATION = 0x64697363  # "disc", in the file's header: this is a ledger of ours

_CHAIN = (
    """CREATE TABLE head (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        sequence INTEGER NOT NULL,
        digest TEXT NOT NULL,
        seal TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        previous TEXT NOT NULL,
        body TEXT NOT NULL,
        digest TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE datasets (
        name TEXT PRIMARY KEY,
        declaration TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE accounts (
        name TEXT PRIMARY KEY,
        terms TEXT NOT NULL,
        main_limit TEXT NOT NULL,
        square_limit TEXT NOT NULL,
        delta_limit TEXT NOT NULL,
        main TEXT NOT NULL CHECK (length(main) = 64 AND main NOT GLOB '*[^0-9]*'),
        square TEXT NOT NULL CHECK (length(square) = 64 AND square NOT GLOB '*[^0-9]*'),
        delta TEXT NOT NULL CHECK (length(delta) = 64 AND delta NOT GLOB '*[^0-9]*'),
        sequence INTEGER NOT NULL,
        CHECK (delta <= delta_limit AND (main <= main_limit OR square <= square_limit))
    ) STRICT""",
    """CREATE TABLE charges (
        id INTEGER PRIMARY KEY,
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        question TEXT NOT NULL,
        owner TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('charged', 'answered', 'abandoned')),
        answer BLOB,
        CHECK ((state = 'answered') = (answer IS NOT NULL))
    ) STRICT""",
    """CREATE TABLE keys (
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        key TEXT NOT NULL,
        request TEXT NOT NULL,
        charge INTEGER NOT NULL,
        PRIMARY KEY (dataset, analyst, key)
    ) STRICT, WITHOUT ROWID""",
)

_LOOK_UP = (
    "CREATE INDEX stored_answers ON charges (dataset, question) WHERE state = 'answered' AND question <> ''",
    "CREATE INDEX running_charges ON charges (dataset) WHERE state = 'charged'",
)

_FAILURES = (
    """CREATE TABLE failures (
        id INTEGER PRIMARY KEY,
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        charge INTEGER NOT NULL,
        question TEXT NOT NULL,
        released INTEGER NOT NULL
    ) STRICT""",
    "CREATE INDEX counted_failures ON failures (dataset) WHERE released = 0",
)

# One line for each version; the file's version is the number of lines it has seen.
MIGRATIONS: tuple[tuple[str, ...], ...] = (_CHAIN, _LOOK_UP, _FAILURES)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the newest version, one transaction a step; a newer or foreign file is refused."""
    while (version := _version(connection)) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection) == version:  # else another process took this step meanwhile
                _take_step(connection, version)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    check_tables(connection)


def _take_step(connection: sqlite3.Connection, version: int) -> None:
    for statement in MIGRATIONS[version]:
        connection.execute(statement)
    if version == 0:
        connection.execute("INSERT INTO head VALUES (1, 0, ?, '')", ("0" * 64,))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {version + 1}")


def _version(connection: sqlite3.Connection) -> int:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
    if application != APPLICATION and not (is_empty and version == 0):
        raise LedgerConflict("the file must be a ledger of discreet, and it is not. Name another path.")
    if version > len(MIGRATIONS):
        raise LedgerConflict(
            f"the ledger must be of version {len(MIGRATIONS)} or older, got {version}. Update discreet."
        )
    return version


def check_tables(connection: sqlite3.Connection) -> None:
    """Refuse tables, indexes or triggers that are not exactly ours: a trigger could rewrite a charge."""
    if _version(connection) < len(MIGRATIONS):
        raise LedgerConflict("the ledger must be of the newest version. Open it once with its curator.")
    if _objects(connection) != _expected_objects():
        raise LedgerConflict("the ledger's tables must be as discreet made them, and they were changed.")


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    return set(connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema"))


def _expected_objects() -> set[tuple[str, str, str]]:
    model = sqlite3.connect(":memory:")
    try:
        for step in MIGRATIONS:
            for statement in step:
                model.execute(statement)
        return _objects(model)
    finally:
        model.close()
