"""How tables come into DuckDB: files, tables of a DuckDB file, frames in memory; each is read by its schema.

CSV is parsed once, strictly: every column is text, and becomes another type only where the policy says so.
A value that is not of its declared type is an error to the owner, who learns the name of the column and
nothing of the data. So is one that cannot be read at all: every column is read once, when the table is
opened, because a question that met it later would fail, and tell that it is there. Files that stay where
they are must then stay as they are. `describe_policy` reads headers and schemas alone, and no row.
"""

import contextlib
import csv
import glob
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from sqlglot import exp

from discreet.asking.engines.duckdb.dialect import DuckDBDialect
from discreet.asking.engines.sql import call, column, named, text, when
from discreet.asking.engines.sql.engine import check_unit, refuse_absent
from discreet.asking.engines.sql.expressions import build
from discreet.asking.policy import Column, Policy, PublicTable, Table, Type
from discreet.asking.queries import Call, Name
from discreet.errors import InvalidParameter, PolicyViolation

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Stamp: TypeAlias = tuple[str, int, int, int]  # path, file, size, time of its last change
CSV_SUFFIXES = {".csv": ",", ".tsv": "\t"}
JSON_SUFFIXES = (".jsonl", ".ndjson")


class Registrar:
    """Brings one table after another into a connection, under the names t0, t1, ..."""

    def __init__(self, connection: "DuckDBPyConnection", *, read: Iterable[Stamp] = ()) -> None:
        self._connection, self._read = connection, set(read)  # files that were read before: not again
        self.paths: list[str] = []
        self.stamps: list[Stamp] = []  # of files that are read again for every question

    def register(self, table: Table | PublicTable, source: object, name: str) -> dict[str, str]:
        """Make the table known under `name`; its columns and their stored types."""
        before = len(self.stamps)
        if isinstance(source, str | Path):
            self._register_file(table, str(source), name)
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

    def _register_file(self, table: Table | PublicTable, source: str, name: str) -> None:
        path, _, inner = source.partition("#")
        if Path(path).is_dir():  # a folder of Parquet files
            path = str(Path(glob.escape(path)) / "*.parquet")
        suffix = Path(path.removesuffix(".gz")).suffix.lower()
        found = sorted(glob.glob(path))
        if not found:
            raise InvalidParameter(f"source of table {table.name!r} must be a file, got {source!r}.")
        if suffix in CSV_SUFFIXES:
            self._register_csv(table, found, CSV_SUFFIXES[suffix], name)
        elif suffix in JSON_SUFFIXES:
            self._register_json(table, found, name)
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
        listed = exp.Array(expressions=[text(each) for each in paths])
        select = exp.Select().select(exp.Star()).from_(_function("read_parquet", listed))
        stamps = [_stamp(each) for each in paths]
        with _refusing(table, "a Parquet file that can be read"):
            self._make(select, name, copied=isinstance(table, PublicTable))
        if not isinstance(table, PublicTable):
            self.stamps.extend(stamps)

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

    def _register_csv(self, table: Table | PublicTable, paths: list[str], delimiter: str, name: str) -> None:
        header = read_header(paths[0], delimiter)
        options = [
            exp.EQ(this=exp.column("delim"), expression=text(delimiter)),
            exp.EQ(this=exp.column("quote"), expression=text('"')),
            exp.EQ(this=exp.column("escape"), expression=text('"')),
            *(exp.EQ(this=exp.column(option), expression=value) for option, value in (
                ("header", exp.true()), ("auto_detect", exp.false()), ("strict_mode", exp.true()),
                ("null_padding", exp.false()), ("ignore_errors", exp.false()),
            )),
        ]  # fmt: skip
        options.append(_as_texts(header))
        what = "strict CSV: a header, then as many fields a line"
        try:
            self._read_texts("read_csv", table, paths, options, what)
        except PolicyViolation as error:
            place = _first_uneven(paths, len(header), delimiter)
            raise PolicyViolation(f"{error.message}{place}", table=table.name) from None
        self._convert(table, header, name)
        self._connection.execute("DROP TABLE raw")

    def _register_json(self, table: Table | PublicTable, paths: list[str], name: str) -> None:
        """Read one object a line; columns are the fields of the first, and what a line lacks is missing."""
        fields = read_fields(paths[0])
        options = [
            exp.EQ(this=exp.column("format"), expression=text("newline_delimited")),
            exp.EQ(this=exp.column("ignore_errors"), expression=exp.false()),
            _as_texts(fields),
        ]
        self._read_texts("read_json", table, paths, options, "JSON lines: one object a line")
        self._convert(table, fields, name)
        self._connection.execute("DROP TABLE raw")

    def _read_texts(
        self,
        function: str,
        table: Table | PublicTable,
        paths: list[str],
        options: Sequence[exp.Expression],
        what: str,
    ) -> None:
        """Copy files, every field as text, into the table `raw`."""
        listed = exp.Array(expressions=[text(each) for each in paths])
        raw = exp.Select().select(exp.Star()).from_(_function(function, listed, *options))
        try:
            self._connection.execute(f"CREATE TEMP TABLE raw AS {raw.sql(dialect='duckdb')}")
        except Exception:  # noqa: BLE001  # its message quotes the data
            raise PolicyViolation(
                f"The file of table {table.name!r} must be {what}.", table=table.name
            ) from None

    def _convert(self, table: Table | PublicTable, header: list[str], name: str) -> None:
        select = exp.Select().from_("raw")
        for field in header:
            declared = table.column(field) or Column(name=field)
            raw = _without_missing(field, declared.missing)
            converted = _converted(raw, declared.type)
            self._check(table, declared, raw, converted)
            select.select(named(converted, field), copy=False)
        self._connection.execute(f'CREATE TABLE "{name}" AS {select.sql(dialect="duckdb")}')

    def _check(
        self, table: Table | PublicTable, declared: Column, raw: exp.Expression, good: exp.Expression
    ) -> None:
        if declared.type == "text":
            return
        bad = exp.And(
            this=exp.Not(this=exp.Is(this=raw.copy(), expression=exp.null())),
            expression=exp.Is(this=exp.paren(good.copy()), expression=exp.null()),
        )
        select = exp.Select().select(call("min", exp.column("rowid"))).from_("raw").where(bad)
        found = self._connection.execute(select.sql(dialect="duckdb")).fetchone()
        if found is not None and found[0] is not None:
            raise PolicyViolation(
                f"Column {declared.name!r} of table {table.name!r} must hold values of type {declared.type}, "
                f"but row {found[0] + 1} after the header does not. {_REMEDIES[declared.type]} "
                "Or list the texts that mean a missing value under `missing`.",
                table=table.name,
                column=declared.name,
            )


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


