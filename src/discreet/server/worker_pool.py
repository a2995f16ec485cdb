"""The workers of a data set, seen from the server: started when needed, kept, and replaced when they fail."""

import asyncio
import math
import multiprocessing
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver
from typing import Any, NoReturn

from discreet.errors import EngineFailure
from discreet.server.refusals import unreachable
from discreet.server.worker import FAILED, Job, Opening, work

OPENING_S = 600.0  # that a worker may take to open its engine
SHORTEST_START_S = 0.25

# Workers are forked from a process that has loaded the library and does nothing else: a fork of this one
# would copy its threads' locks, and a fresh interpreter would take a second for each.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["__main__", "discreet.server.worker"])


class Worker:
    """One process with an engine of its own. Its methods wait: they are for threads.

    `sound` until a job has failed or was given up: then nobody knows what state the engine is in.
    """

    def __init__(self, opening: Opening) -> None:
        self._folder = tempfile.mkdtemp(prefix="discreet-worker-")
        self._connection, theirs = _CONTEXT.Pipe()
        told = (theirs, opening, self._folder, dict(os.environ))
        self._process = _CONTEXT.Process(target=work, args=told, daemon=True)
        try:
            self._process.start()
            theirs.close()
            self.opening_s: float = self._receive(OPENING_S)
        except BaseException:
            self.end()
            raise
        self.sound = True

    @property
    def is_ready(self) -> bool:
        """Whether it can be given a job. One that has none says nothing: if there is something to read, it
        is that the process has ended.
        """
        return self.sound and not self._connection.poll(0)

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return self._process.pid

    def do(self, job: Job) -> Any:
        """What a job gives; one constant failure, whatever became of it or of the process."""
        if not self.sound:
            _fail()
        try:
            self._connection.send_bytes(pickle.dumps(job))
            return self._receive(None)
        except BaseException:
            self.sound = False
            raise

    def kill(self) -> None:
        """End the process at once, whatever it does."""
        self.sound = False
        if self._process.pid is not None:
            self._process.kill()

    def end(self) -> None:
        """Kill it, wait until it is gone, and remove what it wrote."""
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
        return pickle.loads(reply)  # noqa: S301  our own process made it


def _fail() -> NoReturn:
    raise EngineFailure("the engine could not be opened, or could not run the plan.")


class WorkerPool:
    """The workers of one data set: at most `most` at work, and `spares` ready to take a failed one's place.

    Who needs one that is not there yet waits for `start_s` from when it was started, a round time that was
    fixed when the first was opened: neither the data nor any run shows in it. All but `open` and `close` is
    for one event loop.
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
        """Start the first worker now, and wait for it."""
        if not self._idle:
            self._add(Worker(self._opening()))

    async def take(self) -> Worker:
        """A worker that is ready, for one job; fails where its engine cannot be opened."""
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

    def give_back(self, worker: Worker, *, ended: bool = True) -> None:
        """Its job has ended, or is due and has not. One that failed or goes on is replaced."""
        self._taken.discard(worker)
        if ended and worker.is_ready and not self._closed:
            self._idle.append(worker)
        else:
            self._end(worker)
            self._start_spare()

    def close(self) -> None:
        """End all workers, whatever they do."""
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
        """A worker that is being started: one more where there is room, else one that is under way."""
        if self._starting and len(self._taken) + len(self._starting) >= self._room:
            return next(iter(self._starting))
        task = asyncio.ensure_future(self._start_one())
        self._starting.add(task)
        task.add_done_callback(self._started)
        return task

    def _started(self, task: "asyncio.Task[None]") -> None:
        self._starting.discard(task)
        if not task.cancelled():
            task.exception()  # looked at: nobody may be waiting for it

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
    """A round time in which another worker is surely open: a power of two, twice as long at least.

    >>> round_up(0.02), round_up(0.3), round_up(5)
    (0.25, 1.0, 16.0)
    """
    return float(2 ** math.ceil(math.log2(max(SHORTEST_START_S, 2 * seconds))))
