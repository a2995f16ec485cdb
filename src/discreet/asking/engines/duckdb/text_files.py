"""Text files, CSV and JSON lines: fields are read as text, and become other types where the policy says so.

A file is parsed once, strictly. What cannot be read is refused to the owner, who learns file, line and
column, and nothing of the data: `find_bad_lines` and `find_bad_values` look for all of it.

Tested by: tests/engines/test_files.py, tests/engines/test_file_check.py
"""

import contextlib
import csv
import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlglot import exp

from discreet.asking.engines.duckdb.dialect import DuckDBDialect
from discreet.asking.engines.duckdb.times import as_iso
from discreet.asking.engines.sql import call, column, named, text, when
from discreet.asking.engines.sql.expressions import build
from discreet.asking.policy import Column, PublicTable, Table, Type
from discreet.asking.queries import Call, Name
from discreet.errors import PolicyViolation

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CSV_SUFFIXES = {".csv": ",", ".tsv": "\t"}
JSON_SUFFIXES = (".jsonl", ".ndjson")
UNREADABLE = (ValueError, OSError, EOFError, RecursionError, zlib.error, csv.Error)


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line} of {Path(self.path).name}"


@dataclass(frozen=True)
class BadValues:
    """The rows of `raw` in which a column's value is not of its declared type: how many, and the first."""

    column: Column
    count: int
    rows: tuple[int, ...]


