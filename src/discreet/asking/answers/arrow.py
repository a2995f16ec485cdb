"""A released table as an Arrow stream, by DuckDB, which is there anyway: no pyarrow is needed."""

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.asking.policy import Type, Value

_TYPES: Mapping[Type, str] = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
_WIDEST = 2**63


def as_stream(types: Mapping[str, Type], records: Sequence[Mapping[str, Value]]) -> Any:
    """Return an object whose `__arrow_c_stream__` hands over the rows; ends of intervals are numbers."""
    import duckdb

    names = list(records[0]) if records else list(types)
    kinds = {name: _kind(types.get(name, "number"), [row[name] for row in records]) for name in names}
    connection = duckdb.connect(":memory:")
    columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in kinds.items())
    connection.execute(f"CREATE TABLE answer ({columns})")
    if records:
        places = ", ".join("?" * len(names))
        connection.executemany(
            f"INSERT INTO answer VALUES ({places})",  # noqa: S608  # question marks alone
            [list(row.values()) for row in records],
        )
    return connection.table("answer")


def _kind(kind: Type, values: Sequence[Value]) -> str:
    """Return DuckDB's type; whole numbers too wide for 64 bits are numbers there."""
    wide = any(isinstance(value, int) and abs(value) >= _WIDEST for value in values)
    return "DOUBLE" if kind == "integer" and wide else _TYPES[kind]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
