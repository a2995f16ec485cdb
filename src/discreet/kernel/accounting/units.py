"""The fixed decimal unit in which accounts count: 10⁻⁴⁸.

Small enough for the square of the smallest price (2⁻¹²⁰) and for every delta in use; an account's total is
then a few whole numbers, and adding up is exact.
"""

import re
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from discreet.errors import InvalidParameter

DIGITS = 48
ONE: int = 10**DIGITS
WIDTH = 64  # decimal digits of a stored number: sixteen of them before the point
_PLAIN = re.compile(rf"(0|[1-9][0-9]{{0,15}})(\.[0-9]{{0,{DIGITS - 1}}}[1-9])?")
NEVER = -1  # a limit that no total keeps


class Total(NamedTuple):
    """What an account has spent: the rule's main sum, its sum of squares (if it keeps one), its deltas."""

    main: int = 0
    square: int = 0
    delta: int = 0

    def plus(self, cost: "Total") -> "Total":
        """Return the total after one more charge.

        >>> Total(3, 0, 1).plus(Total(4, 0, 1))
        Total(main=7, square=0, delta=2)
        """
        return Total(self.main + cost.main, self.square + cost.square, self.delta + cost.delta)

    def minus(self, part: "Total") -> "Total":
        """Return what is left of a total without a part of it."""
        return Total(self.main - part.main, self.square - part.square, self.delta - part.delta)

    def to_json(self) -> list[str]:
        """Return the numbers as plain decimals.

        >>> Total(main=ONE // 10).to_json(), Total.from_json(["0.1", "0", "0"]) == Total(main=ONE // 10)
        (['0.1', '0', '0'], True)
        """
        return [decimal_text(units) for units in self]

    @classmethod
    def from_json(cls, texts: list[str]) -> "Total":
        """Return the total that `to_json` wrote; a number that is no whole count of units is refused."""
        return cls(*(_whole_units(text) for text in texts))


class Limit(NamedTuple):
    """What an account may spend: the deltas must fit, and of main and square at least one."""

    main: int
    square: int = NEVER
    delta: int = 0

    def admits(self, total: Total) -> bool:
        """Return whether a total keeps the limit.

        >>> Limit(10).admits(Total(10)), Limit(10).admits(Total(11)), Limit(10).admits(Total(10, 0, 1))
        (True, False, False)
        """
        return total.delta <= self.delta and (total.main <= self.main or total.square <= self.square)


def units_up(value: Fraction) -> int:
    """Return a cost in units, rounded up, once.

    >>> units_up(Fraction(1, 10)) * 10 == ONE, units_up(Fraction(1, 3)) * 3 > ONE
    (True, True)
    """
    return _bounded(-((-value.numerator * ONE) // value.denominator))


def units_down(value: Fraction) -> int:
    """Return a limit in units, rounded down."""
    return _bounded((value.numerator * ONE) // value.denominator)


def root_down(square: int) -> int:
    """Return the square root of a number of units, in units, rounded down.

    >>> root_down(4 * ONE) == 2 * ONE
    True
    """
    return isqrt(square * ONE)


def root_up(square: int) -> int:
    """Return the square root of a number of units, in units, rounded up."""
    return isqrt(square * ONE - 1) + 1 if square else 0


def _bounded(units: int) -> int:
    if not 0 <= units < 10**WIDTH:
        raise InvalidParameter("a cost or limit must lie between 0 and 10^16.")
    return units


def _whole_units(text: str) -> int:
    if _PLAIN.fullmatch(text) is None:
        raise ValueError("a stored number must be a plain decimal")
    whole, _, part = text.partition(".")
    return int(whole) * ONE + int(part.ljust(DIGITS, "0"))


def from_units(units: int) -> Fraction:
    """Return the exact number that so many units are."""
    return Fraction(units, ONE)


def decimal_text(units: int) -> str:
    """So many units as a plain decimal, exactly.

    >>> decimal_text(units_up(Fraction(1, 10))), decimal_text(0), decimal_text(3 * ONE)
    ('0.1', '0', '3')
    """
    whole, part = divmod(units, ONE)
    return f"{whole}.{part:0{DIGITS}d}".rstrip("0").rstrip(".")
