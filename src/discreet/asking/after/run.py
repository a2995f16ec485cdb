"""What is selected from an answer, computed by a DuckDB that holds nothing else.

It has no data but the released rows, and no files, network, extensions or settings to change. A statement is
made from the tree alone. What fails or takes too long fails alone: the released table is there before it.
"""

import datetime
import math
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.asking.after.level import Columns, Level, find_names
from discreet.asking.after.noise import MARKED, Cell, Follower, Noisy, Table, intervals
from discreet.asking.after.split import RELEASED
from discreet.asking.after.writing import MOST_LETTERS, SQL_TYPES, Writer
from discreet.asking.policy import Type, Value
from discreet.asking.queries.nodes import Nested, Query, Select, TableName, Union, aggregates, refuse
from discreet.errors import InternalError, UnsupportedQuery
from discreet.kernel.numerics import Interval

if TYPE_CHECKING:
    import duckdb

MOST_ROWS = 20_000  # of any table after the noise
MOST_FOLLOWED = 1_000  # rows of a table whose noise is followed
MOST_TRACED = 200_000  # rows that all windows of a level are over
SECONDS = 2.0
CONFIG: dict[str, Any] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "threads": "1",
    "memory_limit": "256MB",
    "max_temp_directory_size": "0KB",
    "lock_configuration": "true",
}
TYPES: dict[str, Type] = {
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UBIGINT", "UINTEGER"), "integer"
    ),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "number"),
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    '"NULL"': "text",
}
FAILED = (
    "What is selected from the answer failed: a number was too large for it, or it took too long or too much "
    "room. This is the answer that it would have been selected from."
)


class Failed(Exception):
    """What follows the noise has no result; the answer itself has."""


@dataclass(frozen=True)
class After:
    """A query over an answer, and the columns that it gives."""

    query: Query
    columns: Columns

    def apply(self, columns: Columns, table: Table, confidence: Fraction) -> "Selected":
        """Return the rows that it selects from an answer; Failed where there are none."""
        try:
            return self._apply(columns, table, confidence)
        except Exception:  # noqa: BLE001  whatever it is, the answer was paid for and is shown
            raise Failed from None

    def _apply(self, columns: Columns, table: Table, confidence: Fraction) -> "Selected":
        if len(table.rows) > MOST_ROWS:
            raise Failed
        found = _run(self.query, columns, table)
        rows = tuple(
            dict(zip((name for name, _ in found.columns), row, strict=True)) for row in found.table.rows
        )
        ends = [intervals(row, confidence) for row in found.table.cells]
        marked = {
            name
            for row, known in zip(found.table.cells, ends, strict=True)
            for (name, _), cell, each in zip(found.columns, row, known, strict=True)
            if cell is not None and each is None
        }
        names = [name for name, _ in found.columns]
        return Selected(
            rows,
            tuple(dict(zip(names, row, strict=True)) for row in ends),
            tuple(name for name in names if name in marked),
        )


@dataclass(frozen=True)
class Selected:
    """Rows, their intervals, and the columns that the noise touched without one."""

    rows: tuple[dict[str, Value], ...]
    intervals: tuple[dict[str, Interval | None], ...]
    marked: tuple[str, ...]


def prepare(query: Query, columns: Columns) -> After:
    """Return what is around a question, proved to fit its answer: it is run on one without rows."""
    import duckdb

    try:
        found = _run(query, columns, Table((), ()))
    except (duckdb.Error, UnicodeError) as error:
        refuse(
            "after_noise", f"What is selected from the answer does not fit it: {_said(error, columns)}", query
        )
    except Failed:
        refuse("after_noise", "What is selected from the answer would take too long.", query)
    return After(query, found.columns)


def _said(error: Exception, columns: Columns) -> str:
    """Return the engine's words, which can be about the question alone, with the question's names."""
    first = str(error).partition("\n")[0].partition(": ")[2] or "a constant is out of range."
    names = dict(enumerate(name for name, _ in columns))
    return re.sub(r"\bc(\d+)\b", lambda found: names.get(int(found[1]), "a subquery"), first)[:300]


@dataclass(frozen=True)
class _Found:
    columns: Columns
    table: Table


def _run(query: Query, columns: Columns, table: Table) -> _Found:
    import duckdb

    with duckdb.connect(":memory:", config=CONFIG) as connection:
        done = threading.Event()
        clock = threading.Thread(target=_stop, args=(connection, done), daemon=True)
        clock.start()
        try:
            return _Runner(connection, _Found(columns, table)).run(query)
        except (duckdb.Error, OverflowError, UnicodeError, UnsupportedQuery):
            if table.rows:
                raise Failed from None
            raise
        finally:
            done.set()
            clock.join()


def _stop(connection: "duckdb.DuckDBPyConnection", done: threading.Event) -> None:
    """Interrupt what runs too long; again and again, since between two statements nothing is interrupted."""
    pause = SECONDS
    while not done.wait(pause):
        connection.interrupt()
        pause = 0.05


