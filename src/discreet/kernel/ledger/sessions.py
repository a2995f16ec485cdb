"""A store that many threads and processes use: what it is, and what of it belongs to one process.

Work that waits is committed together. A unit of work that fails alone is taken back alone; a commit fails
for all who share it. After a fork the child opens connections of its own and leaves its parent's alone.
"""

import ctypes
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from discreet.errors import DiscreetError, LedgerConflict
from discreet.kernel.ledger.entry import Head, unavailable
from discreet.kernel.ledger.store import Guard, Transaction
from discreet.kernel.ledger.tables import Tables

T = TypeVar("T")
Item = TypeVar("Item")
Work: TypeAlias = Callable[[Transaction], Any]


class Job(Generic[Item]):
    """A unit of work, and its result or error once it is done."""

    def __init__(self, work: Item) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None
        self.is_done = False

    def finish(self, *, result: Any = None, error: BaseException | None = None) -> None:
        self.result, self.error, self.is_done = result, error, True


class CommitQueue(Generic[Item]):
    """The thread that gets the lock commits everything that waits, its own work included.

    >>> queue = CommitQueue(lambda jobs: [job.finish(result=job.work + 1) for job in jobs])
    >>> queue.submit(41)
    42
    """

    def __init__(self, commit: Callable[[list[Job[Item]]], object], *, largest: int = 256) -> None:
        self._commit = commit
        self._largest = largest
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._waiting: list[Job[Item]] = []

    def submit(self, work: Item) -> Any:
        """Return the result of this work, once it is committed; its error otherwise."""
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
    """Return an error of its own for each thread; what interrupts one is a mere failure to the others."""
    if isinstance(error, DiscreetError):
        return type(error)(error.message, **error.fields)
    return unavailable()


class Connection(Protocol):
    """A connection of its own, in no transaction between two uses."""

    def writing(self) -> AbstractContextManager[Tables]: ...
    def reading(self) -> AbstractContextManager[Tables]: ...
    def close(self) -> None: ...
    def leave_to_parent(self) -> object: ...


class Ownership(Protocol):
    """The lock by which others know that this process lives."""

    name: str

    def hold(self) -> None: ...
    def release(self) -> None: ...
    def forget(self) -> None: ...


class Attempt:
    """One try at a batch: what became of each job, and the head that the commit makes, if it makes one."""

    def __init__(self, batch: list[Job[Work]]) -> None:
        self.batch = batch
        self.outcomes: list[tuple[Any, DiscreetError | None]] = []
        self.head: Head | None = None

    def run(self, tables: Tables, guard: Guard) -> None:
        """Run all the work inside one transaction."""
        guard.check(tables)
        before = tables.head()
        self.outcomes = [tables.attempt(job.work, alone=len(self.batch) == 1) for job in self.batch]
        if tables.head() != before:
            self.head = tables.head()
            tables.write_head(guard.seal(self.head))

    def finish(self) -> None:
        for job, (result, error) in zip(self.batch, self.outcomes, strict=True):
            job.finish(result=result, error=error)


