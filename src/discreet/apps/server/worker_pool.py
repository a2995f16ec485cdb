"""The worker processes of a data set: started when needed, reused, and replaced when they fail."""

import asyncio
import contextlib
import math
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
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any, NoReturn, TypeAlias

from discreet.apps.server.http_errors import unreachable
from discreet.asking.engines import Engine
from discreet.asking.planning import BookPlan, ExactPlan, ExactTable, Plan
from discreet.asking.query_run import run_book, run_plans
from discreet.errors import EngineFailure
from discreet.kernel.plan import Permit

# The code of a worker process: it opens one engine from the policy and runs one job at a time.
#
# It has no ledger and no users, and reports to its parent only: anything it printed might quote the
# data. It
# ends when its parent ends, for whatever reason.

Opening: TypeAlias = Callable[[], Engine]
Job: TypeAlias = Callable[[Engine], Any]
FAILED = b""  # the one reply to every failure: it carries no detail


def answer(plans: tuple[Plan, ...] | tuple[BookPlan], permit: Permit, engine: Engine) -> bytes:
    """Run the job of a question, or of a book: return what is stored of its answers, with noise drawn in this
    process."""
    run: Any = run_book if isinstance(plans[0], BookPlan) else run_plans
    stored: bytes = run(plans, permit, engine.run)
    return stored


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


OPENING_S = 600.0  # the longest a worker may take to open its engine
SHORTEST_START_S = 0.25

# Workers are forked from a process that has loaded the library and does nothing else: forking this process
# would copy locks held by its threads, and a fresh interpreter would take a second for each worker.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["__main__", "discreet.apps.server.worker_pool"])


class Worker:
    """One process with an engine of its own. Its methods block: call them from threads.

    `healthy` until a job failed or was abandoned: after that the state of the engine is unknown.
    """

    def __init__(self, opening: Opening) -> None:
        self._folder = tempfile.mkdtemp(prefix="discreet-worker-")
        self._connection, theirs = _CONTEXT.Pipe()
        arguments = (theirs, opening, self._folder, dict(os.environ))
        self._process = _CONTEXT.Process(target=work, args=arguments, daemon=True)
        try:
            self._process.start()
            theirs.close()
            self.opening_s: float = self._receive(OPENING_S)
        except BaseException:
            self.end()
            raise
        self.healthy = True

    @property
    def is_ready(self) -> bool:
        """Whether it can take a job. An idle worker sends nothing, so anything to read means that the process
        has ended.
        """
        return self.healthy and not self._connection.poll(0)

    @property
    def pid(self) -> int | None:
        """The process id."""
        return self._process.pid

    def run(self, job: Job) -> Any:
        """Run a job and return its result; raise one constant error, whatever failed."""
        if not self.healthy:
            _fail()
        try:
            self._connection.send_bytes(pickle.dumps(job))
            return self._receive(None)
        except BaseException:
            self.healthy = False
            raise

    def kill(self) -> None:
        """Kill the process at once."""
        self.healthy = False
        if self._process.pid is not None:
            self._process.kill()

    def end(self) -> None:
        """Kill the process, wait until it is gone, and remove its folder."""
        self.kill()
        if self._process.pid is not None:
            self._process.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _receive(self, seconds: float | None) -> Any:
        try:
            reply = self._connection.recv_bytes() if self._connection.poll(seconds) else FAILED
        except (EOFError, OSError):
            reply = FAILED
        if reply == FAILED:
            _fail()
        return pickle.loads(reply)  # noqa: S301  written by our own process


def _fail() -> NoReturn:
    raise EngineFailure("the engine could not be opened, or could not run the plan.")


class WorkerPool:
    """The workers of one data set: at most `most` busy, and `spares` ready to replace a failed one.

    A caller for whom a worker must be started waits `start_s` from its start: a rounded time, fixed when the
    first worker was opened, so that it reveals nothing about the data or any run. Call everything except
    `open` and `close` from one event loop.
    """

    def __init__(self, opening: Callable[[], Opening], *, most: int, spares: int = 1) -> None:
        self.most, self._room = most, most + spares
        self._opening = opening
        self._idle: list[Worker] = []
        self._taken: set[Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(2 * self._room, thread_name_prefix="worker")
        self._closed = False
        forkserver.ensure_running()  # it loads while the server opens its own engine and ledger
        self.start_s: float | None = None

    def open(self) -> None:
        """Start the first worker now, and wait until it is ready."""
        if not self._idle:
            self._add(Worker(self._opening()))

    async def acquire(self) -> Worker:
        """Return a ready worker for one job; raise if its engine cannot be opened."""
        while True:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_ready:
                    self._taken.add(worker)
                    self._start_spare()
                    return worker
                self._end(worker)
            try:
                await asyncio.shield(self._start())
            except Exception:  # noqa: BLE001  no engine, no process, no memory: nothing was charged
                raise unreachable() from None

    def release(self, worker: Worker, *, ended: bool = True) -> None:
        """Return a worker to the pool. One that failed or is still busy at its deadline is replaced."""
        self._taken.discard(worker)
        if ended and worker.is_ready and not self._closed:
            self._idle.append(worker)
        else:
            self._end(worker)
            self._start_spare()

    def close(self) -> None:
        """Kill all workers, also busy ones."""
        self._closed = True
        for worker in (*self._idle, *self._taken):
            worker.end()
        self._idle.clear()
        self._taken.clear()
        self._threads.shutdown(wait=False)

    def _start_spare(self) -> None:
        if not self._idle and not self._starting and len(self._taken) < self._room and not self._closed:
            self._start()

    def _start(self) -> "asyncio.Task[None]":
        """Start one more worker if there is room; return its task, or that of one already starting."""
        if self._starting and len(self._taken) + len(self._starting) >= self._room:
            return next(iter(self._starting))
        task = asyncio.ensure_future(self._start_one())
        self._starting.add(task)
        task.add_done_callback(self._started)
        return task

    def _started(self, task: "asyncio.Task[None]") -> None:
        self._starting.discard(task)
        if not task.cancelled():
            task.exception()  # mark as retrieved: possibly no one waits for it

    async def _start_one(self) -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        worker = await loop.run_in_executor(self._threads, Worker, self._opening())
        if self.start_s is not None:
            while (left := begun + self.start_s - loop.time()) > 0:
                await asyncio.sleep(left)
        self._add(worker)

    def _add(self, worker: Worker) -> None:
        if self._closed:
            worker.end()
            return
        if self.start_s is None:
            self.start_s = round_up(worker.opening_s)
        self._idle.append(worker)

    def _end(self, worker: Worker) -> None:
        worker.kill()
        if not self._closed:
            self._threads.submit(worker.end)


def round_up(seconds: float) -> float:
    """Return a time in which another worker is surely open: a power of two, at least twice as long.

    >>> round_up(0.02), round_up(0.3), round_up(5)
    (0.25, 1.0, 16.0)
    """
    return float(2 ** math.ceil(math.log2(max(SHORTEST_START_S, 2 * seconds))))
