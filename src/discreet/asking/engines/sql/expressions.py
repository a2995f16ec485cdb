"""Row expressions as SQL; `discreet.asking.queries.evaluate` says what each function must mean."""

from collections.abc import Callable, Mapping
from functools import partial

from sqlglot import exp

from discreet.asking.engines.sql import (
    SQL_TYPES,
    binary,
    call,
    cast,
    is_null,
    literal,
    real,
    text,
    when,
    whole,
)
from discreet.asking.engines.sql.dialect import Built, Dialect
from discreet.asking.policy import LARGEST_INTEGER, SMALLEST_INTEGER
from discreet.asking.queries import Call, Case, Expression, Literal, integer_span
from discreet.asking.queries.evaluate import LOWER, UPPER
from discreet.errors import InternalError

Columns = Callable[[Expression], Built]  # the SQL of a name or slot
Builder = Callable[[Dialect, Call, list[Built]], Built]  # of a call whose arguments are built


def build(node: Expression, columns: Columns, dialect: Dialect) -> Built:
    """Return the SQL of a typed expression."""
    if isinstance(node, Literal):
        return dialect.literal(node.value, node.type)
    if isinstance(node, Case):
        return _case(node, columns, dialect)
    if isinstance(node, Call):
        if node.function not in BUILDERS:
            raise InternalError(f"the function {node.function} must have SQL")
        parts = [build(each, columns, dialect) for each in node.arguments]
        return BUILDERS[node.function](dialect, node, parts)
    return columns(node)


def _case(node: Case, columns: Columns, dialect: Dialect) -> Built:
    branches = [
        (build(test, columns, dialect), _fitting(node, build(value, columns, dialect)))
        for test, value in node.branches
    ]
    return when(*branches, otherwise=_fitting(node, build(node.otherwise, columns, dialect)))


def is_wide(node: Expression) -> bool:
    """Return whether an integer expression may need more than 64 bits."""
    if node.type != "integer":
        return False
    low, high = integer_span(node)
    return low < SMALLEST_INTEGER or high > LARGEST_INTEGER


def _fitting(node: Expression, part: Built) -> Built:
    """Return a part of a whole-number expression, as wide as the whole."""
    return cast(part, "HUGEINT") if is_wide(node) else part


