"""People and approvals in the ledger's PostgreSQL database, so that several servers share them."""

import threading
from typing import TYPE_CHECKING, Any

from discreet.ledger.postgres.connection import Address, connect, driver
from discreet.server.records import Row, unreadable

if TYPE_CHECKING:
    import psycopg

PATIENCE_S = 10.0


class PostgresRecords:
    """Tables beside the ledger's, in a schema of their own. Each statement is a transaction of its own."""

    def __init__(self, address: str) -> None:
        self._address, self._lock = Address(address), threading.Lock()
        self._address.schema += "_people"
        self._connection: psycopg.Connection[Any] | None = None
        self._run(f"CREATE SCHEMA IF NOT EXISTS {self._address.schema}")

    def rows(self, statement: str, *values: object) -> list[Row]:
        return self._run(statement, *values)[0]

    def change(self, statement: str, *values: object) -> int:
        return self._run(statement, *values)[1]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _run(self, statement: str, *values: object) -> tuple[list[Row], int]:
        errors = driver()
        with self._lock:
            for may_try_again in (True, False):
                try:
                    return self._once(statement, values)
                except errors.errors.UniqueViolation:
                    return [], 0  # a name that is taken: nothing changed
                except errors.OperationalError:
                    self._connection = None  # the database was started anew: once more, on a new connection
                    if not may_try_again:
                        raise unreadable() from None
                except errors.Error:
                    raise unreadable() from None
        raise unreadable()

    def _once(self, statement: str, values: tuple[object, ...]) -> tuple[list[Row], int]:
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._address, patience=PATIENCE_S)
            # Tables are made here, so their schema comes first.
            self._connection.execute("SELECT set_config('search_path', %s, false)", [self._address.schema])
        cursor = self._connection.execute(statement.replace("?", "%s").encode(), values)
        return (cursor.fetchall() if cursor.description else []), cursor.rowcount
