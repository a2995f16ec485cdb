"""A subquery with GROUP BY the unit: one row for each person, exact, before any noise."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.queries.nodes import Aggregate, Call, Case, Expression, Literal, Name, Select, Slot, refuse
from discreet.queries.ranges import Range, held, range_of
from discreet.queries.relations import Field, PerUnit, Relation, has_each_row, is_public
from discreet.queries.types import Scope, as_condition, assign_types, fit_integer, rebuild, type_aggregate

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
