"""Parameters are exact rationals of bounded length."""

import math
import numbers
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from discreet.errors import InvalidParameter

Real: TypeAlias = int | float | Fraction | Decimal

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
