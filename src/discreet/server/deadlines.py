"""Time says nothing: whatever touched data is settled and sent at a time that the data did not choose."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from discreet.answering import Answering
from discreet.answers import Answer
from discreet.server.limits import Limits
from discreet.server.refusals import busy, too_late

T = TypeVar("T")


class Desk:
    """Where questions are planned, charged and run: threads for each, and a limit on how many are under way.

    A question under way is finished whether or not anyone still waits for it. Its place is taken until it
    is due, however soon it is done: how many places are free says nothing of the data.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._planners = ThreadPoolExecutor(limits.planners, thread_name_prefix="plan")
        self._doormen = ThreadPoolExecutor(4, thread_name_prefix="door")
        self._clerks = ThreadPoolExecutor(16, thread_name_prefix="ledger")
        self._runners = ThreadPoolExecutor(limits.runners, thread_name_prefix="run")
        self._under_way: set[asyncio.Task[Any]] = set()
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
        self, answering: Answering, *, key: str | None, seconds: float
    ) -> tuple[tuple[Answer, ...], bool]:
        """The answers, and whether they were charged for now: at once if stored before, else when due."""
        return await self._take_place(partial(self._answer, answering, key, seconds))

    async def when_due(self, work: Callable[[], T], *, seconds: float) -> T:
        """What the work gives or raises, when it is due; `too_late` where it is not done by then."""
        return await self._take_place(partial(self._when_due, work, seconds))

    async def close(self) -> None:
        """Let what is under way come to its end, for a while; the rest is abandoned with the process."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=self._limits.stop_s)
        for pool in (self._doormen, self._planners, self._clerks, self._runners):
            pool.shutdown(wait=False, cancel_futures=True)

    async def _take_place(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if len(self._under_way) >= self._limits.at_once:
            raise busy()
        task = asyncio.ensure_future(begin())
        self._under_way.add(task)
        task.add_done_callback(self._leave_place)
        return await asyncio.shield(task)

    def _leave_place(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # looked at: nobody may be waiting for it any more

    async def _answer(
        self, answering: Answering, key: str | None, seconds: float
    ) -> tuple[tuple[Answer, ...], bool]:
        if not await self.look(partial(answering.charge, key=key)):
            return await self.look(answering.store), False
        try:
            await self._when_due(answering.run, seconds)
        except Exception:  # noqa: BLE001  whatever broke after the charge is one constant
            await self.look(answering.abandon)
            raise too_late() from None
        return await self.look(answering.store), True

    async def _when_due(self, work: Callable[[], T], seconds: float) -> T:
        loop = asyncio.get_running_loop()
        due = loop.time() + seconds
        running: Future[T] = self._runners.submit(work)
        while (left := due - loop.time()) > 0:
            await asyncio.sleep(left)
        if not running.done():
            running.cancel()
            raise too_late()
        return running.result()
