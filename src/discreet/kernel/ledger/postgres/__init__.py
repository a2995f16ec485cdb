"""The PostgreSQL store: one ledger for many curators on many machines.

Every unit of work locks the head's row first, so there is one writer at a time, and all its changes are
conditional as well. COMMIT returns once the server has it on disk: a server that promises less, or that only
follows another, is refused. A connection that is lost during COMMIT leaves open whether the charge was made;
the server is then asked, after the old transaction has surely ended, and no guess is acknowledged.

Which process lives: each process that charges holds an advisory lock of its own, on a connection of its own.
The server drops the lock when that connection ends, with the process, the machine or the network.
"""

import contextlib
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from discreet.errors import LedgerConflict
from discreet.kernel.ledger.postgres.connection import (
    UNREACHABLE,
    Address,
    PostgresConnection,
    connect,
    driver,
)
from discreet.kernel.ledger.postgres.schema import check_tables, migrate
from discreet.kernel.ledger.sessions import Attempt, Connection, SharedStore, keep_for_ever
from discreet.kernel.ledger.store import Guard

PREFIX = "owner-"


class PostgresStore(SharedStore):
    """A ledger in a schema of a PostgreSQL database."""

    def __init__(self, address: str, *, guard: Guard, patience: float, create: bool) -> None:
        self._address, self._patience = Address(address), patience
        with translated_errors(), connect(self._address, patience=patience) as connection:
            (migrate if create else check_tables)(connection, self._address.schema)
        super().__init__(guard)

    def connect(self) -> PostgresConnection:
        return PostgresConnection(self._address, patience=self._patience)

    def translated_errors(self) -> AbstractContextManager[None]:
        return translated_errors()

    def is_committed_after(
        self, error: BaseException, attempt: Attempt, connection: Connection
    ) -> bool | None:
        """Return whether a commit whose acknowledgement was lost was made: ask, once no one can make it any
        more.
        """
        if (
            not isinstance(error, driver().Error)
            or not isinstance(connection, PostgresConnection)
            or not connection.is_lost
        ):
            return None
        if attempt.head is None or not connection.transaction:
            return False
        other = self.connect()
        with contextlib.closing(other), other.writing() as tables:  # waits for the old transaction's end
            entry = tables.entry(attempt.head.sequence)
            question = "SELECT pg_xact_status(%s::xid8)"
            status = other.connection.execute(question, [connection.transaction]).fetchone()
        is_kept = entry is not None and entry.head == attempt.head
        return status == ("committed",) and is_kept

    def may_read_again(self, error: BaseException, connection: Connection) -> bool:
        return (
            isinstance(error, driver().Error)
            and isinstance(connection, PostgresConnection)
            and connection.is_lost
        )

    def new_owner(self) -> "OwnerLock":
        return OwnerLock(self._address, self._patience)

    def is_alive(self, owner: str) -> bool:
        if self._owner is not None and owner == self._owner.name:
            return True
        with translated_errors():
            return self._session.use_reader(lambda found: is_held(found.connection, owner))


class OwnerLock:
    """This process's lock on the server: taken before its first charge, kept to its end."""

    def __init__(self, address: Address, patience: float) -> None:
        self._address, self._patience = address, patience
        number = secrets.randbits(63)
        self.name = f"{PREFIX}{number:016x}"
        self._connection: PostgresConnection | None = None

    def hold(self) -> None:
        """Take the lock; again, under the same name, where the connection that held it was lost."""
        if self._connection is not None and not self._connection.is_lost:
            return
        if self._connection is not None:
            self._connection.close()
        self._connection = PostgresConnection(self._address, patience=self._patience)
        self._connection.connection.execute("SELECT pg_advisory_lock(%s)", [_number(self.name)])

    def release(self) -> None:
        """End the ownership: charges without an answer are abandoned from now on."""
        if self._connection is not None:
            self._connection.close()

    def forget(self) -> None:
        """Leave the lock to the parent, in a forked child."""
        if self._connection is not None:
            keep_for_ever(self._connection.leave_to_parent())


def is_held(connection: Any, owner: str) -> bool:
    """Return whether the process of this name holds its lock."""
    number = _number(owner)
    held = (
        "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1"
        " AND classid = %s AND objid = %s"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    return number is not None and connection.execute(held, divmod(number, 1 << 32)).fetchone() is not None


def _number(owner: str) -> int | None:
    """Return the lock's number in an owner's name; None for a name that no process of ours has."""
    digits = owner.removeprefix(PREFIX)
    is_ours = owner.startswith(PREFIX) and len(digits) == 16 and set(digits) <= set("0123456789abcdef")
    return int(digits, 16) if is_ours else None


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn every failure of the server or of the way to it into one constant error; none quotes an
    address.
    """
    try:
        yield
    except (driver().Error, OSError):
        raise LedgerConflict(UNREACHABLE) from None
