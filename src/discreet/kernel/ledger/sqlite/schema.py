"""The tables of the SQLite store, and how an older file becomes a newer one.

A migration is one step forward, run in one transaction with the new version number. Numbers are kept as
decimal texts of a fixed width, whose order is the order of the numbers: the table itself can then refuse an
overspent account.
"""

import sqlite3

from discreet.errors import LedgerConflict

APPLICATION = 0x64697363  # "disc", in the file's header: this is a ledger of ours

_CHAIN = (
    """CREATE TABLE head (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        sequence INTEGER NOT NULL,
        digest TEXT NOT NULL,
        seal TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE entries (
        sequence INTEGER PRIMARY KEY,
        previous TEXT NOT NULL,
        body TEXT NOT NULL,
        digest TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE datasets (
        name TEXT PRIMARY KEY,
        declaration TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE accounts (
        name TEXT PRIMARY KEY,
        terms TEXT NOT NULL,
        main_limit TEXT NOT NULL,
        square_limit TEXT NOT NULL,
        delta_limit TEXT NOT NULL,
        main TEXT NOT NULL CHECK (length(main) = 64 AND main NOT GLOB '*[^0-9]*'),
        square TEXT NOT NULL CHECK (length(square) = 64 AND square NOT GLOB '*[^0-9]*'),
        delta TEXT NOT NULL CHECK (length(delta) = 64 AND delta NOT GLOB '*[^0-9]*'),
        sequence INTEGER NOT NULL,
        CHECK (delta <= delta_limit AND (main <= main_limit OR square <= square_limit))
    ) STRICT""",
    """CREATE TABLE charges (
        id INTEGER PRIMARY KEY,
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        question TEXT NOT NULL,
        owner TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('charged', 'answered', 'abandoned')),
        answer BLOB,
        CHECK ((state = 'answered') = (answer IS NOT NULL))
    ) STRICT""",
    """CREATE TABLE keys (
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        key TEXT NOT NULL,
        request TEXT NOT NULL,
        charge INTEGER NOT NULL,
        PRIMARY KEY (dataset, analyst, key)
    ) STRICT, WITHOUT ROWID""",
)

_LOOK_UP = (
    "CREATE INDEX stored_answers ON charges (dataset, question) WHERE state = 'answered' AND question <> ''",
    "CREATE INDEX running_charges ON charges (dataset) WHERE state = 'charged'",
)

_FAILURES = (
    """CREATE TABLE failures (
        id INTEGER PRIMARY KEY,
        dataset TEXT NOT NULL,
        analyst TEXT NOT NULL,
        charge INTEGER NOT NULL,
        question TEXT NOT NULL,
        released INTEGER NOT NULL
    ) STRICT""",
    "CREATE INDEX counted_failures ON failures (dataset) WHERE released = 0",
)

# One line for each version; the file's version is the number of lines it has seen.
MIGRATIONS: tuple[tuple[str, ...], ...] = (_CHAIN, _LOOK_UP, _FAILURES)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the file to the newest version, one transaction a step; a newer or foreign file is refused."""
    while (version := _version(connection)) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection) == version:  # else another process took this step meanwhile
                _take_step(connection, version)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    check_tables(connection)


def _take_step(connection: sqlite3.Connection, version: int) -> None:
    for statement in MIGRATIONS[version]:
        connection.execute(statement)
    if version == 0:
        connection.execute("INSERT INTO head VALUES (1, 0, ?, '')", ("0" * 64,))
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {version + 1}")


def _version(connection: sqlite3.Connection) -> int:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
    if application != APPLICATION and not (is_empty and version == 0):
        raise LedgerConflict("the file must be a ledger of discreet, and it is not. Name another path.")
    if version > len(MIGRATIONS):
        raise LedgerConflict(
            f"the ledger must be of version {len(MIGRATIONS)} or older, got {version}. Update discreet."
        )
    return version


def check_tables(connection: sqlite3.Connection) -> None:
    """Refuse tables, indexes or triggers that are not exactly ours: a trigger could rewrite a charge."""
    if _version(connection) < len(MIGRATIONS):
        raise LedgerConflict("the ledger must be of the newest version. Open it once with its curator.")
    if _objects(connection) != _expected_objects():
        raise LedgerConflict("the ledger's tables must be as discreet made them, and they were changed.")


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    return set(connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_schema"))


def _expected_objects() -> set[tuple[str, str, str]]:
    model = sqlite3.connect(":memory:")
    try:
        for step in MIGRATIONS:
            for statement in step:
                model.execute(statement)
        return _objects(model)
    finally:
        model.close()
