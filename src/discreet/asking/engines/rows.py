"""Relations in plain Python, row by row: the reference for reading, filtering and joining."""

import datetime
import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.asking.planning import Lattice
from discreet.asking.policy import (
    LARGEST_INTEGER,
    LONGEST_TEXT,
    SMALLEST_INTEGER,
    Column,
    Policy,
    PublicTable,
    Table,
    Type,
    Value,
)
from discreet.asking.queries import (
    Aggregate,
    Expression,
    Filtered,
    Joined,
    Name,
    PerUnit,
    Project,
    Range,
    Relation,
    Scan,
    Slot,
    Stacked,
    evaluate,
)
from discreet.errors import InvalidParameter, PolicyViolation

# The order in which a unit's rows and groups are kept: a salted hash of the unit's own values, in one place.
#
# The orders are those of (C1) and (C2) in docs/theory/exact-half.md. A row is hashed with its values and its
# ordinal among the unit's rows that are equal to it, so that ten equal rows are ten chances, not one. Salt,
# unit and values are mixed after they are combined: every order of a unit's rows, and of its groups, is then
# as likely as any other.
#
# The hash has 32 bits. Ties are broken by the values themselves, so the order is total whatever the hash is;
# bounding holds for every hash, and the hash only spreads the choice evenly. Conformance compares engines
# with md5 of a canonical text; an engine may use its own fastest hash instead, since no one compares across
# engines then.

HASH_BITS = 32
SEPARATOR = ":"


