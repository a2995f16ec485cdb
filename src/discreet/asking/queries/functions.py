"""The closed list of row functions: the types each takes and the type it gives.

Each is total: no input makes it fail, an impossible result is NULL. Its meaning is in `evaluate`, its range
in `ranges`, its SQL in `text`; each engine builds its own form and is tested against `evaluate`.
"""

from dataclasses import dataclass
from typing import Literal as OneOf, TypeAlias

from discreet.asking.policy import Type

Shape: TypeAlias = OneOf[
    "arithmetic",  # integers give an integer, else both become numbers and give a number
    "numbers",  # both become numbers
    "integers",  # integers only
    "compared",  # two of one type, or numbers
    "booleans",  # booleans only
    "numeric",  # one integer or number, same type out
    "real",  # one number out of an integer or a number
    "texts",  # texts only
    "times",  # a date or a timestamp
    "clock",  # a timestamp
    "anything",
    "listed",  # a value and literals of its type
    "same",  # all of one type, which it gives
    "ordered",  # the same, of numbers or times
    "joined",  # texts, and what has a text
]


@dataclass(frozen=True)
class Function:
    """A row function: what and how many arguments it takes, and what it gives (None: as its arguments)."""

    shape: Shape
    gives: Type | None
    least: int
    most: int


def _of(shape: Shape, gives: Type | None, least: int, most: int | None = None) -> Function:
    return Function(shape, gives, least, least if most is None else most)


MOST_LISTED = 1000  # values in an IN list
MOST_WRITTEN = 100  # characters of what REPLACE and SPLIT_PART look for, and parts
MOST_PARTS = 4  # % in a pattern of LIKE
MOST_ARGUMENTS = 50  # of AND, OR, COALESCE written in one row

FUNCTIONS: dict[str, Function] = {
    "add": _of("arithmetic", None, 2),
    "subtract": _of("arithmetic", None, 2),  # also the days between two dates
    "multiply": _of("arithmetic", None, 2),
    "divide": _of("numbers", "number", 2),  # by zero: NULL
    "divide_whole": _of("integers", "integer", 2),  # towards zero; by zero: NULL
    "modulo": _of("integers", "integer", 2),  # the sign of the first; by zero: NULL
    "negate": _of("numeric", None, 1),
    "abs": _of("numeric", None, 1),
    "sign": _of("numeric", "integer", 1),
    "floor": _of("numeric", None, 1),
    "ceil": _of("numeric", None, 1),
    "round": _of("numeric", None, 1),  # halves away from zero
    "equal": _of("compared", "boolean", 2),
    "unequal": _of("compared", "boolean", 2),
    "less": _of("compared", "boolean", 2),
    "at_most": _of("compared", "boolean", 2),
    "greater": _of("compared", "boolean", 2),
    "at_least": _of("compared", "boolean", 2),
    "and": _of("booleans", "boolean", 2),
    "or": _of("booleans", "boolean", 2),
    "not": _of("booleans", "boolean", 1),
    "is_null": _of("anything", "boolean", 1),
    "in": _of("listed", "boolean", 2, MOST_LISTED + 1),
    "like": _of("texts", "boolean", 2),
    "coalesce": _of("same", None, 2, MOST_ARGUMENTS),
    "lower": _of("texts", "text", 1),  # the 26 letters A-Z only
    "upper": _of("texts", "text", 1),
    "length": _of("texts", "integer", 1),  # in code points
    "substr": _of("anything", "text", 2, 3),
    "concat": _of("joined", "text", 2, MOST_ARGUMENTS),
    "trim": _of("texts", "text", 1),  # the space only
    "ltrim": _of("texts", "text", 1),
    "rtrim": _of("texts", "text", 1),
    "replace": _of("anything", "text", 3),
    "split_part": _of("anything", "text", 3),
    "least": _of("ordered", None, 2, MOST_ARGUMENTS),  # of those that are not missing
    "greatest": _of("ordered", None, 2, MOST_ARGUMENTS),
    "sqrt": _of("numbers", "number", 1),  # below zero: NULL
    "width_bucket": _of("anything", "integer", 4),
    "to_integer": _of("anything", "integer", 1),
    "to_number": _of("anything", "number", 1),
    "to_text": _of("anything", "text", 1),
    "to_boolean": _of("anything", "boolean", 1),
    "to_date": _of("anything", "date", 1),
    "to_timestamp": _of("anything", "timestamp", 1),
    "year": _of("times", "integer", 1),
    "quarter": _of("times", "integer", 1),
    "month": _of("times", "integer", 1),
    "day": _of("times", "integer", 1),
    "dow": _of("times", "integer", 1),  # Sunday is 0
    "isodow": _of("times", "integer", 1),  # Monday is 1
    "doy": _of("times", "integer", 1),
    "hour": _of("clock", "integer", 1),
    "minute": _of("clock", "integer", 1),
    "second": _of("clock", "integer", 1),
    "trunc_year": _of("times", None, 1),
    "trunc_quarter": _of("times", None, 1),
    "trunc_month": _of("times", None, 1),
    "trunc_week": _of("times", None, 1),  # Monday
    "trunc_day": _of("times", None, 1),
    "trunc_hour": _of("clock", None, 1),
    "trunc_minute": _of("clock", None, 1),
}

# What a released number may be put through, and no row: engines differ in the last digits of these.
AFTER = ("ln", "log10", "log2", "exp", "power")

# Which types a cast takes; text follows the grammars written in `evaluate`, and what they do not match is
# NULL.
CASTS: dict[str, tuple[Type, ...]] = {
    "to_integer": ("integer", "number", "text", "boolean"),
    "to_number": ("integer", "number", "text"),
    "to_text": ("text", "integer", "boolean", "date"),  # "concat" converts the same
    "to_boolean": ("boolean", "text"),
    "to_date": ("date", "timestamp", "text"),
    "to_timestamp": ("timestamp", "date", "text"),
}
