"""Functions that others say already: each is read as what it means, so that no engine needs to know it.

IF, NULLIF, COUNT_IF, ILIKE, STRFTIME, DATE_DIFF and their kin become CASE, FILTER, LIKE, SUBSTR and parts of
dates, whose meaning, range and labels are known.
"""

import datetime
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from sqlglot import exp

from discreet.asking.queries.advice import ADVICE
from discreet.asking.queries.evaluate import LOWER, UPPER
from discreet.asking.queries.nodes import Aggregate, Call, Case, Expression, Literal, Place, refuse
from discreet.asking.queries.sql_expressions import is_digits, only, place_of, read_expression

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip
_FRACTION = re.compile(r"(0?\.\d{1,12}|[01](\.0{1,12})?)")  # of QUANTILE
MOST_PLACES = 15  # of ROUND: a double has no more


def _if(test: Expression, value: Expression, other: Expression, place: Place | None) -> Expression:
    return Case(((test, value),), other, place=place)


def _read_if(node: exp.If) -> Expression:
    only(node, "this", "true", "false")
    otherwise = node.args.get("false")
    other = Literal(None) if otherwise is None else read_expression(otherwise)
    return _if(read_expression(node.this), read_expression(node.args["true"]), other, place_of(node))


def _read_nullif(node: exp.Nullif) -> Expression:
    only(node, "this", "expression")
    value, other, place = read_expression(node.this), read_expression(node.expression), place_of(node)
    return _if(Call("equal", (value, other), place=place), Literal(None), value, place)


def _read_count_if(node: exp.CountIf) -> Expression:
    only(node, "this")
    return Aggregate("count_rows", condition=read_expression(node.this), place=place_of(node))


def _differs(node: exp.Expression) -> Expression:
    """Return whether two values differ, a missing one being equal to another missing one."""
    only(node, "this", "expression")
    left, right, place = read_expression(node.this), read_expression(node.expression), place_of(node)
    return Case(
        (
            (Call("is_null", (left,)), Call("not", (Call("is_null", (right,)),))),
            (Call("is_null", (right,)), Literal(True)),
        ),
        Call("unequal", (left, right), place=place),
        place=place,
    )


def _read_same(node: exp.Expression) -> Expression:
    return Call("not", (_differs(node),), place=place_of(node))


def _read_ilike(node: exp.ILike) -> Expression:
    """Return LIKE of small letters: A to Z alone are folded, whatever the locale."""
    only(node, "this", "expression", "negate")
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or not pattern.args.get("is_string"):
        refuse("pattern", "ILIKE takes a pattern written out, as 'ott%'.", place_of(node))
    folded = exp.Literal.string(pattern.this.translate(str.maketrans(UPPER, LOWER)))
    like = exp.Like(this=exp.Lower(this=node.this), expression=folded, negate=node.args.get("negate"))
    return read_expression(like)


def _read_truth(node: exp.Is) -> Expression:
    """Return x IS NULL, or x IS TRUE (FALSE): a missing value is neither."""
    only(node, "this", "expression")
    place, value = place_of(node), read_expression(node.this)
    if isinstance(node.expression, exp.Null):
        return Call("is_null", (value,), place=place)
    if not isinstance(node.expression, exp.Boolean):
        refuse("is", "IS is followed by NULL, TRUE or FALSE, or NOT and one of them.", place)
    wanted = value if node.expression.this else Call("not", (value,), place=place)
    return Call("coalesce", (wanted, Literal(False)), place=place)


# Texts.


def _read_left(node: exp.Left) -> Expression:
    only(node, "this", "expression")
    parts = (read_expression(node.this), Literal(1), read_expression(node.expression))
    return Call("substr", parts, place=place_of(node))


def _written_text(node: exp.Expression, word: str) -> str:
    if not isinstance(node, exp.Literal) or not node.args.get("is_string") or not node.this:
        refuse("text", f"{word} takes a text written out, as 'Ott'.", place_of(node))
    return str(node.this)


