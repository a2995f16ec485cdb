"""SQL expressions into the tree: each allowed node has a reader, every other node is refused.

A reader also refuses every argument of its node that it does not use: nothing of the text is dropped
silently.
"""

import datetime
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.asking.policy import LARGEST_INTEGER, Value
from discreet.asking.queries.advice import ADVICE
from discreet.asking.queries.nodes import (
    Aggregate,
    AggregateName,
    Call,
    Case,
    Expression,
    Literal,
    Name,
    Place,
    check_size,
    refuse,
)
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import exact_quantile

MOST_DIGITS = 100  # characters of a number: more than any double or 64-bit number needs

QUIET = {
    "_type",
    "big_int",
    "safe",
    "typed",
    "quoted",
    "nested",
    "expressions_",
}  # notes of the parser to itself


def place_of(node: exp.Expression) -> Place | None:
    """Return the part of the text that a node and all inside it cover."""
    spots = [each.meta for each in node.walk() if "start" in each.meta]
    if not spots:
        return None
    return min(spot["start"] for spot in spots), max(spot["end"] for spot in spots) + 1


def only(node: exp.Expression, *names: str) -> None:
    """Refuse the node if anything but these of its arguments is set."""
    for name, value in node.args.items():
        if value and name not in names and name not in QUIET:
            part = name.strip("_").replace("_", " ").upper()
            refuse("clause", f"{part} is not allowed here. Leave it out.", place_of(node))


def read_expression(node: exp.Expression) -> Expression:
    """Return the tree of one SQL expression."""
    reader = READERS.get(type(node))
    if reader is None:
        reason, message = _explain(node)
        refuse(reason, message, place_of(node))
    read = reader(node)
    check_size(read)
    return read


def _explain(node: exp.Expression) -> tuple[str, str]:
    anonymous = type(node) is exp.Anonymous
    name = node.name.lower() if anonymous else type(node).__name__
    if name in ADVICE:
        return ADVICE[name]
    if isinstance(node, exp.Func):
        shown = node.name.upper() if anonymous else node.sql_name()
        return "unknown_function", f"{shown} is not one of the allowed functions. See docs/guide/sql.md."
    return "unknown_node", f"{type(node).__name__} is not part of the allowed SQL. See docs/guide/sql.md."


def _read_literal(node: exp.Literal) -> Expression:
    only(node, "this", "is_string")
    if node.args.get("is_string"):
        return Literal(node.this, place=place_of(node))
    return Literal(_read_number(node), place=place_of(node))


def is_digits(text: str) -> bool:
    """Return whether a text is digits as numbers are written: a superscript is a digit too, and no number."""
    return text.isascii() and text.isdigit()


def _check_length(node: exp.Literal) -> None:
    """Check a number before it is made: the value of a short text may be very long."""
    if len(node.this) > MOST_DIGITS:
        message = f"A number must have at most {MOST_DIGITS} characters, got {len(node.this)}. Round it."
        refuse("number", message, place_of(node))


def _read_number(node: exp.Literal) -> Value:
    text: str = node.this
    _check_length(node)
    if is_digits(text):
        if int(text[:30]) > LARGEST_INTEGER:
            refuse("number", "A whole number must fit in 64 bits. Write it as 1e20.", place_of(node))
        return int(text)
    try:
        number = float(text)
    except ValueError:
        number = float("inf")
    if not abs(number) < float("inf"):
        refuse("number", "A number must be finite, as 12, 0.5 or 1e6.", place_of(node))
    return number


def _read_negation(node: exp.Neg) -> Expression:
    only(node, "this")
    inner = read_expression(node.this)
    if isinstance(inner, Literal) and isinstance(inner.value, int | float) and inner.value is not True:
        return Literal(-inner.value, place=inner.place)
    return Call("negate", (inner,), place=inner.place)


def _read_column(node: exp.Column) -> Expression:
    only(node, "this", "table")
    if isinstance(node.this, exp.Star):
        refuse("star", "* is allowed in COUNT(*) and alone in a row-wise subquery only.", place_of(node))
    return Name(node.name, node.table or None, place=place_of(node))


