"""Types: every name finds its field, every function its arguments, and conversions become explicit."""

import datetime
import difflib
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NoReturn

from discreet.asking.policy import LARGEST_INTEGER, SMALLEST_INTEGER, Type, type_of
from discreet.asking.queries.advice import ADVICE
from discreet.asking.queries.functions import AFTER, CASTS, FUNCTIONS, MOST_PARTS, MOST_WRITTEN
from discreet.asking.queries.nodes import (
    Aggregate,
    Call,
    Case,
    Expression,
    Literal,
    Name,
    Scalar,
    Slot,
    Window,
    refuse,
)
from discreet.asking.queries.ranges import LARGEST_NUMBER, WIDEST, Range, held, integer_span, range_of
from discreet.asking.queries.relations import Field

NUMERIC: tuple[Type, ...] = ("integer", "number")


@dataclass(frozen=True)
class Scope:
    """The fields that names may mean."""

    fields: tuple[Field, ...]

    def find(self, name: Name) -> Field | None:
        """Return the one field of that name; None if there is none, a refusal if there are several."""
        found = [
            field
            for field in self.fields
            if field.name.lower() == name.name.lower()
            and (name.table is None or field.table.lower() == name.table.lower())
        ]
        if len(found) > 1:
            tables = " or ".join(f"{field.table}.{field.name}" for field in found)
            refuse("ambiguous", f"Column {name.name!r} is in several tables. Write {tables}.", name)
        return found[0] if found else None

    def field(self, name: Name) -> Field:
        """Return the one field of that name, or a refusal that lists what is near."""
        found = self.find(name)
        if found is None:
            self._refuse(name)
        return found

    def _refuse(self, name: Name) -> NoReturn:
        shown = sorted({field.table for field in self.fields if field.table[:1] != "#"})
        if name.table is not None and name.table.lower() not in map(str.lower, shown):
            message = f"Table {name.table!r} is not in FROM. There are: {', '.join(shown)}."
            refuse("unknown_column", message, name)
        near = difflib.get_close_matches(name.name, [field.name for field in self.fields], n=1)
        known = ", ".join(sorted({field.name for field in self.fields})[:12])
        hint = (
            f"Did you mean {near[0]!r}?"
            if near
            else f"There are: {known}. A text is written {name.name[:60]!r}."
        )
        refuse("unknown_column", f"Column {name.name!r} is not known here. {hint}", name)

    def range(self, node: Expression) -> Range | None:
        """Return what the owner's bounds say of a typed expression."""
        return held(node, range_of(node, lambda name: _range_of_field(self.field(name))))


def _range_of_field(field: Field) -> Range | None:
    """Return the bounds of numbers, and of dates and times as the numbers of their days."""
    if field.type not in ("date", "timestamp") or field.bounds is None:
        return field.range
    first, last = (Fraction(end.toordinal()) for end in field.bounds if isinstance(end, datetime.date))
    return first, last


def assign_types(node: Expression, scope: Scope) -> Expression:
    """Return the same expression with types, qualified names and explicit conversions."""
    if isinstance(node, Literal):
        return _type_literal(node)
    if isinstance(node, Name):
        field = scope.field(node)
        return replace(node, name=field.name, table=field.table, type=field.type)
    if isinstance(node, Slot):
        return node
    if isinstance(node, Case):
        return _type_case(node, scope)
    if isinstance(node, Call):
        arguments = tuple(assign_types(each, scope) for each in node.arguments)
        return type_call(replace(node, arguments=arguments))
    if isinstance(node, Window):
        refuse(*ADVICE["Window"], node)
    if isinstance(node, Scalar):
        refuse(*ADVICE["Subquery"], node)
    return refuse("aggregate", "An aggregate is not allowed here. Use HAVING, or a subquery by unit.", node)


def _type_literal(node: Literal) -> Expression:
    value = node.value
    if isinstance(value, str) and ("\x00" in value or _has_surrogate(value)):
        refuse("text", "A text must be valid Unicode without the character NUL.", node)
    if isinstance(value, float) and not abs(value) < float("inf"):
        refuse("number", "A number must be finite.", node)
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:  # type: ignore[operator]
        refuse("number", "A whole number must fit in 64 bits.", node)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        refuse("date", "A timestamp is written without a time zone.", node)
    return replace(node, type=type_of(value))


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def assign_condition(node: Expression, scope: Scope) -> Expression:
    """Return a typed condition."""
    typed = assign_types(node, scope)
    return as_condition(typed)


def as_condition(typed: Expression) -> Expression:
    """Return the expression, if it is true or false."""
    if typed.type not in ("boolean", None):
        message = f"A condition is true or false, but this is of type {typed.type}."
        refuse("type", message + _undeclared(typed), typed)
    return typed


