"""The memory store, for tests alone: the protocol in plain dictionaries, with undo.

Tested by: tests/ledger/test_stateful.py
"""

import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from discreet.errors import LedgerConflict
from discreet.kernel.ledger.entry import Entry, Head
from discreet.kernel.ledger.store import AccountRow, ChargeRow, FailureRow, Guard, KeyRow, State, Transaction

T = TypeVar("T")


class MemoryStore:
    """A ledger that forgets: nothing outlives the process."""

    def __init__(self, guard: Guard) -> None:
        self.guard, self._rows = guard, _Rows()
        self._lock = threading.RLock()
        self._owner = secrets.token_hex(8)
        self._alive = {self._owner}

    def write(self, work: Callable[[Transaction], T]) -> T:
        with self._lock:
            self.guard.check(self._rows)
            before = self._rows.head()
            self._rows.undo.clear()
            try:
                result = work(self._rows)
            except BaseException:
                self._rows.roll_back()
                raise
            head = self._rows.head()
            if head != before:
                self._rows.sealed = self.guard.seal(head)
                self.guard.confirm(self._rows, self.guard.publish(head))
            return result

    def read(self, work: Callable[[Transaction], T]) -> T:
        with self._lock:
            return work(self._rows)

    def owner(self) -> str:
        return self._owner

    def is_alive(self, owner: str) -> bool:
        return owner in self._alive

    def restart(self) -> None:
        """Restart: keep what a new process would see: the same rows, another owner."""
        self._owner = secrets.token_hex(8)
        self._alive = {self._owner}

    def close(self) -> None:
        self._alive.discard(self._owner)


class _Rows:
    """The tables, and how to take back what the current unit of work did."""

    def __init__(self) -> None:
        self.sealed = ""
        self.undo: list[Callable[[], object]] = []
        self._entries: list[Entry] = []
        self._datasets: dict[str, str] = {}
        self._accounts: dict[str, AccountRow] = {}
        self._charges: dict[int, ChargeRow] = {}
        self._failures: dict[int, FailureRow] = {}
        self._keys: dict[tuple[str, str, str], KeyRow] = {}

    def roll_back(self) -> None:
        while self.undo:
            self.undo.pop()()

    def head(self) -> Head:
        return self._entries[-1].head if self._entries else Head.at_origin()

    def seal(self) -> str:
        return self.sealed

    def entry(self, sequence: int) -> Entry | None:
        return self._entries[sequence - 1] if 1 <= sequence <= len(self._entries) else None

    def entries(self) -> Iterator[Entry]:
        return iter(tuple(self._entries))

    def append(self, entry: Entry) -> None:
        _require(entry.follows(self.head()))
        self._entries.append(entry)
        self.undo.append(self._entries.pop)

    def datasets(self) -> dict[str, str]:
        return dict(sorted(self._datasets.items()))

    def dataset(self, name: str) -> str | None:
        return self._datasets.get(name)

    def add_dataset(self, name: str, declaration: str) -> None:
        _require(name not in self._datasets)
        self._put(self._datasets, name, declaration)

    def replace_dataset(self, name: str, before: str, after: str) -> None:
        _require(self._datasets.get(name) == before)
        self._put(self._datasets, name, after)

    def accounts(self) -> list[AccountRow]:
        return [self._accounts[name] for name in sorted(self._accounts)]

    def account(self, name: str) -> AccountRow | None:
        return self._accounts.get(name)

    def open_account(self, row: AccountRow) -> None:
        _require(row.name not in self._accounts)
        self._put(self._accounts, row.name, row)

    def move_account(self, before: AccountRow, after: AccountRow) -> None:
        _require(self._accounts.get(before.name) == before and after.limit.admits(after.total))
        self._put(self._accounts, before.name, after)

    def charges(self) -> Iterator[ChargeRow]:
        return iter(tuple(self._charges.values()))

    def charge(self, charge: int) -> ChargeRow | None:
        return self._charges.get(charge)

    def answered(self, dataset: str, question: str) -> ChargeRow | None:
        wanted = (dataset, question, "answered")
        found = (row for row in self.charges() if (row.dataset, row.question, row.state) == wanted)
        return next(found, None) if question else None

    def running(self, dataset: str) -> list[ChargeRow]:
        return [row for row in self.charges() if (row.dataset, row.state) == (dataset, "charged")]

    def add_charge(self, row: ChargeRow) -> None:
        _require(row.id not in self._charges)
        self._put(self._charges, row.id, row)

    def settle(self, charge: int, state: State, answer: bytes | None) -> bool:
        row = self._charges.get(charge)
        if row is None or row.state != "charged":
            return False
        self._put(self._charges, charge, replace(row, state=state, answer=answer))
        return True

    def failures(self, dataset: str | None = None) -> list[FailureRow]:
        every = list(self._failures.values())
        return [row for row in every if dataset is None or (row.dataset, row.released) == (dataset, 0)]

    def add_failure(self, row: FailureRow) -> None:
        _require(row.id not in self._failures)
        self._put(self._failures, row.id, row)

    def release_failure(self, failure: int, released: int) -> None:
        row = self._failures.get(failure)
        _require(row is not None and row.released == 0)
        assert row is not None
        self._put(self._failures, failure, replace(row, released=released))

    def key(self, dataset: str, analyst: str, key: str) -> KeyRow | None:
        return self._keys.get((dataset, analyst, key))

    def add_key(self, row: KeyRow) -> None:
        place = (row.dataset, row.analyst, row.key)
        _require(place not in self._keys)
        self._put(self._keys, place, row)

    def _put(self, table: dict[Any, Any], key: object, value: object) -> None:
        missing = object()
        before = table.get(key, missing)
        self.undo.append(lambda: table.pop(key) if before is missing else table.__setitem__(key, before))
        table[key] = value


def _require(condition: bool) -> None:
    if not condition:
        raise LedgerConflict("the ledger changed during a charge. Nothing was charged; ask again.")
