"""The Spark engine, for large tables: statements run in the cluster, and only a few rows of sums leave it."""

import contextlib
import datetime
import os
import re
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlglot import exp

from discreet.asking.engines.base import cannot_reach, fail
from discreet.asking.engines.duckdb.registration import TEXT_SUFFIXES, Registrar
from discreet.asking.engines.duckdb.text_files import suffix_of
from discreet.asking.engines.spark.dialect import SparkDialect
from discreet.asking.engines.spark.session import Opened, is_alive, open_at, open_beside, quiet
from discreet.asking.engines.sql.bounding import Statement
from discreet.asking.engines.sql.engine import SQLEngine, quietly
from discreet.asking.engines.sql.numbering import NumberedStatement, SortedStatement, crowd
from discreet.asking.engines.sql.weighing import Store
from discreet.asking.planning import ExactPlan
from discreet.asking.policy import Policy, PublicTable, Source, Table
from discreet.asking.queries import Scan
from discreet.errors import DiscreetError, InvalidParameter, PolicyViolation

CATALOGUE = "catalogue://"
TIMES = ("timestamp", "timestamp_ntz", "date")
CATALOGUE_NAME = re.compile(r"\w+(\.\w+){0,2}")


class SparkTables:
    """Brings one table after another into a session, under the names t0, t1, ..."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._global: list[str] = []

    def register(self, table: Table | PublicTable, source: object, name: str) -> dict[str, str]:
        """Make the table known under `name`; its columns and their stored types."""
        try:
            frame = self._frame(table, source)
            frame.createOrReplaceTempView(name)
            if source is None or isinstance(source, str | Path):
                _read_times(table, frame)
            return {field.name: field.dataType.simpleString() for field in frame.schema.fields}
        except DiscreetError:
            raise
        except Exception:  # noqa: BLE001  # Spark's message may quote the source
            raise InvalidParameter(
                f"source of table {table.name!r} must be Parquet that Spark can read, a CSV file, a table of "
                f"its catalogue, or a frame, got {_shown(source)}."
            ) from None

    def close(self) -> None:
        """Drop the names that other sessions could see."""
        for name in self._global:
            with contextlib.suppress(Exception):  # with a Spark that is gone, its names are
                self._session.catalog.dropGlobalTempView(name)

    def _frame(self, table: Table | PublicTable, source: object) -> Any:
        if isinstance(source, tuple):
            if suffix_of(source[0]) in TEXT_SUFFIXES:
                return self._session.createDataFrame(_read_texts(table, source))
            return self._session.read.parquet(*source)
        if source is None or isinstance(source, str | Path):
            return self._named(table, table.name if source is None else str(source))
        if type(source).__module__.startswith("pyspark."):
            return self._adopted(source)
        return self._session.createDataFrame(_as_arrow(source))

    def _named(self, table: Table | PublicTable, source: str) -> Any:
        name = source.removeprefix(CATALOGUE)  # in a policy file, anything else is a path
        suffix = suffix_of(source)
        if suffix in TEXT_SUFFIXES:
            return self._session.createDataFrame(_read_texts(table, source))
        if suffix == ".parquet" or "/" in name:
            return self._session.read.parquet(source)
        if not CATALOGUE_NAME.fullmatch(name):
            raise InvalidParameter(
                f"source of table {table.name!r} must be a path or a name like bank.accounts, got {source!r}."
            )
        return self._session.table(name)

    def _adopted(self, frame: Any) -> Any:
        """Return a frame of the owner's session, seen from ours under a name that no one can guess."""
        name = f"discreet_{uuid.uuid4().hex}"
        frame.createGlobalTempView(name)
        self._global.append(name)
        return self._session.table(f"global_temp.{name}")


def _read_times(table: Table | PublicTable, frame: Any) -> None:
    """Refuse a table with a time that cannot be read, and name its column."""
    times = [field.name for field in frame.schema.fields if field.dataType.simpleString() in TIMES]
    if not times or _reads(frame, times):
        return
    bad = next((each for each in times if not _reads(frame, [each])), times[0])
    raise PolicyViolation(
        f"Column {bad!r} of table {table.name!r} must hold times that can be read. Write the file anew.",
        table=table.name,
        column=bad,
    )


def _reads(frame: Any, columns: list[str]) -> bool:
    named = [each.replace("`", "``") for each in columns]
    try:
        frame.selectExpr(*(f"max(xxhash64(`{each}`))" for each in named)).collect()
    except Exception:  # noqa: BLE001  # its message may quote the data
        return False
    return True


