"""Spark's dialect: decimals for wide whole numbers, casts that give NULL, a floor that stays a double."""

import itertools
import re
from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.generators.spark import SparkGenerator

from discreet.asking.engines.sql import (
    between,
    binary,
    call,
    cast,
    column,
    every,
    real,
    text,
    try_cast,
    when,
    whole,
)
from discreet.asking.engines.sql.dialect import Built, TryCasting, Typed
from discreet.asking.policy import LONGEST_TEXT, Type
from discreet.asking.queries.evaluate import like_grammar

INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
PLAIN_TYPES: dict[str, Type] = {
    **{name.lower(): "integer" for name in INTEGERS},
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "timestamp"),
    "string": "text",
    "boolean": "boolean",
    "date": "date",
}
WHOLE_DOUBLES = 2.0**53  # from here on, every double is a whole number
BEYOND = 2.0**63  # the first double above 64 bits
DIGITS = 10**6  # of a quotient of decimals, 32 digits of 38 are before the point
LONGEST = 2**31 - 1  # a position in a text is an INT
MOST_COPIED = 60  # nodes of a value that is written again wherever it is used
PARTS = {"isodow": "dow_iso"}
SUFFIXES = {exp.DataType.Type.BIGINT: "L", exp.DataType.Type.DOUBLE: "D"}
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]?\d+)?")


def _write_cast(writer: SparkGenerator, node: exp.Cast) -> str:
    """Return a number of ours as a short literal: a first statement is read by a parser that is not warm
    yet.
    """
    suffix = SUFFIXES.get(node.to.this)
    if suffix is not None and isinstance(node.this, exp.Literal) and NUMBER.fullmatch(node.this.name):
        return node.this.name + suffix
    return writer.cast_sql(node)


class Writer(SparkGenerator):
    """Wide whole numbers are decimals; a TRY_CAST stays one."""

    TYPE_MAPPING: ClassVar[dict[Any, str]] = {
        **SparkGenerator.TYPE_MAPPING,
        exp.DataType.Type.INT128: "DECIMAL(38, 0)",
    }
    TRANSFORMS: ClassVar[dict[Any, Any]] = {
        **SparkGenerator.TRANSFORMS,
        exp.Cast: _write_cast,
        exp.TryCast: lambda self, node: self.cast_sql(node, safe_prefix="TRY_"),
    }


class Printer(Spark):
    """Spark's SQL as sqlglot prints it, with our function names."""

    Generator = Writer


