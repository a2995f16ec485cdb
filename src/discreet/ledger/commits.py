"""Group commit: threads that wait for the disk share one trip to it."""

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from discreet.errors import DiscreetError
from discreet.ledger.entry import unavailable

T = TypeVar("T")
Work = TypeVar("Work")


class Job(Generic[Work]):
    """One unit of work and what became of it."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None
        self.is_done = False

    def finish(self, *, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error, self.is_done = result, error, True


class CommitQueue(Generic[Work]):
    """Whoever gets the turn commits everything that waits, its own work included.

    >>> queue = CommitQueue(lambda jobs: [job.finish(result=job.work + 1) for job in jobs])
    >>> queue.submit(41)
    42
    """

    def __init__(self, commit: Callable[[list[Job[Work]]], object], *, largest: int = 256) -> None:
        self._commit = commit
        self._largest = largest
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: list[Job[Work]] = []

    def submit(self, work: Work) -> Any:
        """The result of this work, once it is committed; its error otherwise."""
        job = Job(work)
        with self._lock:
            self._waiting.append(job)
        with self._turn:
            while not job.is_done:
                self._commit_next()
        if job.error is not None:
            raise job.error
        return job.result

    def _commit_next(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting[: self._largest], self._waiting[self._largest :]
        try:
            self._commit(batch)
        except BaseException as error:
            for job in batch:
                job.finish(error=_for_another_thread(error))
            raise


def _for_another_thread(error: BaseException) -> DiscreetError:
    """An error of its own for each thread; what interrupts one is a mere failure to the others."""
    if isinstance(error, DiscreetError):
        return type(error)(error.message, **error.fields)
    return unavailable()
