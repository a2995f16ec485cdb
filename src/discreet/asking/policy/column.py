"""A column as its owner declares it: type, bounds, public keys, whether values may be missing."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import exact

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


# How a date may be written in a text file, where it is declared by such an example; otherwise as ISO says.
DATES = ("31/12/2024", "12/31/2024", "31.12.2024", "31-12-2024", "12-31-2024", "2024/12/31", "2024.12.31",
         "20241231")  # fmt: skip
WRITTEN: Mapping[Type, tuple[str, ...]] = {
    "date": DATES,
    "timestamp": tuple(f"{day} {time}" for day in DATES for time in ("23:58", "23:58:59")),
}


def _read_written(value: object, where: str) -> tuple[object, str | None]:
    """Return a declared type, and the example of how its values are written: "date 31/12/2024" has both."""
    kind, _, written = value.partition(" ") if isinstance(value, str) else (value, "", "")
    if not written:
        return value, None
    known = WRITTEN.get(check_type(kind, name=f"type of {where}"), ())
    if written not in known:
        raise InvalidParameter(
            f'type of {where} must show the last day of 2024 as the file writes it, as "date 31/12/2024" '
            f'or "timestamp 31/12/2024 23:58", got {str(value)[:60]!r}. Days may be written '
            f"{', '.join(DATES)}.",
            parameter="type",
        )
    return kind, written


def check_type(value: object, *, name: str) -> Type:
    """Return the type's name, or an error that lists the six."""
    for known in TYPES:
        if value == known:
            return known
    meant = f" Write {_MEANT[value]!r}." if isinstance(value, str) and value in _MEANT else ""
    raise InvalidParameter(f"{name} must be one of {', '.join(TYPES)}, got {value!r}.{meant}", parameter=name)


def type_of(value: Value) -> Type | None:
    """Return the type a plain value has by itself; None for a missing one.

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
    """Return a key that the owner declares, as a value of the column's type.

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
    """Return one end of a column's bounds: an exact number, or a date."""
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
        raise InvalidParameter(f"{name} must be within ±10^300, got a larger number.", parameter=name)
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
    """Return a value in JSON, exactly: numbers that are not whole as a fraction, dates as ISO text.

    >>> spell(Fraction(1, 3)), spell(2.5), spell(None)
    ('1/3', '5/2', None)
    """
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float):
        return str(Fraction(value))
    return str(value) if isinstance(value, Fraction) else value


MOST_KEYS = 100_000
LONGEST_TEXT = 1000  # letters that are read of a stored text: what it costs to read one has an end


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of a table; `bounds` and `keys` are promises of the owner, never read from the data.

    >>> Column.read("debt", bounds=(0, 10_000_000)).type
    'number'
    """

    name: str
    type: Type = "text"
    bounds: tuple[Bound, Bound] | None = None
    keys: tuple[Value, ...] | None = None
    nullable: bool = True
    missing: tuple[str, ...] = ()  # texts that mean "no value" in a CSV file, in addition to the empty field
    written: str | None = None  # an example of how a text file writes its dates, of `WRITTEN`
    declared: bool = True  # whether the owner named the type; otherwise a schema may still name it

    @classmethod
    def read(
        cls,
        name: str,
        *,
        type: object = None,  # noqa: A002  # named as in the policy file
        bounds: object = None,
        keys: object = None,
        nullable: object = True,
        missing: object = (),
    ) -> "Column":
        """Return a column from the settings of a policy; what is not said of the type follows from bounds and
        keys.
        """
        where = f"column {name!r}"
        type, written = _read_written(type, where)  # noqa: A001
        kind = check_type(type, name=f"type of {where}") if type is not None else _guess(bounds, keys)
        if not isinstance(nullable, bool):
            raise InvalidParameter(f"nullable of {where} must be true or false, got {nullable!r}.")
        return cls(
            name=name,
            type=kind,
            bounds=None if bounds is None else _read_bounds(bounds, kind, where),
            keys=None if keys is None else _read_keys(keys, kind, where),
            nullable=nullable,
            missing=_read_missing(missing, where),
            written=written,
            declared=type is not None or keys is not None,
        )

    def with_schema_type(self, kind: Type) -> "Column":
        """Return the same promises on the type that the data's schema names, unless the owner named one."""
        if self.declared or kind == self.type:
            return self
        promises: dict[str, object] = {"bounds": self.bounds, "keys": self.keys}
        return Column.read(self.name, type=kind, nullable=self.nullable, missing=self.missing, **promises)

    def to_json(self) -> dict[str, object]:
        """Return all that matters of the column, exactly."""
        return {
            "type": self.type,
            "bounds": None if self.bounds is None else [spell(end) for end in self.bounds],
            "keys": None if self.keys is None else [spell(key) for key in self.keys],
            "nullable": self.nullable,
            "missing": list(self.missing),
            **({} if self.written is None else {"written": self.written}),
        }

    @classmethod
    def from_json(cls, name: str, facts: Mapping[str, Any]) -> "Column":
        """Return the column that `to_json` wrote."""
        bounds, keys = facts["bounds"], facts["keys"]
        if facts["type"] in ("integer", "number"):
            bounds = bounds and [Fraction(end) for end in bounds]
            keys = keys and [None if key is None else Fraction(key) for key in keys]
        promises = {part: facts[part] for part in ("nullable", "missing")}
        kind = " ".join([facts["type"], *([facts["written"]] if "written" in facts else [])])
        return cls.read(name, type=kind, bounds=bounds, keys=keys, **promises)


