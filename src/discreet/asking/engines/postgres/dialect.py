"""PostgreSQL's dialect: it has no TRY_CAST, raises where others give NULL, and sorts by the locale."""

import datetime
import itertools
from collections.abc import Callable
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.generators.postgres import PostgresGenerator

from discreet.asking.engines.postgres.numbers import (
    ADD,
    DIVIDE,
    MULTIPLY,
    ROUND,
    filled,
    is_ordinary,
    reduced,
)
from discreet.asking.engines.rows import HASH_BITS
from discreet.asking.engines.sql import (
    SQL_TYPES,
    between,
    binary,
    call,
    cast,
    column,
    is_null,
    literal,
    named,
    real,
    text,
    when,
    whole,
)
from discreet.asking.engines.sql.dialect import Built, Dialect, Typed, in_calendar
from discreet.asking.policy import LARGEST_INTEGER, SMALLEST_INTEGER, Type, Value
from discreet.asking.queries.evaluate import DATE_GRAMMAR, INTEGER_GRAMMAR, NUMBER_GRAMMAR, TIMESTAMP_GRAMMAR

INTEGERS = ("smallint", "integer", "bigint")
TEXTS = ("text", "uuid", "name", "enum", "citext")
# A day of the calendar: what the grammar allows, and what a cast would raise for, kept apart.
DAY = (
    r"(?!0000)([0-9]{4}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
    r"|[0-9]{4}-(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    r"|[0-9]{4}-02-(0[1-9]|1[0-9]|2[0-8])"
    r"|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)"
)
# Counted repetitions make PostgreSQL's automata large and slow: long digits are looked for apart.
GRAMMARS: dict[Type, str] = {
    "integer": INTEGER_GRAMMAR,
    "number": NUMBER_GRAMMAR.replace("{1,200}", "+").replace("{0,200}", "*"),
    "date": DAY,
    "timestamp": DAY + TIMESTAMP_GRAMMAR.removeprefix(DATE_GRAMMAR),
}
TOO_LONG = "[0-9]{201}"
SURE = 300  # characters without an exponent: neither too large for a double nor too small
OVERFLOW = 2**1024 - 2**970  # from here on a whole number rounds to infinity
UNDERFLOW = f"0.{5**1075:0>1075}"  # 2^-1075: up to here a number rounds to zero


class PostgresPrinter(Postgres):
    """sqlglot's PostgreSQL, in which a whole number of 38 digits is NUMERIC."""

    class Generator(PostgresGenerator):
        """Types as they are written."""

        TYPE_MAPPING: ClassVar = {**PostgresGenerator.TYPE_MAPPING, exp.DataType.Type.INT128: "NUMERIC"}


