"""What SQL engines write differently, and nothing else: one object for each engine.

Statements are built once, as sqlglot trees, in types named as DuckDB names them (BIGINT, DOUBLE, VARCHAR,
and HUGEINT for whole numbers of up to 38 digits); a dialect builds what engines say or do differently, and
writes the finished tree. Every method is total: no input makes it fail, an impossible result is NULL, and it
means what `discreet.asking.queries.evaluate` says. A part that is used twice must be copied.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from sqlglot import exp

from discreet.asking.engines.rows import SEPARATOR
from discreet.asking.engines.sql import (
    SQL_TYPES,
    binary,
    call,
    cast,
    column,
    is_known,
    literal,
    real,
    text,
    try_cast,
    when,
    whole,
)
from discreet.asking.policy import LONGEST_TEXT, Type, Value
from discreet.asking.queries.evaluate import DATE_GRAMMAR, INTEGER_GRAMMAR, NUMBER_GRAMMAR, TIMESTAMP_GRAMMAR
from discreet.errors import InternalError

Built = exp.Expression
Typed = tuple[Built, Type | None]  # None is the type of a unit or of a whole number of ours
GRAMMARS: Mapping[Type, str] = {
    "integer": INTEGER_GRAMMAR,
    "number": NUMBER_GRAMMAR,
    "date": DATE_GRAMMAR,
    "timestamp": TIMESTAMP_GRAMMAR,
}


class Dialect(ABC):
    """What an engine's SQL must be able to say. The forms given here are those that most engines share."""

    printer: ClassVar[Any]  # sqlglot's name of the dialect, or a class of it

    def write(self, tree: exp.Expression) -> str:
        """Return the tree as text. It is used up: copying it first costs as much again."""
        return tree.sql(dialect=self.printer, copy=False)

    def materialized(self, *, wanted: bool) -> bool | None:
        """Return how a step that is used twice is marked: computed once (True), in place (False), not at
        all.
        """
        return wanted or None

    def let(self, value: Built, body: Callable[[Built], Built]) -> Built:
        """Return body(value), where the body copies the value each time it uses it."""
        return body(value)

    # Values.

    def literal(self, value: Value, kind: Type | None) -> Built:
        """Return a value of the data's types."""
        return literal(value, kind)

    def same(self, left: Built, right: Built, kind: Type | None) -> Built:
        """Return whether both are equal or both missing, in a form that the engine can join by."""
        return exp.paren(exp.NullSafeEQ(this=left, expression=right), copy=False)

    @abstractmethod
    def stored_type(self, physical: str) -> Type | None:
        """Return discreet's type for a column's stored type, or None if questions cannot use it."""

    @abstractmethod
    def read_column(self, name: str, physical: str, kind: Type) -> Built:
        """Return a stored column as its declared type: NaN, and what the type cannot hold, are missing
        values.
        """

    # Doubles.

    def no_nan(self, number: Built) -> Built:
        """Return the number, or NULL for NaN, which engines find equal to itself."""
        return exp.Nullif(this=number, expression=_nan())

    def arithmetic(self, kind: type[exp.Binary], left: Built, right: Built) -> Built:
        """Return +, -, * of doubles as IEEE 754 says, infinities included; NaN is missing."""
        return self.no_nan(binary(kind, _bare(left), _bare(right)))

    def divide(self, left: Built, right: Built) -> Built:
        """Return / of doubles as IEEE 754 says; by zero, and NaN, are missing."""
        return self.no_nan(binary(exp.Div, _bare(left), exp.Nullif(this=_bare(right), expression=real(0.0))))

    def steps(self, value: Built, factor: float) -> Built:
        """Return floor(value * factor + 1/2), for a factor that is a power of two; within 2^51."""
        return call("floor", binary(exp.Add, binary(exp.Mul, value, real(factor)), real(0.5)))

    def rounded(self, how: str, number: Built) -> Built:
        """Return floor, ceil, or round (halves away from zero) of a double, which stays one."""
        return call(how, number)

    # Whole numbers, in 64 bits or wide.

    def total(self, number: Built) -> Built:
        """Return the exact sum of an aggregate's whole numbers, which are BIGINT or HUGEINT."""
        return call("sum", number)

    def small_total(self, number: Built) -> Built:
        """Return the same, where it surely fits in 64 bits: as BIGINT."""
        return cast(self.total(number), "BIGINT")

    def quotient(self, left: Built, right: Built) -> Built:
        """Return the quotient towards zero; both HUGEINT, the divisor not zero."""
        return binary(exp.IntDiv, left, right)

    def small_quotient(self, left: Built, right: Built) -> Built:
        """Return the same of two BIGINT, neither negative, as BIGINT."""
        return cast(self.quotient(cast(left, "HUGEINT"), cast(right, "HUGEINT")), "BIGINT")

    @abstractmethod
    def narrow(self, wide: Built) -> Built:
        """Return a HUGEINT as BIGINT, or NULL where it does not fit."""

    @abstractmethod
    def nearest_whole(self, number: Built) -> Built:
        """Return the BIGINT nearest to a double, halves to even; NULL where there is none."""

    def widened(self, whole_number: Built) -> Built:
        """Return a HUGEINT as a double, rounded once: engines cast it in two parts, but read its text
        well.
        """
        return cast(cast(whole_number, "VARCHAR"), "DOUBLE")

    def nth_smallest(self, number: Built, count: int) -> Built | None:
        """Return an aggregate: the count-th smallest; None where the engine is better off numbering rows."""
        return call("min", number) if count == 1 else None

    # Texts.

    @abstractmethod
    def read_text(self, value: Built, kind: Type) -> Built:
        """Return a text as another type, by the grammars in `discreet.asking.queries.evaluate`."""

    def to_text(self, value: Built, kind: Type | None) -> Built:
        """Return a whole number, truth value or date as text."""
        return cast(value, "VARCHAR")

    def cut(self, value: Built) -> Built:
        """Return the beginning of a stored text, so that no value takes long to work on.

        Whether it is short is told by its bytes, which engines know without reading them.
        """
        beginning = self.substring(value.copy(), whole(1), whole(LONGEST_TEXT))
        is_long = binary(exp.GT, self.bytes_of(value.copy()), whole(LONGEST_TEXT))
        return when((is_long, beginning), otherwise=value)

    def bytes_of(self, value: Built) -> Built:
        """Return how many bytes a text has."""
        return call("octet_length", value)

    def like(self, value: Built, pattern: str) -> Built:
        """Return LIKE, in which a backslash is a plain character."""
        return binary(exp.Like, value, text(pattern))

    def length(self, value: Built) -> Built:
        """Return the number of code points."""
        return call("length", value)

    def substring(self, value: Built, *places: Built) -> Built:
        """Return the text from a position on, for a number of code points."""
        return call("substring", value, *places)

    def concat(self, parts: list[Built]) -> Built:
        """Return texts one after the other; missing where one is."""
        joined = parts[0]
        for part in parts[1:]:
            joined = binary(exp.DPipe, joined, part)
        return joined

    def trim(self, sides: str, value: Built) -> Built:
        """Return the text without the spaces at its ends: BTRIM, LTRIM or RTRIM."""
        return call(sides, value, text(" "))

    def translate(self, value: Built, before: str, after: str) -> Built:
        """Return each character of `before` replaced by its fellow."""
        return call("translate", value, text(before), text(after))

    # Dates.

    def days_between(self, left: Built, right: Built) -> Built:
        """Return left - right, of dates, in days."""
        return cast(binary(exp.Sub, left, right), "BIGINT")

    def date_part(self, name: str, value: Built) -> Built:
        """Return a part of a date or timestamp as a whole number."""
        return cast(call("date_part", text(name), value), "BIGINT")

    def date_trunc(self, unit: str, value: Built, kind: Type) -> Built:
        """Return the first moment of the unit, as the type it was."""
        return cast(call("date_trunc", text(unit), value), SQL_TYPES[kind])

    # Hashes: unsigned 32-bit numbers as BIGINT.

    @abstractmethod
    def fast_hash(self, salt: int, values: list[Typed]) -> Built:
        """Return of the salt and the values, by whatever the engine does best.

        Where an engine combines the hashes of values by a sum or an exclusive or, which would prefer some
        of them, the whole is hashed once more.
        """

    @abstractmethod
    def md5_hash(self, canonical: Built) -> Built:
        """Return the first 32 bits of md5 of a text in UTF-8."""

    @abstractmethod
    def microseconds(self, moment: Built) -> Built:
        """Return a timestamp as BIGINT: microseconds since 1970."""


