"""Aggregates that follow from others: each is lowered to sums and counts, which alone get noise.

With x' and y' the distances from the middles of their bounds, over the n rows that have both:
Sxy = Σx'y' - Σx'Σy'/n;  COVAR_POP = Sxy/n;  REGR_SLOPE(y, x) = Sxy/Sxx;  CORR = Sxy/√(Sxx·Syy).
"""

import datetime
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.queries.nodes import Aggregate, Call, Case, Expression, Literal
from discreet.asking.queries.ranges import Range
from discreet.asking.queries.types import Scope, assign_types, type_call
from discreet.errors import UnsupportedQuery

Slots: TypeAlias = Callable[[Aggregate], Expression]  # an aggregate over rows, as a released value
DERIVED = ("variance_population", "deviation_population", "correlation", "covariance",
           "covariance_population", "slope", "intercept")  # fmt: skip
CALENDAR = (Fraction(0), Fraction(datetime.date.max.toordinal() - 1))  # the numbers of all days
_FIRST = datetime.date.min
FARTHEST = 10**50
_OF_DAYS = ("minimum", "maximum", "quantile")


def derive(node: Aggregate, scope: Scope, slot: Slots) -> Expression:
    """Return a typed aggregate over rows, as an expression over released values."""
    if node.function not in DERIVED:
        return slot(node)
    if node.other is None:
        variance = _population(node, slot)
        return variance if node.function == "variance_population" else _call("sqrt", variance)
    return _joint(node, scope, slot)


def of_days(node: Aggregate, scope: Scope) -> Aggregate | None:
    """Return MIN, MAX or a quantile of dates as one of the numbers of their days; None for anything else."""
    if node.function not in _OF_DAYS or node.argument is None:
        return None
    argument = assign_types(node.argument, scope)
    if argument.type not in ("date", "timestamp"):
        return None
    day = argument if argument.type == "date" else _call("to_date", argument)
    return replace(node, argument=_call("subtract", day, Literal(_FIRST, type="date")))


def as_date(number: Expression) -> Expression:
    """Return the day that a released number stands for."""
    whole = number if number.type == "integer" else _call("to_integer", number)
    return Call("date_of", (_call("add", whole, _number(1)),), type="date", place=number.place)


def is_day_number(node: Expression | None) -> bool:
    """Return whether an argument is the number of a day."""
    return isinstance(node, Call) and node.function == "subtract" and node.arguments[0].type == "date"


def _population(node: Aggregate, slot: Slots) -> Expression:
    """Return the variance of a population from that of a sample: (n - 1)/n times it."""
    sample = slot(replace(node, function="variance", type="number"))
    count = slot(replace(node, function="count", type="integer"))
    share = _call("divide", _call("subtract", count, _number(1)), count)
    return _where(_call("greater", count, _number(1)), _call("multiply", sample, share), _number(0.0))


def _joint(node: Aggregate, scope: Scope, slot: Slots) -> Expression:
    first, second = node.argument, node.other
    assert first is not None
    assert second is not None
    for each in (first, second):
        _check_reach(each, scope.range(each))
    in_order = sorted((first, second), key=repr)  # so that CORR(x, y) and REGR_SLOPE(y, x) share their sums
    both = _call("and", *(_call("not", _call("is_null", each)) for each in in_order))
    condition = both if node.condition is None else _call("and", node.condition, both)

    def total(argument: Expression) -> Expression:
        return slot(Aggregate("sum", argument, condition, type="number", place=node.place))

    y, x = (_centred(each, scope.range(each)) for each in (first, second))
    count = slot(Aggregate("count_rows", None, condition, type="integer", place=node.place))
    n, sum_y, sum_x = _call("to_number", count), total(y[0]), total(x[0])

    def spread(one: Expression, other: Expression, product: Expression) -> Expression:
        return _call("subtract", product, _call("divide", _call("multiply", one, other), n))

    joint = spread(sum_x, sum_y, total(_call("multiply", *sorted((x[0], y[0]), key=repr))))
    if node.function in ("covariance", "covariance_population"):
        among = n if node.function == "covariance_population" else _call("subtract", n, _number(1.0))
        return _where(_call("greater", n, _number(1.0)), _call("divide", joint, among))
    own_x = spread(sum_x, sum_x, total(_call("multiply", x[0], x[0])))
    some = _call("and", _call("greater", n, _number(1.0)), _call("greater", own_x, _number(0.0)))
    if node.function == "correlation":
        own_y = spread(sum_y, sum_y, total(_call("multiply", y[0], y[0])))
        ratio = _call("divide", joint, _call("sqrt", _call("multiply", own_x, own_y)))
        ends = _call("least", _number(1.0), _call("greatest", _number(-1.0), ratio))
        return _where(_call("and", some, _call("greater", own_y, _number(0.0))), ends)
    slope = _call("divide", joint, own_x)
    if node.function == "slope":
        return _where(some, slope)
    means = [
        _call("add", _call("divide", total, n), middle) for total, middle in ((sum_y, y[1]), (sum_x, x[1]))
    ]
    return _where(some, _call("subtract", means[0], _call("multiply", slope, means[1])))


def _check_reach(node: Expression, bounds: Range | None) -> None:
    """Refuse values whose sums could leave the doubles.

    A value is at most L = 10^50 from its middle, and a sum of products at most n = 2^110 times L², where 2^40
    rows, and noise of a scale of 2^100, are far below. The largest product here is of two such sums, n²·L⁴ <
    10^267. A spread that is not 0 is at least 2^-53 of a step, which is 2^-21 of the range or 2^-921: so what
    is divided by one, n²·L·M for an M at most as far, is below n²·L·2^-450/2^-974 < 10^275.
    """
    if bounds is not None and max(map(abs, bounds)) > FARTHEST:
        place = {} if node.place is None else {"place": list(node.place)}
        raise UnsupportedQuery(
            "CORR, COVAR and REGR take values within ±10^50, and these could be larger. Ask about smaller "
            "units, as x / 1e60.",
            reason="overflow",
            **place,
        )


def _centred(node: Expression, bounds: Range | None) -> tuple[Expression, Expression]:
    """Return the distance from the middle of the bounds, whose products are small, and that middle."""
    middle = _number(0.0 if bounds is None else float((bounds[0] + bounds[1]) / 2))
    number = node if node.type == "number" else _call("to_number", node)
    return _call("subtract", number, middle), middle


def _call(function: str, *parts: Expression) -> Expression:
    return type_call(Call(function, parts, place=parts[0].place))


def _number(value: int | float) -> Literal:
    return Literal(value, type="integer" if isinstance(value, int) else "number")


def _where(test: Expression, value: Expression, otherwise: Expression | None = None) -> Expression:
    other = Literal(None, type=value.type) if otherwise is None else otherwise
    return Case(((test, value),), other, type=value.type, place=value.place)