def _type_case(node: Case, scope: Scope) -> Expression:
    conditions = [assign_condition(test, scope) for test, _ in node.branches]
    values = unify([*(assign_types(value, scope) for _, value in node.branches),
                    assign_types(node.otherwise, scope)], node)  # fmt: skip
    return finish_case(node, conditions, values)


def finish_case(node: Case, conditions: Sequence[Expression], values: Sequence[Expression]) -> Expression:
    """Return a CASE of typed parts, the last value being ELSE's."""
    branches = tuple(zip(conditions, values[:-1], strict=True))
    return replace(node, branches=branches, otherwise=values[-1], type=values[0].type)


def rebuild(node: Expression, lower: Callable[[Expression], Expression]) -> Expression:
    """Return a call or CASE with its parts lowered (to slots, say) and its types found anew."""
    if isinstance(node, Call):
        return type_call(replace(node, arguments=tuple(map(lower, node.arguments))))
    assert isinstance(node, Case)
    conditions = [as_condition(lower(test)) for test, _ in node.branches]
    values = [*(lower(value) for _, value in node.branches), lower(node.otherwise)]
    return finish_case(node, conditions, unify(values, node))


def unify(values: Sequence[Expression], where: Expression) -> list[Expression]:
    """Return values of one type; whole numbers become numbers among numbers, dates timestamps among
    timestamps.
    """
    kinds = {each.type for each in values if each.type is not None}
    if len(kinds) > 1 and kinds <= set(NUMERIC):
        return [_convert(each, "number") for each in values]
    texts = [each for each in values if isinstance(each, Literal) and each.type == "text"]
    times: tuple[Type, ...] = ("timestamp", "date")
    for kind in times:
        rest = {each.type for each in values if each not in texts and each.type is not None}
        if kind in rest and rest <= set(times):
            return [_as_time(each, kind) for each in values]
    if len(kinds) > 1:
        message = f"These must be of one type, but they are {' and '.join(sorted(kinds))}."
        refuse("type", f"{message} {_remedy(kinds)}{_undeclared(*values)}", where)
    kind_found = kinds.pop() if kinds else "text"
    return [replace(each, type=kind_found) if each.type is None else each for each in values]


def _remedy(kinds: set[Type]) -> str:
    """Return what to write instead, where two types meet that do not compare."""
    if kinds & {"date", "timestamp"}:
        return "A date is written DATE '2026-11-15', its year EXTRACT(year FROM x)."
    if "boolean" in kinds:
        return "Write TRUE or FALSE, or the condition alone."
    return "Write numbers without quotes and texts with them, or CAST(x AS BIGINT)."


def _undeclared(*nodes: Expression) -> str:
    """Return what its owner can do about a column of text that is asked as something else."""
    texts = [node.name for node in nodes if isinstance(node, Name) and node.type == "text"]
    if not texts:
        return ""
    return (
        f" Column {texts[0]!r} is text until its owner declares bounds or another type for it "
        f"(on the command line --types {texts[0]}=number)."
    )


def _not_whole(node: Expression, kinds: Sequence[Type]) -> str:
    if node.type != "number" or "number" in kinds or "integer" not in kinds:
        return ""
    return ' Write CAST(x AS BIGINT), or its owner declares types = { x = "integer" }.'


def _convert(node: Expression, kind: Type) -> Expression:
    if node.type is None:
        return replace(node, type=kind)
    if node.type == kind:
        return node
    if isinstance(node, Literal) and kind == "number":
        return Literal(float(node.value), type=kind, place=node.place)  # type: ignore[arg-type]
    return Call(f"to_{kind}", (node,), type=kind, place=node.place)


def _as_time(node: Expression, kind: Type) -> Expression:
    if isinstance(node, Literal) and isinstance(node.value, str):
        reader = datetime.datetime if kind == "timestamp" else datetime.date
        try:
            value = reader.fromisoformat(node.value)
        except ValueError:
            refuse("date", f"A {kind} is written '2026-11-15'.", node)
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            refuse("date", "A timestamp is written without a time zone.", node)
        return Literal(value, type=kind, place=node.place)
    if isinstance(node, Literal) and type(node.value) is datetime.date and kind == "timestamp":
        midnight = datetime.datetime.combine(node.value, datetime.time())
        return Literal(midnight, type=kind, place=node.place)
    return _convert(node, kind)