class TryCasting(Dialect):
    """For engines with TRY_CAST, which gives NULL where a cast fails."""

    integers: ClassVar[tuple[str, ...]]  # the stored types, in capitals, that 64 bits hold

    def small_quotient(self, left: Built, right: Built) -> Built:
        """Return the quotient of two BIGINT, neither negative, as BIGINT."""
        return binary(exp.IntDiv, left, right)

    def matches(self, value: Built, grammar: str) -> Built:
        """Return whether a whole text is of a grammar."""
        return call("regexp_full_match", value, text(grammar))

    def read_column(self, name: str, physical: str, kind: Type) -> Built:
        """Return a stored column as its declared type: NaN, and what the type cannot hold, are missing
        values.
        """
        stored, physical, sql = column(name), physical.upper(), SQL_TYPES[kind]
        if kind == "integer":
            return cast(stored, sql) if physical in self.integers else try_cast(stored, sql)
        if kind == "number":
            number = stored if physical == sql else cast(stored, sql)
            return self.no_nan(number) if physical in ("FLOAT", "DOUBLE") else number
        if kind in ("date", "timestamp"):
            return in_calendar(stored if physical == sql else try_cast(stored, sql), sql)
        return stored if physical == sql else cast(stored, sql)

    def narrow(self, wide: Built) -> Built:
        """Return a HUGEINT as BIGINT, or NULL where it does not fit."""
        return try_cast(wide, "BIGINT")

    def read_text(self, value: Built, kind: Type) -> Built:
        """Return a text as another type, by the grammars in `discreet.asking.queries.evaluate`."""
        read = try_cast(value, SQL_TYPES[kind])
        if kind == "number":
            read = without(read, "inf", "-inf")
        if kind in ("date", "timestamp"):
            read = in_calendar(read, SQL_TYPES[kind])
        return when((self.matches(value.copy(), GRAMMARS[kind]), read))


