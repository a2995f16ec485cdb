"""DuckDB: read-only, locked down, and only ever given SQL that was generated from a plan."""

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from discreet.engines.base import fail
from discreet.engines.registration import (
    MAY_BE_DECLARED,
    Registrar,
    check_unique,
    read_value,
    stored_type,
)
from discreet.engines.sql import text
from discreet.engines.sql_bounding import COUNT, GROUP, Statement
from discreet.engines.sql_order import HASHES
from discreet.engines.sql_relations import Relations
from discreet.errors import DiscreetError, InvalidParameter, PolicyViolation
from discreet.planning import ExactPlan, ExactTable, Tallied
from discreet.tables import Policy, PublicTable, Schema, Table, Through, Type, Value


class DuckDBEngine:
    """Tables in files, in a DuckDB file, or in memory, asked through DuckDB.

    The connection reaches no file but the registered ones, loads no extension, and its settings are locked;
    each plan runs on a cursor of its own. What does not fit in memory is spilled to a private folder that
    `close` removes.
    """

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
        if hashing not in HASHES:
            raise InvalidParameter(f"hashing must be one of {', '.join(HASHES)}, got {hashing!r}.")
        self._given = policy
        self._sources = dict(sources or {})
        self._memory_limit, self._threads = memory_limit, threads or os.cpu_count() or 1
        self._timeout_s, self._hashing = timeout_s, hashing
        self._open()

    @property
    def policy(self) -> Policy:
        """The policy with the columns of the data's schema."""
        return self._policy

    def schema(self) -> Schema:
        """The columns of each table that questions may be about, and their types."""
        return self._schema

    def close(self) -> None:
        """Close the connection and remove the spill folder."""
        self._closing()

    def run(self, plan: ExactPlan) -> ExactTable:
        """The exact table of a plan; whatever goes wrong inside is one constant failure."""
        if os.getpid() != self._pid:
            self._open()  # a connection does not survive a fork
        try:
            statement = Statement(plan, self._relations).build()
            sql = statement.sql(dialect="duckdb")
            if plan.tally is not None and plan.labels is not None:
                return _as_tallies(plan.labels, self._execute(sql, lambda found: found.fetchnumpy()))
            return _as_table(plan, self._execute(sql, lambda found: found.fetchall()))
        except DiscreetError:
            raise
        except Exception:  # noqa: BLE001  # the engine's own words may quote the data
            fail()

    def _execute(self, sql: str, fetch: Callable[[Any], Any]) -> Any:
        cursor = self._connection.cursor()
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
            cursor.close()
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
            "enable_progress_bar = false",
            "errors_as_json = false",
        ):
            run(f"SET {setting}")
        registrar = Registrar(self._connection)
        self._register(registrar)
        allowed = exp.Array(expressions=[text(path) for path in registrar.paths])
        run(f"SET allowed_paths = {allowed.sql(dialect='duckdb')}")
        run("SET enable_external_access = false")
        run("SET lock_configuration = true")

    def _register(self, registrar: Registrar) -> None:
        every: list[Table | PublicTable] = [*self._given.tables, *self._given.public]
        names = {table.name: f"t{index}" for index, table in enumerate(every)}
        stored = {}
        for table in every:
            source = self._sources.get(table.name, table.source)
            stored[table.name] = registrar.register(table, source, names[table.name])
        self._schema = {
            table: {name: kind for name, physical in columns.items() if (kind := stored_type(physical))}
            for table, columns in stored.items()
        }
        self._policy = self._given.with_schema(self._schema)
        types = self._check_types(stored)
        self._relations = Relations(
            names, lambda table, column: read_value(*types[table, column.lower()]), self._hashing
        )
        self._check_keys(names)

    def _check_types(
        self, stored: Mapping[str, Mapping[str, str]]
    ) -> dict[tuple[str, str], tuple[str, str, Type]]:
        """Each column's stored name, stored type and declared type; what cannot be so declared is refused."""
        types: dict[tuple[str, str], tuple[str, str, Type]] = {}
        every: list[Table | PublicTable] = [*self._policy.tables, *self._policy.public]
        for table in every:
            columns = {name.lower(): (name, physical) for name, physical in stored[table.name].items()}
            for column in table.columns:
                if column.name.lower() not in columns:
                    raise PolicyViolation(
                        f"Column {column.name!r} must be in the data of table {table.name!r}."
                    )
                name, physical = columns[column.name.lower()]
                kind = stored_type(physical)
                if kind is None or column.type not in MAY_BE_DECLARED[kind]:
                    raise PolicyViolation(
                        f"Column {column.name!r} of table {table.name!r} must be declared as it is stored "
                        f"({kind or 'a type without questions'}), got {column.type}.",
                        table=table.name,
                        column=column.name,
                    )
                types[table.name, column.name.lower()] = (name, physical, column.type)
        return types

    def _check_keys(self, names: Mapping[str, str]) -> None:
        """The keys that joins rely on are unique: of public tables and of the tables foreign keys lead to."""
        for public in self._policy.public:
            self._check_unique(public, [public.key], names)
        for table in self._policy.tables:
            unit = table.unit
            if isinstance(unit, Through):
                parent = self._policy.table(unit.table)
                assert parent is not None
                self._check_unique(parent, [other for _, other in unit.on], names)
            else:
                self._check_unit(table)

    def _check_unique(self, table: Table | PublicTable, keys: list[str], names: Mapping[str, str]) -> None:
        found = {}
        for key in keys:
            column = table.column(key)
            if column is None:
                raise PolicyViolation(f"The key {key!r} of table {table.name!r} must be one of its columns.")
            found[column.name] = column.type
        check_unique(
            self._connection, names[table.name], found, f"The key {', '.join(keys)} of {table.name!r}"
        )

    def _check_unit(self, table: Table) -> None:
        unit = getattr(table.unit, "column", None)
        if unit is not None and table.column(unit) is None:
            raise PolicyViolation(f"The unit {unit!r} of table {table.name!r} must be one of its columns.")


def _close(connection: Any, spill: str, pid: int) -> None:
    if os.getpid() == pid:  # a forked child leaves its parent's files alone
        connection.close()
        shutil.rmtree(spill, ignore_errors=True)


def _as_tallies(labels: tuple[tuple[Value, ...], ...], columns: Mapping[str, Any]) -> ExactTable:
    """The statement's columns as the tallies of public groups: all three are BIGINT, and stay whole."""
    tallies = Tallied.by_group(len(labels), columns[GROUP], columns["m0"], columns[COUNT])
    return ExactTable(labels, ((),) * len(labels), tallies)


def _as_table(plan: ExactPlan, rows: list[tuple[Any, ...]]) -> ExactTable:
    """The statement's rows as an exact table, public groups that nobody is in included."""
    count = len(plan.measures)
    if plan.labels is not None:
        groups, keys = plan.labels, 0
    else:
        keys = len(plan.keys)
        found = {row[0]: tuple(row[1 : 1 + keys]) for row in rows}
        order = {number: place for place, number in enumerate(sorted(found))}
        groups = tuple(found[number] for number in order)
        rows = [(order[row[0]], *row[1:]) for row in rows]
    if plan.tally is not None:
        columns = zip(*((row[0], *row[1 + keys :]) for row in rows), strict=True) if rows else ((), (), ())
        return ExactTable(groups, ((),) * len(groups), Tallied.by_group(len(groups), *columns))
    totals = [(0,) * count] * len(groups)
    for row in rows:
        totals[row[0]] = tuple(int(each) for each in row[1 + keys :])
    return ExactTable(groups, tuple(totals))
