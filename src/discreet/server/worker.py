"""Inside a worker: a process with one engine, opened from the policy, that does one job at a time.

It holds no ledger and no people, and says nothing to anyone but its parent: what it would print might quote
the data. It ends with its parent, however that ends.
"""

import contextlib
import multiprocessing
import os
import pickle
import resource
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from discreet.engines import Engine
from discreet.planning import ExactPlan, ExactTable, Plan
from discreet.query_run import run_plans
from discreet.release import Permit

Opening: TypeAlias = Callable[[], Engine]
Job: TypeAlias = Callable[[Engine], Any]
FAILED = b""  # whatever broke: no word of it is told


def answer(plans: tuple[Plan, ...], permit: Permit, engine: Engine) -> bytes:
    """The job of a question: its answers as they are stored, with noise that is drawn here."""
    return run_plans(plans, permit, engine.run)


def read(plan: ExactPlan, engine: Engine) -> ExactTable:
    """The job of a watch's test: exact numbers for its stream, which is in the parent."""
    return engine.run(plan)


def work(parent: Connection, opening: Opening, folder: str, environment: dict[str, str]) -> None:
    """Open the engine, tell how many seconds that took, then do what comes until nothing can come.

    The environment is the server's of now: it may have been set, as PGPASSWORD, after we were forked from.
    """
    os.environ.update(environment)
    duty = _settle(folder)
    try:
        begun = time.monotonic()
        engine = opening()
        parent.send_bytes(pickle.dumps(time.monotonic() - begun))
        _work(parent, engine, duty)
        engine.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _work(parent: Connection, engine: Engine, duty: "_Duty") -> None:
    with contextlib.suppress(EOFError, OSError):
        while not duty.over:
            job = parent.recv_bytes()
            duty.busy = True
            parent.send_bytes(_do(job, engine))
            duty.busy = False


def _do(job: bytes, engine: Engine) -> bytes:
    try:
        return pickle.dumps(pickle.loads(job)(engine))  # noqa: S301  our parent made it
    except BaseException:  # noqa: BLE001  its words might quote the data
        return FAILED


class _Duty:
    """Whether a job is under way: one that is told to stop finishes it first."""

    busy = over = False

    def end(self, *_: object) -> None:
        self.over = True
        if not self.busy:
            raise SystemExit


def _settle(folder: str) -> _Duty:
    """Be silent, write nothing but in a folder that the parent removes, and leave no core behind."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tempfile.tempdir = folder
    duty = _Duty()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's ^C reaches all: the parent decides
    signal.signal(signal.SIGTERM, duty.end)
    threading.Thread(target=_leave_with_parent, args=(folder,), daemon=True).start()
    return duty


def _leave_with_parent(folder: str) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)  # a job may be under way, and nobody is left whom it is for