def in_calendar(value: Built, kind: str) -> Built:
    """Return a date or timestamp in the years 1 to 9999, else NULL."""
    last = "9999-12-31" if kind == "DATE" else "9999-12-31 23:59:59.999999"
    first = "0001-01-01" if kind == "DATE" else "0001-01-01 00:00:00"
    after = binary(exp.GTE, value.copy(), cast(text(first), kind))
    inside = binary(exp.And, after, binary(exp.LTE, value.copy(), cast(text(last), kind)))
    return when((inside, value))


def without(number: Built, *ends: str) -> Built:
    """Return a double, missing where it is one of these."""
    for end in ends:
        number = exp.Nullif(this=number, expression=cast(text(end), "DOUBLE"))
    return number


# What a column may be declared as, in addition to its stored type: conversions that keep identities apart.
MAY_BE_DECLARED: Mapping[Type, tuple[Type, ...]] = {
    "integer": ("integer", "number", "text"),
    "number": ("number",),
    "text": ("text",),
    "boolean": ("boolean", "text"),
    "date": ("date", "timestamp", "text"),
    "timestamp": ("timestamp",),
}


def _nan() -> Built:
    return cast(text("nan"), "DOUBLE")


def _bare(number: Built) -> Built:
    """Return a double that may be NaN, as an operand: the result is then NaN, and missing, too.

    An engine computes what NULLIF is of twice, so one around each operation would double the work with each.
    """
    return number.this if isinstance(number, exp.Nullif) and number.expression == _nan() else number


HASHES = ("fast", "md5")


def hash_of(dialect: Dialect, hashing: str, salt: int, values: list[Typed]) -> exp.Expression:
    """Return the first 32 bits of the hash of salt and values, as a whole number >= 0 (BIGINT)."""
    copied = [(value.copy(), kind) for value, kind in values]
    if hashing == "fast":
        return dialect.fast_hash(salt, copied)
    if hashing != "md5":
        raise InternalError("the order's hash must be fast or md5")
    parts: list[exp.Expression] = [text(str(salt))]
    for value, kind in copied:
        parts.extend((text(SEPARATOR), _canonical(dialect, value, kind)))
    return dialect.md5_hash(call("concat", *parts))


def _canonical(dialect: Dialect, value: exp.Expression, kind: Type | None) -> exp.Expression:
    if kind == "number":
        shown: exp.Expression = text("#")
    elif kind == "timestamp":
        shown = cast(dialect.microseconds(value), "VARCHAR")
    else:
        shown = dialect.to_text(value, kind)
    return when((is_known(value.copy()), shown), otherwise=text("-"))
