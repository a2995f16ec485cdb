"""DuckDB: read-only, locked down, and only ever given SQL that was generated from a plan."""

import contextlib
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from sqlglot import exp

from discreet.asking.engines.base import fail
from discreet.asking.engines.duckdb.dialect import DuckDBDialect
from discreet.asking.engines.duckdb.registration import CHANGED, Registrar, Stamp
from discreet.asking.engines.sql import named, text
from discreet.asking.engines.sql.engine import SQLEngine
from discreet.asking.engines.sql.weighing import Store
from discreet.asking.policy import Policy, PublicTable, Table, Value
from discreet.errors import PolicyViolation

Fetched = TypeVar("Fetched")


class CursorStore:
    """Temporary tables of one cursor."""

    def __init__(self, execute: Callable[..., Any]) -> None:
        self._execute = execute

    def keep(self, name: str, select: exp.Expression) -> None:
        """Keep what a statement finds."""
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        table = exp.Create(this=exp.to_table(name), kind="TABLE", expression=select, properties=temporary)
        self._execute(table, lambda found: found.fetchall())

    def rows(self, statement: exp.Expression) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        return list(self._execute(statement, lambda found: found.fetchall()))


class DuckDBEngine(SQLEngine):
    """Tables in files, in a DuckDB file, or in memory, asked through DuckDB.

    The connection reaches no file but the registered ones, loads no extension, and its settings are locked;
    each plan runs on a cursor of its own. What does not fit in memory is spilled to a private folder that
    `close` removes.
    """

    dialect = DuckDBDialect

    def __init__(
        self,
        policy: Policy,
        sources: Mapping[str, object] | None = None,
        *,
        memory_limit: str = "2GB",
        threads: int | None = None,
        timeout_s: float | None = None,
        hashing: str = "fast",
    ) -> None:
        super().__init__(policy, hashing)
        self._sources = dict(sources or {})
        self._memory_limit, self._threads = memory_limit, threads or os.cpu_count() or 1
        self._timeout_s, self._read = timeout_s, list[Stamp]()
        self._open()

    def close(self) -> None:
        """Close the connection and remove the spill folder."""
        self._closing()

    def records(self) -> dict[str, list[dict[str, Value]]]:
        """Return every row of every table, its columns as their declared types: for code that computes in
        Python.
        """
        every: list[Table | PublicTable] = [*self._policy.tables, *self._policy.public]
        return {table.name: self._records(table) for table in every}

    def _records(self, table: Table | PublicTable) -> list[dict[str, Value]]:
        names = [each.name for each in table.columns]
        values = [named(self._relations.value(table.name, name), name) for name in names]
        rows = self._rows(exp.Select().select(*values).from_(self._relations.tables[table.name].copy()))
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _rows(self, statement: exp.Expression) -> list[tuple[Any, ...]]:
        return self._execute(statement, lambda found: list(found.fetchall()))

    def _columns(self, statement: exp.Expression) -> tuple[Any, ...]:
        return self._execute(statement, lambda found: tuple(found.fetchnumpy().values()))

    def reach(self) -> None:
        """Refuse files that were changed or replaced: no one has read them yet."""
        if not self._registrar.unchanged():
            raise PolicyViolation(CHANGED)

    def files(self) -> tuple[Stamp, ...]:
        """Return the files that were read, each with what tells it from another in its place."""
        return tuple(self._registrar.files)

    def check_files(self) -> None:
        """Refuse files that were changed or replaced, also those that were copied."""
        if not self._registrar.all_unchanged():
            raise PolicyViolation(CHANGED)

    @contextlib.contextmanager
    def _keeping(self) -> Iterator[Store]:
        """Lend a cursor with temporary tables: they are its own, and end with it."""
        if os.getpid() != self._pid:
            self._open()
        cursor = self._connection.cursor()
        try:
            yield CursorStore(partial(self._execute, cursor=cursor, pid=self._pid))
        finally:
            cursor.close()

    def _execute(
        self,
        statement: exp.Expression,
        fetch: Callable[[Any], Fetched],
        *,
        cursor: Any = None,
        pid: int | None = None,
    ) -> Fetched:
        if pid not in (None, os.getpid()):
            fail()  # what is kept stays with the parent
        if os.getpid() != self._pid:
            self._open()  # a connection does not survive a fork
        if not self._registrar.unchanged():
            fail()
        if cursor is not None:
            found = self._fetch(statement, fetch, cursor)
        else:
            with contextlib.closing(self._connection.cursor()) as own:
                found = self._fetch(statement, fetch, own)
        if not self._registrar.unchanged():
            fail()  # whatever was found: it may be of another file
        return found

    def _fetch(self, statement: exp.Expression, fetch: Callable[[Any], Fetched], cursor: Any) -> Fetched:
        sql = self._dialect.write(statement)
        done, late = threading.Event(), threading.Event()

        def watch() -> None:
            if not done.wait(self._timeout_s):
                late.set()
            while not done.wait(0.01):  # again and again: an interrupt before the start is lost
                cursor.interrupt()

        watcher = threading.Thread(target=watch, daemon=True)
        try:
            if self._timeout_s is not None:
                watcher.start()
            found = fetch(cursor.execute(sql))
        finally:
            done.set()
            if watcher.is_alive():
                watcher.join()
        if late.is_set():
            fail()
        return found

    def _open(self) -> None:
        import duckdb

        self._pid = os.getpid()
        spill = tempfile.mkdtemp(prefix="discreet-")
        self._connection = duckdb.connect(":memory:")
        self._closing = weakref.finalize(self, _close, self._connection, spill, self._pid)
        try:
            self._set_up(spill)
        except BaseException:
            self._closing()
            raise

    def _set_up(self, spill: str) -> None:
        run = self._connection.execute
        where = text(spill).sql(dialect="duckdb")
        for setting in (
            f"temp_directory = {where}",
            f"memory_limit = {text(self._memory_limit).sql(dialect='duckdb')}",
            f"threads = {int(self._threads)}",
            "preserve_insertion_order = false",
            "autoinstall_known_extensions = false",
            "autoload_known_extensions = false",
            "errors_as_json = false",
        ):
            run(f"SET {setting}")
        if run("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
            run("SET enable_progress_bar = false")  # in a notebook it is off, and may not be touched
        self._registrar = Registrar(self._connection, read=self._read)
        self._register(self._registrar)
        self._read = self._registrar.stamps
        allowed = exp.Array(expressions=[text(path) for path in self._registrar.paths])
        run(f"SET allowed_paths = {allowed.sql(dialect='duckdb')}")
        run("SET enable_external_access = false")
        run("SET lock_configuration = true")

    def _register(self, registrar: Registrar) -> None:
        names = {table.name: f"t{index}" for index, table in enumerate(self._every)}
        stored = {}
        for table in self._every:
            source = self._sources.get(table.name, table.source)
            stored[table.name] = registrar.register(table, source, names[table.name])
        tables = {table: exp.to_table(f'"{name}"') for table, name in names.items()}
        self._adopt(stored, tables)


def _close(connection: Any, spill: str, pid: int) -> None:
    if os.getpid() == pid:  # a forked child leaves its parent's files alone
        connection.close()
        shutil.rmtree(spill, ignore_errors=True)
