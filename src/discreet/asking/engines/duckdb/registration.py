"""How tables come into DuckDB: files, tables of a DuckDB file, frames in memory; each is read by its schema.

Text files are in `text_files`. A value that cannot be read is an error to the owner, who learns the name of
the column and nothing of the data: every column is read once, when the table is opened, because a question
that met it later would fail, and tell that it is there. Files that stay where they are must then stay as they
are. `describe_policy` reads headers and schemas alone, and no row.
"""

import contextlib
import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from sqlglot import exp

from discreet.asking.engines.duckdb.dialect import DuckDBDialect
from discreet.asking.engines.duckdb.text_files import (
    CSV_SUFFIXES,
    JSON_SUFFIXES,
    TextFiles,
    read_names,
    suffix_of,
)
from discreet.asking.engines.sql import call, column, named, text
from discreet.asking.engines.sql.engine import check_unit, refuse_absent
from discreet.asking.policy import Column, Policy, PublicTable, Source, Table, Type
from discreet.errors import InvalidParameter, PolicyViolation

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Stamp: TypeAlias = tuple[str, int, int, int]  # path, file, size, time of its last change
CHANGED = "The data must stay as it was opened, and one of its files has changed. Open it again."
TEXT_SUFFIXES = (*CSV_SUFFIXES, *JSON_SUFFIXES)


