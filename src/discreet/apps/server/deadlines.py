"""Fixed-time responses: results that depend on data are stored and sent at a time set by plan and policy."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeAlias, TypeVar

from discreet.apps.server.http_errors import after_the_charge, busy, too_late
from discreet.apps.server.limits import Limits
from discreet.apps.server.worker_pool import Worker, WorkerPool, answer
from discreet.asking.query_run import ChargedRun
from discreet.kernel.plan import Permit

T = TypeVar("T")
P = ParamSpec("P")
Work: TypeAlias = Callable[[Worker], T]


@dataclass(eq=False)
class RunnerSlot:
    """A runner in use: one of the server's slots, with a worker of a data set, until the deadline."""

    pool: WorkerPool
    until: float  # set by plan and policy, never by when a run ends


class FixedTimeExecutor:
    """Plans, charges and runs questions, with a limit on how many run at once.

    A question is charged only when it has a runner, and keeps it until its deadline, however soon it is done:
    when runners become free reveals nothing about the data. A running question is finished even if its client
    has gone.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._plan_threads = ThreadPoolExecutor(limits.planners, thread_name_prefix="plan")
        self._people_threads = ThreadPoolExecutor(4, thread_name_prefix="people")
        self._ledger_threads = ThreadPoolExecutor(16, thread_name_prefix="ledger")
        self._run_threads = ThreadPoolExecutor(2 * limits.runners, thread_name_prefix="run")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._slots: set[RunnerSlot] = set()
        self._planning = 0

    async def plan(self, work: Callable[[], T]) -> T:
        """Run work that uses public facts only, and return its result as soon as it is done."""
        if self._planning >= self._limits.waiting:
            raise busy()
        self._planning += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._plan_threads, work)
        finally:
            self._planning -= 1

    async def use_people(self, work: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
        """Call a function on the records of users, which never waits for the ledger."""
        called = partial(work, *values, **named)
        return await asyncio.get_running_loop().run_in_executor(self._people_threads, called)

    async def use_ledger(self, work: Callable[P, T], *values: P.args, **named: P.kwargs) -> T:
        """Call a function on the ledger, which may wait for a disk."""
        called = partial(work, *values, **named)
        return await asyncio.get_running_loop().run_in_executor(self._ledger_threads, called)

    async def answer(
        self, pool: WorkerPool, query_run: ChargedRun[Any, T], *, key: str | None, seconds: float
    ) -> T:
        """Return stored answers at once, even when every runner is in use; new ones at the deadline."""
        slot = self._take(pool, seconds)
        if slot is None:
            found = await self.use_ledger(query_run.find)
            if found is None:
                raise busy(self._wait_s(pool, seconds))
            return found
        return await self._finish(slot, partial(self._answer, slot, query_run, key, seconds))

    async def when_due(self, pool: WorkerPool, work: Work[T], *, seconds: float) -> T:
        """Return or raise the work's outcome at the deadline; raise `too_late` if it is not done by then."""
        slot = self._take(pool, seconds)
        if slot is None:
            raise busy(self._wait_s(pool, seconds))

        async def begin() -> T:
            worker = await pool.acquire()
            return await self._run(slot, worker, partial(work, worker), seconds)

        return await self._finish(slot, begin)

    async def settle(self) -> None:
        """Wait until the questions that are under way now have ended."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Wait a while for running questions; what is left is abandoned with the process."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._limits.stop_s)
        for pool in (self._people_threads, self._plan_threads, self._ledger_threads, self._run_threads):
            pool.shutdown(wait=False, cancel_futures=True)

    # --- the timetable -------------------------------------------------------------------------------------

    def _take(self, pool: WorkerPool, seconds: float) -> RunnerSlot | None:
        """Take a slot, if one is free both in the server and for this data set."""
        if len(self._slots) >= self._limits.runners or len(self._of(pool)) >= pool.most:
            return None
        slot = RunnerSlot(pool, self._now() + (pool.start_s or 0.0) + seconds)
        self._slots.add(slot)
        return slot

    def _wait_s(self, pool: WorkerPool, seconds: float) -> int:
        """Return in how many whole seconds a slot will be free, for Retry-After."""
        full = len(self._slots) >= self._limits.runners
        ends = [each.until for each in (self._slots if full else self._of(pool))]
        return max(1, math.ceil(min(ends, default=self._now() + seconds) - self._now()))

    def _of(self, pool: WorkerPool) -> set[RunnerSlot]:
        return {each for each in self._slots if each.pool is pool}

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    # --- work in a slot ------------------------------------------------------------------------------------

    async def _finish(self, slot: RunnerSlot, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run to the end, whether or not the client still waits; then free the slot at the latest."""
        task = asyncio.ensure_future(begin())
        self._tasks.add(task)
        task.add_done_callback(partial(self._finished, slot))
        return await asyncio.shield(task)

    def _finished(self, slot: RunnerSlot, task: asyncio.Task[Any]) -> None:
        self._slots.discard(slot)
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # mark as retrieved: possibly no one waits for it any more

    async def _answer(
        self, slot: RunnerSlot, query_run: ChargedRun[Any, T], key: str | None, seconds: float
    ) -> T:
        worker = await slot.pool.acquire()
        try:
            charged = await self.use_ledger(query_run.charge, key=key)
        except BaseException:
            slot.pool.release(worker)
            raise
        if not charged:
            slot.pool.release(worker)
            with after_the_charge():
                return await self.use_ledger(query_run.store)

        def run_there(plans: tuple[Any, ...], permit: Permit) -> bytes:
            stored: bytes = worker.run(partial(answer, plans, permit))
            return stored

        with after_the_charge():
            try:
                await self._run(slot, worker, partial(query_run.run, run_there), seconds)
                return await self.use_ledger(query_run.store)
            except Exception:
                await self.use_ledger(query_run.abandon)
                raise

    async def _run(self, slot: RunnerSlot, worker: Worker, work: Callable[[], T], seconds: float) -> T:
        """Return the work's result at the deadline; then free the slot, and kill a run that goes on."""
        slot.until = self._now() + seconds
        running = self._run_threads.submit(work)
        try:
            return await self._when_due(running, slot.until)
        finally:
            self._slots.discard(slot)
            slot.pool.release(worker, ended=running.cancel() or running.done())

    async def _when_due(self, running: "Future[T]", due: float) -> T:
        while (left := due - self._now()) > 0:
            await asyncio.sleep(left)
        if not running.done():
            raise too_late()
        return running.result()
