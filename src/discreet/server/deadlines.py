"""Time says nothing: whatever touched data is settled and sent at a time that the data did not choose."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from discreet.answers import Answer
from discreet.planning import Plan
from discreet.query_run import QueryRun
from discreet.release import Permit
from discreet.server.limits import Limits
from discreet.server.refusals import after_the_charge, busy, too_late
from discreet.server.worker import answer
from discreet.server.worker_pool import Worker, WorkerPool

T = TypeVar("T")
Work: TypeAlias = Callable[[Worker], T]


@dataclass(eq=False)
class RunnerSlot:
    """A runner that is taken: one of the server's places, with a worker of a data set, until it is due."""

    pool: WorkerPool
    until: float  # by plan and policy; never when a run ends


class FixedTimeExecutor:
    """Where questions are planned, charged and run: threads, workers, and a limit on how many are under way.

    A question is charged only when it holds a runner, and holds it until it is due, however soon it is
    done: which are free, and when the next one is, follows a timetable that says nothing of the data. What
    is under way is finished whether or not anyone still waits for it.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._planners = ThreadPoolExecutor(limits.planners, thread_name_prefix="plan")
        self._doormen = ThreadPoolExecutor(4, thread_name_prefix="people")
        self._clerks = ThreadPoolExecutor(16, thread_name_prefix="ledger")
        self._runners = ThreadPoolExecutor(2 * limits.runners, thread_name_prefix="run")
        self._under_way: set[asyncio.Task[Any]] = set()
        self._holds: set[RunnerSlot] = set()
        self._planning = 0

    async def plan(self, work: Callable[[], T]) -> T:
        """Work on public facts alone: done as soon as it is done."""
        if self._planning >= self._limits.waiting:
            raise busy()
        self._planning += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._planners, work)
        finally:
            self._planning -= 1

    async def admit(self, work: Callable[[], T]) -> T:
        """A look at people; it never waits behind the ledger."""
        return await asyncio.get_running_loop().run_in_executor(self._doormen, work)

    async def look(self, work: Callable[[], T]) -> T:
        """A look at the ledger; it may wait for a disk."""
        return await asyncio.get_running_loop().run_in_executor(self._clerks, work)

    async def answer(
        self, pool: WorkerPool, query_run: QueryRun, *, key: str | None, seconds: float
    ) -> tuple[Answer, ...]:
        """The answers: at once if stored before, also where every runner is taken; else when due."""
        hold = self._take(pool, seconds)
        if hold is None:
            found = await self.look(query_run.find)
            if found is None:
                raise busy(self._wait_s(pool, seconds))
            return found
        return await self._finish(hold, partial(self._answer, hold, query_run, key, seconds))

    async def when_due(self, pool: WorkerPool, work: Work[T], *, seconds: float) -> T:
        """What the work gives or raises, when it is due; `too_late` where it is not done by then."""
        hold = self._take(pool, seconds)
        if hold is None:
            raise busy(self._wait_s(pool, seconds))

        async def begin() -> T:
            worker = await pool.take()
            return await self._run(hold, worker, partial(work, worker), seconds)

        return await self._finish(hold, begin)

    async def close(self) -> None:
        """Let what is under way come to its end, for a while; the rest is abandoned with the process."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=self._limits.stop_s)
        for pool in (self._doormen, self._planners, self._clerks, self._runners):
            pool.shutdown(wait=False, cancel_futures=True)

    # --- the timetable -------------------------------------------------------------------------------------

    def _take(self, pool: WorkerPool, seconds: float) -> RunnerSlot | None:
        """One of the places, if one is free in the server and of this data set."""
        if len(self._holds) >= self._limits.runners or len(self._of(pool)) >= pool.most:
            return None
        hold = RunnerSlot(pool, self._now() + (pool.start_s or 0.0) + seconds)
        self._holds.add(hold)
        return hold

    def _wait_s(self, pool: WorkerPool, seconds: float) -> int:
        """When a place will be free, in whole seconds: what Retry-After says."""
        full = len(self._holds) >= self._limits.runners
        ends = [each.until for each in (self._holds if full else self._of(pool))]
        return max(1, math.ceil(min(ends, default=self._now() + seconds) - self._now()))

    def _of(self, pool: WorkerPool) -> set[RunnerSlot]:
        return {each for each in self._holds if each.pool is pool}

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()

    # --- what holds a place --------------------------------------------------------------------------------

    async def _finish(self, hold: RunnerSlot, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Bring it to its end, whether or not anyone still waits; its place is free then at the latest."""
        task = asyncio.ensure_future(begin())
        self._under_way.add(task)
        task.add_done_callback(partial(self._finished, hold))
        return await asyncio.shield(task)

    def _finished(self, hold: RunnerSlot, task: asyncio.Task[Any]) -> None:
        self._holds.discard(hold)
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # looked at: nobody may be waiting for it any more

    async def _answer(
        self, hold: RunnerSlot, query_run: QueryRun, key: str | None, seconds: float
    ) -> tuple[Answer, ...]:
        worker = await hold.pool.take()
        try:
            charged = await self.look(partial(query_run.charge, key=key))
        except BaseException:
            hold.pool.give_back(worker)
            raise
        if not charged:
            hold.pool.give_back(worker)
            with after_the_charge():
                return await self.look(query_run.store)

        def run_there(plans: tuple[Plan, ...], permit: Permit) -> bytes:
            stored: bytes = worker.do(partial(answer, plans, permit))
            return stored

        with after_the_charge():
            try:
                await self._run(hold, worker, partial(query_run.run, run_there), seconds)
                return await self.look(query_run.store)
            except Exception:
                await self.look(query_run.abandon)
                raise

    async def _run(self, hold: RunnerSlot, worker: Worker, work: Callable[[], T], seconds: float) -> T:
        """What the work gives, when it is due; then the place is free, and a run that goes on is killed."""
        hold.until = self._now() + seconds
        running = self._runners.submit(work)
        try:
            return await self._when_due(running, hold.until)
        finally:
            self._holds.discard(hold)
            hold.pool.give_back(worker, ended=running.cancel() or running.done())

    async def _when_due(self, running: "Future[T]", due: float) -> T:
        while (left := due - self._now()) > 0:
            await asyncio.sleep(left)
        if not running.done():
            raise too_late()
        return running.result()