def _read_case(node: exp.Case) -> Expression:
    only(node, "this", "ifs", "default")
    subject = None if node.this is None else read_expression(node.this)
    branches = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        condition = read_expression(branch.this)
        if subject is not None:
            condition = Call("equal", (subject, condition), place=condition.place)
        branches.append((condition, read_expression(branch.args["true"])))
    default = node.args.get("default")
    otherwise = Literal(None) if default is None else read_expression(default)
    return Case(tuple(branches), otherwise, place=place_of(node))


def _read_in(node: exp.In) -> Expression:
    if node.args.get("query") is not None:
        refuse(*ADVICE["Subquery"], place_of(node))
    only(node, "this", "expressions")
    listed = tuple(read_expression(each) for each in node.expressions)
    for each in listed:
        if not isinstance(each, Literal):
            refuse("in_list", "IN takes a list of constants. Write x = a OR x = b for the rest.", each)
        if each.value is None:
            message = "NULL in a list makes NOT IN true for no row. Write x IS NULL."
            refuse("null_in_list", message, place_of(node))
    if not listed:
        refuse("in_list", "IN takes at least one constant, as x IN ('a', 'b').", place_of(node))
    return Call("in", (read_expression(node.this), *listed), place=place_of(node))


def _read_between(node: exp.Between) -> Expression:
    only(node, "this", "low", "high")
    subject = read_expression(node.this)
    low, high = read_expression(node.args["low"]), read_expression(node.args["high"])
    place = place_of(node)
    ends = (Call("at_least", (subject, low), place=place), Call("at_most", (subject, high), place=place))
    return Call("and", ends, place=place)


def _read_like(node: exp.Like) -> Expression:
    only(node, "this", "expression", "negate")
    both = (read_expression(node.this), read_expression(node.expression))
    call = Call("like", both, place=place_of(node))
    return Call("not", (call,), place=call.place) if node.args.get("negate") else call


CAST_TYPES = {
    exp.DataType.Type.TINYINT: "to_integer",
    exp.DataType.Type.SMALLINT: "to_integer",
    exp.DataType.Type.INT: "to_integer",
    exp.DataType.Type.BIGINT: "to_integer",
    exp.DataType.Type.DOUBLE: "to_number",
    exp.DataType.Type.FLOAT: "to_number",
    exp.DataType.Type.DECIMAL: "to_number",
    exp.DataType.Type.TEXT: "to_text",
    exp.DataType.Type.VARCHAR: "to_text",
    exp.DataType.Type.BOOLEAN: "to_boolean",
    exp.DataType.Type.DATE: "to_date",
    exp.DataType.Type.TIMESTAMP: "to_timestamp",
    exp.DataType.Type.TIMESTAMPNTZ: "to_timestamp",
}
_PLAIN_NUMERIC = ["18", "3"]  # how NUMERIC without a size is parsed
_TIMES = ("to_date", "to_timestamp")
CASTS = "A cast gives BIGINT, DOUBLE, NUMERIC, VARCHAR, BOOLEAN, DATE or TIMESTAMP."


def _read_cast(node: exp.Cast) -> Expression:
    only(node, "this", "to")
    kind = node.args["to"]
    function, size = CAST_TYPES.get(kind.this), [each.name for each in kind.expressions]
    if function is None or (size and kind.this != exp.DataType.Type.DECIMAL):
        refuse("cast_type", CASTS, place_of(node))
    if size and size != _PLAIN_NUMERIC:  # NUMERIC(10, 2) rounds to its digits after the point
        plain = exp.Cast(this=node.this.copy(), to=exp.DataType.build("double"))
        digits = exp.Literal.number((*size, 0)[1])
        return read_expression(exp.Round(this=plain, decimals=digits))
    inner = read_expression(node.this)
    if isinstance(inner, Literal) and isinstance(inner.value, str) and function in _TIMES:
        return Literal(_read_time(inner, function), place=inner.place)
    return Call(function, (inner,), place=place_of(node))