def read_columns(
    *, types: Mapping[str, object], bounds: Mapping[str, object], keys: Mapping[str, object]
) -> tuple[Column, ...]:
    """Return columns from three mappings of promises by column name."""
    names = dict.fromkeys([*types, *bounds, *keys])
    return tuple(
        Column.read(name, type=types.get(name), bounds=bounds.get(name), keys=keys.get(name))
        for name in names
    )


def _guess(bounds: object, keys: object) -> Type:
    """Guess a type: keys say their own; bounds alone say a number (1.56 may be a debt though 0 and 100 are
    whole).
    """
    if isinstance(keys, Iterable) and not isinstance(keys, str):
        kinds = {type_of(key) for key in keys}
        if kinds <= {"integer", "number"} and kinds:
            return "number" if "number" in kinds else "integer"
        return kinds.pop() or "text" if len(kinds) == 1 else "text"
    if isinstance(bounds, list | tuple) and bounds:
        if isinstance(bounds[0], str):  # a time as it is written: "2026-11-15", "2026-11-15 08:00:00"
            return "date" if len(bounds[0]) <= len("2026-11-15") else "timestamp"
        kind = type_of(bounds[0])
        return kind if kind in ("date", "timestamp") else "number"
    return "text"


def _read_bounds(value: object, kind: Type, where: str) -> tuple[Bound, Bound]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidParameter(f"bounds of {where} must be two ends (lower, upper), got {value!r}.")
    if kind == "timestamp":  # days, written before the type was known, are whole
        value = [_as_moment(end, time) for end, time in zip(value, (_FIRST, _LAST), strict=True)]
    lower, upper = (read_bound(end, kind, name=f"a bound of {where}") for end in value)
    if not lower < upper:  # type: ignore[operator]  # both ends were read as the same type
        raise InvalidParameter(f"bounds of {where} must have lower < upper, got {value[0]} and {value[1]}.")
    return lower, upper


_FIRST, _LAST = datetime.time.min, datetime.time.max


def _as_moment(end: object, time: datetime.time) -> object:
    is_day = isinstance(end, datetime.date) and not isinstance(end, datetime.datetime)
    return datetime.datetime.combine(end, time) if is_day else end  # type: ignore[arg-type]


def _read_keys(value: object, kind: Type, where: str) -> tuple[Value, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidParameter(f"keys of {where} must be a list, got {value!r}.")
    keys = tuple(read_value(key, kind, name=f"a key of {where}") for key in value)
    if not 0 < len(keys) <= MOST_KEYS:
        raise InvalidParameter(f"keys of {where} must be 1 to {MOST_KEYS:,} values, got {len(keys):,}.")
    if any(isinstance(key, str) and len(key) > LONGEST_TEXT for key in keys):
        raise InvalidParameter(
            f"keys of {where} must have at most {LONGEST_TEXT:,} letters: no more of a text is read."
        )
    if len(set(keys)) != len(keys):
        raise InvalidParameter(f"keys of {where} must differ, got {_twice(keys)!r} twice.")
    return keys


def _twice(keys: tuple[Value, ...]) -> Value:
    return next(key for index, key in enumerate(keys) if key in keys[:index])


def _read_missing(value: object, where: str) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return tuple(sorted(set(value)))
    raise InvalidParameter(f"missing of {where} must be a list of strings, got {value!r}.")
