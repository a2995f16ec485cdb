"""Invented people in a policy's domain, drawn without any data."""

import datetime
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.asking.policy import Column, EachRow, Policy, Table, Through, Type, UnitColumn, Value
from discreet.kernel.numerics import Real, exact_probability, exact_whole
from discreet.kernel.randomness import Source, bernoulli, fresh_source, geometric, uniform_below

Row: TypeAlias = dict[str, Value]

PEOPLE = 1000  # unless the policy or the caller expects another number
MOST_ROWS = 4000  # of a table, so that a rehearsal takes a second or two
_FINE = 1 << 20  # places between two bounds
_DAY = datetime.date(2025, 1, 1)
_DAYS = tuple(_DAY + datetime.timedelta(days=day) for day in range(365))

# Values of columns that declare only their type.
_POOLS: dict[Type, tuple[Value, ...]] = {
    "text": tuple(f"value {k}" for k in range(1, 21)),
    "integer": tuple(range(1, 21)),
    "number": tuple(float(k) for k in range(1, 21)),
    "boolean": (False, True),
    "date": _DAYS,
    "timestamp": tuple(datetime.datetime.combine(day, datetime.time(12)) for day in _DAYS),
}


@dataclass(frozen=True)
class Belief:
    """What the caller expects of the data: how many people, how many rows each has in a table on average
    (None: half of the limits), and which part of the values is above the upper bound."""

    people: int
    rows: int | None
    beyond: Fraction

    @classmethod
    def read(cls, *, people: Real | None, rows: Real | None, beyond: Real, policy: Policy) -> "Belief":
        """Read the arguments of `dry_run`."""
        many = people if people is not None else policy.population or PEOPLE
        return cls(
            exact_whole(many, name="people", least=1),
            None if rows is None else exact_whole(rows, name="rows", least=1),
            exact_probability(beyond, name="beyond"),
        )

    def rows_in(self, table: Table) -> int:
        """Return the mean number of rows of a person in a table."""
        if isinstance(table.unit, EachRow):
            return 1
        return self.rows or max(1, table.max_groups * table.max_rows // 2)

    def invented(self, policy: Policy) -> int:
        """Return how many people to invent: as many as are expected, or as fit."""
        return max(1, min(self.people, MOST_ROWS // max(map(self.rows_in, policy.tables))))

    def alike(self, policy: Policy) -> int:
        """Return how many people each invented one represents, to keep noise and numbers in proportion."""
        return max(1, round(Fraction(self.people, self.invented(policy))))


def complete(policy: Policy) -> Policy:
    """Return the policy with the unit and key columns that it does not declare: no schema is read."""
    tables = []
    for table in policy.tables:
        needed = dict.fromkeys(sorted(keys_led_to(table, policy)))
        if isinstance(table.unit, UnitColumn):
            needed[table.unit.column] = None
        elif isinstance(table.unit, Through):
            needed.update(dict.fromkeys(own for own, _ in table.unit.on))
        missing = tuple(Column(name=name) for name in needed if table.column(name) is None)
        tables.append(replace(table, columns=(*table.columns, *missing)))
    return replace(policy, tables=tuple(tables))


def invent(policy: Policy, belief: Belief) -> dict[str, list[Row]]:
    """Return rows for every table of the policy, by name.

    The number of a person's rows in a table is geometric, and at least one. Values are drawn independently:
    from the declared keys, uniformly between the bounds, or from a few invented ones.
    """
    source, people = fresh_source(), belief.invented(policy)
    tables: dict[str, list[Row]] = {}
    owners: dict[str, list[int]] = {}
    for table in sorted(policy.tables, key=lambda each: len(policy.path_to_unit(each))):
        owners[table.name] = _owners(table, policy, belief, people, source)
        rows = _draw_rows(table.columns, len(owners[table.name]), belief.beyond, source)
        link_rows(rows, owners, table, policy, tables)
        tables[table.name] = rows
    for public in policy.public:
        pool = _every_value(policy, public.column(public.key))
        rows = _draw_rows(public.columns, len(pool), Fraction(0), source)
        tables[public.name] = [{**row, public.key: key} for row, key in zip(rows, pool, strict=True)]
    return tables


def _owners(table: Table, policy: Policy, belief: Belief, people: int, source: Source) -> list[int]:
    """Return the person of each row."""
    unit = table.unit
    alone = isinstance(unit, EachRow) or (
        isinstance(unit, UnitColumn) and unit.column in keys_led_to(table, policy)
    )
    mean = 1 if alone else belief.rows_in(table)
    if mean == 1:
        return list(range(people))
    further = geometric(source, mean - Fraction(1, 2), size=people)  # of mean close to mean - 1
    return [person for person in range(people) for _ in range(1 + int(further[person]))]


def keys_led_to(table: Table, policy: Policy) -> set[str]:
    """Return the columns that other tables refer to."""
    return {
        key
        for each in policy.tables
        if isinstance(each.unit, Through) and policy.path_to_unit(each)[1] == table
        for _, key in each.unit.on
    }


def link_rows(
    rows: list[Row], owners: dict[str, list[int]], table: Table, policy: Policy, tables: dict[str, list[Row]]
) -> None:
    """Set every row's own key, and its reference to a person or to a row of that person."""
    mine = owners[table.name]
    for key in keys_led_to(table, policy):
        for number, row in enumerate(rows):
            row[key] = _identity(table.column(key), number)
    if isinstance(table.unit, UnitColumn):
        for person, row in zip(mine, rows, strict=True):
            row[table.unit.column] = _identity(table.column(table.unit.column), person)
    elif isinstance(table.unit, Through):
        parents, above = defaultdict(list), policy.path_to_unit(table)[1].name
        for person, parent in zip(owners[above], tables[above], strict=True):
            parents[person].append(parent)
        for turn, (person, row) in enumerate(zip(mine, rows, strict=True)):
            parent = parents[person][turn % len(parents[person])]
            row.update({own: parent[key] for own, key in table.unit.on})


def _identity(column: Column | None, number: int) -> Value:
    return number if column is not None and column.type == "integer" else f"unit {number}"


def _every_value(policy: Policy, key: Column | None) -> list[Value]:
    """Return every value that a private column may have where it joins a public key."""
    kind: Type = "text" if key is None else key.type
    found: dict[Value, None] = dict.fromkeys(_POOLS[kind])
    for column in (each for table in policy.tables for each in table.columns):
        if column.type == kind:
            found.update(dict.fromkeys(column.keys or ()))
    return list(found)


def _draw_rows(columns: Sequence[Column], count: int, beyond: Fraction, source: Source) -> list[Row]:
    drawn = {each.name: _draw(each, count, beyond, source) for each in columns}
    return [{name: values[row] for name, values in drawn.items()} for row in range(count)]


def _draw(column: Column, count: int, beyond: Fraction, source: Source) -> list[Value]:
    if column.keys is not None or column.bounds is None:
        pool = column.keys or _POOLS[column.type]
        return [pool[place] for place in uniform_below(source, len(pool), size=count)]
    places = uniform_below(source, _FINE, size=count) + _FINE * bernoulli(source, beyond, size=count)
    return [_between(column, Fraction(int(place), _FINE)) for place in places]


def _between(column: Column, part: Fraction) -> Value:
    """Return the value at this part of the way from the lower to the upper bound."""
    assert column.bounds is not None
    low, high = column.bounds
    if isinstance(low, datetime.date):
        span: Any = high - low  # type: ignore[operator]
        return low + span * float(min(part, Fraction(1)))  # type: ignore[no-any-return]
    assert isinstance(low, Fraction)
    assert isinstance(high, Fraction)
    value = low + (high - low) * part
    return round(value) if column.type == "integer" else float(value)