class PostgresDialect(Dialect):
    """Whole numbers in NUMERIC, texts in the order of code points, casts and arithmetic behind tests.

    >>> PostgresDialect().stored_type("numeric(10,2)"), PostgresDialect().stored_type("point")
    ('number', None)
    """

    printer = PostgresPrinter

    def __init__(self) -> None:
        self._names = itertools.count()  # aliases differ, so that none hides another

    def let(self, value: Built, body: Callable[[Built], Built]) -> Built:
        """Return a scalar subquery that computes the value once; PostgreSQL would compute each copy."""
        return body(value) if _is_plain(value) else self._bind([value], lambda given: body(given[0]))

    def _bind(self, values: list[Built], body: Callable[[list[Built]], Built]) -> Built:
        """Return the body over names for the values, in a scalar subquery.

        Its OFFSET is a wall to the planner: nothing behind it is flattened, and no constant comes through,
        with which a branch that is never taken would be computed ahead, and raise.
        """
        alias = f"v{next(self._names)}"
        listed = [named(value, f"x{index}") for index, value in enumerate(values)]
        inner = exp.Select().select(*listed).offset(0).subquery(alias, copy=False)
        names = [column(f"x{index}", alias) for index in range(len(values))]
        return exp.Select().select(body(names)).from_(inner).subquery(copy=False)

    def literal(self, value: Value, kind: Type | None) -> Built:
        """Return texts with type and order: a bare literal would be read before any CASE is."""
        if isinstance(value, str) or (value is None and kind in ("text", None)):
            return _plain_text(literal(None, "text") if value is None else cast(text(value), "VARCHAR"))
        return literal(value, kind)

    def same(self, left: Built, right: Built, kind: Type | None) -> Built:
        """Return two equalities, which can be hashed; IS NOT DISTINCT FROM would compare every pair."""
        nothing = self.literal(NOTHING[kind or "text"], kind or "text")
        values = [exp.Coalesce(this=each.copy(), expressions=[nothing.copy()]) for each in (left, right)]
        missing = [is_null(each) for each in (left, right)]
        return binary(exp.And, binary(exp.EQ, *values), binary(exp.EQ, *missing))

    def stored_type(self, physical: str) -> Type | None:
        """Return the type that a column stored so has here; None for what questions cannot be about."""
        if physical in INTEGERS or (physical.startswith("numeric(") and physical.endswith(",0)")):
            return "integer"
        if physical in ("real", "double precision") or physical.startswith("numeric"):
            return "number"
        if physical in TEXTS or physical.startswith("character"):
            return "text"
        if physical.startswith("timestamp"):
            return "timestamp"
        plain: dict[str, Type] = {"boolean": "boolean", "date": "date"}
        return plain.get(physical)

    def read_column(self, name: str, physical: str, kind: Type) -> Built:
        """Return a stored column as its declared type: NaN, and what the type cannot hold, are missing
        values.
        """
        stored = column(name)
        if kind == "integer":
            return self.narrow(stored) if physical.startswith("numeric") else cast(stored, "BIGINT")
        if kind == "number":
            return self._read_number(stored, physical)
        if kind == "text":
            return _plain_text(cast(stored, "VARCHAR"))
        if kind in ("date", "timestamp"):
            if physical.endswith("with time zone"):
                stored = call("timezone", text("UTC"), stored)
            sql = SQL_TYPES[kind]
            inside = in_calendar(stored, "DATE" if physical == "date" else "TIMESTAMP")
            return inside if physical == sql.lower() else cast(inside, sql)
        return stored

    def _read_number(self, stored: Built, physical: str) -> Built:
        number = cast(stored.copy(), "DOUBLE")
        if not physical.startswith("numeric"):
            return self.no_nan(number) if physical in ("real", "double precision") else number
        infinite = [
            (binary(exp.GTE, stored.copy(), whole(OVERFLOW, "HUGEINT")), real(float("inf"))),
            (binary(exp.LTE, stored.copy(), whole(-OVERFLOW, "HUGEINT")), real(float("-inf"))),
        ]
        nan = binary(exp.EQ, stored.copy(), cast(text("NaN"), "HUGEINT"))
        return when(
            (nan, literal(None, "number")),
            *infinite,
            (_vanishes(stored), binary(exp.Mul, real(0.0), cast(call("sign", stored.copy()), "DOUBLE"))),
            otherwise=number,
        )

    # Doubles.

    def arithmetic(self, kind: type[exp.Binary], left: Built, right: Built) -> Built:
        """Return +, -, * of doubles as IEEE 754 says, infinities included; NaN is missing."""
        if kind is exp.Sub:
            right = exp.paren(exp.Neg(this=right), copy=False)
        return self.no_nan(self._apply(MULTIPLY if kind is exp.Mul else ADD, left, right))

    def divide(self, left: Built, right: Built) -> Built:
        """Return / of doubles as IEEE 754 says; by zero, and NaN, are missing."""
        return self.no_nan(self._apply(DIVIDE, left, right))

    def _apply(self, template: str, left: Built, right: Built) -> Built:
        """Return a template of two values, at most one of them a constant that the planner sees."""
        if is_ordinary(right):
            return self._bind([left], lambda given: filled(template, x=given[0], y=right))
        return self._bind([left, right], lambda given: filled(template, x=given[0], y=given[1]))

    def steps(self, value: Built, factor: float) -> Built:
        """Return floor(value * factor + 1/2), for a factor that is a power of two; within 2^51."""
        if factor >= 1:
            return super().steps(value, factor)
        scaled = self.let(value, lambda x: filled(reduced(factor), x=x))  # a plain product might vanish
        return call("floor", binary(exp.Add, scaled, real(0.5)))

    def rounded(self, how: str, number: Built) -> Built:
        """Return floor, ceil, or round (halves away from zero) of a double, which stays one."""
        return self.let(number, lambda x: filled(ROUND, x=x)) if how == "round" else call(how, number)

    # Whole numbers.

    def narrow(self, wide: Built) -> Built:
        """Return a NUMERIC as BIGINT, or NULL where it does not fit."""
        low, high = whole(SMALLEST_INTEGER, "HUGEINT"), whole(LARGEST_INTEGER, "HUGEINT")
        return self.let(wide, lambda x: when((between(x.copy(), low, high), cast(x.copy(), "BIGINT"))))

    def nearest_whole(self, number: Built) -> Built:
        """Return the BIGINT nearest to a double, halves to even; NULL where there is none."""

        def fitting(x: Built) -> Built:
            low = binary(exp.GTE, x.copy(), real(-(2.0**63)))
            inside = binary(exp.And, low, binary(exp.LT, x.copy(), real(2.0**63)))
            return when((inside, cast(x.copy(), "BIGINT")))

        return self.let(number, fitting)

    def widened(self, whole_number: Built) -> Built:
        """Return a NUMERIC as a double: PostgreSQL reads its text, which rounds once."""
        return cast(whole_number, "DOUBLE")

    # Texts.

    def read_text(self, value: Built, kind: Type) -> Built:
        """Return a text as another type, by the grammars of `discreet.asking.queries.evaluate`: tested, then
        cast.
        """

        def read(x: Built) -> Built:
            fits = _matches(x, f"^({GRAMMARS[kind]})$")
            if kind == "number":
                return when((fits, self._read_long(x)))
            wanted = cast(x.copy(), "HUGEINT" if kind == "integer" else SQL_TYPES[kind])
            return when((fits, self.narrow(wanted) if kind == "integer" else wanted))

        return self.let(value, read)

    def _read_long(self, x: Built) -> Built:
        """Return the double of a text that is a number, perhaps one with too many digits or too far out."""
        number, exact = cast(x.copy(), "DOUBLE"), cast(x.copy(), "HUGEINT")
        short = binary(exp.LTE, call("length", x.copy()), whole(SURE))
        sure = binary(exp.And, short, exp.Not(this=_matches(x, "[eE]")))
        far = binary(exp.GTE, call("abs", exact), whole(OVERFLOW, "HUGEINT"))
        return when(
            (_matches(x, TOO_LONG), literal(None, "number")),
            (sure, number),
            (far, literal(None, "number")),
            (_vanishes(exact), real(0.0)),
            otherwise=number.copy(),
        )

    def to_text(self, value: Built, kind: Type | None) -> Built:
        """Return a whole number, truth value or date as text, in the order of code points."""
        return _plain_text(cast(value, "VARCHAR"))

    def like(self, value: Built, pattern: str) -> Built:
        """Return LIKE, in which a backslash is a plain character."""
        like = exp.Like(this=value, expression=self.literal(pattern, "text"))
        return exp.paren(exp.Escape(this=like, expression=text("")), copy=False)

    def length(self, value: Built) -> Built:
        """Return the number of code points."""
        return cast(call("length", value), "BIGINT")

    def substring(self, value: Built, *places: Built) -> Built:
        """Return the text from a position on, for a number of code points."""
        return call("substr", value, *(cast(each, "INT") for each in places))

    # Dates.

    def date_part(self, name: str, value: Built) -> Built:
        """Return a part of a date or timestamp as a whole number; seconds have a fraction."""
        return cast(call("floor", call("date_part", text(name), value)), "BIGINT")

    def date_trunc(self, unit: str, value: Built, kind: Type) -> Built:
        """Return the first moment of the unit, as the type it was; of a date it would have a time zone."""
        return cast(call("date_trunc", text(unit), cast(value, "TIMESTAMP")), SQL_TYPES[kind])

    # Hashes.

    def fast_hash(self, salt: int, values: list[Typed]) -> Built:
        """Return the upper half of PostgreSQL's 64-bit hash of a row, with the salt as its seed. That of
        several values is a sum: hashed again.
        """
        combined = call("hash_record_extended", call("ROW", *(value for value, _ in values)), whole(salt))
        hashed = call("hashint8extended", combined, whole(salt))
        upper = binary(exp.BitwiseRightShift, hashed, exp.Literal.number(HASH_BITS))
        return binary(exp.BitwiseAnd, upper, whole(2**HASH_BITS - 1))

    def md5_hash(self, canonical: Built) -> Built:
        """Return the first 32 bits of md5 of a text in UTF-8."""
        digest = call("substr", call("md5", canonical), exp.Literal.number(1), exp.Literal.number(8))
        return cast(cast(call("concat", text("x00000000"), digest), "BIT(64)"), "BIGINT")

    def microseconds(self, moment: Built) -> Built:
        """Return a timestamp as BIGINT: microseconds since 1970."""
        seconds = exp.Extract(this=exp.var("epoch"), expression=moment)
        return cast(binary(exp.Mul, seconds, whole(10**6, "HUGEINT")), "BIGINT")


NOTHING: dict[Type, Value] = {
    "integer": 0,
    "number": 0.0,
    "text": "",
    "boolean": False,
    "date": datetime.date.min,
    "timestamp": datetime.datetime.min,
}


def _is_plain(node: Built) -> bool:
    """Return whether a copy costs no more than a name."""
    while isinstance(node, exp.Cast | exp.Paren | exp.Collate | exp.Neg):
        node = node.this
    return isinstance(node, exp.Column | exp.Literal | exp.Null)


def _plain_text(node: Built) -> Built:
    """Return a text in the order of code points, whatever the locale of the database."""
    return exp.paren(exp.Collate(this=node, expression=exp.to_identifier("C", quoted=True)), copy=False)


def _matches(x: Built, pattern: str) -> Built:
    return exp.paren(exp.RegexpLike(this=x.copy(), expression=text(pattern)), copy=False)


def _vanishes(number: Built) -> Built:
    """Return whether a NUMERIC rounds to zero as a double, which the cast would raise for."""
    return binary(exp.LTE, call("abs", number.copy()), cast(text(UNDERFLOW), "HUGEINT"))
