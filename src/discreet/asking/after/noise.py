"""What the noise may have done to a computed value: intervals, carried along with the rows they are made of.

A cell is exact, or noisy with an interval at any confidence, or marked: it depends on the noise in a way that
no interval follows (a rank, a median, a CASE that the noise decides).

Accuracy: an interval of a cell that is made of k noisy ones takes each at confidence 1 - (1 - c)/k: all of
them hold together with confidence c, however they depend on each other.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

from discreet.asking.after.level import Level
from discreet.asking.policy import Value
from discreet.asking.queries.evaluate import evaluate
from discreet.asking.queries.nodes import Aggregate, Call, Case, Expression, Literal, Slot, Window, walk
from discreet.errors import InternalError
from discreet.kernel.numerics import Interval

At: TypeAlias = Callable[[Fraction], Interval | None]


@dataclass(frozen=True)
class Noisy:
    """A value with an interval at any confidence, and the released values that it is made of."""

    sources: frozenset[tuple[int, int]]
    at: At

    def interval(self, confidence: Fraction) -> Interval | None:
        """Return the interval, all sources holding together."""
        return self.at(1 - (1 - confidence) / len(self.sources))


class Marked:
    """A value that depends on the noise, without an interval."""


MARKED: Final = Marked()
Cell: TypeAlias = Noisy | Marked | None  # None: exact


@dataclass(frozen=True)
class Table:
    """Values by row, and what the noise did to each; of a table that is too long, nothing is followed."""

    rows: Sequence[tuple[Value, ...]]
    cells: Sequence[Sequence[Cell]]


def _combined(parts: Sequence[Cell], values: Sequence[Value], rule: Callable[..., Interval | None]) -> Cell:
    """Return what a rule of intervals makes of cells; the exact ones are points."""
    noisy = [part for part in parts if isinstance(part, Noisy)]
    exact = [value for part, value in zip(parts, values, strict=True) if part is None]
    numbers = all(isinstance(value, int | float) for value in exact)
    if any(part is MARKED for part in parts) or not numbers:
        return MARKED

    def at(level: Fraction) -> Interval | None:
        found = [part.at(level) if isinstance(part, Noisy) else _point(value)
                 for part, value in zip(parts, values, strict=True)]  # fmt: skip
        if any(each is None for each in found):
            return None
        return _applied(rule, found)

    return Noisy(frozenset().union(*(part.sources for part in noisy)), lru_cache(maxsize=8)(at))


def _applied(rule: Callable[..., Interval | None], parts: Sequence[Interval | None]) -> Interval | None:
    try:
        found = rule(*parts)
    except (ArithmeticError, ValueError, InternalError):  # ends that are no numbers, or the wrong way round
        return None
    return found


def _point(value: Any) -> Interval:
    return Interval(float(value), float(value))


def _corners(operation: Callable[[float, float], float]) -> Callable[[Interval, Interval], Interval]:
    def combine(left: Interval, right: Interval) -> Interval:
        found = [operation(a, b) for a in left for b in right]
        return Interval(min(found), max(found))

    return combine


def _quotient(left: Interval, right: Interval) -> Interval | None:
    return None if right.lower <= 0 <= right.upper else _corners(lambda a, b: a / b)(left, right)


def _rising(function: Callable[[float], float]) -> Callable[[Interval], Interval]:
    return lambda part: Interval(function(part.lower), function(part.upper))


def _outward(function: Callable[[float], float]) -> Callable[[Interval], Interval]:
    """Return a rising function whose digits may be off by one in the last place."""
    return lambda part: Interval(
        math.nextafter(function(part.lower), -math.inf), math.nextafter(function(part.upper), math.inf)
    )


def _half_away(value: float) -> float:
    return math.copysign(math.floor(abs(value) + 0.5), value) if abs(value) < 2**52 else value


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: float(function(value)) if math.isfinite(value) else value


def _size(part: Interval) -> Interval:
    low, high = sorted((abs(part.lower), abs(part.upper)))
    return Interval(0.0 if part.lower <= 0 <= part.upper else low, high)


RULES: dict[str, Callable[..., Interval | None]] = {
    "add": _corners(lambda a, b: a + b),
    "subtract": _corners(lambda a, b: a - b),
    "multiply": _corners(lambda a, b: a * b),
    "divide": _quotient,
    "negate": lambda part: Interval(-part.upper, -part.lower),
    "abs": _size,
    "to_number": lambda part: part,
    "floor": _rising(_whole(math.floor)),
    "ceil": _rising(_whole(math.ceil)),
    "round": _rising(_whole(_half_away)),
    "to_integer": lambda part: Interval(_whole(math.floor)(part.lower), _whole(math.ceil)(part.upper)),
    "sqrt": lambda part: _outward(math.sqrt)(Interval(max(0.0, part.lower), part.upper)),
    "ln": _outward(math.log),
    "log10": _outward(math.log10),
    "log2": _outward(math.log2),
    "exp": _outward(math.exp),
    "least": lambda *parts: Interval(min(each.lower for each in parts), min(each.upper for each in parts)),
    "greatest": lambda *parts: Interval(max(each.lower for each in parts), max(each.upper for each in parts)),
}


def interval_of(node: Expression, find: Callable[[Slot], Interval | None]) -> Interval | None:
    """Return the interval of an expression over released values; None where the rules have none."""
    if isinstance(node, Literal) and isinstance(node.value, int | float):
        return _point(node.value)
    if isinstance(node, Slot):
        return find(node)
    if isinstance(node, Case):
        value = only_value(node)
        return None if value is None else interval_of(value, find)
    if not isinstance(node, Call) or node.function not in RULES:
        return None
    if node.function in ("least", "greatest") and any(isinstance(each, Case) for each in walk(node)):
        return None  # where the CASE is NULL, another argument is the value
    parts = [interval_of(each, find) for each in node.arguments]
    return None if any(part is None for part in parts) else _applied(RULES[node.function], parts)


def only_value(node: Case) -> Expression | None:
    """Return the one outcome of a CASE that is not NULL: where there is a value at all, it is this one.

    So NULLIF(x, 0) has the interval of x.
    """
    outcomes = [*(value for _, value in node.branches), node.otherwise]
    found = {each for each in outcomes if not (isinstance(each, Literal) and each.value is None)}
    return found.pop() if len(found) == 1 else None


class Follower:
    """Follows the noise through one level: from the cells of its source to those of its rows."""

    def __init__(self, level: Level, source: Table, windows: Sequence[Window]) -> None:
        self._level, self._source, self._windows = level, source, list(windows)
        self._noisy = {place for row in source.cells for place, cell in enumerate(row) if cell is not None}
        filters = [level.where, level.having, level.qualify, *level.keys]
        self._chosen = any(self.depends(each) for each in filters)  # the noise decides which rows there are

    def depends(self, node: Expression | None) -> bool:
        """Return whether an expression is over a noisy column."""
        return node is not None and any(
            isinstance(each, Slot) and each.index in self._noisy for each in walk(node)
        )

    def cell(self, node: Expression, rows: Sequence[int], windows: Sequence[Any]) -> Cell:
        """Return the cell of an output: `rows` are what it is made of, `windows` those of each window."""
        if isinstance(node, Literal) or not (self.depends(node) or self._chosen):
            return None
        if isinstance(node, Aggregate):
            return self._aggregate(node.function, node.argument, node.condition, rows)
        if isinstance(node, Window):
            return self._window(node, windows[self._windows.index(node)])
        if isinstance(node, Slot):
            return self._source.cells[rows[0]][node.index] if rows else None
        values = [self._value(each, rows, windows) for each in _inside(node)]
        if isinstance(node, Case):
            return self._case(node, rows, windows)
        parts = [self.cell(each, rows, windows) for each in _inside(node)]
        if all(part is None for part in parts):
            return None
        assert isinstance(node, Call)
        return _combined(parts, values, RULES[node.function]) if node.function in RULES else MARKED

    def _case(self, node: Case, rows: Sequence[int], windows: Sequence[Any]) -> Cell:
        only = only_value(node)
        if only is not None and self._value(node, rows, windows) is not None:
            return self.cell(only, rows, windows)
        if any(self.cell(test, rows, windows) is not None for test, _ in node.branches):
            return MARKED
        for test, value in node.branches:
            if self._value(test, rows, windows) is True:
                return self.cell(value, rows, windows)
        return self.cell(node.otherwise, rows, windows)

    def _value(self, node: Expression, rows: Sequence[int], windows: Sequence[Any]) -> Value:
        """Return the value of a part, where it can be said without asking the engine again."""

        def lookup(each: Expression) -> Value:
            if isinstance(each, Slot) and rows:
                return self._source.rows[rows[0]][each.index]
            if isinstance(each, Aggregate):
                return self._number(each.function, each.argument, each.condition, rows)
            if isinstance(each, Window) and each in self._windows and windows:
                members = windows[self._windows.index(each)]
                listed = members if isinstance(members, list) else []
                argument = each.arguments[0] if each.arguments else None
                return self._number(each.function, argument, each.condition, listed)
            raise InternalError("a part must be a column or an aggregate")

        try:
            return evaluate(node, lookup)
        except (InternalError, ArithmeticError, TypeError, ValueError):
            return None

    def _number(
        self, function: str, argument: Expression | None, condition: Expression | None, rows: Sequence[int]
    ) -> Value:
        """Return an aggregate of source rows, of those that are simple."""
        kept = [row for row in rows if condition is None or self._value(condition, [row], ()) is True]
        if function == "count_rows" or argument is None:
            return len(kept)
        found = [value for value in (self._value(argument, [row], ()) for row in kept) if value is not None]
        if function == "count":
            return len(found)
        rule = {"sum": sum, "minimum": min, "maximum": max, "average": _average}.get(function)
        if rule is None or not found:
            raise InternalError("only the engine knows this aggregate")
        return rule(found)  # type: ignore[operator, no-any-return]

    def _aggregate(
        self, function: str, argument: Expression | None, condition: Expression | None, rows: Sequence[int]
    ) -> Cell:
        if self.depends(condition):
            return MARKED
        if argument is None or function in ("count", "count_units", "count_distinct"):
            told = self._chosen or (self.depends(argument) and function != "count")
            return MARKED if told else None
        kept = [row for row in rows if condition is None or self._value(condition, [row], ()) is True]
        valued = [row for row in kept if self._value(argument, [row], ()) is not None]
        parts = [self.cell(argument, [row], ()) for row in valued]
        values = [self._value(argument, [row], ()) for row in valued]
        rule = TOTALS.get(function)
        if rule is None or not parts:
            return MARKED
        return _combined(parts, values, rule) if any(part is not None for part in parts) else None

    def _window(self, node: Window, members: Any) -> Cell:
        if any(self.depends(each) for each in (*node.partition, *(term.expression for term in node.order))):
            return MARKED
        if node.function in ("lag", "lead"):
            if members is None:
                return MARKED if len(node.arguments) > 2 and self.depends(node.arguments[2]) else None
            return self.cell(node.arguments[0], [int(members)], ())
        argument = node.arguments[0] if node.arguments else None
        if self._level.grouped or node.function not in (*TOTALS, "count", "count_rows"):
            return MARKED if self.depends(argument) or self._level.grouped else None
        return self._aggregate(node.function, argument, node.condition, [int(each) for each in members or ()])


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _inside(node: Expression) -> tuple[Expression, ...]:
    return node.arguments if isinstance(node, Call) else ()


def _total(*parts: Interval) -> Interval:
    return Interval(sum(each.lower for each in parts), sum(each.upper for each in parts))


def _mean(*parts: Interval) -> Interval:
    whole = _total(*parts)
    return Interval(whole.lower / len(parts), whole.upper / len(parts))


TOTALS: dict[str, Callable[..., Interval | None]] = {
    "sum": _total,
    "average": _mean,
    "minimum": RULES["least"],
    "maximum": RULES["greatest"],
}


def intervals(cells: Iterable[Cell], confidence: Fraction) -> list[Interval | None]:
    """Return the interval of each cell of a row."""
    return [cell.interval(confidence) if isinstance(cell, Noisy) else None for cell in cells]
