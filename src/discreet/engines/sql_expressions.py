"""Row expressions as SQL for DuckDB; `discreet.queries.evaluate` says what each function must mean."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sqlglot import exp

from discreet.engines.sql import (
    SQL_TYPES,
    between,
    binary,
    call,
    cast,
    is_null,
    literal,
    real,
    text,
    try_cast,
    when,
    whole,
)
from discreet.errors import InternalError
from discreet.queries import Call, Case, Expression, Literal, integer_span
from discreet.queries.evaluate import (
    DATE_GRAMMAR,
    INTEGER_GRAMMAR,
    LOWER,
    NUMBER_GRAMMAR,
    TIMESTAMP_GRAMMAR,
    UPPER,
)
from discreet.tables import LARGEST_INTEGER, SMALLEST_INTEGER

Columns = Callable[[Expression], exp.Expression]  # the SQL of a name or slot
Built = exp.Expression


def build(node: Expression, columns: Columns) -> Built:
    """The SQL of a typed expression."""
    if isinstance(node, Literal):
        return literal(node.value, node.type)
    if isinstance(node, Case):
        branches = [(build(test, columns), _fitting(value, node, columns)) for test, value in node.branches]
        return when(*branches, otherwise=_fitting(node.otherwise, node, columns))
    if isinstance(node, Call):
        builder = BUILDERS.get(node.function)
        if builder is None:
            raise InternalError(f"the function {node.function} must have SQL")
        built: Built = builder(node, columns)
        return built
    return columns(node)


def is_wide(node: Expression) -> bool:
    """Whether an integer expression may need more than 64 bits."""
    if node.type != "integer":
        return False
    low, high = integer_span(node)
    return low < SMALLEST_INTEGER or high > LARGEST_INTEGER


def _fitting(node: Expression, whole_node: Expression, columns: Columns) -> Built:
    """A part of CASE or COALESCE, as wide as the whole."""
    built = build(node, columns)
    return cast(built, "HUGEINT") if is_wide(whole_node) else built


def _parts(node: Call, columns: Columns) -> list[Built]:
    return [build(each, columns) for each in node.arguments]


def _no_nan(node: Built) -> Built:
    """NaN is a missing value; DuckDB finds NaN equal to itself."""
    return exp.Nullif(this=node, expression=cast(text("nan"), "DOUBLE"))


def _arithmetic(kind: type[exp.Binary], node: Call, columns: Columns) -> Built:
    left, right = _parts(node, columns)
    if node.type == "number":
        return _no_nan(binary(kind, left, right))
    if is_wide(node):
        left, right = cast(left, "HUGEINT"), cast(right, "HUGEINT")
    return binary(kind, left, right)


def _divide(node: Call, columns: Columns) -> Built:
    left, right = _parts(node, columns)
    return _no_nan(binary(exp.Div, left, exp.Nullif(this=right, expression=real(0.0))))


def _divide_whole(kind: type[exp.Binary], node: Call, columns: Columns) -> Built:
    # In 128 bits, because the smallest 64-bit number has no quotient by -1; the remainder always fits again.
    left, right = (cast(each, "HUGEINT") for each in _parts(node, columns))
    divided = binary(kind, left, exp.Nullif(this=right, expression=whole(0, "HUGEINT")))
    return divided if is_wide(node) else cast(divided, "BIGINT")


def _negate(node: Call, columns: Columns) -> Built:
    (argument,) = _parts(node, columns)
    return exp.paren(exp.Neg(this=cast(argument, "HUGEINT") if is_wide(node) else argument), copy=False)


def _abs(node: Call, columns: Columns) -> Built:
    (argument,) = _parts(node, columns)
    return call("abs", cast(argument, "HUGEINT") if is_wide(node) else argument)


def _sign(node: Call, columns: Columns) -> Built:
    return cast(call("sign", *_parts(node, columns)), "BIGINT")


def _rounding(name: str, node: Call, columns: Columns) -> Built:
    (argument,) = _parts(node, columns)
    return argument if node.type == "integer" else call(name, argument)


def _binary(kind: type[exp.Binary], node: Call, columns: Columns) -> Built:
    left, right = _parts(node, columns)
    return binary(kind, left, right)


def _in(node: Call, columns: Columns) -> Built:
    subject, *listed = _parts(node, columns)
    return exp.paren(exp.In(this=subject, expressions=listed), copy=False)


def _named(name: str, node: Call, columns: Columns) -> Built:
    return call(name, *_parts(node, columns))


def _coalesce(node: Call, columns: Columns) -> Built:
    first, *rest = (_fitting(each, node, columns) for each in node.arguments)
    return exp.Coalesce(this=first, expressions=rest)


def _letters(before: str, after: str, node: Call, columns: Columns) -> Built:
    (argument,) = _parts(node, columns)
    return call("translate", argument, text(before), text(after))


def _width_bucket(node: Call, columns: Columns) -> Built:
    number, low, high, _ = _parts(node, columns)
    count = node.arguments[3]
    assert isinstance(count, Literal)
    assert isinstance(count.value, int)
    part = binary(exp.Div, binary(exp.Sub, number, low), binary(exp.Sub, high, low.copy()))
    scaled = cast(call("floor", binary(exp.Mul, part, real(float(count.value)))), "BIGINT")
    bucket = call("least", whole(count.value), binary(exp.Add, scaled, whole(1)))
    return when(
        (is_null(number.copy()), literal(None, "integer")),
        (binary(exp.LT, number.copy(), low.copy()), whole(0)),
        (binary(exp.GTE, number.copy(), high.copy()), whole(count.value + 1)),
        otherwise=bucket,
    )


def _matching(argument: Built, grammar: str, value: Built) -> Built:
    return when((call("regexp_full_match", argument, text(grammar)), value))


def _to_integer(node: Call, columns: Columns) -> Built:
    (argument,) = _parts(node, columns)
    read = try_cast(argument, "BIGINT")
    return _matching(argument.copy(), INTEGER_GRAMMAR, read) if node.arguments[0].type == "text" else read


def _to_number(node: Call, columns: Columns) -> Built:
    (argument,) = _parts(node, columns)
    given = node.arguments[0]
    if given.type != "text":
        # The cast of a 128-bit number rounds twice; its decimal text is rounded once.
        return cast(cast(argument, "VARCHAR") if is_wide(given) else argument, "DOUBLE")
    number = try_cast(argument, "DOUBLE")
    for end in ("inf", "-inf"):
        number = exp.Nullif(this=number, expression=cast(text(end), "DOUBLE"))
    return _matching(argument.copy(), NUMBER_GRAMMAR, number)


def _to_text(node: Call, columns: Columns) -> Built:
    return cast(_parts(node, columns)[0], "VARCHAR")


def _to_boolean(node: Call, columns: Columns) -> Built:
    (argument,) = _parts(node, columns)
    if node.arguments[0].type == "boolean":
        return argument
    cases = ((text("true"), exp.true()), (text("false"), exp.false()))
    return when(*((binary(exp.EQ, argument.copy(), word), value) for word, value in cases))


def in_calendar(value: Built, kind: str) -> Built:
    """A date or timestamp in the years 1 to 9999, else NULL."""
    last = "9999-12-31" if kind == "DATE" else "9999-12-31 23:59:59.999999"
    first = "0001-01-01" if kind == "DATE" else "0001-01-01 00:00:00"
    inside = between(value.copy(), cast(text(first), kind), cast(text(last), kind))
    return when((inside, value))


def _to_time(kind: str, grammar: str, node: Call, columns: Columns) -> Built:
    (argument,) = _parts(node, columns)
    if node.arguments[0].type != "text":
        return cast(argument, kind)
    return _matching(argument.copy(), grammar, in_calendar(try_cast(argument, kind), kind))


def _part(name: str, node: Call, columns: Columns) -> Built:
    return cast(call("date_part", text(name), *_parts(node, columns)), "BIGINT")


def _truncate(unit: str, node: Call, columns: Columns) -> Built:
    assert node.type is not None
    return cast(call("date_trunc", text(unit), *_parts(node, columns)), SQL_TYPES[node.type])


def _not(node: Call, columns: Columns) -> Built:
    return exp.paren(exp.Not(this=_parts(node, columns)[0]), copy=False)


def _is_null(node: Call, columns: Columns) -> Built:
    return is_null(_parts(node, columns)[0])


BUILDERS: Mapping[str, Callable[[Call, Columns], Any]] = {
    "add": partial(_arithmetic, exp.Add),
    "subtract": partial(_arithmetic, exp.Sub),
    "multiply": partial(_arithmetic, exp.Mul),
    "divide": _divide,
    "divide_whole": partial(_divide_whole, exp.IntDiv),
    "modulo": partial(_divide_whole, exp.Mod),
    "negate": _negate,
    "abs": _abs,
    "sign": _sign,
    "floor": partial(_rounding, "floor"),
    "ceil": partial(_rounding, "ceil"),
    "round": partial(_rounding, "round"),
    "equal": partial(_binary, exp.EQ),
    "unequal": partial(_binary, exp.NEQ),
    "less": partial(_binary, exp.LT),
    "at_most": partial(_binary, exp.LTE),
    "greater": partial(_binary, exp.GT),
    "at_least": partial(_binary, exp.GTE),
    "and": partial(_binary, exp.And),
    "or": partial(_binary, exp.Or),
    "not": _not,
    "is_null": _is_null,
    "in": _in,
    "like": partial(_binary, exp.Like),
    "coalesce": _coalesce,
    "lower": partial(_letters, UPPER, LOWER),
    "upper": partial(_letters, LOWER, UPPER),
    "length": partial(_named, "length"),
    "substr": partial(_named, "substring"),
    "width_bucket": _width_bucket,
    "to_integer": _to_integer,
    "to_number": _to_number,
    "to_text": _to_text,
    "to_boolean": _to_boolean,
    "to_date": partial(_to_time, "DATE", DATE_GRAMMAR),
    "to_timestamp": partial(_to_time, "TIMESTAMP", TIMESTAMP_GRAMMAR),
    **{
        name: partial(_part, name)
        for name in ("year", "quarter", "month", "day", "dow", "isodow", "doy", "hour", "minute", "second")
    },
    **{
        f"trunc_{unit}": partial(_truncate, unit)
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute")
    },
}
