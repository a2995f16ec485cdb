"""Certified fixed-point exponentials: whole numbers with a known number of bits below the point."""

from fractions import Fraction

from discreet.kernel.numerics import ball, certified_floor


def exp_fixed(exponent: Fraction, bits: int, factor: Fraction = Fraction(1)) -> int:
    """Return ⌊factor · exp(-exponent) · 2^bits⌋ for exponent > 0: an irrational number's floor, so always
    decided.

    >>> exp_fixed(Fraction(1), 10)
    376
    """
    size = bits + factor.numerator.bit_length() - factor.denominator.bit_length() + 1
    if 7 * size < 10 * exponent:  # factor · 2^bits < 2^size, and 0.7 > ln 2: the product is below 1
        return 0
    return certified_floor(lambda: (-ball(exponent)).exp() * ball(factor) * 2**bits)
