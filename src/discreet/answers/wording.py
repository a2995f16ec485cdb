"""Values as people read them: plain text, and CSV that no spreadsheet runs."""

import math
from collections.abc import Sequence

from discreet.numerics import Interval, readable
from discreet.tables import Value


def align(lines: Sequence[Sequence[str]]) -> str:
    """Cells in plain columns.

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
    """A value with its error beside it."""
    shown = show_value(value, interval)
    return shown if interval is None else f"{shown} ± {show_error(interval)}"


def show_error(interval: Interval) -> str:
    """Half an interval's width, to two digits."""
    return readable(interval.width / 2, digits=2)


def show_value(value: Value, interval: Interval | None = None) -> str:
    r"""A value as people read it; a number to the digits that its interval leaves meaning to.

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
    digits = 2 - math.floor(math.log10(interval.width / 2))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def as_csv(value: object) -> str:
    """A field of a CSV line."""
    text = "" if value is None else str(value)
    # A label may begin like a spreadsheet formula: it must not run as one.
    if isinstance(value, str) and text[:1] in ("=", "+", "-", "@", "\t", "\r"):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text
