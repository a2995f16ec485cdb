"""Cells of an answer's table on the pages: a value, and ± its interval where it has one.

Tested by: tests/server/pages/test_gauge.py
"""

from collections.abc import Mapping
from typing import Any

from discreet.asking.answers import show_error, show_value, uneven_ends
from discreet.kernel.numerics import Interval

WIDTHS = {"wide": 720.0, "narrow": 340.0}  # of a chart, in pixels


def cell_of(value: Any, ends: Interval | None) -> Mapping[str, str]:
    """Return a value as text, ± its interval, and whether it is a number."""
    if ends is None or value is None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return {"text": show_value(value), "margin": "", "kind": "number" if number else "key"}
    return {"text": show_value(value, ends), "margin": margin(value, ends), "kind": "number"}


def margin(value: int | float, ends: Interval) -> str:
    """Return ± half the interval's width, or its two ends if it is not symmetric; rounded outwards.

    >>> margin(20.0, Interval(-1234.56, 1274.56)), margin(5.0, Interval(0.0, 11358.8))
    ('± 1,260', '0 to 11,360')
    """
    return uneven_ends(value, ends) or f"± {show_error(value, ends)}"
