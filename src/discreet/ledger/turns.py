"""Whose turn it is, between processes: a fair queue in front of SQLite's own locks.

SQLite's waiting is a sleep that doubles, so a busy process can keep the ledger to itself. Here whoever
waits for the turn holds the gate meanwhile, and whoever just had the turn must pass the gate again: nobody
is passed over twice. Safety does not rest on these locks, only fairness and speed; SQLite locks the file by
itself.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Between two looks at a lock. Only one process at a time looks for the turn, so it may look often.
SHORTEST_S, LONGEST_AT_THE_GATE_S, LONGEST_FOR_THE_TURN_S = 50e-6, 1e-3, 50e-6


class Turns:
    """One connection's place in the queue. Locks belong to the open file, so each connection has its own."""

    def __init__(self, folder: Path, *, patience: float) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._patience = patience
        self._files = [
            os.open(folder / name, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600) for name in ("gate", "turn")
        ]

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While this runs, no other process reads or writes through its own turn."""
        with self._turn(fcntl.LOCK_EX):
            yield

    @contextmanager
    def together(self) -> Iterator[None]:
        """While this runs, others may read."""
        with self._turn(fcntl.LOCK_SH):
            yield

    @contextmanager
    def _turn(self, kind: int) -> Iterator[None]:
        gate, turn = self._files
        deadline = time.monotonic() + self._patience
        _take(gate, fcntl.LOCK_EX, deadline, LONGEST_AT_THE_GATE_S)
        try:
            _take(turn, kind, deadline, LONGEST_FOR_THE_TURN_S)
        finally:
            fcntl.flock(gate, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(turn, fcntl.LOCK_UN)

    def close(self) -> None:
        while self._files:
            os.close(self._files.pop())


def _take(file: int, kind: int, deadline: float, longest: float) -> None:
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
        time.sleep(pause)
        pause = min(2 * pause, longest)
