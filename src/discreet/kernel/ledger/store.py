"""What a store must offer: one atomic, durable unit of work, and a few conditional writes inside it.

The rules of the ledger (`ledger.py`) are written once, on this protocol. A store keeps them by three
promises:

- `write(work)` runs `work` alone: no other unit of work reads or writes between its first statement and its
  commit. SQLite takes its one write lock. PostgreSQL locks the head's row first (`SELECT ... FOR UPDATE`),
  after which READ COMMITTED suffices: every later statement sees all that was committed before the lock was
  won.
- `write` returns only after the work is on disk. If it raises, nothing of the work is acknowledged.
- every change is one conditional statement (`append`, `move_account`, `settle`, `replace_dataset`): it
  names the value it replaces, the account's statement also repeats the check against the limit, and a
  statement that finds something else changes nothing and fails the whole unit of work.

Tested by: tests/ledger/test_stateful.py, tests/ledger/test_races.py
"""

import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypeVar

from discreet.errors import InvalidParameter
from discreet.kernel.accounting import Limit, Total
from discreet.kernel.ledger.entry import Entry, Head

T = TypeVar("T")
State: TypeAlias = Literal["charged", "answered", "abandoned"]


@dataclass(frozen=True)
class AccountRow:
    """An account as stored: its terms (budget and rule), its limit, its running total."""

    name: str
    terms: str  # canonical JSON
    limit: Limit
    total: Total
    sequence: int  # of the entry that last changed it


@dataclass(frozen=True)
class ChargeRow:
    """A charge as stored: who asked what, and how far it got."""

    id: int  # the number of its entry in the chain
    dataset: str
    analyst: str
    question: str  # digest under which an answer is found again; empty for what is never found again
    owner: str  # the process that runs it
    state: State = "charged"
    answer: bytes | None = None


@dataclass(frozen=True)
class FailureRow:
    """A charge, or a test of a watch, that ended without an answer; counted until the owner has looked."""

    id: int  # the number of its entry in the chain
    dataset: str
    analyst: str
    charge: int
    question: str  # as in the charge: the same question again is the same failure
    released: int = 0  # the number of the owner's entry that ended the counting


@dataclass(frozen=True)
class KeyRow:
    """An idempotency key as stored: its request, and the charge that answers it."""

    dataset: str
    analyst: str
    key: str
    request: str  # digest of the whole request
    charge: int


class Transaction(Protocol):
    """One unit of work. Reads see all that was committed before it, and its own writes."""

    def head(self) -> Head: ...
    def seal(self) -> str: ...
    def entry(self, sequence: int) -> Entry | None: ...
    def entries(self) -> Iterator[Entry]: ...
    def append(self, entry: Entry) -> None: ...

    def datasets(self) -> dict[str, str]: ...
    def dataset(self, name: str) -> str | None: ...
    def add_dataset(self, name: str, declaration: str) -> None: ...
    def replace_dataset(self, name: str, before: str, after: str) -> None: ...

    def accounts(self) -> list[AccountRow]: ...
    def account(self, name: str) -> AccountRow | None: ...
    def open_account(self, row: AccountRow) -> None: ...
    def move_account(self, before: AccountRow, after: AccountRow) -> None: ...

    def charges(self) -> Iterator[ChargeRow]: ...
    def charge(self, charge: int) -> ChargeRow | None: ...
    def answered(self, dataset: str, question: str) -> ChargeRow | None: ...
    def running(self, dataset: str) -> list[ChargeRow]: ...
    def add_charge(self, row: ChargeRow) -> None: ...
    def settle(self, charge: int, state: State, answer: bytes | None) -> bool: ...

    def failures(self, dataset: str | None = None) -> list[FailureRow]: ...
    def add_failure(self, row: FailureRow) -> None: ...
    def release_failure(self, failure: int, released: int) -> None: ...

    def key(self, dataset: str, analyst: str, key: str) -> KeyRow | None: ...
    def add_key(self, row: KeyRow) -> None: ...


class Guard(Protocol):
    """Who looks at every unit of work: before its first statement, before its commit, and after it."""

    def check(self, transaction: Transaction) -> None: ...
    def seal(self, head: Head) -> str: ...
    def publish(self, head: Head) -> list[Head]: ...
    def confirm(self, transaction: Transaction, remembered: Sequence[Head]) -> None: ...


class Store(Protocol):
    """Where a ledger lives."""

    @property
    def guard(self) -> Guard: ...
    def write(self, work: Callable[[Transaction], T]) -> T: ...
    def read(self, work: Callable[[Transaction], T]) -> T: ...
    def owner(self) -> str: ...
    def is_alive(self, owner: str) -> bool: ...
    def close(self) -> None: ...


# A store = one line here, one folder, one line in the tests' registry. Loaded when first needed.
STORES = {
    "file": "discreet.kernel.ledger.sqlite:SqliteStore",
    "postgresql": "discreet.kernel.ledger.postgres:PostgresStore",
}


def open_store(place: str | Path, *, guard: Guard, patience: float, create: bool) -> Store:
    """Open the store at a path, or on the server that an address names; only `create` makes a new one."""
    kind, is_server, _ = str(place).partition("://")
    if not is_server:
        kind = "file"
        if not create and not Path(place).is_file():
            raise InvalidParameter(f"the ledger must exist, got {place}.", parameter="ledger")
    elif kind not in STORES:
        servers = ", ".join(f"{name}://" for name in STORES if name != "file")
        raise InvalidParameter(
            f"a ledger's address must begin with {servers}, got {kind[:20]}://.", parameter="ledger"
        )
    opened: Store = pkgutil.resolve_name(STORES[kind])(
        str(place), guard=guard, patience=patience, create=create
    )
    return opened
