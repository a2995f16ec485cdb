"""FROM against the policy: tables, row-wise subqueries, unions, and the three joins that keep units apart.

Two sources are joined on a public table's unique key, on a foreign key the policy declares, or on the unit.
Each joined row then belongs to exactly one unit, whatever the data; nothing else is a join here. Where a
foreign key is followed from rows that reach a unit by another way too, the two must be equal: should the key
not be unique, no unit's rows decide over those of another.

A subquery with GROUP BY the unit gives one row for each person, exact, before any noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.policy import Column, EachRow, Policy, PublicTable, Table, Through, UnitColumn
from discreet.asking.queries.nodes import (
    Aggregate,
    Call,
    Case,
    Expression,
    Join,
    Literal,
    Name,
    Nested,
    Query,
    Select,
    Slot,
    Source,
    TableName,
    refuse,
)
from discreet.asking.queries.ranges import Range, held, range_of
from discreet.asking.queries.relations import (
    Field,
    Filtered,
    Joined,
    PerUnit,
    Relation,
    Scan,
    has_each_row,
    is_public,
    named_scans,
    unit_scan,
)
from discreet.asking.queries.types import (
    Scope,
    as_condition,
    assign_condition,
    assign_types,
    fit_integer,
    rebuild,
    type_aggregate,
)

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
        "A joined row must belong to one person: join on a public table's key, a declared foreign key, or "
        "the unit on both sides.",
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


ALLOWED = ("count_rows", "count", "sum", "average", "minimum", "maximum")


def is_per_unit(query: Select, source: Relation) -> bool:
    """Return whether the query groups by the unit and nothing else."""
    if len(query.keys) != 1 or query.sets is not None or is_public(source) or has_each_row(source):
        return False
    key = query.keys[0]
    found = Scope(source.fields).find(key) if isinstance(key, Name) else None
    return found is not None and found.is_unit


@dataclass
class Totals:
    """Turns expressions over the unit and its aggregates into expressions over slots: the unit is slot 0."""

    scope: Scope
    unit: Field
    rows: int  # of a unit, as far as the policy expects
    aggregates: list[Aggregate] = field(default_factory=list)
    ranges: list[Range | None] = field(default_factory=list)

    def lower(self, node: Expression) -> Expression:
        if isinstance(node, Aggregate):
            return self._slot(node)
        if isinstance(node, Literal):
            return assign_types(node, self.scope)
        if isinstance(node, Name):
            if self.scope.field(node) != self.unit:
                refuse("not_grouped", f"Column {node.name!r} is neither the unit nor in an aggregate.", node)
            return Slot(0, type=self.unit.type, place=node.place)
        return rebuild(node, self.lower)

    def _slot(self, node: Aggregate) -> Slot:
        if node.function not in ALLOWED:
            refuse("per_unit", "For each unit there are COUNT, SUM, AVG, MIN and MAX.", node)
        typed = _fit_argument(type_aggregate(node, self.scope))
        bounds = None if typed.argument is None else self.scope.range(typed.argument)
        exact = typed.argument is not None and typed.argument.type == "integer"
        if bounds is None and node.function in ("sum", "average") and not exact:
            refuse("no_bounds", "SUM and AVG of numbers need bounds in the policy.", node)
        if typed not in self.aggregates:
            self.aggregates.append(typed)
            self.ranges.append(bounds)
        return Slot(1 + self.aggregates.index(typed), type=typed.type, place=node.place)

    def range(self, node: Expression) -> Range | None:
        """Return the range of an output, a unit having as many rows as the policy lets count."""
        slots = {Name(str(1 + index)): self._range_of(index) for index in range(len(self.aggregates))}
        return held(node, range_of(_name_slots(node), slots.get))

    def _range_of(self, index: int) -> Range | None:
        function, bounds = self.aggregates[index].function, self.ranges[index]
        if function in ("count", "count_rows"):
            return Fraction(0), Fraction(self.rows)
        if function == "sum" and bounds is not None:
            return self.rows * min(bounds[0], Fraction(0)), self.rows * max(bounds[1], Fraction(0))
        return bounds


def _fit_argument(node: Aggregate) -> Aggregate:
    """Return the aggregate of what fits in 64 bits, so that no sum of a unit's rows leaves 128: (B6)."""
    return node if node.argument is None else replace(node, argument=fit_integer(node.argument))


def _name_slots(node: Expression) -> Expression:
    if isinstance(node, Slot):
        return Name(str(node.index))
    if isinstance(node, Call):
        return replace(node, arguments=tuple(map(_name_slots, node.arguments)))
    if isinstance(node, Case):
        branches = tuple((test, _name_slots(value)) for test, value in node.branches)
        return replace(node, branches=branches, otherwise=_name_slots(node.otherwise))
    return node


def resolve_per_unit(query: Select, source: Relation, alias: str) -> PerUnit:
    """Return one row for each unit; its columns are the unit, and arithmetic on its aggregates."""
    key = query.keys[0]
    assert isinstance(key, Name)
    scope = Scope(source.fields)
    unit = scope.field(key)
    totals = Totals(scope, unit, source.limits[0] * source.limits[1])
    outputs: list[tuple[str, Expression]] = []
    for each in query.outputs:
        if each.expression is None:
            refuse("star", "* is not grouped. Name the aggregates.", each)
        outputs.append((each.name, fit_integer(totals.lower(each.expression))))
    condition = None if query.having is None else as_condition(totals.lower(query.having))
    fields = tuple(
        Field(
            alias,
            name,
            expression.type or "text",
            range=totals.range(expression),
            keys=unit.keys if expression == Slot(0) else None,
            is_unit=expression == Slot(0),
        )
        for name, expression in outputs
    )
    return PerUnit(
        source, tuple(totals.aggregates), tuple(totals.ranges), tuple(outputs), condition, alias, fields
    )


_WHOLE = {"add", "subtract", "multiply", "negate", "abs", "sign", "floor", "ceil", "round"}
_ROUNDED = {"negate", "abs", "sign", "floor", "ceil", "round", "to_number"}


def is_present(node: Expression, scope: Scope) -> bool:
    """Return whether no row lacks a value of a typed expression; a column's owner says so, and a unit has its
    id.

    >>> is_present(Case(((Literal(True), Literal(1)),), Literal(0)), Scope(()))
    True
    """
    if isinstance(node, Literal):
        return node.value is not None
    if isinstance(node, Name):
        field = scope.field(node)
        return field.is_unit or not field.nullable
    if isinstance(node, Case):
        return all(
            is_present(each, scope) for each in (*(value for _, value in node.branches), node.otherwise)
        )
    if not isinstance(node, Call):
        return False
    if node.function == "coalesce":
        return any(is_present(each, scope) for each in node.arguments)
    return _is_total(node) and all(is_present(each, scope) for each in node.arguments)


def _is_total(node: Call) -> bool:
    """Return whether it has a value for all values: doubles may be infinite, and ∞ - ∞, 0 · ∞ and x / 0 do
    not.
    """
    if node.type == "integer" and node.function in _WHOLE:
        return True
    if node.function in _ROUNDED:
        return node.arguments[0].type in ("integer", "number")
    numbers = [each.value for each in node.arguments if isinstance(each, Literal)]
    if node.function in ("add", "subtract"):
        return len(numbers) == 1
    if node.function == "divide":
        return isinstance(node.arguments[1], Literal) and node.arguments[1].value != 0
    return node.function == "multiply" and len(numbers) == 1 and numbers[0] != 0