def type_call(node: Call) -> Expression:
    """Return a call whose arguments have types."""
    function = FUNCTIONS.get(node.function)
    if node.function in AFTER:
        refuse(*ADVICE["Logarithm"], node)
    if function is None:
        refuse("unknown_function", f"{node.function} is not one of the allowed functions.", node)
    if not function.least <= len(node.arguments) <= function.most:
        refuse("arguments", f"{node.function.upper()} takes another number of arguments.", node)
    arguments, given = _match(node, function.shape)
    typed = replace(node, arguments=tuple(arguments), type=function.gives or given)
    if typed.type == "integer" and max(map(abs, integer_span(typed))) > WIDEST:
        refuse("overflow", "This could grow beyond 38 digits. Write CAST(x AS DOUBLE) first.", node)
    return _fold(typed)


def _fold(node: Call) -> Expression:
    """Compute on numbers written out, in exact decimals: 0.06 + 0.01 is 0.07, as it is read."""
    rules = {
        "add": operator.add,
        "subtract": operator.sub,
        "multiply": operator.mul,
        "divide": operator.truediv,
    }
    values = [
        each.value
        for each in node.arguments
        if isinstance(each, Literal) and isinstance(each.value, int | float) and each.value is not True
    ]
    if node.function not in rules or len(values) < 2 or node.type not in NUMERIC:
        return node
    left, right = (Fraction(repr(value)) for value in values)
    if node.function == "divide" and right == 0:
        return node
    exact = rules[node.function](left, right)
    if node.type == "number" and abs(exact) < LARGEST_NUMBER:
        return Literal(float(exact), type="number", place=node.place)
    fits = SMALLEST_INTEGER <= exact <= LARGEST_INTEGER
    return Literal(int(exact), type="integer", place=node.place) if node.type == "integer" and fits else node


def _match(node: Call, shape: str) -> tuple[Sequence[Expression], Type | None]:
    """Return the arguments, converted, and their common type."""
    arguments = node.arguments
    if shape == "arithmetic":
        return _arithmetic(node)
    if shape == "numbers":
        return [_convert(_expect(each, NUMERIC, node), "number") for each in arguments], "number"
    if shape in ("compared", "same", "ordered"):
        unified = unify(arguments, node)
        if shape == "ordered":
            _expect(unified[0], ("integer", "number", "date", "timestamp"), node)
        return unified, unified[0].type
    if shape == "joined":
        return [_as_text(each, node) for each in arguments], "text"
    if shape == "listed":
        return _listed(node)
    if node.function in CASTS:
        _expect(arguments[0], CASTS[node.function], node)
        return arguments, None
    if node.function in ("like", "substr", "width_bucket", "replace", "split_part"):
        return _written_out(node)
    kinds: dict[str, tuple[Type, ...]] = {
        "integers": ("integer",),
        "booleans": ("boolean",),
        "numeric": NUMERIC,
        "texts": ("text",),
        "times": ("date", "timestamp"),
        "clock": ("timestamp",),
    }
    if shape in kinds:
        checked = [_expect(each, kinds[shape], node) for each in arguments]
        return checked, checked[0].type
    return arguments, None


def _expect(node: Expression, kinds: Sequence[Type], call: Call) -> Expression:
    if node.type is None:
        return replace(node, type=kinds[0])
    if node.type not in kinds:
        message = f"{call.function.upper()} takes {' or '.join(kinds)}, but this is {node.type}."
        refuse("type", message + _undeclared(node) + _not_whole(node, kinds), node)
    return node


def _as_text(node: Expression, call: Call) -> Expression:
    checked = _expect(node, CASTS["to_text"], call)
    if isinstance(checked, Literal) and checked.type == "integer":
        return Literal(str(checked.value), type="text", place=node.place)
    return checked if checked.type == "text" else Call("to_text", (checked,), type="text", place=node.place)


def _arithmetic(node: Call) -> tuple[Sequence[Expression], Type]:
    kinds = {each.type for each in node.arguments}
    if node.function == "subtract" and kinds == {"date"}:
        return node.arguments, "integer"
    checked = [_expect(each, NUMERIC, node) for each in node.arguments]
    unified = unify(checked, node)
    return unified, unified[0].type or "integer"


def _listed(node: Call) -> tuple[Sequence[Expression], Type]:
    subject, *listed = unify(node.arguments, node)
    return [subject, *dict.fromkeys(listed)], "boolean"