class TextFiles:
    """The files of one table, all of one kind, which are read together."""

    def __init__(
        self, connection: "DuckDBPyConnection", table: Table | PublicTable, paths: list[str]
    ) -> None:
        self._connection, self._table, self._paths = connection, table, paths
        self._delimiter = CSV_SUFFIXES.get(suffix_of(paths[0]))
        self.fields = self._read_fields()
        self._broken = self.copied = False

    def load(self, name: str) -> None:
        """Make the table; the first thing that cannot be read is refused."""
        try:
            self.copy()
        except Exception:  # noqa: BLE001  # its message quotes the data
            found = next(self.find_bad_lines(), "")
            raise self._refusal(f"{self.rule}{found and f': {found}'}.") from None
        select = exp.Select().from_("raw")
        for field in self.fields:
            for bad in self.find_bad_values(field, most=1):
                raise self._refusal(self.say(bad), column=bad.column.name, whole=True)
            select.select(named(self._converted(self._declared(field))[1], field), copy=False)
        self._connection.execute(f'CREATE TABLE "{name}" AS {select.sql(dialect="duckdb")}')
        self._connection.execute("DROP TABLE raw")

    @property
    def rule(self) -> str:
        """What the files must be."""
        if self._delimiter is None:
            return "JSON lines: one object a line"
        return "strict CSV: a header, then as many fields a line"

    def say(self, bad: BadValues) -> str:
        """Return what is wrong with a column, and what to do about it."""
        kind, name, count = bad.column.type, bad.column.name, bad.count
        if self._broken:  # lines were left out, so that rows tell no lines
            where = f"{count} row{'s' * (count > 1)}"
        else:
            more = f" and {count - len(bad.rows)} more" if count > len(bad.rows) else ""
            where = ", ".join(map(self._place, bad.rows)) + more
        return (
            f"Column {name!r} of table {self._table.name!r} must hold values of type {kind}, but {where} "
            f"{'does' if bad.count == 1 else 'do'} not. {_REMEDIES[kind].format(name=name)} "
            "Or list the texts that mean a missing value under `missing`."
        )

    def copy(self) -> None:
        """Copy the files, every field as text, into the table `raw`."""
        self._copy()

    def _copy(self, *options: exp.Expression) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE raw AS {self._select(*options)}")
        self.copied, self._broken = True, bool(options)

    def find_bad_lines(self) -> Iterator[str]:
        """Yield what is wrong with each line that cannot be read, and where it is; copy the others."""
        found = self._bad_objects() if self._delimiter is None else self._bad_records()
        yield from (f"{place} {what}" for place, what in found)

    def find_bad_values(self, field: str, *, most: int) -> Iterator[BadValues]:
        """Yield the rows in which a column is not of its declared type, if there are any."""
        declared = self._declared(field)
        if declared.type == "text":
            return
        raw, good = self._converted(declared)
        bad = exp.And(
            this=exp.Not(this=exp.Is(this=raw.copy(), expression=exp.null())),
            expression=exp.Is(this=exp.paren(good.copy()), expression=exp.null()),
        )
        rows = exp.Select().select(exp.column("rowid")).from_("raw").where(bad).order_by(exp.column("rowid"))
        found = self._connection.execute(rows.limit(most).sql(dialect="duckdb")).fetchall()
        if found:
            every = exp.Select().select(exp.Count(this=exp.Star())).from_("raw").where(bad)
            counted = self._connection.execute(every.sql(dialect="duckdb")).fetchall()
            yield BadValues(declared, counted[0][0], tuple(row for (row,) in found))

    # --- the files -----------------------------------------------------------------------------------------

    def _read_fields(self) -> list[str]:
        """Return the columns of the first file; every CSV must have the same, in the same order."""
        read = [
            read_names(path, self._table.encoding) for path in self._paths[: None if self._delimiter else 1]
        ]
        names = [name.lower() for name in read[0]]
        for path, each in zip(self._paths, read, strict=False):
            if [name.lower() for name in each] != names:
                raise self._refusal(
                    f"files with the same columns in the same order, and {Path(path).name} has others."
                )
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise self._refusal(f"a file whose columns have different names, got {twice!r} twice.")
        return read[0]

    def _select(self, *more: exp.Expression) -> str:
        if self._delimiter is None:
            options: list[exp.Expression] = [_option("format", text("newline_delimited"))]
        else:
            options = [
                *(_option(name, text(value)) for name, value in (
                    ("delim", self._delimiter), ("quote", '"'), ("escape", '"'),
                    ("encoding", self._table.encoding),
                )),
                *(_option(name, value) for name, value in (
                    ("header", exp.true()), ("auto_detect", exp.false()), ("strict_mode", exp.true()),
                    ("null_padding", exp.false()),
                )),
            ]  # fmt: skip
        options += more or [_option("ignore_errors", exp.false())]
        columns = exp.Struct(
            expressions=[exp.PropertyEQ(this=text(each), expression=text("VARCHAR")) for each in self.fields]
        )
        listed = exp.Array(expressions=[text(each) for each in self._paths])
        read = call(
            "read_json" if self._delimiter is None else "read_csv",
            listed,
            *options,
            _option("columns", columns),
        )
        fields = [exp.alias_(column(each), _raw(each), quoted=True) for each in self.fields]
        return exp.Select().select(*fields).from_(exp.Table(this=read)).sql(dialect="duckdb")

    def _declared(self, field: str) -> Column:
        return self._table.column(field) or Column(name=field)

    def _converted(self, declared: Column) -> tuple[exp.Expression, exp.Expression]:
        """Return a column as text, and as its type, by the cast from text that questions use too."""
        raw: exp.Expression = column(_raw(declared.name))
        if declared.missing:
            listed = exp.In(this=raw.copy(), expressions=[text(each) for each in declared.missing])
            raw = when((exp.Not(this=exp.paren(listed)), raw))
        kind, name = declared.type, Name("raw", "raw", type="text")
        conversion = name if kind == "text" else Call(f"to_{kind}", (name,), type=kind)
        plain = raw
        if declared.written is not None:
            plain = as_iso(raw, declared.written)
        elif kind in _WRITTEN:
            plain = call("regexp_replace", raw, *map(text, _WRITTEN[kind]))
        return raw, build(conversion, lambda _: plain.copy(), DuckDBDialect())

    def _refusal(self, said: str, *, column: str | None = None, whole: bool = False) -> PolicyViolation:
        named_column = {} if column is None else {"column": column}
        message = said if whole else f"The file of table {self._table.name!r} must be {said}"
        return PolicyViolation(message, table=self._table.name, **named_column)

    # --- places --------------------------------------------------------------------------------------------

    def _place(self, row: int) -> str:
        """Return where a row of `raw` stands: its line, where the file can be walked again."""
        try:
            place = next((place for number, place in enumerate(self._walk()) if number == row), None)
        except UNREADABLE:
            place = None
        return f"row {row + 1} after the header" if place is None else str(place)

    def _walk(self) -> Iterator[Place]:
        """Yield where each row begins: blank lines are none, and a quoted field may have several lines."""
        for path in self._paths:
            with _opened(path, _without_mark(self._table.encoding)) as file:
                if self._delimiter is None:
                    yield from (Place(path, line) for line, said in enumerate(file, 1) if said.strip())
                    continue
                reader = _records(file, self._delimiter)
                next(reader)
                begins = reader.line_num + 1
                for record in reader:
                    if record or len(self.fields) == 1:
                        yield Place(path, begins)
                    begins = reader.line_num + 1

    def _bad_records(self) -> Iterator[tuple[Place, str]]:
        """Yield the lines that DuckDB rejects, with our words for its reasons."""
        more = (_option("ignore_errors", exp.true()), _option("store_rejects", exp.true()))
        try:
            self._copy(*more)
            found = self._connection.execute(
                "SELECT file_path, byte_position, error_type FROM reject_errors "
                "JOIN reject_scans USING (scan_id, file_id) ORDER BY ALL"
            ).fetchall()
            self._connection.execute("DROP TABLE reject_errors; DROP TABLE reject_scans")
        except Exception:  # noqa: BLE001  # its message quotes the data
            return
        seen = set()
        for path, position, reason in found:
            place = Place(path, _line_at(path, self._table.encoding, position))
            if place not in seen:
                yield place, _REASONS.get(str(reason), "cannot be read")
            seen.add(place)

    def _bad_objects(self) -> Iterator[tuple[Place, str]]:
        with contextlib.suppress(Exception):  # its message quotes the data
            self._copy(_option("ignore_errors", exp.true()))
        for path in self._paths:
            with _opened(path, "utf-8-sig", errors="surrogateescape") as file:
                for line, said in enumerate(file, 1):
                    try:
                        good = not said.strip() or isinstance(json.loads(said.encode("utf-8")), dict)
                    except (ValueError, RecursionError):
                        good = False
                    if not good:
                        yield Place(path, line), "is not one object in UTF-8"