def read_header(path: str, delimiter: str) -> list[str]:
    """Return the first line of a CSV file: its column names."""
    import gzip

    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file, delimiter=delimiter), [])
    except (ValueError, OSError, EOFError, zlib.error, csv.Error):
        header = []
    if not header or any(not field for field in header):
        raise PolicyViolation("A CSV file must begin with the names of its columns.")
    return header


def _first_uneven(paths: list[str], fields: int, delimiter: str) -> str:
    """Say which line of which file first has too few or too many fields; empty where none has."""
    import gzip

    for path in paths:
        opener = gzip.open if path.endswith(".gz") else open
        unread = contextlib.suppress(ValueError, OSError, EOFError, zlib.error, csv.Error)
        with unread, opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            reader, before = csv.reader(file, delimiter=delimiter, strict=True), 0
            for row in reader:
                if row and len(row) != fields:
                    where = f" of {Path(path).name!r}" if len(paths) > 1 else ""
                    return f" Line {before + 1}{where} has {len(row)} fields, the header {fields}."
                before = reader.line_num
    return ""


def read_fields(path: str) -> list[str]:
    """Return the names of the fields in the first object of JSON lines."""
    import gzip

    opener = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig") as file:
            first = json.loads(file.readline())
    except (ValueError, OSError, EOFError, zlib.error):
        first = None
    if not isinstance(first, dict) or not first or not all(first):
        raise PolicyViolation("A file of JSON lines must begin with an object, whose fields are the columns.")
    return list(first)


