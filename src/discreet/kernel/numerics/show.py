"""Numbers as text for people: every place that prints a number uses one of these five functions.

`show_exact` prints parameters, `short_up` and `short_down` privacy spending and what is left of it,
`readable` and `readable_up` values and their errors. Names say where rounding is to one side.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction


def show_exact(value: Fraction) -> str:
    """Return a parameter: whole, as an exact short decimal, or as a fraction; six digits where that is long.

    >>> show_exact(Fraction(10_000)), show_exact(Fraction(1, 8)), show_exact(Fraction(1, 3))
    ('10,000', '0.125', '1/3')
    """
    if value.denominator == 1 or Fraction(repr(float(value))) != value:
        shown = f"{value.numerator:,}" if value.denominator == 1 else str(value)
        return shown if len(shown) <= (32 if value.denominator == 1 else 12) else f"{float(value):.6g}"
    return repr(float(value))


def short_up(value: Fraction) -> str:
    """Return six digits, never below the number: for what was spent.

    >>> short_up(Fraction(1, 10)), short_up(Fraction(1, 3))
    ('0.1', '0.333334')
    """
    return _short(value, ROUND_CEILING)


def short_down(value: Fraction) -> str:
    """Return six digits, never above the number: for what is left.

    >>> short_down(Fraction(1, 3)), short_down(Fraction(15, 16 * 10**6))
    ('0.333333', '9.375e-07')
    """
    return _short(value, ROUND_FLOOR)


def readable(value: float, *, digits: int = 6) -> str:
    """Return a number to so many digits, thousands apart; with a power of ten far from 1.

    >>> readable(1234567.0), readable(1234567.0, digits=2), readable(0.5), readable(1e-9)
    ('1,234,570', '1,200,000', '0.5', '1e-09')
    """
    return _readable(value, digits, ROUND_HALF_EVEN)


def readable_up(value: float, *, digits: int = 4) -> str:
    """Return the same, never below the number: for errors.

    >>> readable_up(299573000.0), readable_up(120.0), readable_up(0.177301)
    ('299,600,000', '120', '0.1774')
    """
    return _readable(value, digits, ROUND_CEILING)


def _readable(value: float, digits: int, rounding: str) -> str:
    short = Context(prec=digits, rounding=rounding).create_decimal(value)
    if short.is_zero() or (short.is_finite() and -5 < short.adjusted() < 15):
        return f"{short.normalize() + 0:,f}"  # + 0: not -0
    return f"{float(short):.{digits}g}"


def _short(value: Fraction, rounding: str) -> str:
    short = Context(prec=6, rounding=rounding).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{float(short):.6g}"  # six digits survive the float unchanged