def canonical(value: Value) -> str:
    """Return a value in the canonical text. A double has no text that all engines agree on: it leaves its
    place to the tie-break.
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "#"
    if isinstance(value, datetime.datetime):
        return str((value - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1))
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def ordinals(rows: Iterable[Hashable]) -> list[int]:
    """Return the ordinal of each row among those that are equal to it.

    >>> ordinals(["a", "b", "a", "a"])
    [0, 0, 1, 2]
    """
    seen: Counter[Hashable] = Counter()
    found = []
    for row in rows:
        found.append(seen[row])
        seen[row] += 1
    return found


def order_hash(salt: int, values: Iterable[Value]) -> int:
    """Return the first 32 bits of md5 of the canonical text.

    >>> order_hash(7, [42, "Ottawa"]) == int(hashlib.md5(b"7:42:Ottawa").hexdigest()[:8], 16)
    True
    """
    text = SEPARATOR.join([str(salt), *map(canonical, values)])
    digest = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
    return int(digest[: HASH_BITS // 4], 16)


KINDS: dict[Type, type] = {
    "text": str,
    "boolean": bool,
    "date": datetime.date,
    "timestamp": datetime.datetime,
}
Tables: TypeAlias = Mapping[str, Sequence[Mapping[str, Value]]]


@dataclass(frozen=True)
class Row:
    """One row: whose it is, and its values by (table alias, column)."""

    unit: Any
    values: Mapping[tuple[str, str], Value]

    def value(self, name: Expression) -> Value:
        """Return the value of a qualified name."""
        assert isinstance(name, Name)
        assert name.table is not None
        return self.values[name.table, name.name]


def normalise(value: Any, kind: Type) -> Value:
    """Return a value as its column's type, or None: NaN, and what the type cannot hold, are missing values.
    What is of another kind is a TypeError or ValueError.
    """
    if value is None or value != value:  # noqa: PLR0124  # NaN alone differs from itself
        return None
    if kind == "number":
        return float(value)
    if kind == "integer":
        return int(value) if SMALLEST_INTEGER <= value <= LARGEST_INTEGER else None
    if kind == "timestamp" and not isinstance(value, datetime.datetime):
        return None
    other = type(value) is not KINDS[kind]
    if other or getattr(value, "tzinfo", None) is not None:
        raise TypeError
    if kind == "text":
        value.encode()  # half of a pair of surrogates is no text
    return value  # type: ignore[no-any-return]


def cut(value: Value) -> Value:
    """Return what questions compute on: of a text, its beginning."""
    return value[:LONGEST_TEXT] if isinstance(value, str) else value


def read_tables(policy: Policy, tables: Mapping[str, object]) -> Tables:
    """Return a copy of the rows with every value as its column's type; one that is of no type of ours is
    refused.
    """
    every: list[Table | PublicTable] = [*policy.tables, *policy.public]
    return {table.name: _read_table(table, tables[table.name]) for table in every}


def _read_table(table: Table | PublicTable, rows: Any) -> list[Mapping[str, Value]]:
    if not all(isinstance(row, Mapping) for row in rows):
        raise InvalidParameter(f"source of table {table.name!r} must be a list of mappings, or a frame.")
    lower = [{str(name).lower(): value for name, value in row.items()} for row in rows]
    columns = {each.name: _read_values(table, each, lower) for each in table.columns}
    return [{name: values[place] for name, values in columns.items()} for place in range(len(rows))]


def _read_values(table: Table | PublicTable, column: Column, rows: list[dict[str, Any]]) -> list[Value]:
    try:
        return [normalise(row.get(column.name.lower()), column.type) for row in rows]
    except (TypeError, ValueError, OverflowError):
        raise PolicyViolation(
            f"Column {column.name!r} of table {table.name!r} must hold values of type {column.type}.",
            table=table.name,
            column=column.name,
        ) from None


class Rows:
    """Reads relations from tables in memory, whose values are of their columns' types; the salt chooses among
    a unit's rows where a join has a cap."""

    def __init__(self, tables: Tables, salt: int = 0) -> None:
        self._tables = {name.lower(): rows for name, rows in tables.items()}
        self._salt = salt

    def read(self, relation: Relation) -> list[Row]:
        """Return all rows of a relation, in any order."""
        if isinstance(relation, Scan):
            rows = list(self._scan(relation))
            return rows if relation.public_key is None else _first_of_each(rows, relation)
        if isinstance(relation, Filtered):
            rows = self.read(relation.source)
            return [row for row in rows if evaluate(relation.condition, row.value) is True]
        if isinstance(relation, Project):
            return list(self._project(relation))
        if isinstance(relation, Joined):
            return list(self._join(relation))
        if isinstance(relation, Stacked):
            return [
                _rename(row, member, relation) for member in relation.members for row in self.read(member)
            ]
        return list(self._per_unit(relation))

    def key_values(self, table: Table | PublicTable, keys: Sequence[str]) -> list[tuple[Value, ...]]:
        """Return the keys of a table's rows, as they are joined: those of which no part is missing."""
        columns = [table.column(key) for key in keys]
        kinds = {each.name.lower(): each.type for each in columns if each is not None}
        if len(kinds) < len(keys):
            return []  # a key that the policy does not declare is not joined on
        found = []
        for record in self._tables.get(table.name.lower(), ()):
            own = {name.lower(): value for name, value in record.items()}
            found.append(tuple(cut(normalise(own.get(name), kind)) for name, kind in kinds.items()))
        return [each for each in found if None not in each]

    def _scan(self, scan: Scan) -> Iterator[Row]:
        types = {field.name: field.type for field in scan.fields}
        for index, record in enumerate(self._tables[scan.table.lower()]):
            found = {name.lower(): value for name, value in record.items()}
            values = {
                (scan.alias, name): normalise(found.get(name.lower()), kind) for name, kind in types.items()
            }
            unit: Value = index if scan.each_row else None
            if scan.unit is not None:
                unit = next(value for (_, name), value in values.items() if name.lower() == scan.unit.lower())
            yield Row(unit, {name: cut(value) for name, value in values.items()})

    def _project(self, relation: Project) -> Iterator[Row]:
        for row in self.read(relation.source):
            values = {
                (relation.alias, name): evaluate(expression, row.value)
                for name, expression in relation.outputs
            }
            yield Row(row.unit, values)

    def _join(self, relation: Joined) -> Iterator[Row]:
        left, right = self.read(relation.left), self.read(relation.right)
        if relation.cap is not None:
            left = cap_rows(left, relation.cap, self._salt, side=0)
            right = cap_rows(right, relation.cap, self._salt, side=1)
        index = defaultdict(list)
        for row in right:
            index[tuple(row.value(other) for _, other in relation.on)].append(row)
        for row in left:
            key = tuple(row.value(one) for one, _ in relation.on)
            matches = [] if None in key else index.get(key, [])
            for match in matches:
                if relation.one_unit and (row.unit is None or row.unit != match.unit):
                    continue
                unit = row.unit if relation.unit_from == "left" else match.unit
                yield Row(unit, {**row.values, **match.values})
            if not matches and relation.kind == "left":
                missing = {(field.table, field.name): None for field in relation.right.fields}
                yield Row(row.unit, {**row.values, **missing})

    def _per_unit(self, relation: PerUnit) -> Iterator[Row]:
        mine = defaultdict(list)
        for row in self.read(relation.source):
            if row.unit is not None:
                mine[row.unit].append(row)
        for unit, rows in mine.items():
            slots = [
                cut(unit),
                *(_total(*each, rows) for each in zip(relation.aggregates, relation.ranges, strict=True)),
            ]

            def lookup(slot: Expression, slots: list[Value] = slots) -> Value:
                assert isinstance(slot, Slot)
                return slots[slot.index]

            if relation.condition is None or evaluate(relation.condition, lookup) is True:
                values = {(relation.alias, name): evaluate(each, lookup) for name, each in relation.outputs}
                yield Row(unit, values)


