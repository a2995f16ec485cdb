"""Floats that lie on a chosen side of an exact or enclosed number."""

import math
from fractions import Fraction

from discreet.kernel.numerics.enclosure import Arb


def round_up(value: Fraction | int | Arb) -> float:
    """The least float >= value (for a ball: a float >= all of it).

    >>> round_up(Fraction(1, 10)) >= Fraction(1, 10), round_up(Fraction(1, 2))
    (True, 0.5)
    """
    return 0.0 - round_down(-value)  # and not -0.0


def round_down(value: Fraction | int | Arb) -> float:
    """The greatest float <= value (for a ball: a float <= all of it).

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
    """The number itself, or a number at or below all of a ball; None where nothing is known."""
    if isinstance(value, Fraction | int):
        return value
    if not value.is_finite():
        return None
    mantissa, exponent = (int(part) for part in value.lower().man_exp())
    # Far outside the range of floats the power itself would not fit in memory: any number there will do.
    exponent = max(-4096 - mantissa.bit_length(), min(4096, exponent))
    return Fraction(mantissa) * Fraction(2) ** exponent


def state_up(value: Fraction | int | Arb) -> float:
    """A float >= value whose printed decimal is >= value too: an answer that may be fed back as a parameter.

    >>> Fraction(repr(state_up(Fraction(17, 291)))) >= Fraction(17, 291), state_up(Fraction(1, 10))
    (True, 0.1)
    """
    return 0.0 - state_down(-value)


def state_down(value: Fraction | int | Arb) -> float:
    """A float <= value whose printed decimal is <= value too."""
    found, end = round_down(value), _lower_end(value)
    if end is None or math.isinf(found) or Fraction(repr(found)) <= end:
        return found
    return math.nextafter(found, -math.inf)


def stated(answer: float) -> Fraction:
    """What an upper end that was stated proves: the lesser of the float itself and of its printed decimal.

    >>> stated(0.1) == Fraction(1, 10)
    True
    """
    return min(Fraction(answer), Fraction(repr(answer)))


def largest_power_of_two(limit: Fraction) -> Fraction:
    """The largest power of two <= limit, for limit > 0; the exponent may be negative.

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