def _collect(frame: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a frame.

    PySpark's own times go through the clock of this machine, which has no first day of the year 1 and, east
    of Greenwich, no last one of 9999. So times travel as numbers.
    """
    kinds = [field.dataType.simpleString() for field in frame.schema.fields]
    plain = frame.toDF(*(f"c{place}" for place in range(len(kinds))))
    travelling = [TRAVELLING.get(kind, "{}").format(f"c{place}") for place, kind in enumerate(kinds)]
    readers = [READERS.get(kind.partition("(")[0], _same) for kind in kinds]
    return [
        tuple(None if each is None else read(each) for read, each in zip(readers, row, strict=True))
        for row in plain.selectExpr(*travelling).collect()
    ]


def _same(value: Any) -> Any:
    return value


def _moment(microseconds: int) -> datetime.datetime:
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=microseconds)


def _day(days: int) -> datetime.date:
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=days)


TRAVELLING = {
    **dict.fromkeys(TIMES, "unix_micros(CAST({} AS TIMESTAMP))"),
    "date": "unix_date({})",
}
READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(TIMES, _moment),
    "date": _day,
    "decimal": int,
}


def rows_of(source: object) -> int | None:
    """Return how many rows a Parquet file has, if it can be read from here: its last bytes say so."""
    if not isinstance(source, str | Path) or Path(source).suffix != ".parquet" or not Path(source).is_file():
        return None
    import pyarrow.parquet

    with contextlib.suppress(pyarrow.ArrowException, OSError):  # Spark may be able to read it
        return int(pyarrow.parquet.read_metadata(source).num_rows)
    return None


def _as_arrow(held: Any) -> Any:
    """Return a frame in memory as Arrow: every PySpark reads that, but not every version of pandas."""
    kind = type(held).__module__.partition(".")[0]
    if kind == "polars":
        return held.to_arrow()
    if kind == "pandas":
        import pyarrow

        return pyarrow.Table.from_pandas(held, preserve_index=False)
    return held


def _read_texts(table: Table | PublicTable, source: Source) -> Any:
    import duckdb

    with duckdb.connect(":memory:") as connection:
        Registrar(connection).register(table, source, "t")
        return connection.sql('FROM "t"').to_arrow_table()


def _shown(source: object) -> str:
    return repr(str(source)) if isinstance(source, str | Path) else type(source).__name__


class FrameStore:
    """Persisted frames of one question, seen as temporary views of the session."""

    def __init__(self, engine: "SparkEngine") -> None:
        self._engine, self._prefix = engine, f"q{uuid.uuid4().hex}_"
        self._kept: list[tuple[str, Any]] = []

    def keep(self, name: str, select: exp.Expression) -> None:
        """Keep what a statement finds, once it is asked for."""

        def persisted(frame: Any) -> Any:
            frame.createOrReplaceTempView(self._prefix + name)
            return frame.persist()

        self._kept.append((self._prefix + name, self._engine._fetch(self._own(select), persisted)))

    def rows(self, statement: exp.Expression) -> list[tuple[Any, ...]]:
        """Return the rows of a statement."""
        return self._engine._rows(self._own(statement))

    def close(self) -> None:
        """Let go of all that was kept."""
        for name, frame in self._kept:
            with quiet(), contextlib.suppress(Exception):  # with a Spark that is gone, all of it is
                frame.sparkSession.catalog.dropTempView(name)
                frame.unpersist()

    def _own(self, statement: exp.Expression) -> exp.Expression:
        """Return a statement that selects from what is kept here."""
        for table in statement.find_all(exp.Table):
            if re.fullmatch(r"(pairs|norms)\d+", table.name):
                table.set("this", exp.to_identifier(self._prefix + table.name))
        return statement


CROWDED = 2**20  # rows of one unit that a task sorts in a few seconds; more are cut before they travel


class SparkEngine(SQLEngine):
    """Tables that Spark reads, asked through Spark SQL: a given session, or an address.

    An address is local[cores], spark://host:port (a driver is started in this process) or sc://host:port
    (Spark Connect). Everything is deterministic, so that a task that is run again gives the same rows. A
    Spark that was lost is opened again for the next question, if it was opened by its address.
    """

    dialect = SparkDialect
    has_address = True

    @classmethod
    def options_for(cls, engine: object, name: str) -> Mapping[str, Any] | None:
        """Return the options that open it by its name, one of its addresses, or a session of PySpark."""
        if type(engine).__module__.startswith("pyspark."):
            return {"session": engine}
        if isinstance(engine, str) and engine.startswith(("sc://", "local[")):
            return {"address": engine}
        return super().options_for(engine, name)

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
        super().__init__(policy, hashing)
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
        found: list[tuple[Any, ...]] = self._fetch(statement, _collect)
        return found

    def _columns(self, statement: exp.Expression) -> tuple[Any, ...]:
        table = self._fetch(statement, lambda frame: frame.toArrow())
        return tuple(each.to_numpy() for each in table.columns)

    def _bounding(self, plan: ExactPlan) -> type[Statement]:
        scan = SortedStatement.scan_of(plan)
        return NumberedStatement if scan is None or self._is_crowded(scan) else SortedStatement

    def _is_crowded(self, scan: Scan) -> bool:
        """Return whether a unit may have too many of a table's rows; looked up once, as only speed depends on
        it.
        """
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

    @contextlib.contextmanager
    def _keeping(self) -> Iterator[Store]:
        """Lend views that Spark keeps in memory or on its disks, under names that no other question has."""
        store = FrameStore(self)
        try:
            yield store
        finally:
            store.close()

    def _fetch(self, statement: exp.Expression, fetch: Callable[[Any], Any]) -> Any:
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