class SharedStore(ABC):
    """A store whose connections are made by `connect`; thread-safe and fork-safe."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self._session, self._is_closed = Session(self), False
        self._owner: Ownership | None = None
        self._owning = threading.Lock()
        _OPEN.add(self)

    @abstractmethod
    def connect(self) -> Connection:
        """Return a new connection that has proved its settings."""

    @abstractmethod
    def translated_errors(self) -> AbstractContextManager[None]:
        """Turn every failure of the store below into the one constant error."""

    @abstractmethod
    def new_owner(self) -> Ownership:
        """Return a lock that no other process has."""

    def is_committed_after(
        self, error: BaseException, attempt: Attempt, connection: Connection
    ) -> bool | None:
        """Return, after a failed try, whether its commit was made after all; None where that cannot be
        mended.
        """
        return None

    def may_read_again(self, error: BaseException, connection: Any) -> bool:
        """Return whether a read that failed so may be tried on another connection."""
        return False

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run the work alone and return once it is durable; work of other threads may share the commit."""
        self._check_open()
        result: T = self._session.queue.submit(work)
        return result

    def read(self, work: Callable[[Transaction], T]) -> T:
        """Run the work on one consistent picture of the ledger."""
        self._check_open()
        with self.translated_errors():
            return self._session.use_reader(lambda connection: _look(connection, work))

    def owner(self) -> str:
        """Return the name under which this process's charges run, held since before the charge."""
        self._check_open()
        with self.translated_errors(), self._owning:
            if self._owner is None:
                self._owner = self.new_owner()
            self._owner.hold()
            return self._owner.name

    def close(self) -> None:
        self._is_closed = True
        self._session.close()
        with self._owning:
            if self._owner is not None:
                self._owner.release()
                self._owner = None

    def _check_open(self) -> None:
        if self._is_closed:
            raise LedgerConflict("the ledger must be open, and it was closed.")

    def after_fork(self) -> None:
        """Leave, in a forked child, the parent's connections alone, for their locks are the parent's."""
        self._session.leave_to_parent()
        self._session = Session(self)
        self._owning = threading.Lock()
        if self._owner is not None:
            self._owner.forget()
            self._owner = None


class Session:
    """What belongs to one process: its connections and its queue."""

    def __init__(self, store: SharedStore) -> None:
        self._store = weakref.proxy(store)
        self.queue: CommitQueue[Work] = CommitQueue(self._commit)
        self._writer: Connection | None = None
        self._readers: list[Connection] = []

    def use_reader(self, use: Callable[[Any], T]) -> T:
        """Return what a look through a connection of its own gives; idle ones are used again."""
        while True:
            connection, is_kept = self._take_reader()
            try:
                result = use(connection)
            except BaseException as error:
                # An idle connection may have died without anyone's fault; a new one may not.
                may_go_on = is_kept and self._store.may_read_again(error, connection)
                connection.close()
                if not may_go_on:
                    raise
            else:
                self._readers.append(connection)
                return result

    def _take_reader(self) -> tuple[Connection, bool]:
        try:
            return self._readers.pop(), True
        except IndexError:
            return self._store.connect(), False

    def _commit(self, batch: list[Job[Work]]) -> None:
        guard = self._store.guard
        with self._store.translated_errors():
            attempt = self._committed(batch)
            later = [] if attempt.head is None else guard.publish(attempt.head)
        if later:
            self._store.read(lambda transaction: guard.confirm(transaction, later))
        attempt.finish()

    def _committed(self, batch: list[Job[Work]]) -> Attempt:
        """Return the try that was committed."""
        while True:
            is_kept, attempt = self._writer is not None, Attempt(batch)
            connection = self._writer = self._writer or self._store.connect()
            try:
                with connection.writing() as tables:
                    attempt.run(tables, guard=self._store.guard)
            except BaseException as error:
                # After an error nothing that this connection remembers is to be trusted: it is closed.
                self._writer = None
                try:
                    is_committed = self._store.is_committed_after(error, attempt, connection)
                finally:
                    connection.close()
                if is_committed is None or not (is_committed or is_kept):
                    raise
                if not is_committed:
                    continue
            return attempt

    def close(self) -> None:
        for connection in self._connections():
            connection.close()
        self._writer, self._readers = None, []

    def leave_to_parent(self) -> None:
        for connection in self._connections():
            keep_for_ever(connection.leave_to_parent())

    def _connections(self) -> list[Connection]:
        return [*([] if self._writer is None else [self._writer]), *self._readers]


def _look(connection: Connection, work: Callable[[Transaction], T]) -> T:
    with connection.reading() as tables:
        return work(tables)


def keep_for_ever(connection: object) -> None:
    """Never close, in a forked child, the parent's connection, not even at exit.

    Closing one in the middle of a transaction would roll it back under the parent's hands.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


_OPEN: "weakref.WeakSet[SharedStore]" = weakref.WeakSet()


def _after_fork() -> None:
    for store in list(_OPEN):
        store.after_fork()


os.register_at_fork(after_in_child=_after_fork)
