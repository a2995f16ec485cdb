"""What FROM becomes: rows whose columns have types, and whose unit is carried next to them, never by name.

Names in a relation are qualified: `Name(name, table)` with the alias and the exact name of a field. Every
private relation leads to exactly one unit per row: a column of a scanned table, handed on by every node
above it. No expression, alias or subquery can replace it, because it is not among the fields.
"""

from dataclasses import dataclass, replace
from typing import Literal as OneOf, TypeAlias

from discreet.asking.policy import Bound, Type, Value
from discreet.asking.queries.nodes import Aggregate, Call, Expression, Name
from discreet.asking.queries.ranges import Range

Column: TypeAlias = tuple[str | None, str]  # a table's alias and a column

_LENIENT = ("and", "or", "is_null", "coalesce")  # the functions that give a value for missing ones


def needed(condition: Expression) -> frozenset[Column]:
    """Return the columns that have a value wherever a typed condition is true.

    >>> has_debt = Call("not", (Call("is_null", (Name("debt", "t"),)),))
    >>> sorted(needed(Call("and", (Call("equal", (Name("a", "t"), Name("b", "t"))), has_debt))))
    [('t', 'a'), ('t', 'b'), ('t', 'debt')]
    """
    if isinstance(condition, Call) and condition.function == "and":
        return frozenset().union(*map(needed, condition.arguments))
    if isinstance(condition, Call) and condition.function == "or":
        first, *rest = map(needed, condition.arguments)
        return first.intersection(*rest)
    if isinstance(condition, Call) and condition.function == "not":
        (inner,) = condition.arguments
        known = isinstance(inner, Call) and inner.function == "is_null"
        return _behind(inner.arguments[0] if known else inner)  # type: ignore[attr-defined]
    return _behind(condition)


def _behind(node: Expression) -> frozenset[Column]:
    """Return the columns without which an expression has no value."""
    if isinstance(node, Name):
        return frozenset([(node.table, node.name)])
    if not isinstance(node, Call) or node.function in _LENIENT:
        return frozenset()
    return frozenset().union(*map(_behind, node.arguments))


@dataclass(frozen=True)
class Field:
    """A column of a relation and what is promised of it."""

    table: str
    name: str
    type: Type
    range: Range | None = None
    bounds: tuple[Bound, Bound] | None = None  # of dates
    keys: tuple[Value, ...] | None = None
    is_unit: bool = False
    nullable: bool = True


def where_true(fields: tuple[Field, ...], condition: Expression | None) -> tuple[Field, ...]:
    """Return the fields of the rows where a condition is true: what it needs is not missing there."""
    known = frozenset() if condition is None else needed(condition)
    return tuple(
        replace(each, nullable=False) if (each.table, each.name) in known else each for each in fields
    )


@dataclass(frozen=True)
class Scan:
    """The rows of a table of the policy. `unit` is the unit's column; None on public tables, tables whose
    unit is reached by a foreign key, and tables whose every row is a unit (`each_row`)."""

    table: str
    alias: str
    fields: tuple[Field, ...]
    unit: str | None
    limits: tuple[int, int]  # max_groups, max_rows
    public_key: str | None = None
    each_row: bool = False


@dataclass(frozen=True)
class Filtered:
    """The rows where the condition is true."""

    source: "Relation"
    condition: Expression

    @property
    def fields(self) -> tuple[Field, ...]:
        return where_true(self.source.fields, self.condition)

    @property
    def limits(self) -> tuple[int, int]:
        return self.source.limits


@dataclass(frozen=True)
class Project:
    """One new row for each row: a row-wise subquery."""

    source: "Relation"
    outputs: tuple[tuple[str, Expression], ...]
    alias: str
    fields: tuple[Field, ...]

    @property
    def limits(self) -> tuple[int, int]:
        return self.source.limits


@dataclass(frozen=True)
class Joined:
    """Pairs of rows that agree in the `on` columns. `unit_from` names the side whose unit the pair has.

    With `cap`, each side is first cut to so many rows per unit; with `one_unit`, pairs of two units are
    dropped.
    """

    left: "Relation"
    right: "Relation"
    on: tuple[tuple[Expression, Expression], ...]
    kind: OneOf["inner", "left"]
    unit_from: OneOf["left", "right"]
    limits: tuple[int, int]
    cap: int | None = None
    one_unit: bool = False

    @property
    def fields(self) -> tuple[Field, ...]:
        right = self.right.fields
        if self.kind == "left":  # a row without a partner has none of its values
            right = tuple(replace(each, nullable=True) for each in right)
        return (*self.left.fields, *right)


@dataclass(frozen=True)
class Stacked:
    """UNION ALL: the rows of all members, columns by position."""

    members: tuple[Project, ...]
    alias: str
    fields: tuple[Field, ...]

    @property
    def limits(self) -> tuple[int, int]:
        groups, rows = zip(*(each.limits for each in self.members), strict=True)
        return max(groups), max(rows)


@dataclass(frozen=True)
class PerUnit:
    """One row for each unit: aggregates of its own rows, exact and without noise.

    Outputs are expressions over slots: slot 0 is the unit, then the aggregates.
    """

    source: "Relation"
    aggregates: tuple[Aggregate, ...]
    ranges: tuple[Range | None, ...]  # of the aggregates' arguments
    outputs: tuple[tuple[str, Expression], ...]
    condition: Expression | None
    alias: str
    fields: tuple[Field, ...]
    limits: tuple[int, int] = (1, 1)


Relation: TypeAlias = Scan | Filtered | Project | Joined | Stacked | PerUnit


def is_public(relation: Relation) -> bool:
    """Return whether it holds no private rows."""
    if isinstance(relation, Scan):
        return relation.public_key is not None
    if isinstance(relation, Joined):
        return is_public(relation.left) and is_public(relation.right)
    if isinstance(relation, Stacked):
        return all(is_public(each) for each in relation.members)
    return is_public(relation.source)


def has_each_row(relation: Relation) -> bool:
    """Return whether each row of it is a unit of its own."""
    return any(scan.each_row for scan in scans(relation))


def unit_scan(relation: Relation) -> Scan:
    """Return the scan that the unit of the relation's rows comes from (of a union: of its first member)."""
    if isinstance(relation, Scan):
        return relation
    if isinstance(relation, Joined):
        return unit_scan(relation.left if relation.unit_from == "left" else relation.right)
    if isinstance(relation, Stacked):
        return unit_scan(relation.members[0])
    return unit_scan(relation.source)


def named_scans(relation: Relation) -> tuple[Scan, ...]:
    """Return the tables whose own columns go by their alias: what a subquery gives is no column of its
    tables.
    """
    if isinstance(relation, Scan):
        return (relation,)
    if isinstance(relation, Joined):
        return (*named_scans(relation.left), *named_scans(relation.right))
    return named_scans(relation.source) if isinstance(relation, Filtered) else ()


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Return every table that is read, left to right."""
    if isinstance(relation, Scan):
        return (relation,)
    if isinstance(relation, Joined):
        return (*scans(relation.left), *scans(relation.right))
    if isinstance(relation, Stacked):
        return tuple(scan for each in relation.members for scan in scans(each))
    return scans(relation.source)
