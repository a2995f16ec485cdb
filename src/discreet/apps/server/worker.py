"""The code of a worker process: it opens one engine from the policy and runs one job at a time.

It has no ledger and no users, and reports to its parent only: anything it printed might quote the data. It
ends when its parent ends, for whatever reason.
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

from discreet.asking.engines import Engine
from discreet.asking.planning import ExactPlan, ExactTable, Plan
from discreet.asking.query_run import run_plans
from discreet.kernel.plan import Permit

Opening: TypeAlias = Callable[[], Engine]
Job: TypeAlias = Callable[[Engine], Any]
FAILED = b""  # the one reply to every failure: it carries no detail


def answer(plans: tuple[Plan, ...], permit: Permit, engine: Engine) -> bytes:
    """Run the job of a question: return its answers as they are stored, with noise drawn in this process."""
    return run_plans(plans, permit, engine.run)


def read(plan: ExactPlan, engine: Engine) -> ExactTable:
    """Run the job of a watch: return exact numbers for its stream, which the parent holds."""
    return engine.run(plan)


def work(parent: Connection, opening: Opening, folder: str, environment: dict[str, str]) -> None:
    """Open the engine, report how many seconds that took, then run jobs until the parent closes the pipe.

    `environment` is the server's current one: PGPASSWORD may have been set after the fork server started.
    """
    os.environ.update(environment)
    stopping = _isolate(folder)
    try:
        begun = time.monotonic()
        engine = opening()
        parent.send_bytes(pickle.dumps(time.monotonic() - begun))
        _work(parent, engine, stopping)
        engine.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _work(parent: Connection, engine: Engine, stopping: "_Stopping") -> None:
    with contextlib.suppress(EOFError, OSError):
        while not stopping.over:
            job = parent.recv_bytes()
            stopping.busy = True
            parent.send_bytes(_run(job, engine))
            stopping.busy = False


def _run(job: bytes, engine: Engine) -> bytes:
    try:
        return pickle.dumps(pickle.loads(job)(engine))  # noqa: S301  our parent made it
    except BaseException:  # noqa: BLE001  its message might quote the data
        return FAILED


class _Stopping:
    """Whether a job is running: a worker that is asked to stop finishes it first."""

    busy = over = False

    def end(self, *_: object) -> None:
        self.over = True
        if not self.busy:
            raise SystemExit


def _isolate(folder: str) -> _Stopping:
    """Silence all output, write only into a folder that the parent removes, and disable core dumps."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tempfile.tempdir = folder
    stopping = _Stopping()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C in a terminal reaches all processes: the parent decides
    signal.signal(signal.SIGTERM, stopping.end)
    threading.Thread(target=_leave_with_parent, args=(folder,), daemon=True).start()
    return stopping


def _leave_with_parent(folder: str) -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)  # a job may be running, and no one is left to receive its result
