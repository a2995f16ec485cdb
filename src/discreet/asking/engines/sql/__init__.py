"""Small functions for building SQL trees: columns, casts, literals. Nothing here takes text from a question.

SQL is only ever built as sqlglot trees: names are ours (c0, c1, unit, ...), values are literals.
"""

import datetime
from functools import cache

from sqlglot import exp

from discreet.asking.policy import LARGEST_INTEGER, SMALLEST_INTEGER, Type, Value

SQL_TYPES: dict[Type, str] = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}


def column(name: str, table: str | None = None) -> exp.Expression:
    """Return a column by one of our own names."""
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def named(node: exp.Expression, name: str) -> exp.Expression:
    """Return node AS name, one of our own."""
    return exp.Alias(this=node, alias=exp.to_identifier(name, quoted=True))


def cast(node: exp.Expression, kind: str) -> exp.Expression:
    """Return CAST(node AS kind)."""
    return exp.Cast(this=node, to=_type(kind).copy())


def try_cast(node: exp.Expression, kind: str) -> exp.Expression:
    """Return a CAST that gives NULL where it cannot."""
    return exp.TryCast(this=node, to=_type(kind).copy())


@cache
def _type(kind: str) -> exp.DataType:
    """Return a type of ours; reading its name takes a parser, and a question casts hundreds of times."""
    return exp.DataType.build(kind, dialect="duckdb")


def call(name: str, *arguments: exp.Expression) -> exp.Expression:
    """Return name(arguments), printed as it is."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def text(value: str) -> exp.Expression:
    """Return a text literal."""
    return exp.Literal.string(value)


def whole(value: int, kind: str = "BIGINT") -> exp.Expression:
    """Return a whole number of a stated width, or wider: bare literals have 32 bits and would overflow."""
    fits = SMALLEST_INTEGER <= value <= LARGEST_INTEGER
    return cast(exp.Literal.string(str(value)), kind if fits else "INT128")


def real(value: float) -> exp.Expression:
    """Return a double, read back from its shortest text, which is exact."""
    return cast(exp.Literal.string(repr(value)), "DOUBLE")


def literal(value: Value, kind: Type | None) -> exp.Expression:
    """Return a value of the data's types."""
    if value is None:
        return cast(exp.null(), SQL_TYPES[kind or "text"])
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, int):
        return whole(value)
    if isinstance(value, float):
        return real(value)
    if isinstance(value, datetime.date):
        shown = value.isoformat(sep=" ") if isinstance(value, datetime.datetime) else value.isoformat()
        return cast(exp.Literal.string(shown), SQL_TYPES[kind or "date"])
    return exp.Literal.string(value)


def binary(kind: type[exp.Binary], left: exp.Expression, right: exp.Expression) -> exp.Expression:
    """Return (left op right), in parentheses."""
    return exp.paren(kind(this=left, expression=right), copy=False)


def when(
    *branches: tuple[exp.Expression, exp.Expression], otherwise: exp.Expression | None = None
) -> exp.Expression:
    """Return CASE WHEN ... THEN ... ELSE ... END."""
    ifs = [exp.If(this=test, true=value) for test, value in branches]
    return exp.Case(ifs=ifs, default=otherwise)


def is_null(node: exp.Expression) -> exp.Expression:
    """Return (node IS NULL)."""
    return exp.paren(exp.Is(this=node, expression=exp.null()), copy=False)


def is_known(node: exp.Expression) -> exp.Expression:
    """Return (NOT node IS NULL)."""
    return exp.Not(this=is_null(node))


def every(conditions: list[exp.Expression]) -> exp.Expression:
    """Return all of the conditions."""
    joined = conditions[0]
    for each in conditions[1:]:
        joined = binary(exp.And, joined, each)
    return joined


def between(node: exp.Expression, low: exp.Expression, high: exp.Expression) -> exp.Expression:
    """Return low <= node AND node <= high."""
    return every([binary(exp.GTE, node, low), binary(exp.LTE, node.copy(), high)])
