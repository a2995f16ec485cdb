"""People and approvals in the ledger's PostgreSQL database, so that several servers share them."""

import threading

import psycopg

from discreet.server.records import Row, unreadable


class PostgresRecords:
    """One connection, made again where it was lost. Each statement is a transaction of its own."""

    def __init__(self, address: str) -> None:
        self._address, self._lock = address, threading.Lock()
        self._connection: psycopg.Connection | None = None
        self._run("CREATE SCHEMA IF NOT EXISTS discreet_people")

    def rows(self, statement: str, *values: object) -> list[Row]:
        return self._run(statement, *values)[0]

    def change(self, statement: str, *values: object) -> int:
        return self._run(statement, *values)[1]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _run(self, statement: str, *values: object) -> tuple[list[Row], int]:
        with self._lock:
            for is_last in (False, True):
                try:
                    return self._once(statement, values)
                except psycopg.errors.UniqueViolation:
                    return [], 0  # a name that is taken: nothing changed
                except psycopg.OperationalError:
                    self._connection = None  # the server was restarted: once more on a new connection
                    if is_last:
                        raise unreadable() from None
                except psycopg.Error:
                    raise unreadable() from None
        raise unreadable()

    def _once(self, statement: str, values: tuple[object, ...]) -> tuple[list[Row], int]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._address, autocommit=True, options="-c search_path=discreet_people", connect_timeout=10
            )
        cursor = self._connection.execute(statement.replace("?", "%s").encode(), values)
        return (cursor.fetchall() if cursor.description else []), cursor.rowcount