def _as_texts(names: list[str]) -> exp.EQ:
    """Return the option that reads every column as text."""
    columns = exp.Struct(
        expressions=[exp.PropertyEQ(this=text(each), expression=text("VARCHAR")) for each in names]
    )
    return exp.EQ(this=exp.column("columns"), expression=columns)


def _function(name: str, *arguments: exp.Expression) -> exp.Expression:
    return exp.Table(this=call(name, *arguments))


def _without_missing(field: str, missing: tuple[str, ...]) -> exp.Expression:
    raw = column(field)
    if not missing:
        return raw
    listed = exp.In(this=raw.copy(), expressions=[text(each) for each in missing])
    return when((exp.Not(this=exp.paren(listed)), raw))


def _converted(raw: exp.Expression, kind: Type) -> exp.Expression:
    """Convert by the cast from text that questions use too: one grammar for both."""
    name = Name("raw", "raw", type="text")
    conversion = name if kind == "text" else Call(f"to_{kind}", (name,), type=kind)
    plain = raw if kind not in _WRITTEN else call("regexp_replace", raw, *map(text, _WRITTEN[kind]))
    return build(conversion, lambda _: plain.copy(), DuckDBDialect())


# What other programs write, and we read as if it were not there: 21.0 for 21, a time that says it is UTC.
_WRITTEN: Mapping[Type, tuple[str, str]] = {
    "integer": (r"^([+-]?[0-9]{1,19})\.0+$", r"\1"),
    "timestamp": (r"(Z|[+]00:?00)$", ""),
}
_REMEDIES: Mapping[Type, str] = {
    "integer": "If it holds numbers with decimals, declare it as number; if it holds words, as text.",
    "number": "Declare it as text, if it holds words.",
    "boolean": "It must be true or false. Declare it as text, with keys, for other words.",
    "date": "A date is written 2026-11-15. Declare it as text, or as timestamp if there is a time.",
    "timestamp": "It is written 2026-11-15T12:30:00, in UTC. Declare it as text for other forms.",
}


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
    found = describe_file(table.source or "")
    if _suffix(table.source or "") not in (*CSV_SUFFIXES, *JSON_SUFFIXES):
        return found
    return {name: (table.column(name) or Column(name=name)).type for name in found}  # parsed as declared


def first_rows(table: PublicTable, *, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the columns of a public table and its first rows; anyone may see them."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        columns = list(Registrar(connection).register(table, table.source, "t0"))
        return columns, connection.execute('SELECT * FROM "t0" LIMIT ?', [most]).fetchall()


def describe_file(source: str | Path) -> dict[str, Type | None]:
    """Return column -> type; text in CSV, None for what questions cannot be about."""
    path = Path(source)
    if path.is_dir():
        path = min(path.glob("*.parquet"), default=path)
    suffix = _suffix(path)
    if not path.is_file() or suffix not in (*CSV_SUFFIXES, *JSON_SUFFIXES, ".parquet"):
        raise InvalidParameter(
            "a data file must be an existing .csv, .tsv, .jsonl or .parquet, or a folder of Parquet files, "
            f"got {str(source)!r}."
        )
    if suffix in JSON_SUFFIXES:
        return dict.fromkeys(read_fields(str(path)), "text")
    if suffix in CSV_SUFFIXES:
        return dict.fromkeys(read_header(str(path), CSV_SUFFIXES[suffix]), "text")
    import duckdb

    inside = exp.Table(this=call("read_parquet", text(str(path))))
    select = exp.Select().select(exp.Star()).from_(inside)
    with duckdb.connect(":memory:") as connection:
        try:
            described = connection.execute(f"DESCRIBE {select.sql(dialect='duckdb')}").fetchall()
        except duckdb.Error:
            raise PolicyViolation(f"{str(source)!r} must be a Parquet file that can be read.") from None
    return {row[0]: DuckDBDialect().stored_type(row[1]) for row in described}


def _suffix(source: str | Path) -> str:
    return Path(str(source).removesuffix(".gz")).suffix.lower()


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
