"""How tables come into DuckDB: files, tables of a DuckDB file, frames in memory; each is read by its schema.

CSV is parsed once, strictly: every column is text, and becomes another type only where the policy says so.
A value that is not of its declared type is an error to the owner, who is told the column and nothing of the
data.
"""

import csv
import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from discreet.engines.duckdb_dialect import DuckDBDialect
from discreet.engines.sql import call, column, named, text, when
from discreet.engines.sql_expressions import build
from discreet.errors import InvalidParameter, PolicyViolation
from discreet.queries import Call, Name
from discreet.tables import Column, PublicTable, Table, Type

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CSV_SUFFIXES = {".csv": ",", ".tsv": "\t"}


class Registrar:
    """Brings one table after another into a connection, under the names t0, t1, ..."""

    def __init__(self, connection: "DuckDBPyConnection") -> None:
        self._connection = connection
        self.paths: list[str] = []
        self.folders: list[str] = []

    def register(self, table: Table | PublicTable, source: object, name: str) -> dict[str, str]:
        """Make the table known under `name`; its columns and their stored types."""
        if isinstance(source, str | Path):
            self._register_file(table, str(source), name)
        elif source is None:
            raise InvalidParameter(f"source of table {table.name!r} must be a file or a frame, got none.")
        else:
            self._register_frame(table, source, name)
        described = self._connection.execute(f'DESCRIBE "{name}"').fetchall()
        return {row[0]: row[1] for row in described}

    def _register_file(self, table: Table | PublicTable, source: str, name: str) -> None:
        path, _, inner = source.partition("#")
        suffix = Path(path.removesuffix(".gz")).suffix.lower()
        found = sorted(glob.glob(path))
        if not found:
            raise InvalidParameter(f"source of table {table.name!r} must be a file, got {source!r}.")
        if suffix in CSV_SUFFIXES:
            self._register_csv(table, found, CSV_SUFFIXES[suffix], name)
        elif suffix == ".parquet":
            self.paths.extend(str(Path(each).resolve()) for each in found)
            listed = exp.Array(expressions=[text(str(Path(each).resolve())) for each in found])
            self._make(table, exp.Select().select(exp.Star()).from_(_function("read_parquet", listed)), name)
        elif suffix in (".duckdb", ".db", ".ddb"):
            self._attach(table, found[0], inner or table.name, name)
        else:
            raise InvalidParameter(
                f"source of table {table.name!r} must be .csv, .tsv, .parquet or .duckdb, got {source!r}."
            )

    def _make(self, table: Table | PublicTable, select: exp.Select, name: str) -> None:
        """A private table stays where it lies; a public one is copied, as its key was checked."""
        kind = "TABLE" if isinstance(table, PublicTable) else "VIEW"
        self._connection.execute(f'CREATE {kind} "{name}" AS {select.sql(dialect="duckdb")}')

    def _attach(self, table: Table | PublicTable, path: str, inner: str, name: str) -> None:
        resolved = str(Path(path).resolve())
        self.paths.extend((resolved, resolved + ".wal"))
        where = text(resolved).sql(dialect="duckdb")
        self._connection.execute(f'ATTACH {where} AS "d_{name}" (READ_ONLY)')
        inside = exp.Table(
            this=exp.to_identifier(inner, quoted=True),
            db=exp.to_identifier("main"),
            catalog=exp.to_identifier(f"d_{name}"),
        )
        self._make(table, exp.Select().select(exp.Star()).from_(inside), name)

    def _register_frame(self, table: Table | PublicTable, frame: Any, name: str) -> None:
        """A copy, so that later changes of the frame change no answer."""
        held = frame.to_arrow() if type(frame).__module__.startswith("polars") else frame
        try:
            self._connection.register("frame", held)
        except Exception:  # noqa: BLE001  # DuckDB's own types for "not a frame" vary with what is installed
            raise InvalidParameter(
                f"source of table {table.name!r} must be a path or a pandas, Polars or Arrow frame, "
                f"got {type(frame).__name__}."
            ) from None
        self._connection.execute(f'CREATE TABLE "{name}" AS FROM frame')
        self._connection.unregister("frame")

    def _register_csv(self, table: Table | PublicTable, paths: list[str], delimiter: str, name: str) -> None:
        header = read_header(paths[0], delimiter)
        options = [
            exp.EQ(this=exp.column("delim"), expression=text(delimiter)),
            exp.EQ(this=exp.column("quote"), expression=text('"')),
            exp.EQ(this=exp.column("escape"), expression=text('"')),
            *(exp.EQ(this=exp.column(word), expression=value) for word, value in (
                ("header", exp.true()), ("auto_detect", exp.false()), ("strict_mode", exp.true()),
                ("null_padding", exp.false()), ("ignore_errors", exp.false()),
            )),
        ]  # fmt: skip
        columns = exp.Struct(
            expressions=[exp.PropertyEQ(this=text(each), expression=text("VARCHAR")) for each in header]
        )
        options.append(exp.EQ(this=exp.column("columns"), expression=columns))
        listed = exp.Array(expressions=[text(each) for each in paths])
        raw = exp.Select().select(exp.Star()).from_(_function("read_csv", listed, *options))
        try:
            self._connection.execute(f"CREATE TEMP TABLE raw AS {raw.sql(dialect='duckdb')}")
        except Exception:  # noqa: BLE001  # its words quote the data
            raise PolicyViolation(
                f"The file of table {table.name!r} must be strict CSV: a header, then as many fields a line.",
                table=table.name,
            ) from None
        self._convert(table, header, name)
        self._connection.execute("DROP TABLE raw")

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
        select = exp.Select().select(exp.Literal.number(1)).from_("raw").where(bad).limit(1)
        if self._connection.execute(select.sql(dialect="duckdb")).fetchone() is not None:
            raise PolicyViolation(
                f"Column {declared.name!r} of table {table.name!r} must hold values of type {declared.type}. "
                "Declare it as text, or name the words that mean a missing value.",
                table=table.name,
                column=declared.name,
            )


def read_header(path: str, delimiter: str) -> list[str]:
    """The first line of a CSV file: its column names."""
    import gzip

    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        header = next(csv.reader(file, delimiter=delimiter), [])
    if not header or any(not field for field in header):
        raise PolicyViolation("A CSV file must begin with the names of its columns.")
    return header


def _function(name: str, *arguments: exp.Expression) -> exp.Expression:
    return exp.Table(this=call(name, *arguments))


def _without_missing(field: str, words: tuple[str, ...]) -> exp.Expression:
    raw = column(field)
    if not words:
        return raw
    listed = exp.In(this=raw.copy(), expressions=[text(word) for word in words])
    return when((exp.Not(this=exp.paren(listed)), raw))


def _converted(raw: exp.Expression, kind: Type) -> exp.Expression:
    """By the cast from text that questions use too: one grammar for both."""
    name = Name("raw", "raw", type="text")
    conversion = name if kind == "text" else Call(f"to_{kind}", (name,), type=kind)
    return build(conversion, lambda _: raw.copy(), DuckDBDialect())