def _first_of_each(rows: list[Row], scan: Scan) -> list[Row]:
    """Return one row of a public table for each key, the first by value: unique whatever the table holds."""
    names = [field.name for field in scan.fields]
    key = next(name for name in names if name.lower() == str(scan.public_key).lower())
    found: dict[Value, Row] = {}
    for row in sorted(rows, key=lambda row: plain([row.values[scan.alias, name] for name in names])):
        found.setdefault(row.values[scan.alias, key], row)
    return list(found.values())


def _rename(row: Row, member: Project, stacked: Stacked) -> Row:
    pairs = zip(member.fields, stacked.fields, strict=True)
    values = {(new.table, new.name): row.values[old.table, old.name] for old, new in pairs}
    return Row(row.unit, values)


def cap_rows(rows: list[Row], cap: int, salt: int, *, side: int) -> list[Row]:
    """Return at most `cap` rows of each unit, each side of the join for itself.

    A unit's rows are numbered in the order of their values, and kept in the order of a hash of that number.
    It needs no text of the values: doubles, which have none that all engines agree on, are chosen as evenly.
    """
    mine = defaultdict(list)
    for row in rows:
        if row.unit is not None:
            mine[row.unit].append(row)
    kept = []
    for unit, unit_rows in mine.items():
        hashed = [
            (order_hash(salt, [side, unit, number]), number, row)
            for number, row in enumerate(sorted(unit_rows, key=_by_value), 1)
        ]
        kept += [row for _, _, row in sorted(hashed, key=lambda each: each[:2])[:cap]]
    return kept


def _by_value(row: Row) -> list[tuple[bool, Any]]:
    return plain([row.values[name] for name in sorted(row.values)])


def plain(values: Sequence[Value]) -> list[tuple[bool, Any]]:
    """Return values to sort by, missing ones last."""
    return [(value is None, 0 if value is None else value) for value in values]


def _total(aggregate: Aggregate, bounds: Range | None, rows: list[Row]) -> Value:
    """Return an aggregate of one unit's rows."""
    condition, argument = aggregate.condition, aggregate.argument
    chosen = [row for row in rows if condition is None or evaluate(condition, row.value) is True]
    if argument is None:
        return len(chosen)
    found = [value for value in (evaluate(argument, row.value) for row in chosen) if value is not None]
    if aggregate.function == "count":
        return len(found)
    if not found:
        return None
    if aggregate.function in ("minimum", "maximum"):
        return min(found) if aggregate.function == "minimum" else max(found)
    if argument.type == "integer":
        total = sum(found)  # type: ignore[arg-type]
        fits = SMALLEST_INTEGER <= total <= LARGEST_INTEGER
        if aggregate.function == "sum":
            return total if fits else None
        return float(total) / float(len(found))
    assert bounds is not None
    lattice = Lattice.over(bounds, "number")
    steps = sum(step for step in map(lattice.place, found) if step is not None)
    number = float(steps) * float(lattice.step)
    return number if aggregate.function == "sum" else number / float(len(found))