class Registrar:
    """Brings one table after another into a connection, under the names t0, t1, ..."""

    def __init__(self, connection: "DuckDBPyConnection", *, read: Iterable[Stamp] = ()) -> None:
        self._connection, self._read = connection, set(read)  # files that were read before: not again
        self.paths: list[str] = []
        self.stamps: list[Stamp] = []  # of files that are read again for every question
        self.files: list[Stamp] = []  # of all files, as they were before they were read

    def register(self, table: Table | PublicTable, source: object, name: str) -> dict[str, str]:
        """Make the table known under `name`; its columns and their stored types."""
        before = len(self.stamps)
        if isinstance(source, str | Path | tuple):
            self._register_files(table, source if isinstance(source, tuple) else str(source), name)
        elif source is None:
            raise InvalidParameter(f"source of table {table.name!r} must be a file or a frame, got none.")
        else:
            self._register_frame(table, source, name)
        described = self._connection.execute(f'DESCRIBE "{name}"').fetchall()
        stored = {row[0]: row[1] for row in described}
        if before == len(self.stamps) or not self._read.issuperset(self.stamps[before:]):
            self._read_once(table, name, stored)
        return stored

    def _read_once(self, table: Table | PublicTable, name: str, stored: Mapping[str, str]) -> None:
        """Refuse a table with a value that cannot be read, and name its column.

        A file whose statistics hold such a time cannot be read at all: then it is in a column of times.
        """
        columns = [each for each, physical in stored.items() if _asked_about(physical)]
        if not columns or self._reads(name, columns):
            return
        bad = [each for each in columns if not self._reads(name, [each])]
        times = [each for each in bad if stored[each].startswith("TIMESTAMP")]
        bad = times if bad == columns and times else bad
        subject = f"Column {bad[0]!r}" if len(bad) == 1 else f"One of the columns {', '.join(map(repr, bad))}"
        raise PolicyViolation(
            f"{subject} of table {table.name!r} must hold values that can be read: text in UTF-8, times in "
            "range, no damaged part. Write the data anew.",
            table=table.name,
        )

    def _reads(self, name: str, columns: list[str]) -> bool:
        """Return whether every value of the columns is there; hashes need them all, statistics do not do."""
        hashes = [call("max", call("hash", column(each))) for each in columns]
        select = exp.Select().select(*hashes).from_(f'"{name}"')
        try:
            self._connection.execute(select.sql(dialect="duckdb")).fetchall()
        except Exception:  # noqa: BLE001  # its message quotes the data
            return False
        return True

    def unchanged(self) -> bool:
        """Return whether the files that stayed where they are are still those that were read."""
        return self.stamps == [_stamp(path) for path, *_ in self.stamps]

    def all_unchanged(self) -> bool:
        """Return whether all files that were read are still those, copied or not."""
        return self.files == [_stamp(path) for path, *_ in self.files]

    def _register_files(self, table: Table | PublicTable, source: Source, name: str) -> None:
        found, inner = find_files(source)
        suffix = suffix_of(found[0]) if found else ""
        if not found:
            raise InvalidParameter(f"source of table {table.name!r} must be a file, got {source!r}.")
        if any(suffix_of(each) != suffix for each in found):
            raise InvalidParameter(f"the files of table {table.name!r} must be of one kind, got several.")
        stamps = [_stamp(str(Path(each).resolve())) for each in found]
        self.files.extend(stamps)
        if suffix in TEXT_SUFFIXES:
            TextFiles(self._connection, table, found).load(name)
            if stamps != [_stamp(path) for path, *_ in stamps]:
                raise PolicyViolation(CHANGED)  # the names of one file, and the rows of another
        elif suffix == ".parquet":
            self._register_parquet(table, [str(Path(each).resolve()) for each in found], name)
        elif suffix in (".duckdb", ".db", ".ddb"):
            self._attach(table, str(Path(found[0]).resolve()), inner or table.name, name)
        else:
            raise InvalidParameter(
                f"source of table {table.name!r} must be .csv, .tsv, .jsonl, .parquet or .duckdb, "
                f"or a folder of Parquet files, got {source!r}."
            )

    def _register_parquet(self, table: Table | PublicTable, paths: list[str], name: str) -> None:
        self.paths.extend(paths)
        stamps = [_stamp(each) for each in paths]
        with _refusing(table, "a Parquet file that can be read"):
            schemas = [self._schema_of(each) for each in paths] if len(paths) > 1 else []
        for path, each in zip(paths[1:], schemas[1:], strict=True):
            self._check_alike(table, schemas[0], each, Path(path).name)
        with _refusing(table, "a Parquet file that can be read"):
            select = exp.Select().select(exp.Star()).from_(_parquet(paths))
            self._make(select, name, copied=isinstance(table, PublicTable))
        if not isinstance(table, PublicTable):
            self.stamps.extend(stamps)

    def _schema_of(self, path: str) -> dict[str, str]:
        own = exp.EQ(
            this=exp.column("hive_partitioning"), expression=exp.false()
        )  # what its path adds is text
        select = exp.Select().select(exp.Star()).from_(_parquet([path], own))
        described = self._connection.execute(f"DESCRIBE {select.sql(dialect='duckdb')}").fetchall()
        return {row[0].lower(): row[1] for row in described}

    def _check_alike(
        self, table: Table | PublicTable, first: Mapping[str, str], other: Mapping[str, str], name: str
    ) -> None:
        """Refuse a file that stores a column of the first with another type: reading would convert it."""
        kind = DuckDBDialect().stored_type
        for each, physical in first.items():
            found = other.get(each)
            loses = kind(physical) in ("number", None) and found != physical
            if found is None or kind(found) != kind(physical) or loses:
                raise PolicyViolation(
                    f"Column {each!r} of table {table.name!r} must have one type in all its files, and "
                    f"{name} has {'no such column' if found is None else 'another'}. Write the files anew.",
                    table=table.name,
                    column=each,
                )

    def _make(self, select: exp.Select, name: str, *, copied: bool) -> None:
        """Make a view of a private table and a copy of a public one, as its key was checked."""
        kind = "TABLE" if copied else "VIEW"
        self._connection.execute(f'CREATE {kind} "{name}" AS {select.sql(dialect="duckdb")}')

    def _attach(self, table: Table | PublicTable, path: str, inner: str, name: str) -> None:
        """Attach a table of a DuckDB file, which is locked while it is open. A view is copied: it
        computes.
        """
        self.paths.extend((path, path + ".wal"))
        inside = exp.Table(
            this=exp.to_identifier(inner, quoted=True),
            db=exp.to_identifier("main"),
            catalog=exp.to_identifier(f"d_{name}"),
        )
        with _refusing(table, "a DuckDB file that can be read, with a table of its name or of that after #"):
            self._connection.execute(f'ATTACH {text(path).sql(dialect="duckdb")} AS "d_{name}" (READ_ONLY)')
            views = "SELECT lower(view_name) FROM duckdb_views() WHERE database_name = ?"
            is_view = (inner.lower(),) in self._connection.execute(views, [f"d_{name}"]).fetchall()
            described = f"DESCRIBE {exp.Select().select(exp.Star()).from_(inside).sql(dialect='duckdb')}"
            columns = [_plain_text(*row[:2]) for row in self._connection.execute(described).fetchall()]
            select = exp.Select().select(*columns).from_(inside)
            self._make(select, name, copied=is_view or isinstance(table, PublicTable))

    def _register_frame(self, table: Table | PublicTable, frame: Any, name: str) -> None:
        """Copy a frame, so that later changes of the frame change no answer."""
        try:
            self._connection.register("frame", _readable(frame))
        except Exception:  # noqa: BLE001  # DuckDB's own types for "not a frame" vary with what is installed
            raise InvalidParameter(
                f"source of table {table.name!r} must be a path, a pandas, Polars or Arrow frame, "
                f"or a DuckDB relation, got {type(frame).__name__}."
            ) from None
        try:
            self._connection.execute(f'CREATE TABLE "{name}" AS FROM frame')
        except Exception:  # noqa: BLE001  # its message quotes the data
            self._refuse_frame(table)
        self._connection.unregister("frame")

    def _refuse_frame(self, table: Table | PublicTable) -> NoReturn:
        """Name the first column that cannot be copied."""
        for name, *_ in self._connection.execute("DESCRIBE frame").fetchall():
            alone = exp.Select().select(column(name)).from_("frame").sql(dialect="duckdb")
            try:
                self._connection.execute(f"CREATE OR REPLACE TEMP TABLE alone AS {alone}")
            except Exception:  # noqa: BLE001
                subject = f"Column {name!r} of the frame of table {table.name!r}"
                break
        else:
            subject = f"The frame of table {table.name!r}"
        raise PolicyViolation(
            f"{subject} must hold values that can be copied: text in UTF-8, all of one type.",
            table=table.name,
        ) from None