class _Runner:
    def __init__(self, connection: "duckdb.DuckDBPyConnection", released: _Found) -> None:
        self._connection, self._released, self._tables = connection, released, 0

    def run(self, query: Query) -> _Found:
        if isinstance(query, Union):
            return self._unite([self.run(each) for each in query.members], query)
        assert isinstance(query, Select)
        source, alias = self._source(query)
        level = find_names(query, source.columns, alias)
        for each in level.scalars:
            source = _beside(source, self._single(each))
        return self._select(level, source)

    def _source(self, query: Select) -> tuple[_Found, str]:
        if isinstance(query.source, Nested):
            return self.run(query.source.query), query.source.alias
        if not isinstance(query.source, TableName) or query.source.name != RELEASED:
            raise InternalError("only an answer may be selected from after the noise")
        return self._released, RELEASED

    def _single(self, query: Select) -> _Found:
        found = self.run(query)
        one = aggregates(query) and not query.keys and query.sets is None  # whatever the rows are
        if len(found.columns) != 1 or not (one or query.limit == 1):
            refuse(
                "subquery",
                "A subquery in an expression gives one value: one aggregate without GROUP BY.",
                query,
            )
        return found

    def _unite(self, found: list[_Found], query: Union) -> _Found:
        first = found[0]
        for each in found[1:]:
            if [kind for _, kind in each.columns] != [kind for _, kind in first.columns]:
                refuse(
                    "type", "The members of UNION ALL must have the same number and types of columns.", query
                )
        rows = [row for each in found for row in each.table.rows]
        if len(rows) > MOST_ROWS:
            raise Failed
        return _Found(first.columns, Table(rows, [row for each in found for row in each.table.cells]))

    def _select(self, level: Level, source: _Found) -> _Found:
        name = self._load(source)
        followed = bool(source.table.cells) and len(source.table.rows) <= MOST_FOLLOWED and not level.distinct
        writer = Writer(level)
        text = writer.select(name, traced=False)
        traced = (
            followed
            and level.sets is None
            and len(writer.windows) * len(source.table.rows) ** 2 <= MOST_TRACED
        )
        cursor = self._connection.execute(Writer(level).select(name, traced=True) if traced else text)
        width = len(level.outputs)
        columns = tuple(
            (shown, _type_of(str(described[1]), shown, level.outputs[place][1].place))
            for place, ((shown, _), described) in enumerate(
                zip(level.outputs, cursor.description[:width], strict=True)
            )
        )
        fetched = cursor.fetchall()
        rows = [
            tuple(_plain(value, kind) for value, (_, kind) in zip(row, columns, strict=False))
            for row in fetched
        ]
        follower = Follower(level, source.table, writer.windows)
        noisy = [follower.depends(each) or follower.depends(level.where) for _, each in level.outputs]
        cells: list[list[Cell]] = [
            [
                None if value is None else follower.cell(each, row[width] or (), row[width + 1 :])
                for value, (_, each) in zip(row, level.outputs, strict=False)
            ]
            if traced
            else [MARKED if each else None for each in noisy]
            for row in fetched
        ]
        return _Found(columns, Table(rows, cells))

    def _load(self, found: _Found) -> str:
        """Return the name of a table that has these rows, numbered."""
        name, self._tables = f"t{self._tables}", self._tables + 1
        kinds = [SQL_TYPES[kind] for _, kind in found.columns]
        listed = ", ".join(f"c{place} {kind}" for place, kind in enumerate(kinds))
        self._connection.execute(f"CREATE TABLE {name} (r BIGINT, {listed})")
        if any(
            isinstance(value, str) and len(value) > MOST_LETTERS for row in found.table.rows for value in row
        ):
            raise Failed
        if found.table.rows:
            values: list[Sequence[Value]] = [list(range(len(found.table.rows)))]
            values += [[_stored(row[place]) for row in found.table.rows] for place in range(len(kinds))]
            casts = ", ".join(f"UNNEST(CAST(? AS {kind}[]))" for kind in ("BIGINT", *kinds))
            self._connection.execute(f"INSERT INTO {name} SELECT {casts}", values)
        return name


def _beside(source: _Found, scalar: _Found) -> _Found:
    """Return the source with one more column: a value that is the same in every row."""
    ((name, kind),) = scalar.columns
    value: Value = scalar.table.rows[0][0] if scalar.table.rows else None
    cell: Cell = scalar.table.cells[0][0] if scalar.table.cells else None
    rows = [(*row, value) for row in source.table.rows]
    return _Found(
        (*source.columns, (f"#{name}", kind)), Table(rows, [[*row, cell] for row in source.table.cells])
    )


def _type_of(physical: str, name: str, place: tuple[int, int] | None) -> Type:
    if physical.startswith("DECIMAL("):
        return "number"
    if physical not in TYPES:
        refuse("after_noise", f"Column {name!r} must be a number, text, date or truth value.", place)
    return TYPES[physical]


def _plain(value: Any, kind: Type) -> Value:
    """Return a value of a column's type; what is not a number is missing."""
    if kind == "number" and value is not None:
        number = float(value) if isinstance(value, Decimal) else value
        return None if math.isnan(number) else float(number)
    return value  # type: ignore[no-any-return]


def _stored(value: Value) -> Value:
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return value


def as_cell(row: int, column: int, at: Any) -> Noisy:
    """Return the cell of a released value, with its interval at any confidence."""
    return Noisy(frozenset({(row, column)}), at)
