"""What one invented person's rows hold: as bad as a policy allows, and worse."""

import datetime
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias

from discreet.asking.policy import LARGEST_INTEGER, SMALLEST_INTEGER, Column, PublicTable, Table, Type, Value
from discreet.asking.queries import Literal, Query
from discreet.asking.queries.nodes import Node

# Values of a column that tend to break things: the ends of its domain, what lies beyond, what is
# missing.

_FIRST, _LAST = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)
_NOON = datetime.time(12, 30, 15, 250_000)
_DAYS = tuple(datetime.date(2020, month, 28) for month in (1, 2, 3, 7, 12))

# Inside the domain, of columns of which nothing is declared but the type.
_PLAIN: dict[Type, tuple[Value, ...]] = {
    "text": ("a", "B", "AB1", "5", "long enough"),
    "integer": (0, 1, 2, 7),
    "number": (0.0, 1.0, 2.5, 1000.25),
    "boolean": (True, False),
    "date": _DAYS,
    "timestamp": tuple(datetime.datetime.combine(day, _NOON) for day in _DAYS),
}
# What no declaration rules out: engines differ most here.
_ODD: dict[Type, tuple[Value, ...]] = {
    "text": ("", " a", "A", "é", "1e3", "NaN", "🦆"),
    "integer": (2**63 - 1, -(2**63), 2**53 + 1, -1),
    "number": (math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324, -0.0, 0.5),
    "boolean": (True, False),
    "date": (_FIRST, _LAST),
    "timestamp": (
        datetime.datetime.combine(_FIRST, datetime.time.min),
        datetime.datetime.combine(_LAST, datetime.time.max),
    ),
}


def plain_values(column: Column, literals: Iterable[Value] = ()) -> list[Value]:
    """Values inside the declared domain, the upper end first; with the constants that a question compares to.

    >>> plain_values(Column.read("age", type="integer", bounds=(0, 120)), [18, 500])
    [120, 0, 60, 18, 19, 17]
    """
    if column.keys is not None:
        return list(column.keys)
    if column.bounds is not None:
        found = [*_ends(column), *near(column.type, literals)]
        return _distinct([value for value in found if _inside(column, value)])
    return _distinct([*_PLAIN[column.type], *near(column.type, literals)])


def odd_values(column: Column, literals: Iterable[Value] = ()) -> list[Value]:
    """Values at and beyond every edge, missing ones among them, whatever was promised of the column."""
    found = [*plain_values(column, literals), *_ODD[column.type]]
    found += near(column.type, literals)
    low, high = column.bounds or (None, None)
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        beyond = (2 * low - high - 1, 2 * high - low + 1)
        found += [_number(column, each) for each in beyond if _fits(column.type, each)]
    return _distinct([*found, None])


def stranger(column: Column, number: int) -> Value:
    """A value that nobody else has, where the type has enough of them."""
    if column.type == "text":
        return f"only here {number}"
    plain = plain_values(column)
    if column.type in ("integer", "number") and column.bounds is None:
        return _number(column, Fraction(10**6 + number))
    return plain[number % len(plain)]


def literals_of(trees: Iterable[Query]) -> tuple[Value, ...]:
    """The constants in questions: rows on both sides of each comparison are worth having."""
    return tuple(_distinct([literal.value for tree in trees for literal in _literals(tree)]))


def _literals(node: object) -> Iterable[Literal]:
    if isinstance(node, Literal):
        yield node
    elif isinstance(node, Node):
        for part in vars(node).values():
            yield from _literals(part)
    elif isinstance(node, tuple):
        for part in node:
            yield from _literals(part)


def near(kind: Type, literals: Iterable[Value]) -> list[Value]:
    """Constants of this type, with their neighbours; a pattern also without its wildcards."""
    found: list[Value] = []
    for value in literals:
        if isinstance(value, bool) or value is None:
            continue
        if kind == "text" and isinstance(value, str):
            found += [value, value.replace("%", "").replace("_", "x"), value.strip("%") + "1"]
        elif kind in ("integer", "number") and isinstance(value, int | float):
            found += [_cast(kind, each) for each in (value, value + 1, value - 1) if _fits(kind, each)]
        elif kind in ("date", "timestamp"):
            found += _moments(kind, value)
    return found


def _fits(kind: Type, value: float | Fraction) -> bool:
    """Whether a column of that type can hold the number.

    >>> _fits("integer", 2**63 - 1), _fits("integer", 2**63), _fits("number", 2**63)
    (True, False, True)
    """
    number = Fraction(value)
    return abs(number) <= 10**308 if kind != "integer" else SMALLEST_INTEGER <= number <= LARGEST_INTEGER


def _moments(kind: Type, value: Value) -> list[Value]:
    """A date, also one written as text."""
    if isinstance(value, str):
        try:
            value = datetime.datetime.fromisoformat(value)
        except ValueError:
            return []
    if not isinstance(value, datetime.date):
        return []
    day = value.date() if isinstance(value, datetime.datetime) else value
    days = [day, *(day + datetime.timedelta(step) for step in (-1, 1) if _FIRST < day < _LAST)]
    if kind == "date":
        return list(days)
    return [datetime.datetime.combine(each, datetime.time.min) for each in days]