def suffix_of(source: str | Path) -> str:
    """Return a file's ending in small letters, that of compression left off.

    >>> suffix_of("data/Visits.CSV.gz")
    '.csv'
    """
    return Path(str(source).removesuffix(".gz")).suffix.lower()


def read_names(path: str, encoding: str = "utf-8") -> list[str]:
    """Return the columns of a text file: the first line of CSV, the fields of the first object of JSON."""
    delimiter = CSV_SUFFIXES.get(suffix_of(path))
    try:
        with _opened(
            path, _without_mark(encoding), errors="surrogateescape"
        ) as file:  # more is read than these
            found: Any = (
                json.loads(file.readline()) if delimiter is None else next(_records(file, delimiter), [])
            )
        names = list(found) if isinstance(found, dict if delimiter is None else list) else []
        if names and all(each.encode() for each in names):
            return names
    except UNREADABLE:
        pass
    if delimiter is None:
        raise PolicyViolation("A file of JSON lines must begin with an object, whose fields are the columns.")
    raise PolicyViolation(
        "A CSV file must begin with the names of its columns, in UTF-8 unless another encoding is declared."
    )


def _records(file: IO[str], delimiter: str) -> Any:
    return csv.reader(file, delimiter=delimiter, strict=True)


def _opened(path: str, encoding: str, errors: str = "strict") -> IO[str]:
    opener: Any = gzip.open if path.endswith(".gz") else open
    file: IO[str] = opener(path, "rt", encoding=encoding, errors=errors, newline="")
    return file


def _without_mark(encoding: str) -> str:
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _line_at(path: str, encoding: str, position: int) -> int:
    """Return the line of a byte, counted as DuckDB counts them: from one, in the file as UTF-8."""
    lines, left = 1, position - 1
    with _opened(path, encoding, errors="surrogateescape") as file:
        for line in file:
            left -= len(line.encode("utf-8", errors="surrogateescape"))
            if left < 0:
                break
            lines += 1
    return lines


def _raw(field: str) -> str:
    """Return what a field is called in the table `raw`, whose rows have a `rowid` that no field may hide."""
    return f"field {field}"


def _option(name: str, value: exp.Expression) -> exp.EQ:
    return exp.EQ(this=exp.column(name), expression=value)


# What other programs write, and we read as if it were not there: 21.0 for 21, a time that says it is UTC.
_WRITTEN: Mapping[Type, tuple[str, str]] = {
    "integer": (r"^([+-]?[0-9]{1,19})\.0+$", r"\1"),
    "timestamp": (r"(Z|[+]00:?00)$", ""),
}
_REASONS = {
    "MISSING COLUMNS": "has too few fields",
    "TOO MANY COLUMNS": "has too many fields",
    "UNQUOTED VALUE": "has a quote that is not closed, or stands in the middle of a field",
    "INVALID ENCODING": 'is not in UTF-8; if the file is in Latin-1, declare encoding = "latin-1" '
    "(on the command line --encoding latin-1)",
    "LINE SIZE OVER MAXIMUM": "is too long",
}
_REMEDIES: Mapping[Type, str] = {
    "integer": "If it holds numbers with decimals, declare it as number (on the command line --types "
    "{name}=number); if it holds words, as text.",
    "number": "Declare it as text, if it holds words (on the command line --types {name}=text).",
    "boolean": "It must be true or false. Declare it as text, with keys, for other words.",
    "date": "A date is written 2026-11-15. Where it is written otherwise, show how: declare it as "
    '"date 31/12/2024" (on the command line --types "{name}=date 31/12/2024"); with a time, as timestamp.',
    "timestamp": "It is written 2026-11-15T12:30:00, in UTC. Where it is written otherwise, show how: "
    'declare it as "timestamp 31/12/2024 23:58" '
    '(on the command line --types "{name}=timestamp 31/12/2024 23:58").',
}
