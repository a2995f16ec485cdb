"""Whose turn it is, between processes: a fair queue in front of SQLite's own locks.

SQLite's waiting is a sleep that doubles, so a busy process can keep the ledger to itself. Here whoever
waits for the turn holds the gate meanwhile, and whoever just had the turn must pass the gate again: nobody
is passed over twice. Who gives up the turn rings a bell, so that nobody has to look again and again; who
ends without ringing is found out by looking. Safety does not rest on any of this, only fairness and speed:
SQLite locks the file by itself.
"""

import contextlib
import fcntl
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

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
        """While this runs, no other process reads or writes through its own turn."""
        return self._turn(fcntl.LOCK_EX)

    def together(self) -> AbstractContextManager[None]:
        """While this runs, others may read."""
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
            ):  # full, for nobody has listened: the turn is given up all the same
                os.write(bell, b"!")

    def _listen(self, pause: float) -> None:
        """Until the bell rings, but not for long: whoever had the turn may have died without ringing."""
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
