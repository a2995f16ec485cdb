"""Faults in the engine of a served data set: planted in its workers, which are other processes."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from discreet.errors import EngineFailure
from server.running import Running

Fault = Callable[[Any, Any], Any]  # of an engine and a plan


class Faulty:
    """An engine whose runs are what a fault makes of them."""

    def __init__(self, engine: Any, fault: Fault) -> None:
        self._engine, self._fault, self.policy = engine, fault, engine.policy

    def run(self, plan: Any) -> Any:
        return self._fault(self._engine, plan)

    def close(self) -> None:
        self._engine.close()


def open_faulty(opening: Callable[[], Any], fault: Fault) -> Faulty:
    return Faulty(opening(), fault)


def slow(engine: Any, plan: Any, *, seconds: float) -> Any:
    """As long as the data would have it."""
    time.sleep(seconds)
    return engine.run(plan)


def deaf(_: Any, __: Any) -> None:
    """A run that nothing interrupts but a kill."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        time.sleep(0.1)


def failing(_: Any, __: Any) -> None:
    raise EngineFailure("words of the engine")


def dying(_: Any, __: Any) -> None:
    """What the kernel does where memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def talking(_: Any, __: Any, *, canary: str) -> None:
    """An engine that quotes the data wherever it can."""
    print(canary, flush=True)
    print(canary, file=sys.stderr, flush=True)
    os.write(2, canary.encode())
    raise ValueError(canary)


def renew(town: Running) -> None:
    """Workers that were opened before are gone, and one that was opened now is there."""
    pool = town.service.datasets["town"]._pool
    while pool._starting:
        time.sleep(0.01)
    for worker in list(pool._idle):
        worker.end()
    pool._idle.clear()
    pool.open()


@contextlib.contextmanager
def planted(town: Running, fault: Fault, **terms: Any) -> Iterator[None]:
    """While the block runs, every worker has this fault."""
    pool = town.service.datasets["town"]._pool
    opening = pool._opening
    pool._opening = lambda: partial(open_faulty, opening(), partial(fault, **terms))
    renew(town)
    try:
        yield
    finally:
        pool._opening = opening
        renew(town)
