"""The PostgreSQL store: one ledger for many curators on many machines.

Every unit of work locks the head's row first, so there is one writer at a time, and all its changes are
conditional as well. COMMIT returns once the server has it on disk: a server that promises less, or that only
follows another, is refused. A connection that is lost during COMMIT leaves open whether the charge was made;
the server is then asked, after the old transaction has surely ended, and no guess is acknowledged.

Which process lives: each process that charges holds an advisory lock of its own, on a connection of its own.
The server drops the lock when that connection ends, with the process, the machine or the network.

Tested by: tests/ledger/test_postgres.py, tests/ledger/test_schema.py
"""

import contextlib
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.ledger.postgres.connection import (
    UNREACHABLE,
    Address,
    PostgresConnection,
    connect,
    driver,
)
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


# The tables of the PostgreSQL store, in a schema of their own, and how older ones become newer ones.
#
# The same rows as in SQLite: numbers are decimal texts of a fixed width, compared byte by byte (COLLATE "C"),
# so that the table itself refuses an overspent account.

_DIGITS = "CHECK ({0} ~ '^[0-9]{{64}}$')"

_CHAIN = (
    """CREATE TABLE head (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        sequence BIGINT NOT NULL,
        digest TEXT COLLATE "C" NOT NULL,
        seal TEXT COLLATE "C" NOT NULL
    )""",
    """CREATE TABLE entries (
        sequence BIGINT PRIMARY KEY,
        previous TEXT COLLATE "C" NOT NULL,
        body TEXT COLLATE "C" NOT NULL,
        digest TEXT COLLATE "C" NOT NULL
    )""",
    """CREATE TABLE datasets (
        name TEXT COLLATE "C" PRIMARY KEY,
        declaration TEXT COLLATE "C" NOT NULL
    )""",
    f"""CREATE TABLE accounts (
        name TEXT COLLATE "C" PRIMARY KEY,
        terms TEXT COLLATE "C" NOT NULL,
        main_limit TEXT COLLATE "C" NOT NULL,
        square_limit TEXT COLLATE "C" NOT NULL,
        delta_limit TEXT COLLATE "C" NOT NULL,
        main TEXT COLLATE "C" NOT NULL {_DIGITS.format("main")},
        square TEXT COLLATE "C" NOT NULL {_DIGITS.format("square")},
        delta TEXT COLLATE "C" NOT NULL {_DIGITS.format("delta")},
        sequence BIGINT NOT NULL,
        CHECK (delta <= delta_limit AND (main <= main_limit OR square <= square_limit))
    )""",
    """CREATE TABLE charges (
        id BIGINT PRIMARY KEY,
        dataset TEXT COLLATE "C" NOT NULL,
        analyst TEXT COLLATE "C" NOT NULL,
        question TEXT COLLATE "C" NOT NULL,
        owner TEXT COLLATE "C" NOT NULL,
        state TEXT COLLATE "C" NOT NULL CHECK (state IN ('charged', 'answered', 'abandoned')),
        answer BYTEA,
        CHECK ((state = 'answered') = (answer IS NOT NULL))
    )""",
    """CREATE TABLE keys (
        dataset TEXT COLLATE "C" NOT NULL,
        analyst TEXT COLLATE "C" NOT NULL,
        key TEXT COLLATE "C" NOT NULL,
        request TEXT COLLATE "C" NOT NULL,
        charge BIGINT NOT NULL,
        PRIMARY KEY (dataset, analyst, key)
    )""",
    "CREATE INDEX stored_answers ON charges (dataset, question) WHERE state = 'answered' AND question <> ''",
    "CREATE INDEX running_charges ON charges (dataset) WHERE state = 'charged'",
    "CREATE TABLE version (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL)",
    "INSERT INTO head VALUES (1, 0, repeat('0', 64), '')",
    "INSERT INTO version VALUES (1, 0)",
)

_FAILURES = (
    """CREATE TABLE failures (
        id BIGINT PRIMARY KEY,
        dataset TEXT COLLATE "C" NOT NULL,
        analyst TEXT COLLATE "C" NOT NULL,
        charge BIGINT NOT NULL,
        question TEXT COLLATE "C" NOT NULL,
        released BIGINT NOT NULL
    )""",
    "CREATE INDEX counted_failures ON failures (dataset) WHERE released = 0",
)

