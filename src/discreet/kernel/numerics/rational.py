"""Exact numbers: parameters as rationals of bounded length, how they are rounded, and how they are printed.

Tested by: tests/numerics/test_rational.py, tests/numerics/test_rounding.py
"""

import math
import numbers
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from discreet.errors import InvalidParameter

Real: TypeAlias = int | float | Fraction | Decimal
Arb: TypeAlias = arb

MAX_BITS = 2048  # of a numerator or denominator: holds every finite double, bounds the work of every sampler
LARGEST = 2**1024  # no float is larger
LARGEST_EPSILON = Fraction(10**4)
SMALLEST_EPSILON = Fraction(1, 2**60)
LONGEST_QUANTILE = 10**18  # denominator


def exact(value: Real, *, name: str) -> Fraction:
    """Return the rational that a parameter stands for; a float stands for the decimal Python prints.

    >>> exact(0.1, name="epsilon")
    Fraction(1, 10)
    >>> sum([exact(0.1, name="epsilon")] * 10) == 1
    True
    >>> exact(True, name="epsilon")
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: epsilon must be a finite number, got True.
    """
    fraction = None if _is_long(value) else _as_fraction(value)
    if fraction is None and not _is_long(value):
        shown = str(value) if isinstance(value, numbers.Real | Decimal) else type(value).__name__
        raise InvalidParameter(f"{name} must be a finite number, got {shown[:60]}.", parameter=name)
    if fraction is None or _bits(fraction) > MAX_BITS:
        raise InvalidParameter(
            f"{name} must have at most {MAX_BITS} bits above and below the line, got a longer one. Round it.",
            parameter=name,
        )
    if abs(fraction) >= LARGEST:
        raise InvalidParameter(f"{name} must be less than 2^1024, got a larger number.", parameter=name)
    return fraction


def _bits(fraction: Fraction) -> int:
    return max(fraction.numerator.bit_length(), fraction.denominator.bit_length())


def _is_long(value: object) -> bool:
    """Return whether a decimal has too many digits to write out: look before converting."""
    if not isinstance(value, Decimal) or not value.is_finite():
        return False
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return max(abs(value.adjusted()), -exponent) > MAX_BITS


def _as_fraction(value: object) -> Fraction | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, Fraction):
        return value
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, Decimal):
        return Fraction(value) if value.is_finite() else None
    if isinstance(value, float):
        return Fraction(float.__repr__(value)) if math.isfinite(value) else None
    if isinstance(value, numbers.Real):  # numpy's other floats print their own shortest decimal
        return Fraction(str(value)) if math.isfinite(value) else None
    return None


def exact_positive(value: Real, *, name: str) -> Fraction:
    """Return an exact number > 0."""
    fraction = exact(value, name=name)
    if fraction <= 0:
        raise InvalidParameter(f"{name} must be > 0, got {value}.", parameter=name)
    return fraction


def exact_whole(value: Real, *, name: str, least: int = 0) -> int:
    """Return a whole number >= least; 3.0 counts as whole.

    >>> exact_whole(3.0, name="count")
    3
    """
    fraction = exact(value, name=name)
    if fraction.denominator != 1 or fraction < least:
        raise InvalidParameter(f"{name} must be a whole number >= {least}, got {value}.", parameter=name)
    return fraction.numerator


def exact_probability(value: Real, *, name: str) -> Fraction:
    """Return an exact number in [0, 1]."""
    fraction = exact(value, name=name)
    if not 0 <= fraction <= 1:
        raise InvalidParameter(f"{name} must lie in [0, 1], got {value}.", parameter=name)
    return fraction


def exact_confidence(value: Real, *, bits: int = 60) -> Fraction:
    """Return a confidence: between 0 and 1, at least 2^-60 from both (2^-bits, where several share one).

    >>> exact_confidence(1 - Fraction(1, 10**300))
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: confidence must lie between 2^-60 and 1 - 2^-60. Take 0.95.
    """
    fraction = exact(value, name="confidence")
    if not Fraction(1, 2**bits) <= fraction <= 1 - Fraction(1, 2**bits):
        message = f"confidence must lie between 2^-{bits} and 1 - 2^-{bits}. Take 0.95."
        raise InvalidParameter(message, parameter="confidence")
    return fraction


def exact_quantile(value: Real, *, name: str) -> Fraction:
    """Return which quantile is asked for: a number in [0, 1] of at most 18 digits, or a fraction as short.

    >>> exact_quantile(0.25, name="fraction")
    Fraction(1, 4)
    """
    fraction = exact_probability(value, name=name)
    if fraction.denominator > LONGEST_QUANTILE:
        raise InvalidParameter(
            f"{name} must have at most 18 digits after the point, got more. Round it.", parameter=name
        )
    return fraction


def exact_epsilon(value: Real, *, name: str = "epsilon") -> Fraction:
    """Return a price: 2^-60 <= epsilon <= 10^4.

    >>> exact_epsilon(0)
    Traceback (most recent call last):
    discreet.errors.InvalidParameter: epsilon must be > 0, got 0.
    """
    fraction = exact_positive(value, name=name)
    if not SMALLEST_EPSILON <= fraction <= LARGEST_EPSILON:
        raise InvalidParameter(f"{name} must lie between 2^-60 and 10^4, got {value}.", parameter=name)
    return fraction


def exact_delta(value: Real, *, name: str = "delta") -> Fraction:
    """Return a failure probability: 0 <= delta < 1."""
    fraction = exact(value, name=name)
    if not 0 <= fraction < 1:
        raise InvalidParameter(f"{name} must lie in [0, 1), got {value}.", parameter=name)
    return fraction


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


def rational_above(value: Arb) -> Fraction:
    """Return a rational >= all of a ball, hardly more where the ball is small; 2^1024 where nothing is known.

    >>> rational_above(arb(3) / 4)
    Fraction(3, 4)
    """
    end = _lower_end(-value)
    return Fraction(LARGEST) if end is None else -Fraction(end)


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
