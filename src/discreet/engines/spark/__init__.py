"""Spark: where tables are large. Statements run in the cluster, and only their few rows leave it."""

import contextlib
import os
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from sqlglot import exp

from discreet.engines.base import cannot_reach, fail
from discreet.engines.spark.dialect import SparkDialect
from discreet.engines.spark.session import Opened, is_alive, open_at, open_beside, quiet
from discreet.engines.spark.tables import SparkTables, rows_of
from discreet.engines.sql.bounding import Statement
from discreet.engines.sql.engine import SQLEngine, quietly
from discreet.engines.sql.numbering import NumberedStatement, SortedStatement, crowd
from discreet.planning import ExactPlan
from discreet.queries import Scan
from discreet.tables import Policy

CROWDED = 2**20  # rows of one unit that a task sorts in a few seconds; more are cut before they travel


class SparkEngine(SQLEngine):
    """Tables that Spark reads, asked through Spark SQL: a given session, or an address.

    An address is local[cores], spark://host:port (a driver is started in this process) or sc://host:port
    (Spark Connect). Everything is deterministic, so that a task that is run again gives the same rows. A
    Spark that was lost is opened again for the next question, if it was opened by its address.
    """

    def __init__(
        self,
        policy: Policy,
        sources: Mapping[str, object] | None = None,
        *,
        address: str = "local[*]",
        session: object = None,
        timeout_s: float | None = None,
        hashing: str = "fast",
    ) -> None:
        super().__init__(policy, SparkDialect(), hashing)
        self._sources = dict(sources or {})
        self._address, self._given_session, self._timeout_s = address, session, timeout_s
        self._lock, self._lost = threading.Lock(), False
        self._crowded: dict[str, bool] = {}  # by table
        self._open()

    def reach(self) -> None:
        """Make sure that Spark answers; one that was lost is opened again, if it has an address."""
        if os.getpid() != self._pid or (self._given_session is not None and not is_alive(self._session)):
            cannot_reach()
        if self._given_session is None and not is_alive(self._session):
            self._lost = True
        self._reopen_lost()

    def _reopen_lost(self) -> None:
        with self._lock:
            if self._lost:
                self._closing()
                self._open()

    def close(self) -> None:
        """Give back the session; a Spark that was started for it is stopped."""
        self._closing()

    def _rows(self, statement: exp.Expression) -> list[tuple[Any, ...]]:
        found = self._run(statement, lambda frame: frame.collect())
        return [tuple(int(each) if isinstance(each, Decimal) else each for each in row) for row in found]

    def _columns(self, statement: exp.Expression) -> tuple[Any, ...]:
        table = self._run(statement, lambda frame: frame.toArrow())
        return tuple(each.to_numpy() for each in table.columns)

    def _bounding(self, plan: ExactPlan) -> type[Statement]:
        scan = SortedStatement.scan_of(plan)
        return NumberedStatement if scan is None or self._is_crowded(scan) else SortedStatement

    def _is_crowded(self, scan: Scan) -> bool:
        """Whether a unit may have too many of a table's rows; looked up once, as only speed depends on it."""
        if scan.table not in self._crowded:
            self._crowded[scan.table] = not self._is_small(scan) and self._most_of(scan) > CROWDED
        return self._crowded[scan.table]

    def _is_small(self, scan: Scan) -> bool:
        table = self._policy.table(scan.table)
        rows = rows_of(self._sources.get(scan.table, table.source if table is not None else None))
        return rows is not None and rows <= CROWDED

    def _most_of(self, scan: Scan) -> int:
        ((most,),) = quietly(self._rows, crowd(self._relations, scan))
        return int(most)

    def _run(self, statement: exp.Expression, fetch: Callable[[Any], Any]) -> Any:
        if os.getpid() != self._pid:
            fail()  # a driver does not survive a fork
        self._reopen_lost()
        sql, session = self._dialect.write(statement), self._session
        try:
            with quiet(), self._in_time(session):
                return fetch(session.sql(sql))
        except Exception:
            if self._given_session is None and not is_alive(session):
                self._lost = True
            raise

    @contextlib.contextmanager
    def _in_time(self, session: Any) -> Iterator[None]:
        """Interrupt what this thread runs when its time is over."""
        if self._timeout_s is None:
            yield
            return
        tag = f"discreet-{uuid.uuid4().hex}"
        done, late = threading.Event(), threading.Event()

        def watch() -> None:
            if not done.wait(self._timeout_s):
                late.set()
            while not done.wait(0.2):  # again and again: an interrupt before the start is lost
                session.interruptTag(tag)

        watcher = threading.Thread(target=watch, daemon=True)
        session.addTag(tag)
        try:
            watcher.start()
            yield
        finally:
            done.set()
            watcher.join()
            session.removeTag(tag)
        if late.is_set():
            fail()

    def _open(self) -> None:
        self._pid, self._lost = os.getpid(), False
        opened = open_at(self._address) if self._given_session is None else open_beside(self._given_session)
        self._session, tables = opened.session, SparkTables(opened.session)
        self._closing = weakref.finalize(self, _close, opened, tables, self._pid)
        try:
            self._register(tables)
        except BaseException:
            self._closing()
            raise

    def _register(self, tables: SparkTables) -> None:
        names = {table.name: f"t{index}" for index, table in enumerate(self._every)}
        stored = {}
        for table in self._every:
            source = self._sources.get(table.name, table.source)
            with quiet():
                stored[table.name] = tables.register(table, source, names[table.name])
        self._adopt(stored, {table: exp.to_table(name) for table, name in names.items()})


def _close(opened: Opened, tables: SparkTables, pid: int) -> None:
    if os.getpid() == pid:  # a forked child leaves its parent's session alone
        tables.close()
        opened.close()