def _read_time(literal: Literal, function: str) -> Value:
    assert isinstance(literal.value, str)
    try:
        if function == "to_date":
            return datetime.date.fromisoformat(literal.value)
        moment = datetime.datetime.fromisoformat(literal.value)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        refuse("date", "A date is written DATE '2026-11-15', without a time zone.", literal)
    return moment


def _read_sum_or_difference(node: exp.Add | exp.Sub) -> Expression:
    only(node, "this", "expression")
    left = read_expression(node.this)
    if isinstance(node.expression, exp.Interval):
        return _shift(left, node.expression, -1 if isinstance(node, exp.Sub) else 1)
    function = "subtract" if isinstance(node, exp.Sub) else "add"
    return Call(function, (left, read_expression(node.expression)), place=place_of(node))


def _shift(left: Expression, interval: exp.Interval, sign: int) -> Expression:
    """Return a date written out, moved by an interval written out: a constant."""
    only(interval, "this", "unit")
    units = {"DAY": (0, 1), "WEEK": (0, 7), "MONTH": (1, 0), "YEAR": (12, 0)}
    amount, unit = interval.this, str(interval.args.get("unit") or "").upper()
    known = isinstance(amount, exp.Literal) and is_digits(amount.this) and len(amount.this) < 6
    if (
        not isinstance(left, Literal)
        or not isinstance(left.value, datetime.date)
        or not known
        or unit not in units
    ):
        refuse(*ADVICE["Interval"], place_of(interval) or left.place)
    months, days = (sign * int(amount.this) * each for each in units[unit])
    try:
        moved = add_months(left.value, months) + datetime.timedelta(days=days)
    except (ValueError, OverflowError):
        refuse("date", "A date must be between the years 1 and 9999.", place_of(interval))
    return Literal(moved, place=left.place)


