"""The six types a column may have, and the values that stand for them in a policy.

A missing value is None everywhere. An integer is a 64-bit whole number, a number a double, a text any string,
a timestamp has microseconds and no time zone; dates and timestamps lie in the years 1 to 9999.
"""

import datetime
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from discreet.errors import InvalidParameter
from discreet.numerics import exact

Type: TypeAlias = Literal["integer", "number", "text", "boolean", "date", "timestamp"]
Value: TypeAlias = bool | int | float | str | datetime.date | datetime.datetime | None
Bound: TypeAlias = Fraction | datetime.date | datetime.datetime

TYPES: tuple[Type, ...] = get_args(Type)
SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**63 - 1
LARGEST_NUMBER = (
    Fraction(10) ** 300
)  # of a bound: far enough from the largest double that steps and sums stay finite


_MEANT: dict[str, Type] = {
    "int": "integer",
    "float": "number",
    "double": "number",
    "str": "text",
    "string": "text",
    "bool": "boolean",
    "datetime": "timestamp",
}


def check_type(value: object, *, name: str) -> Type:
    """The type's name, or an error that lists the six."""
    for known in TYPES:
        if value == known:
            return known
    meant = f" Write {_MEANT[value]!r}." if isinstance(value, str) and value in _MEANT else ""
    raise InvalidParameter(f"{name} must be one of {', '.join(TYPES)}, got {value!r}.{meant}", parameter=name)


def type_of(value: Value) -> Type | None:
    """The type a plain value has by itself; None for a missing one.

    >>> type_of(True), type_of(3), type_of(3.0), type_of("x")
    ('boolean', 'integer', 'number', 'text')
    """
    kinds: tuple[tuple[type, Type], ...] = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "text"),
        (datetime.datetime, "timestamp"),
        (datetime.date, "date"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), None)


def read_value(value: object, kind: Type, *, name: str) -> Value:
    """A key that the owner declares, as a value of the column's type.

    >>> read_value("2026-11-15", "date", name="key")
    datetime.date(2026, 11, 15)
    """
    if kind in ("date", "timestamp"):
        return _read_time(value, kind, name=name)
    if kind == "text" and isinstance(value, str):
        return value
    if kind == "boolean" and isinstance(value, bool):
        return value
    if kind in ("integer", "number") and not isinstance(value, str):
        number = exact(value, name=name)  # type: ignore[arg-type]  # exact() refuses what is not a number
        if kind == "number":
            return float(number)
        if number.denominator == 1 and SMALLEST_INTEGER <= number <= LARGEST_INTEGER:
            return int(number)
    raise InvalidParameter(f"{name} must be of type {kind}, got {value!r}.", parameter=name)


def read_bound(value: object, kind: Type, *, name: str) -> Bound:
    """One end of a column's bounds: an exact number, or a date."""
    if kind in ("date", "timestamp"):
        return _read_time(value, kind, name=name)
    if kind not in ("integer", "number"):
        raise InvalidParameter(
            f"{name} must belong to a column of numbers or dates, got a {kind} column.", parameter=name
        )
    number = exact(value, name=name)  # type: ignore[arg-type]  # exact() refuses what is not a number
    if kind == "integer" and not (number.denominator == 1 and SMALLEST_INTEGER <= number <= LARGEST_INTEGER):
        raise InvalidParameter(f"{name} must be a whole number of 64 bits, got {value}.", parameter=name)
    if abs(number) > LARGEST_NUMBER:
        raise InvalidParameter(f"{name} must lie within ±10^300, got a larger number.", parameter=name)
    return number


def _read_time(value: object, kind: Type, *, name: str) -> datetime.date | datetime.datetime:
    reader = datetime.datetime if kind == "timestamp" else datetime.date
    try:
        read = reader.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        read = None
    if kind == "timestamp" and isinstance(read, datetime.datetime) and read.tzinfo is None:
        return read
    if kind == "date" and isinstance(read, datetime.date) and not isinstance(read, datetime.datetime):
        return read
    raise InvalidParameter(f"{name} must be a {kind} as 2026-11-15, got {value!r}.", parameter=name)


def spell(value: Value | Bound) -> str | int | bool | None:
    """A value in JSON, exactly: numbers that are not whole as a fraction, dates as ISO text.

    >>> spell(Fraction(1, 3)), spell(2.5), spell(None)
    ('1/3', '5/2', None)
    """
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float):
        return str(Fraction(value))
    return str(value) if isinstance(value, Fraction) else value