# One line for each version; a ledger's version is the number of lines it has seen.
MIGRATIONS: tuple[tuple[str, ...], ...] = (_CHAIN, _FAILURES)

# Everything that may be in the schema.
OBJECTS = {
    ("table", "accounts"), ("table", "charges"), ("table", "datasets"), ("table", "entries"),
    ("table", "failures"), ("index", "failures_pkey"), ("index", "counted_failures"),
    ("table", "head"), ("table", "keys"), ("table", "version"),
    ("index", "accounts_pkey"), ("index", "charges_pkey"), ("index", "datasets_pkey"),
    ("index", "entries_pkey"), ("index", "head_pkey"), ("index", "keys_pkey"), ("index", "version_pkey"),
    ("index", "running_charges"), ("index", "stored_answers"),
    ("check", "accounts_check"), ("check", "accounts_delta_check"), ("check", "accounts_main_check"),
    ("check", "accounts_square_check"), ("check", "charges_check"), ("check", "charges_state_check"),
    ("check", "head_id_check"), ("check", "version_id_check"),
}  # fmt: skip

# What is there; whatever could lose or change a row gets a kind that is not among the above.
_FOUND = """
WITH ours AS (SELECT oid FROM pg_namespace WHERE nspname = %s)
SELECT CASE WHEN relkind = 'r' AND relpersistence = 'p'
                 AND NOT (relrowsecurity OR relispartition OR relhassubclass)
            THEN 'table' WHEN relkind = 'i' AND relpersistence = 'p' THEN 'index' ELSE 'other' END, relname
  FROM pg_class WHERE relnamespace IN (TABLE ours)
UNION ALL
SELECT CASE WHEN convalidated THEN 'check' ELSE 'other' END, conname
  FROM pg_constraint WHERE connamespace IN (TABLE ours) AND contype NOT IN ('p', 'n')
UNION ALL
SELECT 'trigger', tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace IN (TABLE ours)
UNION ALL
SELECT 'rule', rulename FROM pg_rewrite JOIN pg_class c ON c.oid = ev_class WHERE relnamespace IN (TABLE ours)
UNION ALL
SELECT 'function', proname FROM pg_proc WHERE pronamespace IN (TABLE ours)
"""


def migrate(connection: Any, schema: str) -> None:
    """Make the schema where it is missing, and bring it to the newest version, all in one transaction."""
    with connection.transaction():
        # One at a time, also where there is no table to lock yet; the lock ends with the transaction.
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"discreet/{schema}"])
        if not _exists(connection, schema):
            connection.execute(f'CREATE SCHEMA "{schema}"')
        connection.execute(f'SET LOCAL search_path = "{schema}"')  # where new tables go
        version = _version(connection, schema)
        for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in step:
                connection.execute(statement)
            connection.execute("UPDATE version SET number = %s", [number])
    check_tables(connection, schema)


def check_tables(connection: Any, schema: str) -> None:
    """Refuse tables, constraints or triggers that are not ours: a trigger could rewrite a charge."""
    if not _exists(connection, schema) or not (version := _version(connection, schema)):
        raise InvalidParameter(
            "the ledger must exist, and there is none at this address.", parameter="ledger"
        )
    if version < len(MIGRATIONS):
        raise LedgerConflict("the ledger must be of the newest version. Open it once with its curator.")
    found = list(connection.execute(_FOUND, [schema]))
    if set(found) != OBJECTS or len(found) != len(OBJECTS):
        raise LedgerConflict("the ledger's tables must be as discreet made them, and they were changed.")


def _exists(connection: Any, schema: str) -> bool:
    row = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema]).fetchone()
    return row is not None


def _version(connection: Any, schema: str) -> int:
    """Return how many migrations were taken; a schema with anything else in it is refused."""
    found = list(connection.execute(_FOUND, [schema]))
    if not found:
        return 0
    if ("table", "version") not in found:
        raise LedgerConflict("the schema must be a ledger of discreet, and it is not. Name another.")
    version: int = connection.execute("SELECT number FROM version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise LedgerConflict(
            f"the ledger must be of version {len(MIGRATIONS)} or older, got {version}. Update discreet."
        )
    return version
