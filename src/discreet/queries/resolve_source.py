"""FROM against the policy: tables, row-wise subqueries, unions, and the three joins that keep units apart.

Two sources are joined on a public table's unique key, on a foreign key the policy declares, or on the unit.
Each joined row then belongs to exactly one unit, whatever the data; nothing else is a join here. Where a
foreign key is followed from rows that reach a unit by another way too, the two must be equal: should the key
not be unique, no unit's rows decide over those of another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from discreet.queries.nodes import Call, Expression, Join, Name, Nested, Query, Source, TableName, refuse
from discreet.queries.relations import (
    Field,
    Filtered,
    Joined,
    Relation,
    Scan,
    is_public,
    named_scans,
    unit_scan,
)
from discreet.queries.types import Scope, assign_condition
from discreet.tables import Column, EachRow, Policy, PublicTable, Table, Through, UnitColumn

ResolveNested: TypeAlias = Callable[[Query, str], Relation]  # a query in FROM and its alias


@dataclass
class Sources:
    """Resolves one FROM; `pool` holds the conditions of WHERE that joins may use, and is emptied by them."""

    policy: Policy
    nested: ResolveNested
    pool: list[Expression] = field(default_factory=list)

    def resolve(self, source: Source) -> Relation:
        """Return the rows of a source, their unit attached, filtered by what is left of the pool."""
        return _filter(attach_unit(self._read(source), self.policy), self.pool)

    def _read(self, source: Source) -> Relation:
        if not isinstance(source, Join) and (not source.alias or source.alias[0] == "#"):
            refuse(
                "alias", "An alias begins with a letter. Write FROM accounts AS a.", source
            )  # ours have a #
        if isinstance(source, TableName):
            table = self.policy.table(source.name)
            if table is None:
                known = ", ".join(self.policy.table_names)
                refuse("unknown_table", f"Table {source.name!r} is not known. There are: {known}.", source)
            return scan(table, source.alias)
        if isinstance(source, Nested):
            return self.nested(source.query, source.alias)
        return self._join(source)

    def _join(self, join: Join) -> Relation:
        left, right = self._read(join.left), self._read(join.right)
        aliases = {each.table.lower() for each in left.fields}
        if aliases & {each.table.lower() for each in right.fields}:
            refuse("alias", "Two sources have the same name. Give one an alias with AS.", join)
        own = [] if join.condition is None else conjuncts(join.condition)
        own += [_same_name(name, left, right) for name in join.using]
        if join.kind == "left" and not is_public(right):
            refuse("join", "LEFT JOIN is for a public table on the right. Write JOIN.", join)
        offered = own if join.kind == "left" else [*own, *self.pool]
        joined, used = _connect(left, right, offered, join, self.policy)
        self.pool = [each for each in self.pool if each not in used]
        rest = [each for each in own if each not in used]
        if rest and join.kind == "left":
            refuse("join", "LEFT JOIN takes the public table's key alone. Move the rest to WHERE.", rest[0])
        return _filter(joined, rest)


def _filter(relation: Relation, conditions: Sequence[Expression]) -> Relation:
    """Return the rows where all conditions are true: one condition, as flat as can be, however many there
    are.
    """
    if not conditions:
        return relation
    scope = Scope(relation.fields)
    return Filtered(relation, _all_of([assign_condition(each, scope) for each in conditions]))


def _all_of(conditions: Sequence[Expression]) -> Expression:
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return Call("and", (_all_of(conditions[:half]), _all_of(conditions[half:])), type="boolean")


def conjuncts(node: Expression) -> list[Expression]:
    """Return the parts of a condition that AND joins."""
    if isinstance(node, Call) and node.function == "and":
        return [part for each in node.arguments for part in conjuncts(each)]
    return [node]


def scan(table: Table | PublicTable, alias: str) -> Scan:
    """Return all rows of a table, under an alias."""
    if isinstance(table, PublicTable):
        fields = tuple(_field(each, alias, is_unit=False) for each in table.columns)
        return Scan(table.name, alias, fields, None, (1, 1), public_key=table.key)
    unit = table.unit
    fields = tuple(
        _field(each, alias, is_unit=isinstance(unit, UnitColumn) and each.name.lower() == unit.column.lower())
        for each in table.columns
    )
    return Scan(
        table.name,
        alias,
        fields,
        unit.column if isinstance(unit, UnitColumn) else None,
        (table.max_groups, table.max_rows),
        each_row=isinstance(unit, EachRow),
    )


def _field(column: Column, alias: str, *, is_unit: bool) -> Field:
    numeric = column.type in ("integer", "number")
    return Field(
        alias,
        column.name,
        column.type,
        range=column.bounds if numeric else None,  # type: ignore[arg-type]  # numeric bounds are fractions
        bounds=None if numeric else column.bounds,
        keys=column.keys,
        is_unit=is_unit,
        nullable=column.nullable,
    )


def attach_unit(relation: Relation, policy: Policy) -> Relation:
    """Return the rows with the joins, left out of the question, that lead to their unit."""
    count = 0
    while not is_public(relation):
        owner = unit_scan(relation)
        table = policy.table(owner.table)
        assert isinstance(table, Table)
        if not isinstance(table.unit, Through):
            break
        count += 1
        parent = policy.table(table.unit.table)
        assert isinstance(parent, Table)
        right = scan(parent, f"#{count}.{owner.alias}")
        on = tuple(
            (_typed(Name(own, owner.alias), owner), _typed(Name(other, right.alias), right))
            for own, other in table.unit.on
        )
        _check_key_types(on, table.name)
        relation = Joined(relation, right, on, "inner", "right", relation.limits)
    return relation


def _typed(name: Name, relation: Scan) -> Expression:
    found = Scope(relation.fields).find(name)
    if found is None:
        refuse(
            "unknown_column",
            f"The foreign key column {name.name!r} of {relation.table!r} must be declared. Ask the owner.",
        )
    return Name(found.name, found.table, type=found.type)


def _check_key_types(on: tuple[tuple[Expression, Expression], ...], what: str) -> None:
    for one, other in on:
        if one.type != other.type:
            refuse("join_key", f"The keys of {what} must be of one type, got {one.type} and {other.type}.")


def _same_name(name: str, left: Relation, right: Relation) -> Expression:
    sides = []
    for relation in (left, right):
        found = Scope(relation.fields).field(Name(name))
        sides.append(Name(found.name, found.table))
    return Call("equal", tuple(sides))


def _connect(
    left: Relation, right: Relation, offered: list[Expression], join: Join, policy: Policy
) -> tuple[Relation, list[Expression]]:
    """Return the join that the offered conditions allow, and the conditions it uses."""
    pairs = [(each, pair) for each in offered if (pair := _equality(each, left, right)) is not None]
    for rule in (_on_public_key, _on_foreign_key, _on_unit):
        found = rule(left, right, pairs, join, policy)
        if found is not None:
            joined, used = found
            _check_key_types(joined.on, "two sources")
            return joined, used
    return refuse(
        "join_key",
        "Sources are joined on a public table's key, a declared foreign key, or the unit on both sides.",
        join,
    )


Pair: TypeAlias = tuple[Expression, tuple[Name, Name]]  # a condition, and its left and right columns
Found: TypeAlias = tuple[Joined, list[Expression]]


def _equality(node: Expression, left: Relation, right: Relation) -> tuple[Name, Name] | None:
    if not isinstance(node, Call) or node.function != "equal":
        return None
    one, other = node.arguments
    if not isinstance(one, Name) or not isinstance(other, Name):
        return None
    for first, second in ((one, other), (other, one)):
        on_left, on_right = Scope(left.fields).find(first), Scope(right.fields).find(second)
        if on_left is not None and on_right is not None:
            return (
                Name(on_left.name, on_left.table, type=on_left.type),
                Name(on_right.name, on_right.table, type=on_right.type),
            )
    return None


def _public_key(relation: Relation) -> tuple[str, str] | None:
    """Return alias and column of the key in which the rows of a public relation differ."""
    if isinstance(relation, Filtered):
        return _public_key(relation.source)
    if isinstance(relation, Joined):  # a public table with more columns: the left one's key still differs
        return _public_key(relation.left)
    if isinstance(relation, Scan) and relation.public_key is not None:
        return relation.alias.lower(), relation.public_key.lower()
    return None


def _on_public_key(
    left: Relation, right: Relation, pairs: list[Pair], join: Join, policy: Policy
) -> Found | None:
    key = _public_key(right) if is_public(right) else None
    for condition, (one, other) in pairs:
        if key == ((other.table or "").lower(), other.name.lower()):
            return Joined(left, right, ((one, other),), join.kind, "left", left.limits), [condition]
    key = _public_key(left) if is_public(left) and not is_public(right) else None
    for condition, (one, other) in pairs:
        if key == ((one.table or "").lower(), one.name.lower()) and join.kind == "inner":
            return Joined(right, left, ((other, one),), "inner", "left", right.limits), [condition]
    return None


def _on_foreign_key(
    left: Relation, right: Relation, pairs: list[Pair], join: Join, policy: Policy
) -> Found | None:
    if is_public(left) or is_public(right):
        return None
    turned = [(condition, (other, one)) for condition, (one, other) in pairs]
    for child, parent, known, side in ((left, right, pairs, "right"), (right, left, turned, "left")):
        for owner in named_scans(child):
            table = policy.table(owner.table)
            if not isinstance(table, Table) or not isinstance(table.unit, Through):
                continue
            for target in named_scans(parent):
                found = _match_foreign_key(table.unit, owner, target, known)
                if found is not None:
                    on = tuple(pair if side == "right" else (pair[1], pair[0]) for _, pair in found)
                    joined = Joined(left, right, on, "inner", side, child.limits)  # type: ignore[arg-type]
                    if unit_scan(child) != owner:
                        joined = _of_one_unit(joined, policy)
                    return joined, [condition for condition, _ in found]
    return None


def _of_one_unit(joined: Joined, policy: Policy) -> Joined:
    """Return the same pairs, if both rows are of one unit."""
    left, right = attach_unit(joined.left, policy), attach_unit(joined.right, policy)
    return replace(joined, left=left, right=right, one_unit=True)


def _match_foreign_key(key: Through, owner: Scan, target: Scan, pairs: list[Pair]) -> list[Pair] | None:
    if target.table.lower() != key.table.lower():
        return None
    found = []
    for own, other in key.on:
        wanted = (owner.alias.lower(), own.lower(), target.alias.lower(), other.lower())
        match = [
            each
            for each in pairs
            if wanted == tuple((part or "").lower() for name in each[1] for part in (name.table, name.name))
        ]
        if not match:
            return None
        found.append(match[0])
    return found


def _on_unit(left: Relation, right: Relation, pairs: list[Pair], join: Join, policy: Policy) -> Found | None:
    if is_public(left) or is_public(right):
        return None
    left, right = attach_unit(left, policy), attach_unit(right, policy)
    for condition, (one, other) in pairs:
        if Scope(left.fields).field(one).is_unit and Scope(right.fields).field(other).is_unit:
            cap = max(left.limits[0] * left.limits[1], right.limits[0] * right.limits[1])
            joined = Joined(left, right, ((one, other),), "inner", "left", left.limits, cap)
            return replace(joined, on=((one, other),)), [condition]
    return None