def _written_out(node: Call) -> tuple[Sequence[Expression], Type]:
    subject, *rest = node.arguments
    numbers = [each.value if isinstance(each, Literal) else None for each in rest]
    if node.function == "substr":
        _expect(subject, ("text",), node)
        if not all(type(each) is int and 0 <= each < 2**31 for each in numbers) or numbers[0] == 0:
            refuse("substr", "SUBSTR(x, start, length) takes whole numbers written out, from 1 on.", node)
        return node.arguments, "text"
    if node.function == "like":
        return _like(node, subject, rest[0])
    if node.function in ("replace", "split_part"):
        return _text_parts(node, subject, numbers)
    low, high, count = numbers
    ends = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (low, high))
    if not ends or type(count) is not int or not low < high or not 1 <= count <= 10_000:  # type: ignore[operator]
        refuse("width_bucket", "WIDTH_BUCKET(x, low, high, count) takes constants, low < high.", node)
    if max(abs(low), abs(high)) > LARGEST_NUMBER:  # type: ignore[arg-type]  # else high - low is no double
        refuse("width_bucket", "WIDTH_BUCKET(x, low, high, count) takes ends within ±10^300.", node)
    converted = [_convert(_expect(each, NUMERIC, node), "number") for each in node.arguments[:3]]
    return [*converted, node.arguments[3]], "integer"


def _like(node: Call, subject: Expression, pattern: Expression) -> tuple[Sequence[Expression], Type]:
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        refuse("pattern", "LIKE takes a pattern written out, as 'Ott%'.", node)
    text = pattern.value
    if len(text) > MOST_WRITTEN or text.count("%") > MOST_PARTS or "\\" in text:
        most = f"at most {MOST_WRITTEN} characters, {MOST_PARTS} of them %"
        refuse("pattern", f"A LIKE pattern has {most}, and no backslash.", node)
    return [_expect(each, ("text",), node) for each in (subject, pattern)], "text"


def _text_parts(
    node: Call, subject: Expression, written: Sequence[object]
) -> tuple[Sequence[Expression], Type]:
    _expect(subject, ("text",), node)
    found, other = written
    if not isinstance(found, str) or not found or len(found) > MOST_WRITTEN:
        refuse("text", f"{node.function.upper()} looks for a text written out, as 'x'.", node)
    if node.function == "replace" and (not isinstance(other, str) or len(other) > MOST_WRITTEN):
        refuse("text", "REPLACE(x, 'old', 'new') takes texts written out.", node)
    if node.function == "split_part" and (type(other) is not int or not 1 <= other <= MOST_WRITTEN):
        refuse("text", "SPLIT_PART(x, ' ', n) takes a whole number from 1 on, written out.", node)
    return [_type_literal(each) if isinstance(each, Literal) else each for each in node.arguments], "text"


def fit_integer(node: Expression) -> Expression:
    """Return a column of a subquery again has 64 bits: a larger whole number becomes NULL."""
    low, high = integer_span(node) if node.type == "integer" else (0, 0)
    if low >= SMALLEST_INTEGER and high <= LARGEST_INTEGER:
        return node
    return Call("to_integer", (node,), type="integer", place=node.place)


def type_aggregate(node: Aggregate, scope: Scope) -> Aggregate:
    """Return an aggregate with typed argument and condition, and the type of its answer."""
    condition = None if node.condition is None else assign_condition(node.condition, scope)
    if node.argument is None:
        return replace(node, condition=condition, type="integer")
    argument = assign_types(node.argument, scope)
    if node.function == "count_units":
        if isinstance(argument, Name) and scope.field(argument).is_unit:
            return replace(node, argument=None, condition=condition, type="integer")
        return replace(
            node, function="count_distinct", argument=argument, condition=condition, type="integer"
        )
    kind: Type | None = "integer"
    other = None if node.other is None else _number_of(assign_types(node.other, scope))
    if node.function not in ("count", "mode"):
        if node.function in _OF_TRUTHS:
            argument = _number_of(argument)
        if argument.type not in NUMERIC or (other is not None and other.type not in NUMERIC):
            message = f"This aggregate takes numbers, but here is {argument.type}."
            remedy = " GROUP BY it and COUNT(*), or write MODE(x)." + _undeclared(argument)
            refuse("type", message + remedy, argument)
        exact = node.function in ("sum", "minimum", "maximum")
        kind = argument.type if exact else "number"
    if node.function == "mode":
        kind = argument.type
    if node.fraction is not None and not Fraction(0) <= node.fraction <= 1:
        refuse("quantile", "QUANTILE(x, p) takes a constant p between 0 and 1.", node)
    return replace(node, argument=argument, other=other, condition=condition, type=kind)


_OF_TRUTHS = ("sum", "average", "variance", "deviation", "variance_population", "deviation_population",
              "correlation", "covariance", "covariance_population", "slope", "intercept")  # fmt: skip


def _number_of(node: Expression) -> Expression:
    """Return true as 1 and false as 0, so that the average of a condition is a share."""
    return Call("to_integer", (node,), type="integer", place=node.place) if node.type == "boolean" else node