def _asked_about(physical: str) -> bool:
    return DuckDBDialect().stored_type(physical) is not None


def _stamp(path: str) -> Stamp:
    """Return what tells a file from one that was put in its place."""
    try:
        found = os.stat(path)
    except OSError:
        return path, 0, 0, 0
    return path, found.st_ino, found.st_size, found.st_mtime_ns


def _plain_text(name: str, physical: str) -> exp.Expression:
    """Return a column, its texts compared by their bytes whatever collation it was declared with."""
    if physical != "VARCHAR":
        return column(name)
    binary = exp.Collate(this=column(name), expression=exp.to_identifier("binary", quoted=True))
    return named(exp.paren(binary), name)


@contextlib.contextmanager
def _refusing(table: Table | PublicTable, what: str) -> Iterator[None]:
    """Turn whatever DuckDB says of a file, which may quote it, into one sentence to the owner."""
    try:
        yield
    except Exception:  # noqa: BLE001
        raise PolicyViolation(
            f"The source of table {table.name!r} must be {what}.", table=table.name
        ) from None


def describe_policy(policy: Policy) -> Policy:
    """Return the policy with the columns of its files; what is declared must be among them."""
    every: list[Table | PublicTable] = [*policy.tables, *policy.public]
    found = {table.name: _columns(table) for table in every}
    schema = {
        table: {name: kind for name, kind in columns.items() if kind is not None}
        for table, columns in found.items()
    }
    described = policy.with_schema(schema)
    for table in every:
        stored = {name.lower() for name in found[table.name]}
        for each in table.columns:
            if each.name.lower() not in stored:
                refuse_absent(each.name, table.name)
    for private in described.tables:
        check_unit(private)
    return described


def _columns(table: Table | PublicTable) -> dict[str, Type | None]:
    found = describe_file(table.source or "", table.encoding)
    if suffix_of(find_files(table.source or "")[0][0]) not in TEXT_SUFFIXES:
        return found
    return {name: (table.column(name) or Column(name=name)).type for name in found}  # parsed as declared


def first_rows(table: PublicTable, *, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns of a public table and its first rows; anyone may see them."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        columns = list(Registrar(connection).register(table, table.source, "t0"))
        return columns, connection.execute('SELECT * FROM "t0" LIMIT ?', [most]).fetchall()


def labels_of(table: PublicTable, name: str, *, most: int) -> list[str]:
    """Return the labels of a public table's text column in order; none where there are more than `most`."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        Registrar(connection).register(table, table.source, "t0")
        select = exp.Select().select(column(name)).distinct().from_('"t0"').limit(most + 2)  # one may be NULL
        found = connection.execute(select.sql(dialect="duckdb")).fetchall()
    labels = sorted(label for (label,) in found if isinstance(label, str))
    return labels if len(labels) <= most else []


def find_files(source: Source) -> tuple[list[str], str]:
    """Return the files that a source names, and the table inside that stands behind #.

    It is a file, a folder of Parquet files, a pattern, or several of these.
    """
    if isinstance(source, tuple):
        return [path for each in source for path in find_files(each)[0]], ""
    if Path(source).is_file():
        return [source], ""
    path, _, inner = source.partition("#")
    if Path(path).is_dir():
        path = str(Path(glob.escape(path)) / "*.parquet")
    return sorted(glob.glob(path)), inner


def describe_file(source: Source | Path, encoding: str = "utf-8") -> dict[str, Type | None]:
    """Return column -> type, from the first file; text in CSV, None for what questions cannot be about."""
    found = find_files(source if isinstance(source, tuple) else str(source))[0]
    suffix = suffix_of(found[0]) if found else ""
    if suffix not in (*TEXT_SUFFIXES, ".parquet"):
        raise InvalidParameter(
            "a data file must be an existing .csv, .tsv, .jsonl or .parquet, or a folder of Parquet files, "
            f"got {str(source)!r}."
        )
    if suffix in TEXT_SUFFIXES:
        return dict.fromkeys(read_names(found[0], encoding), "text")
    import duckdb

    select = exp.Select().select(exp.Star()).from_(_parquet(found[:1]))
    with duckdb.connect(":memory:") as connection:
        try:
            described = connection.execute(f"DESCRIBE {select.sql(dialect='duckdb')}").fetchall()
        except duckdb.Error:
            raise PolicyViolation(f"{str(source)!r} must be a Parquet file that can be read.") from None
    return {row[0]: DuckDBDialect().stored_type(row[1]) for row in described}


def _parquet(paths: list[str], *options: exp.Expression) -> exp.Expression:
    listed = exp.Array(expressions=[text(each) for each in paths])
    return exp.Table(this=call("read_parquet", listed, *options))


class _Stream:
    """An object that is read as an Arrow stream: any that offers one, whatever its library."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)


def _readable(frame: Any) -> Any:
    """Return a frame as DuckDB reads it: lazy ones are collected, those of other connections streamed."""
    library = type(frame).__module__.partition(".")[0]
    if library == "polars" and hasattr(frame, "collect"):
        frame = frame.collect()
    return _Stream(frame) if library in ("polars", "_duckdb", "duckdb") else frame