def _arithmetic(kind: type[exp.Binary], dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    left, right = parts
    if node.type == "number":
        return dialect.arithmetic(kind, left, right)
    if node.arguments[0].type == "date":
        return dialect.days_between(left, right)
    return binary(kind, _fitting(node, left), _fitting(node, right))


def _divide(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return dialect.divide(*parts)


def _divide_whole(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    # Wide, because the smallest 64-bit number has no quotient by -1.
    left, right = (cast(each, "HUGEINT") for each in parts)
    divided = dialect.quotient(left, exp.Nullif(this=right, expression=whole(0, "HUGEINT")))
    return divided if is_wide(node) else cast(divided, "BIGINT")


def _modulo(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    left, right = (cast(each, "HUGEINT") for each in parts)
    rest = binary(exp.Mod, left, exp.Nullif(this=right, expression=whole(0, "HUGEINT")))
    return rest if is_wide(node) else cast(rest, "BIGINT")


def _negate(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return _opposite(parts[0]) if is_wide(node) else exp.paren(exp.Neg(this=parts[0]), copy=False)


def _abs(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    if not is_wide(node):
        return call("abs", parts[0])
    below = binary(exp.LT, parts[0], whole(0))
    return when((below, _opposite(parts[0].copy())), otherwise=_fitting(node, parts[0].copy()))


def _opposite(wide: Built) -> Built:
    """Return 0 - x: engines round a wide number when they change its sign by - or ABS."""
    return binary(exp.Sub, whole(0, "HUGEINT"), cast(wide, "HUGEINT"))


def _sign(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return cast(call("sign", *parts), "BIGINT")


def _rounding(name: str, dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return parts[0] if node.type == "integer" else dialect.rounded(name, parts[0])


def _binary(kind: type[exp.Binary], dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return binary(kind, *parts)


def _not(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return exp.paren(exp.Not(this=parts[0]), copy=False)


def _is_null(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return is_null(parts[0])


def _in(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return exp.paren(exp.In(this=parts[0], expressions=parts[1:]), copy=False)


def _like(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    pattern = node.arguments[1]
    assert isinstance(pattern, Literal)
    assert isinstance(pattern.value, str)
    return dialect.like(parts[0], pattern.value)


def _coalesce(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    first, *rest = (_fitting(node, each) for each in parts)
    return exp.Coalesce(this=first, expressions=rest)


def _letters(before: str, after: str, dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return dialect.translate(parts[0], before, after)


def _length(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return dialect.length(parts[0])


def _substr(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return dialect.substring(*parts)


def _concat(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return dialect.concat(parts)


def _trim(sides: str, dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return dialect.trim(sides, parts[0])


def _replace(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return call("replace", *parts)


def _split_part(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return call("split_part", *parts[:2], cast(parts[2], "INT"))


def _extreme(name: str, dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return call(name, *(_fitting(node, each) for each in parts))


def _sqrt(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    def root(x: Built) -> Built:
        return when((binary(exp.GTE, x.copy(), real(0.0)), call("sqrt", x.copy())))

    return dialect.let(parts[0], root)


def _width_bucket(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    count = node.arguments[3]
    assert isinstance(count, Literal)
    assert isinstance(count.value, int)
    buckets, (_, low, high, _) = count.value, parts

    def bucket(number: Built) -> Built:
        inside = dialect.arithmetic(exp.Sub, number.copy(), low.copy())
        part = dialect.divide(inside, dialect.arithmetic(exp.Sub, high.copy(), low.copy()))
        scaled = dialect.arithmetic(exp.Mul, part, real(float(buckets)))
        place = binary(exp.Add, cast(dialect.rounded("floor", scaled), "BIGINT"), whole(1))
        return when(
            (is_null(number.copy()), literal(None, "integer")),
            (binary(exp.LT, number.copy(), low.copy()), whole(0)),
            (binary(exp.GTE, number.copy(), high.copy()), whole(buckets + 1)),
            otherwise=call("least", whole(buckets), place),
        )

    return dialect.let(parts[0], bucket)


def _to_integer(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    (argument,), kind = parts, node.arguments[0].type
    if kind == "text":
        return dialect.read_text(argument, "integer")
    if kind == "number":
        return dialect.nearest_whole(argument)
    if kind == "boolean":
        return when(
            (is_null(argument), literal(None, "integer")), (argument.copy(), whole(1)), otherwise=whole(0)
        )
    return dialect.narrow(argument) if is_wide(node.arguments[0]) else cast(argument, "BIGINT")


def _to_number(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    (argument,), given = parts, node.arguments[0]
    if given.type == "text":
        return dialect.read_text(argument, "number")
    return dialect.widened(argument) if is_wide(given) else cast(argument, "DOUBLE")


def _to_text(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return dialect.to_text(parts[0], node.arguments[0].type)


def _to_boolean(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    (argument,) = parts
    if node.arguments[0].type == "boolean":
        return argument
    cases = ((text("true"), exp.true()), (text("false"), exp.false()))
    return when(*((binary(exp.EQ, argument.copy(), key), value) for key, value in cases))


def _to_time(dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    assert node.type is not None
    if node.arguments[0].type == "text":
        return dialect.read_text(parts[0], node.type)
    return cast(parts[0], SQL_TYPES[node.type])


def _part(name: str, dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    return dialect.date_part(name, parts[0])


def _truncate(unit: str, dialect: Dialect, node: Call, parts: list[Built]) -> Built:
    assert node.type is not None
    return dialect.date_trunc(unit, parts[0], node.type)


BUILDERS: Mapping[str, Builder] = {
    "add": partial(_arithmetic, exp.Add),
    "subtract": partial(_arithmetic, exp.Sub),
    "multiply": partial(_arithmetic, exp.Mul),
    "divide": _divide,
    "divide_whole": _divide_whole,
    "modulo": _modulo,
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
    "like": _like,
    "coalesce": _coalesce,
    "lower": partial(_letters, UPPER, LOWER),
    "upper": partial(_letters, LOWER, UPPER),
    "length": _length,
    "substr": _substr,
    "concat": _concat,
    "trim": partial(_trim, "btrim"),
    "ltrim": partial(_trim, "ltrim"),
    "rtrim": partial(_trim, "rtrim"),
    "replace": _replace,
    "split_part": _split_part,
    "least": partial(_extreme, "least"),
    "greatest": partial(_extreme, "greatest"),
    "sqrt": _sqrt,
    "width_bucket": _width_bucket,
    "to_integer": _to_integer,
    "to_number": _to_number,
    "to_text": _to_text,
    "to_boolean": _to_boolean,
    "to_date": _to_time,
    "to_timestamp": _to_time,
    **{
        name: partial(_part, name)
        for name in ("year", "quarter", "month", "day", "dow", "isodow", "doy", "hour", "minute", "second")
    },
    **{
        f"trunc_{unit}": partial(_truncate, unit)
        for unit in ("year", "quarter", "month", "week", "day", "hour", "minute")
    },
}
