"""Values as people read them: plain text, and CSV that no spreadsheet runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from discreet.asking.after import interval_of
from discreet.asking.planning import Chosen, Plan, SetPlan
from discreet.asking.policy import Value
from discreet.asking.queries import Expression, Slot, evaluate, walk
from discreet.kernel.numerics import Interval, readable, readable_up

UNEVEN = 0.1  # the shorter side of an interval lacks more than this part of the longer one


def align(lines: Sequence[Sequence[str]]) -> str:
    """Return cells in plain columns.

    >>> print(align([["city", "n"], ["Ottawa", "5"]]))
    city    n
    Ottawa  5
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def cell(value: Value, interval: Interval | None) -> str:
    """Return a value with its error next to it.

    >>> cell(20, Interval(14, 26)), cell(5, Interval(0, 37)), cell(5, Interval(-2, math.inf))
    ('20 ± 6', '5 (0 to 37)', '5 (-2 or more)')
    """
    shown = show_value(value, interval)
    if interval is None:
        return shown
    ends = uneven_ends(value, interval)
    return f"{shown} ± {show_error(value, interval)}" if ends is None else f"{shown} ({ends})"


def show_error(value: Value, interval: Interval) -> str:
    """Return how far an interval reaches from the value, rounded up; or its two ends where they are uneven.

    >>> show_error(20.0, Interval(14.25, 25.5)), show_error(20.0, Interval(14.25, 25.0))
    ('5.75', '14.25 to 25.00')
    """
    if not isinstance(value, int | float):
        return readable_up(interval.width / 2, digits=3)
    return uneven_ends(value, interval) or readable_up(_reach(value, interval), digits=3)


def _reach(value: float, interval: Interval) -> float:
    return max(interval.upper - value, value - interval.lower)


def uneven_ends(value: Value, interval: Interval) -> str | None:
    """Return the two ends of an interval whose value is not about in the middle, rounded outwards; None where
    it is.

    >>> uneven_ends(5.0, Interval(0.0, 11358.8)), uneven_ends(20.0, Interval(-1234.56, 1274.56))
    ('0 to 11,360', None)
    >>> uneven_ends(2e6, Interval(1234567.0, math.inf))
    '1,234,560 or more'
    """
    if not isinstance(value, int | float):
        return None
    reach = _reach(value, interval)
    if reach < math.inf and 2 * reach - interval.width <= UNEVEN * reach:
        return None
    if math.isinf(interval.upper):
        return (
            f"{_six(interval.lower, ROUND_FLOOR)} or more"
            if math.isfinite(interval.lower)
            else "ends unknown"
        )
    if math.isinf(interval.lower):
        return f"{_six(interval.upper, ROUND_CEILING)} or less"
    if not 0 < interval.width < math.inf:
        return f"{interval.lower:,.6g} to {interval.upper:,.6g}"
    last = Decimal(1).scaleb(_magnitude(interval) - 2)
    if isinstance(value, int):
        last = max(last, Decimal(1))
    return f"{_outward(interval.lower, last, ROUND_FLOOR)} to {_outward(interval.upper, last, ROUND_CEILING)}"


def _six(end: float, rounding: str) -> str:
    """Round to six digits: where the other end is unknown there is no width to tell how many."""
    return readable(float(Context(prec=6, rounding=rounding).create_decimal(end)))


def _outward(end: float, last: Decimal, rounding: str) -> str:
    """Round to the digits that the interval's width leaves meaning to."""
    return f"{Decimal(end).quantize(last, rounding, Context(prec=1000)):,f}"


def show_value(value: Value, interval: Interval | None = None) -> str:
    r"""Return a value as people read it; a number to the digits that its interval leaves meaning to.

    >>> show_value(1234567, Interval(1, 2e6)), show_value(None), show_value(16283.77, Interval(7000, 25000))
    ('1,234,567', '–', '16,280')
    >>> show_value(2026)  # without an interval it is a label: a year, say
    '2026'
    >>> show_value("Québec"), show_value("no terminal obeys it: \x1b[2J")
    ('Québec', 'no terminal obeys it: \\x1b[2J')
    """
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in str(value))
    if isinstance(value, int):
        return str(value) if interval is None else f"{value:,}"
    if interval is None or not 0 < interval.width < math.inf or not math.isfinite(value):
        return readable(value)
    digits = 2 - _magnitude(interval)
    return f"{round(value, digits):,.{max(0, digits)}f}"


def _magnitude(interval: Interval) -> int:
    """Return the power of ten of half the width, which may itself be below the least double.

    >>> _magnitude(Interval(0.0, 0.4)), _magnitude(Interval(0.0, 5e-324))
    (-1, -324)
    """
    return math.floor(math.log10(interval.width) - math.log10(2))


def as_csv(value: object) -> str:
    """Return a field of a CSV line."""
    text = "" if value is None else str(value)
    # A label may begin like a spreadsheet formula: it must not run as one.
    if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r"):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text


# One group of an answer: its keys and released numbers, and the expressions over them.


@dataclass(frozen=True)
class Line:
    """One group: its keys and released numbers, and the expressions over them."""

    plan: SetPlan
    width: int  # how many keys the question has
    group: tuple[Value, ...]
    numbers: tuple[int, ...]
    measured: tuple[int, ...]  # as released: what intervals are around, also where the numbers were adjusted

    def value(self, expression: Expression) -> Value:
        """Return the expression in this group."""
        return evaluate(expression, self._lookup)

    def _lookup(self, slot: Expression) -> Value:
        assert isinstance(slot, Slot)
        if slot.index >= self.width:
            return self.plan.estimators[slot.index - self.width].value(self.numbers)
        return self.group[self.plan.keys.index(slot.index)] if slot.index in self.plan.keys else None

    def interval(self, expression: Expression, confidence: Fraction) -> Interval | None:
        """Return the interval by arithmetic over the released parts, which all hold together with this
        confidence.
        """
        used = {each.index for each in slots(expression) if each.index >= self.width}
        if not used:
            return None
        level = 1 - (1 - confidence) / len(used)
        return interval_of(expression, lambda slot: self._slot_interval(slot, level))

    def _slot_interval(self, slot: Slot, confidence: Fraction) -> Interval | None:
        if slot.index >= self.width:
            return self.plan.estimators[slot.index - self.width].interval(self.measured, confidence)
        return None


def columns_with_intervals(plan: Plan) -> tuple[str, ...]:
    """Return the columns of an answer that may have intervals: known before anything is asked."""
    if plan.after is not None:
        return tuple(name for name, kind in plan.columns if kind in ("integer", "number"))
    width = len(plan.question.keys)

    def found(slot: Slot) -> Interval | None:
        measure = slot.index - width
        noised = measure >= 0 and not any(isinstance(each.estimators[measure], Chosen) for each in plan.sets)
        return Interval(1.0, 1.0) if noised else None

    return tuple(name for name, each in plan.question.columns if slots(each) and interval_of(each, found))


def slots(expression: Expression) -> list[Slot]:
    """Return the keys and aggregates that an expression is over."""
    return [each for each in walk(expression) if isinstance(each, Slot)]
