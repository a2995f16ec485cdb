"""Which process runs a charge, and whether it still lives.

A process that charges holds a lock on a small file of its own, beside the ledger. The kernel drops the lock
when the process ends, however it ends, so liveness is a fact and not a guess from clocks: a slow owner
stays an owner, a killed one is dead at once. Where the ledger is on one machine (as SQLite's must be), no
lease can be more exact.
"""

import fcntl
import os
import secrets
from pathlib import Path

PREFIX = "owner-"


class OwnerLock:
    """This process's lock: made before its first charge, kept to its end."""

    def __init__(self, folder: Path) -> None:
        self.name = PREFIX + secrets.token_hex(16)
        self._path = folder / self.name
        folder.mkdir(mode=0o700, exist_ok=True)
        # Locked before it has its name: whoever sees the name sees the lock.
        unnamed = self._path.with_suffix(".new")
        self._file = os.open(unnamed, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        unnamed.rename(self._path)

    def release(self) -> None:
        """End the ownership: charges without an answer are abandoned from now on."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)

    def forget(self) -> None:
        """Close a forked child's copy; the lock stays with the parent."""
        os.close(self._file)


def is_alive(folder: Path, name: str) -> bool:
    """Whether the process that holds this name still runs."""
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
