"""Directed rounding of exact numbers, and the one formatter that prints them."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from discreet.kernel.numerics.enclosure import Arb


def round_up(value: Fraction | int | Arb) -> float:
    """Return the least float >= value (for a ball: a float >= all of it).

    >>> round_up(Fraction(1, 10)) >= Fraction(1, 10), round_up(Fraction(1, 2))
    (True, 0.5)
    """
    return 0.0 - round_down(-value)  # and not -0.0


def round_down(value: Fraction | int | Arb) -> float:
    """Return the greatest float <= value (for a ball: a float <= all of it).

    >>> round_down(Fraction(1, 3)) < Fraction(1, 3) < round_up(Fraction(1, 3))
    True
    """
    end = _lower_end(value)
    if end is None:
        return -math.inf  # an unknown value is bounded by nothing better
    try:
        nearest = float(end)
    except OverflowError:
        return -math.inf if end < 0 else math.nextafter(math.inf, 0)
    return nearest if Fraction(nearest) <= end else math.nextafter(nearest, -math.inf)


def _lower_end(value: Fraction | int | Arb) -> Fraction | int | None:
    """Return the number itself, or a number at or below all of a ball; None where nothing is known."""
    if isinstance(value, Fraction | int):
        return value
    if not value.is_finite():
        return None
    mantissa, exponent = (int(part) for part in value.lower().man_exp())
    # Far outside the range of floats the power itself would not fit in memory: any number there will do.
    exponent = max(-4096 - mantissa.bit_length(), min(4096, exponent))
    return Fraction(mantissa) * Fraction(2) ** exponent


def state_up(value: Fraction | int | Arb) -> float:
    """Return a float >= value whose printed decimal is >= value too: it may be used as a parameter.

    >>> Fraction(repr(state_up(Fraction(17, 291)))) >= Fraction(17, 291), state_up(Fraction(1, 10))
    (True, 0.1)
    """
    return 0.0 - state_down(-value)


def state_down(value: Fraction | int | Arb) -> float:
    """Return a float <= value whose printed decimal is <= value too."""
    found, end = round_down(value), _lower_end(value)
    if end is None or math.isinf(found) or Fraction(repr(found)) <= end:
        return found
    return math.nextafter(found, -math.inf)


def stated(answer: float) -> Fraction:
    """Return what a stated upper end proves: the lesser of the float itself and of its printed decimal.

    >>> stated(0.1) == Fraction(1, 10)
    True
    """
    return min(Fraction(answer), Fraction(repr(answer)))


def largest_power_of_two(limit: Fraction) -> Fraction:
    """Return the largest power of two <= limit, for limit > 0; the exponent may be negative.

    >>> largest_power_of_two(Fraction(10)), largest_power_of_two(Fraction(1, 3))
    (Fraction(8, 1), Fraction(1, 4))
    """
    power = Fraction(2) ** exponent_of_two(limit)
    return power if power <= limit else power / 2


def exponent_of_two(power: Fraction) -> int:
    """log2 of a power of two (of another number, one of the two whole numbers around it).

    >>> exponent_of_two(Fraction(8)), exponent_of_two(Fraction(1, 4))
    (3, -2)
    """
    return power.numerator.bit_length() - power.denominator.bit_length()


# Numbers as text for people: every place that prints a number uses one of these five functions.
#
# `show_exact` prints parameters, `short_up` and `short_down` privacy spending and what is left of it,
# `readable` and `readable_up` values and their errors. Names say where rounding is to one side.


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
