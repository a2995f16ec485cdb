"""The SQLite store: one file, many processes and threads, durable before it is acknowledged.

Why a rollback journal and not a write-ahead log: the ledger is then one file. After a crash, anyone who moves
or copies it without its log would silently lose acknowledged charges; without its rollback journal, the
file shows a broken chain and is refused. Journal mode TRUNCATE with synchronous EXTRA syncs the journal,
the file and the end of the journal, in this order, before COMMIT returns: a power cut at any point leaves
either all of the work or none of it.
"""

import os
import secrets
from contextlib import AbstractContextManager
from pathlib import Path

from discreet.kernel.ledger.file_locks import check_locks, fcntl
from discreet.kernel.ledger.sessions import SharedStore
from discreet.kernel.ledger.sqlite.connection import (
    SqliteConnection,
    check_file,
    locks_of,
    make_file,
    translated_errors,
)
from discreet.kernel.ledger.sqlite.schema import check_tables, migrate
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