class SparkDialect(TryCasting):
    """Spark 4 in ANSI mode, its session in UTC: what would overflow fails, so nothing here may overflow.

    >>> SparkDialect().stored_type("decimal(20,0)"), SparkDialect().stored_type("string collate UNICODE_CI")
    ('integer', None)
    """

    printer = Printer
    integers = INTEGERS

    def __init__(self) -> None:
        self._names = itertools.count()  # a lambda's name hides none of another

    def let(self, value: Built, body: Callable[[Built], Built]) -> Built:
        """The element of an array of one, transformed: Spark would compile each copy, and run out of memory.
        Lambdas are not compiled, so short values are copied."""
        if sum(1 for _ in value.walk()) <= MOST_COPIED:
            return body(value)
        name = exp.to_identifier(f"let{next(self._names)}", quoted=True)
        changed = exp.Lambda(this=body(exp.column(name.copy())), expressions=[name])
        return call("element_at", call("transform", call("array", value), changed), exp.Literal.number(1))

    def write(self, tree: exp.Expression) -> str:
        """Return the tree as text, without parentheses that say nothing: Spark's parser tries each of them
        twice.
        """
        for node in list(tree.find_all(exp.Paren)):
            if isinstance(node.parent, exp.Func) and not isinstance(node.parent, exp.Binary):
                node.replace(node.this)
        return super().write(tree)

    def materialized(self, *, wanted: bool) -> bool | None:
        """Return None: Spark has no syntax for it; it finds equal exchanges by itself."""
        return None

    def stored_type(self, physical: str) -> Type | None:
        """Return the type that a column stored so has here; None for what questions cannot be about.

        A text under a collation of its own would make two people one.
        """
        if physical.startswith("decimal("):
            return "integer" if physical.endswith(",0)") else "number"
        return PLAIN_TYPES.get(physical)

    def read_column(self, name: str, physical: str, kind: Type) -> Built:
        """Read as others do; but Spark reads any bytes as text, which Python could not: those are missing."""
        if physical == "string":
            return call("try_validate_utf8", column(name))
        return super().read_column(name, physical, kind)

    def rounded(self, how: str, number: Built) -> Built:
        """Return the rounded number; floor and ceil give 64-bit whole numbers in Spark: larger doubles are
        whole already.
        """
        if how == "round":
            return call("round", number)
        inside = binary(exp.LT, call("abs", number), real(WHOLE_DOUBLES))
        return when((inside, cast(call(how, number.copy()), "DOUBLE")), otherwise=number.copy())

    def total(self, number: Built) -> Built:
        """Return the sum of decimals: a sum of 64-bit numbers stays one in Spark, and would overflow."""
        return call("sum", cast(number, "HUGEINT"))

    def small_total(self, number: Built) -> Built:
        """Return a sum that surely fits in 64 bits."""
        return call("sum", cast(number, "BIGINT"))

    def quotient(self, left: Built, right: Built) -> Built:
        """Return the quotient towards zero. Spark's DIV gives 64 bits, wrapped around; its / keeps 32
        digits and 6.

        In 64 bits if both numbers are. Else a = 10⁶h + l, and a ÷ b = 10⁶(h ÷ b) + (10⁶(h mod b) + l) ÷ b,
        where every ÷ on the right is of a multiple, below 10³².
        """
        ends = whole(1 - 2**63, "HUGEINT"), whole(2**63 - 1, "HUGEINT")
        narrow = every([between(each.copy(), *(end.copy() for end in ends)) for each in (left, right)])
        quick = binary(exp.IntDiv, try_cast(left.copy(), "BIGINT"), try_cast(right.copy(), "BIGINT"))
        size = whole(DIGITS, "HUGEINT")
        low = binary(exp.Mod, left.copy(), size)
        high = _multiple(binary(exp.Sub, left.copy(), low), size)
        rest = binary(
            exp.Add, binary(exp.Mul, binary(exp.Mod, high.copy(), right.copy()), size.copy()), low.copy()
        )
        slow = binary(exp.Add, binary(exp.Mul, _divided(high, right), size.copy()), _divided(rest, right))
        return when((narrow, cast(quick, "HUGEINT")), otherwise=slow)

    def nearest_whole(self, number: Built) -> Built:
        """Return the BIGINT nearest to a double, halves to even; NULL where there is none (casts take 2⁶³
        down).
        """
        above = binary(exp.GTE, number, real(-BEYOND))
        inside = every([above, binary(exp.LT, number.copy(), real(BEYOND))])
        return when((inside, cast(call("rint", number.copy()), "BIGINT")))

    def matches(self, value: Built, grammar: str) -> Built:
        """Return whether a whole text is of a grammar; $ would pass a last line break."""
        return call("rlike", value, text(rf"\A(?:{grammar})\z"))

    def cut(self, value: Built) -> Built:
        """Return the beginning of a stored text, which is checked as UTF-8 once."""
        return self.substring(value, whole(1), whole(LONGEST_TEXT))

    def like(self, value: Built, pattern: str) -> Built:
        """Return LIKE as an expression that does not go back: Spark's own takes as long as the text to the
        power of how many % there are."""
        return self.matches(value, f"(?s){like_grammar(pattern)}")

    def substring(self, value: Built, *places: Built) -> Built:
        """Return the text from a position on, for a number of code points."""
        return call(
            "substring", value, *(cast(call("least", each, whole(LONGEST)), "INT") for each in places)
        )

    def trim(self, sides: str, value: Built) -> Built:
        """Return the text without the spaces at its ends, which Spark means where no others are named."""
        return call("trim" if sides == "btrim" else sides, value)

    def days_between(self, left: Built, right: Built) -> Built:
        """Return left - right, of dates, in days."""
        return cast(call("datediff", left, right), "BIGINT")

    def date_part(self, name: str, value: Built) -> Built:
        """Return a part of a date or timestamp as a whole number: weeks begin with 1 here, seconds have
        parts.
        """
        if name == "second":
            return cast(call("second", value), "BIGINT")
        part = cast(call("date_part", text(PARTS.get(name, name)), value), "BIGINT")
        return binary(exp.Sub, part, whole(1)) if name == "dow" else part

    def fast_hash(self, salt: int, values: list[Typed]) -> Built:
        """Return the upper half of XXH64."""
        hashed = call("xxhash64", whole(salt), *(value for value, _ in values))
        return call("shiftrightunsigned", hashed, exp.Literal.number(32))

    def md5_hash(self, canonical: Built) -> Built:
        """Return the first 32 bits of md5 of a text in UTF-8."""
        one, eight, ten, sixteen = (exp.Literal.number(each) for each in (1, 8, 10, 16))
        return cast(
            call("conv", call("substring", call("md5", canonical), one, eight), sixteen, ten), "BIGINT"
        )

    def microseconds(self, moment: Built) -> Built:
        """Return a timestamp as BIGINT: microseconds since 1970."""
        return call("unix_micros", cast(moment, "TIMESTAMPTZ"))


def _multiple(number: Built, divisor: Built) -> Built:
    """Return number / divisor, for a multiple of it."""
    return cast(binary(exp.Div, number, divisor.copy()), "HUGEINT")


def _divided(number: Built, divisor: Built) -> Built:
    """Return number / divisor towards zero, below 10³²."""
    rest = binary(exp.Mod, number.copy(), divisor.copy())
    return _multiple(binary(exp.Sub, number.copy(), rest), divisor)