def add_months(day: datetime.date, months: int) -> datetime.date:
    """Return the same day so many months later, or that month's last.

    >>> add_months(datetime.date(2024, 1, 31), 1)
    datetime.date(2024, 2, 29)
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    first = day.replace(year=year, month=month + 1, day=1)
    following = first.replace(day=28) + datetime.timedelta(days=4)
    last = (following - datetime.timedelta(days=following.day)).day
    return first.replace(day=min(day.day, last))


def _read_part(node: exp.Extract) -> Expression:
    only(node, "this", "expression")
    return _part(node.name, node.expression, node)


def _part(part: str, argument: exp.Expression, node: exp.Expression) -> Expression:
    parts = ("year", "quarter", "month", "day", "dow", "isodow", "doy", "hour", "minute", "second")
    if part.lower() not in parts:
        refuse("date_part", f"The parts of a date are {', '.join(parts)}.", place_of(node))
    return Call(part.lower(), (read_expression(argument),), place=place_of(node))


def _read_truncation(node: exp.TimestampTrunc | exp.DateTrunc) -> Expression:
    only(node, "this", "unit")
    units = ("year", "quarter", "month", "week", "day", "hour", "minute")
    part = node.args["unit"].name.lower()
    if part not in units:
        refuse("date_part", f"A date is truncated to {', '.join(units)}.", place_of(node))
    return Call(f"trunc_{part}", (read_expression(node.this),), place=place_of(node))


def _read_substring(node: exp.Substring) -> Expression:
    only(node, "this", "start", "length")
    parts = [node.this, *(node.args[name] for name in ("start", "length") if node.args.get(name))]
    return Call("substr", tuple(map(read_expression, parts)), place=place_of(node))


def _read_bucket(node: exp.WidthBucket) -> Expression:
    names = ("this", "min_value", "max_value", "num_buckets")
    only(node, *names)
    return Call(
        "width_bucket", tuple(read_expression(node.args[name]) for name in names), place=place_of(node)
    )


def _read_coalesce(node: exp.Coalesce) -> Expression:
    only(node, "this", "expressions")
    parts = tuple(map(read_expression, (node.this, *node.expressions)))
    return Call("coalesce", parts, place=place_of(node))


def _read_paren(node: exp.Paren) -> Expression:
    only(node, "this")
    return read_expression(node.this)


def _read_named(node: exp.Anonymous) -> Expression:
    if node.name.lower() in ("date_part", "datepart") and len(node.expressions) == 2:
        part, argument = node.expressions
        if isinstance(part, exp.Literal):
            return _part(part.name, argument, node)
    return refuse(*_explain(node), place_of(node))


def _call(function: str, *names: str) -> Callable[[Any], Expression]:
    def read(node: exp.Expression) -> Expression:
        only(node, *names)
        return Call(function, tuple(read_expression(node.args[name]) for name in names), place=place_of(node))

    return read


def _aggregate(function: AggregateName) -> Callable[[Any], Expression]:
    def read(node: exp.Expression) -> Expression:
        only(node, "this")
        if isinstance(node.this, exp.Distinct):
            refuse(
                "distinct",
                "Which values are distinct is up to all people at once. COUNT(DISTINCT unit) is allowed.",
                place_of(node),
            )
        return Aggregate(function, read_expression(node.this), place=place_of(node))

    return read


def _read_count(node: exp.Count) -> Expression:
    only(node, "this")
    place = place_of(node)
    if isinstance(node.this, exp.Star):
        only(node.this)
        return Aggregate("count_rows", place=place)
    if isinstance(node.this, exp.Distinct):
        only(node.this, "expressions")
        listed = node.this.expressions
        if len(listed) == 1 and isinstance(listed[0], exp.Tuple):
            listed = listed[0].expressions
        return Aggregate("count_units", _as_one(list(map(read_expression, listed))), place=place)
    if node.this is None:
        return Aggregate("count_rows", place=place)
    argument = read_expression(node.this)
    if isinstance(argument, Literal) and argument.value is not None:
        return Aggregate("count_rows", place=place)
    return Aggregate("count", argument, place=place)


def _as_one(parts: list[Expression]) -> Expression:
    """Return what several columns are together, as one text: two differ where one of the parts does."""
    if len(parts) == 1:
        return parts[0]
    between = [each for part in parts for each in (Literal("\x1f"), part)]
    return Call("concat", tuple(between[1:]), place=parts[0].place)


def _read_quantile(node: exp.Expression) -> Expression:
    """Return QUANTILE(x, p) and its kin."""
    only(node, "this", "quantile", "expression")
    return _quantile(node, node.this, node.args.get("quantile") or node.args.get("expression"))


def _quantile(node: exp.Expression, argument: exp.Expression, fraction: Any) -> Aggregate:
    if not isinstance(fraction, exp.Literal) or fraction.args.get("is_string"):
        message = "QUANTILE(x, p) takes one constant p between 0 and 1. Write several of them for several."
        refuse("quantile", message, place_of(node))
    _check_length(fraction)
    try:
        exact = exact_quantile(Decimal(fraction.this), name="p of QUANTILE(x, p)")
    except (InvalidParameter, InvalidOperation) as error:
        said = error.message if isinstance(error, InvalidParameter) else "QUANTILE(x, p) takes a constant p."
        refuse("quantile", said, place_of(node))
    return Aggregate("quantile", read_expression(argument), fraction=exact, place=place_of(node))


def _read_within(node: exp.WithinGroup) -> Expression:
    """Return PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x), counted from the other end if it is DESC."""
    only(node, "this", "expression")
    inner, order = node.this, node.expression.expressions
    if isinstance(inner, exp.Mode) and len(order) == 1:
        return Aggregate("mode", read_expression(order[0].this), place=place_of(node))
    if not isinstance(inner, exp.PercentileCont | exp.PercentileDisc) or len(order) != 1:
        refuse(
            "quantile", "WITHIN GROUP follows PERCENTILE_CONT(p), with ORDER BY one column.", place_of(node)
        )
    only(inner, "this")
    only(order[0], "this", "desc", "nulls_first")
    read = _quantile(node, order[0].this, inner.this)
    assert read.fraction is not None
    return replace(read, fraction=1 - read.fraction) if order[0].args.get("desc") else read


def _read_median(node: exp.Median) -> Expression:
    only(node, "this")
    return Aggregate("quantile", read_expression(node.this), fraction=Fraction(1, 2), place=place_of(node))


def _read_filter(node: exp.Filter) -> Expression:
    only(node, "this", "expression")
    only(node.expression, "this")
    inner = read_expression(node.this)
    if not isinstance(inner, Aggregate):
        refuse("filter", "FILTER follows an aggregate, as COUNT(*) FILTER (WHERE x > 0).", place_of(node))
    condition = read_expression(node.expression.this)
    if inner.condition is not None:
        condition = Call("and", (inner.condition, condition), place=condition.place)
    return replace(inner, condition=condition)


def _pairs(entries: Iterable[tuple[type, str]]) -> dict[type, Callable[[Any], Expression]]:
    return {kind: _call(function, "this", "expression") for kind, function in entries}


READERS: dict[type, Callable[[Any], Expression]] = {
    exp.Literal: _read_literal,
    exp.Boolean: lambda node: Literal(bool(node.this), place=place_of(node)),
    exp.Null: lambda node: Literal(None, place=place_of(node)),
    exp.Neg: _read_negation,
    exp.Column: _read_column,
    exp.Paren: _read_paren,
    exp.Case: _read_case,
    exp.In: _read_in,
    exp.Between: _read_between,
    exp.Like: _read_like,
    exp.Cast: _read_cast,
    exp.TryCast: _read_cast,
    exp.Add: _read_sum_or_difference,
    exp.Sub: _read_sum_or_difference,
    exp.Extract: _read_part,
    exp.TimestampTrunc: _read_truncation,
    exp.DateTrunc: _read_truncation,
    exp.Substring: _read_substring,
    exp.WidthBucket: _read_bucket,
    exp.Coalesce: _read_coalesce,
    exp.Anonymous: _read_named,
    exp.Not: _call("not", "this"),
    exp.Abs: _call("abs", "this"),
    exp.Sign: _call("sign", "this"),
    exp.Floor: _call("floor", "this"),
    exp.Ceil: _call("ceil", "this"),
    exp.Lower: _call("lower", "this"),
    exp.Upper: _call("upper", "this"),
    exp.Length: _call("length", "this"),
    exp.Year: _call("year", "this"),
    exp.Quarter: _call("quarter", "this"),
    exp.Month: _call("month", "this"),
    exp.Day: _call("day", "this"),
    exp.Hour: _call("hour", "this"),
    exp.Minute: _call("minute", "this"),
    exp.Second: _call("second", "this"),
    exp.Count: _read_count,
    exp.Sum: _aggregate("sum"),
    exp.Avg: _aggregate("average"),
    exp.Variance: _aggregate("variance"),
    exp.Stddev: _aggregate("deviation"),
    exp.StddevSamp: _aggregate("deviation"),
    exp.Min: _aggregate("minimum"),
    exp.Max: _aggregate("maximum"),
    exp.Mode: _aggregate("mode"),
    exp.Median: _read_median,
    exp.Quantile: _read_quantile,
    exp.PercentileCont: _read_quantile,
    exp.PercentileDisc: _read_quantile,
    exp.ApproxQuantile: _read_quantile,
    exp.WithinGroup: _read_within,
    exp.VariancePop: _aggregate("variance_population"),
    exp.StddevPop: _aggregate("deviation_population"),
    exp.Filter: _read_filter,
    **_pairs(
        (
            (exp.Mul, "multiply"),
            (exp.Div, "divide"),
            (exp.IntDiv, "divide_whole"),
            (exp.Mod, "modulo"),
            (exp.And, "and"),
            (exp.Or, "or"),
        )
    ),
}