def _read_start(node: exp.StartsWith) -> Expression:
    only(node, "this", "expression")
    text, place = _written_text(node.expression, "STARTS_WITH"), place_of(node)
    start = Call("substr", (read_expression(node.this), Literal(1), Literal(len(text))), place=place)
    return Call("equal", (start, Literal(text)), place=place)


def _read_found(left: str, right: str) -> Callable[[Any], Expression]:
    def read(node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        text = _written_text(node.expression, "CONTAINS")
        if any(mark in text for mark in "%_\\"):
            refuse("pattern", "A text that is looked for has no %, _ or backslash.", place_of(node))
        like = exp.Like(this=node.this, expression=exp.Literal.string(f"{left}{text}{right}"))
        return read_expression(like)

    return read


def _read_trim(node: exp.Trim) -> Expression:
    only(node, "this", "position")
    functions = {"LEADING": "ltrim", "TRAILING": "rtrim", "BOTH": "trim", "": "trim"}
    function = functions[str(node.args.get("position") or "").upper()]
    return Call(function, (read_expression(node.this),), place=place_of(node))


def _read_pipes(node: exp.DPipe) -> Expression:
    only(node, "this", "expression")
    parts: list[Expression] = []
    for each in (node.this, node.expression):
        part = read_expression(each)
        inside = isinstance(part, Call) and part.function == "concat" and isinstance(each, exp.DPipe)
        parts.extend(part.arguments if isinstance(part, Call) and inside else (part,))
    return Call("concat", tuple(parts), place=place_of(node))


def _read_concat(node: exp.Concat) -> Expression:
    """Return the texts one after the other, a missing one as nothing."""
    only(node, "expressions", "coalesce")
    parts = [read_expression(each) for each in node.expressions]
    filled = [
        each if isinstance(each, Literal) and each.value is not None else _or_nothing(each) for each in parts
    ]
    return filled[0] if len(filled) == 1 else Call("concat", tuple(filled), place=place_of(node))


def _or_nothing(part: Expression) -> Expression:
    return Call("coalesce", (Call("to_text", (part,), place=part.place), Literal("")), place=part.place)


def _read_replace(node: exp.Replace) -> Expression:
    only(node, "this", "expression", "replacement")
    parts = (node.this, node.expression, node.args.get("replacement") or exp.Literal.string(""))
    return Call("replace", tuple(map(read_expression, parts)), place=place_of(node))


def _read_split(node: exp.SplitPart) -> Expression:
    only(node, "this", "delimiter", "part_index")
    parts = (node.this, node.args["delimiter"], node.args["part_index"])
    return Call("split_part", tuple(map(read_expression, parts)), place=place_of(node))


# Numbers.


def _read_rounding(node: exp.Round) -> Expression:
    """Return ROUND(x, d) as ROUND(x · 10^d) / 10^d, in doubles."""
    only(node, "this", "decimals")
    value, place, digits = read_expression(node.this), place_of(node), node.args.get("decimals")
    if digits is None:
        return Call("round", (value,), place=place)
    places = read_expression(digits)
    known = isinstance(places, Literal) and type(places.value) is int and abs(places.value) <= MOST_PLACES
    if not known:
        refuse("digits", f"ROUND(x, digits) takes a whole number within ±{MOST_PLACES}.", place)
    assert isinstance(places, Literal)
    assert isinstance(places.value, int)
    if places.value == 0:
        return Call("round", (value,), place=place)
    power = Literal(10.0 ** abs(places.value))
    there, back = ("multiply", "divide") if places.value > 0 else ("divide", "multiply")
    return Call(
        back, (Call("round", (Call(there, (value, power), place=place),), place=place), power), place=place
    )


def spread_quantiles(node: exp.Expression) -> Iterator[exp.Expression]:
    """Yield QUANTILE(x, [0.1, 0.5]) AS p as the columns p_10 and p_50; any other output as it is."""
    inner = node.this if isinstance(node, exp.Alias) else node
    within = isinstance(inner, exp.WithinGroup)
    call = inner.this if within else inner
    part = "this" if within else "quantile" if call.args.get("quantile") else "expression"
    kinds = exp.Quantile | exp.PercentileCont | exp.PercentileDisc | exp.ApproxQuantile
    listed = call.args.get(part) if isinstance(call, kinds) else None
    if not isinstance(listed, exp.Array):
        yield node
        return
    for each in listed.expressions:
        if not isinstance(each, exp.Literal) or not _FRACTION.fullmatch(each.this):
            message = "QUANTILE(x, [p, ...]) takes constants between 0 and 1, as [0.1, 0.5, 0.9]."
            refuse("quantile", message, place_of(listed))
        single = inner.copy()
        (single.this if within else single).set(part, each.copy())
        percent = format((Decimal(each.this) * 100).normalize(), "f").replace(".", "_")
        yield exp.alias_(single, f"{node.alias or 'quantile'}_{percent}", quoted=True)  # type: ignore[misc]


def _read_power(node: exp.Pow) -> Expression:
    """Return x to the power of 2, 3 or 4 as a product of doubles, and of 0.5 as a root; others are after the
    noise.
    """
    only(node, "this", "expression")
    value, power, place = read_expression(node.this), read_expression(node.expression), place_of(node)
    if isinstance(power, Literal) and power.value in (2, 3, 4):
        number = Call("multiply", (Literal(1.0), value), place=place)
        product: Expression = number
        for _ in range(int(power.value) - 1):  # type: ignore[arg-type]
            product = Call("multiply", (product, number), place=place)
        return product
    if isinstance(power, Literal) and power.value == 0.5:
        return Call("sqrt", (value,), place=place)
    return Call("power", (value, power), place=place)


def _read_logarithm(node: exp.Log) -> Expression:
    only(node, "this", "expression")
    if node.args.get("expression") is None:
        return Call("log10", (read_expression(node.this),), place=place_of(node))  # as DuckDB's LOG(x)
    base = read_expression(node.this)
    names = {10: "log10", 2: "log2"}
    if not isinstance(base, Literal) or base.value not in names:
        refuse("unknown_function", "Logarithms are LN, LOG10 and LOG2.", place_of(node))
    return Call(names[base.value], (read_expression(node.expression),), place=place_of(node))  # type: ignore[index]


def _single(function: str) -> Callable[[Any], Expression]:
    def read(node: exp.Expression) -> Expression:
        only(node, "this")
        return Call(function, (read_expression(node.this),), place=place_of(node))

    return read


def _extreme(function: str) -> Callable[[Any], Expression]:
    def read(node: exp.Expression) -> Expression:
        only(node, "this", "expressions", "ignore_nulls")
        parts = tuple(map(read_expression, (node.this, *node.expressions)))
        return parts[0] if len(parts) == 1 else Call(function, parts, place=place_of(node))

    return read


def _pair(function: Any) -> Callable[[Any], Expression]:
    def read(node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        left, right = read_expression(node.this), read_expression(node.expression)
        return Aggregate(function, left, other=right, place=place_of(node))

    return read


# Dates.


def _names(part: str, names: tuple[str, ...], value: Expression, place: Place | None) -> Expression:
    number = Call(part, (value,), place=place)
    branches = tuple(
        (Call("equal", (number, Literal(index))), Literal(name)) for index, name in enumerate(names, 1)
    )
    return Case(branches, Literal(None), place=place)


def _read_names(part: str, names: tuple[str, ...]) -> Callable[[Any], Expression]:
    def read(node: exp.Expression) -> Expression:
        only(node, "this")
        return _names(part, names, read_expression(node.this), place_of(node))

    return read


def _two_digits(part: str, value: Expression) -> Expression:
    shifted = Call("to_text", (Call("add", (Call(part, (value,)), Literal(100))),))
    return Call("substr", (shifted, Literal(2), Literal(2)))


def _date_piece(start: int, length: int) -> Callable[[Expression], Expression]:
    def piece(value: Expression) -> Expression:
        day = Call("to_text", (Call("to_date", (value,)),))
        return Call("substr", (day, Literal(start), Literal(length)))

    return piece


PIECES: dict[str, Callable[[Expression], Expression]] = {
    "%Y": _date_piece(1, 4),
    "%y": _date_piece(3, 2),
    "%m": _date_piece(6, 2),
    "%d": _date_piece(9, 2),
    "%H": lambda value: _two_digits("hour", value),
    "%M": lambda value: _two_digits("minute", value),
    "%S": lambda value: _two_digits("second", value),
    "%A": lambda value: _names("isodow", DAYS, value, None),
    "%a": lambda value: _names("isodow", tuple(day[:3] for day in DAYS), value, None),
    "%B": lambda value: _names("month", MONTHS, value, None),
    "%b": lambda value: _names("month", tuple(month[:3] for month in MONTHS), value, None),
}
WORDS = {"YYYY": "%Y", "HH24": "%H", "MI": "%M", "MM": "%m", "DD": "%d", "SS": "%S", "YY": "%y"}


def _read_format(node: exp.Expression) -> Expression:
    """Return a date as text by a format, without a locale: its parts one after the other."""
    only(node, "this", "format")
    place, written = place_of(node), node.args.get("format")
    if not isinstance(written, exp.Literal) or not written.args.get("is_string"):
        refuse("format", "STRFTIME(x, format) takes a format written out, as '%Y-%m'.", place)
    text = str(written.this)
    if isinstance(node, exp.ToChar):
        for word, piece in WORDS.items():
            text = text.replace(word, piece)
    value, parts, plain = read_expression(node.this), list[Expression](), ""
    if text == "%Y-%m-%d":
        return Call("to_text", (Call("to_date", (value,), place=place),), place=place)
    position = 0
    while position < len(text):
        two = text[position : position + 2]
        position += 2 if two[0] == "%" else 1
        if two[0] != "%" or two == "%%":
            plain += two[0]
            continue
        if two not in PIECES:
            known = " ".join(PIECES)
            refuse("format", f"A format has {known} and plain characters, got {two!r}.", place_of(written))
        parts += [*([Literal(plain)] if plain else []), PIECES[two](value)]
        plain = ""
    parts += [Literal(plain)] if plain else []
    if not any(not isinstance(each, Literal) for each in parts):
        refuse("format", "A format has at least one part of a date, as %Y.", place_of(written))
    return parts[0] if len(parts) == 1 else Call("concat", tuple(parts), place=place)


def _read_difference(node: exp.DateDiff) -> Expression:
    """Return how many years, months, days ... begin between two moments, as DuckDB's DATE_DIFF counts."""
    only(node, "this", "expression", "unit", "date_part_boundary")
    last, first, place = read_expression(node.this), read_expression(node.expression), place_of(node)
    unit = node.args["unit"].name.lower() if node.args.get("unit") else "day"

    def call(function: str, *parts: Expression) -> Expression:
        return Call(function, parts, place=place)

    def days() -> Expression:
        return call("subtract", *(call("to_date", each) for each in (last, first)))

    def differing(*parts: tuple[str, int]) -> Expression:
        total: Expression | None = None
        for part, times in parts:
            step = days() if part == "day" else call("subtract", call(part, last), call(part, first))
            step = step if times == 1 else call("multiply", step, Literal(times))
            total = step if total is None else call("add", total, step)
        assert total is not None
        return total

    sums: dict[str, Callable[[], Expression]] = {
        "year": lambda: differing(("year", 1)),
        "quarter": lambda: differing(("year", 4), ("quarter", 1)),
        "month": lambda: differing(("year", 12), ("month", 1)),
        "week": lambda: call("divide_whole", days(), Literal(7)),  # seven days, wherever a week begins
        "day": days,
        "hour": lambda: differing(("day", 24), ("hour", 1)),
        "minute": lambda: differing(("day", 1440), ("hour", 60), ("minute", 1)),
        "second": lambda: differing(("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)),
    }
    if unit not in sums:
        refuse("date_part", f"DATE_DIFF counts {', '.join(sums)}.", place)
    return sums[unit]()


def _days_of(node: exp.Expression) -> tuple[exp.Expression, int] | None:
    """Return what whole days are added to in x + INTERVAL 3 DAY, and how many; None for anything else."""
    inner = node.this if isinstance(node, exp.Paren) else node
    if not isinstance(inner, exp.Add | exp.Sub) or not isinstance(inner.expression, exp.Interval):
        return None
    interval = inner.expression
    only(interval, "this", "unit")
    amount, unit = interval.this, str(interval.args.get("unit") or "").upper()
    known = isinstance(amount, exp.Literal) and is_digits(amount.this) and len(amount.this) < 6
    if isinstance(inner.this, exp.Literal | exp.Cast | exp.Date) or not known or unit not in ("DAY", "WEEK"):
        return None  # a date that is written out is moved where it stands
    days = int(amount.this) * (7 if unit == "WEEK" else 1)
    return inner.this, days if isinstance(inner, exp.Add) else -days


def _read_comparison(function: str) -> Callable[[Any], Expression]:
    """Return a comparison; days added to a column are taken off the date that it is compared with."""

    def read(node: exp.Expression) -> Expression:
        only(node, "this", "expression")
        place = place_of(node)
        for moved, other in ((node.this, node.expression), (node.expression, node.this)):
            found = _days_of(moved)
            if found is not None:
                value, bound = read_expression(found[0]), _moved(read_expression(other), -found[1])
                sides = (value, bound) if moved is node.this else (bound, value)
                return Call(function, sides, place=place)
        return Call(function, (read_expression(node.this), read_expression(node.expression)), place=place)

    return read


def _moved(bound: Expression, days: int) -> Expression:
    date = bound.value if isinstance(bound, Literal) else None
    try:
        if isinstance(date, str):
            plain = len(date) == len("2026-11-15")
            date = datetime.date.fromisoformat(date) if plain else datetime.datetime.fromisoformat(date)
        if not isinstance(date, datetime.date):
            refuse(*ADVICE["Interval"], bound)
        return Literal(date + datetime.timedelta(days=days), place=bound.place)
    except (ValueError, OverflowError):
        return refuse("date", "A date is written DATE '2026-11-15', between the years 1 and 9999.", bound)


READERS: dict[type, Callable[[Any], Expression]] = {
    exp.If: _read_if,
    exp.Nullif: _read_nullif,
    exp.CountIf: _read_count_if,
    exp.NullSafeNEQ: _differs,
    exp.NullSafeEQ: _read_same,
    exp.ILike: _read_ilike,
    exp.Is: _read_truth,
    exp.Left: _read_left,
    exp.StartsWith: _read_start,
    exp.EndsWith: _read_found("%", ""),
    exp.Contains: _read_found("%", "%"),
    exp.Trim: _read_trim,
    exp.DPipe: _read_pipes,
    exp.Concat: _read_concat,
    exp.Replace: _read_replace,
    exp.SplitPart: _read_split,
    exp.Round: _read_rounding,
    exp.Pow: _read_power,
    exp.Sqrt: _single("sqrt"),
    exp.Ln: _single("ln"),
    exp.Exp: _single("exp"),
    exp.Log: _read_logarithm,
    exp.Least: _extreme("least"),
    exp.Greatest: _extreme("greatest"),
    exp.Corr: _pair("correlation"),
    exp.CovarSamp: _pair("covariance"),
    exp.CovarPop: _pair("covariance_population"),
    exp.RegrSlope: _pair("slope"),
    exp.RegrIntercept: _pair("intercept"),
    exp.Dayname: _read_names("isodow", DAYS),
    exp.Monthname: _read_names("month", MONTHS),
    exp.DayOfWeek: _single("dow"),
    exp.DayOfYear: _single("doy"),
    exp.DayOfMonth: _single("day"),
    exp.TimeToStr: _read_format,
    exp.ToChar: _read_format,
    exp.DateDiff: _read_difference,
    exp.EQ: _read_comparison("equal"),
    exp.NEQ: _read_comparison("unequal"),
    exp.LT: _read_comparison("less"),
    exp.LTE: _read_comparison("at_most"),
    exp.GT: _read_comparison("greater"),
    exp.GTE: _read_comparison("at_least"),
}