def _ends(column: Column) -> list[Value]:
    assert column.bounds is not None
    low, high = column.bounds
    if isinstance(low, Fraction) and isinstance(high, Fraction):
        return [_number(column, high), _number(column, low), _number(column, (low + high) / 2)]
    middle: Any = low + (high - low) / 2  # type: ignore[operator]  # two dates or two moments
    return [high, low, middle]


def _inside(column: Column, value: Any) -> bool:
    assert column.bounds is not None
    low, high = column.bounds
    return bool(low <= value <= high)


def _number(column: Column, value: Fraction) -> int | float:
    return round(value) if column.type == "integer" else float(value)


def _cast(kind: Type, value: float) -> int | float:
    return math.floor(value) if kind == "integer" else float(value)


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Each value once; 1, 1.0 and True differ, and NaN is one value."""
    return list({(type(value).__name__, repr(value)): value for value in values}.values())


Row: TypeAlias = dict[str, Value]
Write: TypeAlias = Callable[[Table], list[Row]]  # the rows of one person in a table

MOST_ROWS = 240  # of one person in one table; a report says how close that comes to the limits
LEAST_ROWS = 40  # enough to meet many combinations of values
EXTRA = 2  # rows and groups more than are allowed


@dataclass(frozen=True)
class Writer:
    """Rows for one person; `literals` are constants of questions, worth lying close to."""

    literals: tuple[Value, ...] = ()

    def plain(self, table: Table) -> list[Row]:
        """Three ordinary rows. The last of several public keys stays free for somebody else."""
        return [
            {column.name: _cycle(self._taken(column), place) for column in table.columns}
            for place in range(3)
        ]

    def _taken(self, column: Column) -> list[Value]:
        values = self._plain(column)
        return values[:-1] if column.keys is not None and len(values) > 1 else values

    def heaps(self, end: int) -> Write:
        """More rows than allowed in more groups than allowed, every bounded number at one end (0: upper);
        the two ends in different groups, as far as there are enough."""

        def write(table: Table) -> list[Row]:
            many = table.max_groups + EXTRA
            heaps = [self._heap(table, end, number) for number in range(end * many, (end + 1) * many)]
            height = table.max_rows + EXTRA
            return list(islice((dict(heap) for _ in range(height) for heap in heaps), MOST_ROWS))

        return write

    def _heap(self, table: Table, end: int, number: int) -> Row:
        """The row that heap `number` repeats: the last keys first, which nobody plain has."""
        return {
            column.name: _cycle(self._plain(column), -1 - number)
            if column.bounds is None or column.keys is not None
            else self._plain(column)[end]
            for column in table.columns
        }

    def equal(self, table: Table) -> list[Row]:
        """More rows than allowed in one group, all alike."""
        return [self._heap(table, 0, 0) for _ in range(min(table.max_rows + EXTRA, MOST_ROWS))]

    def one(self, table: Table) -> list[Row]:
        """One row, alone in its group."""
        return [self._heap(table, 0, 0)]

    def mixed(self, table: Table) -> list[Row]:
        """Ordinary values in many combinations."""
        return [self._mix(table, place, self._plain) for place in range(_many(table))]

    def odd(self, table: Table) -> list[Row]:
        """Missing and extreme values in many combinations."""
        return [self._mix(table, place, self.odd_values) for place in range(_many(table))]

    def _mix(self, table: Table, place: int, values_of: Callable[[Column], list[Value]]) -> Row:
        """Columns run through their values, all of them but the first in an order of their own."""
        row = {}
        for number, column in enumerate(table.columns):
            values = values_of(column)
            row[column.name] = _cycle(values, place + number * (place // len(values) + 1))
        return row

    def strange(self, table: Table) -> list[Row]:
        """Values that nobody else has, in every column where there are any."""
        return [
            {column.name: stranger(column, place) for column in table.columns}
            for place in range(_many(table))
        ]

    def public(self, table: PublicTable, keys: list[Value]) -> list[Row]:
        """A public table with these keys."""
        rows = [
            {column.name: _cycle(self._plain(column), place) for column in table.columns}
            for place in range(len(keys))
        ]
        return [{**row, table.key: key} for row, key in zip(rows, keys, strict=True)]

    def _plain(self, column: Column) -> list[Value]:
        return plain_values(column, self.literals)

    def odd_values(self, column: Column) -> list[Value]:
        """All that a column may hold at its edges and beyond."""
        return odd_values(column, self.literals)


def _cycle(values: list[Value], place: int) -> Value:
    return values[place % len(values)]


def _many(table: Table) -> int:
    return min(MOST_ROWS, max(LEAST_ROWS, (table.max_rows + EXTRA) * (table.max_groups + EXTRA)))
