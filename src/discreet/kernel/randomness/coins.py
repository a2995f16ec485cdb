"""Uniform whole numbers and biased coins, exactly."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.kernel.numerics import ball, certified_floor
from discreet.kernel.randomness.source import Source

# Certified fixed-point exponentials: whole numbers with a known number of bits below the point.


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


_WORD = 1 << 64


@overload
def uniform_below(source: Source, bound: int, size: None = None) -> int: ...
@overload
def uniform_below(source: Source, bound: int, size: int) -> NDArray[Any]: ...
def uniform_below(source: Source, bound: int, size: int | None = None) -> int | NDArray[Any]:
    """Draw a uniform whole number 0 <= k < bound; int64 below 2^63, exact Python ints above.

    A word is kept if it lies below the largest multiple of the bound: at least every second one does.
    """
    if bound < 1:
        raise InternalError("uniform_below needs a bound >= 1")
    if size is None:
        return _one_below(source, bound)
    if bound > 1 << 63:
        return np.array([_one_below(source, bound) for _ in range(size)] or [], dtype=object)
    return _many_below(source, bound, size)


def _one_below(source: Source, bound: int) -> int:
    count = -(-(bound - 1).bit_length() // 64) or 1
    span = 1 << (64 * count)
    limit = span - span % bound
    while True:
        value = 0
        for _ in range(count):
            value = value << 64 | source.word()
        if value < limit:
            return value % bound


def _many_below(source: Source, bound: int, size: int) -> NDArray[np.int64]:
    words = source.words(size)
    if bound & (bound - 1) == 0:
        return (words & np.uint64(bound - 1)).astype(np.int64)
    last = np.uint64(_WORD - _WORD % bound - 1)
    while (late := np.flatnonzero(words > last)).size:
        words[late] = source.words(late.size)
    return (words % np.uint64(bound)).astype(np.int64)


@overload
def bernoulli(source: Source, probability: Fraction, size: None = None) -> int: ...
@overload
def bernoulli(source: Source, probability: Fraction, size: int) -> NDArray[np.int64]: ...
def bernoulli(source: Source, probability: Fraction, size: int | None = None) -> int | NDArray[np.int64]:
    """Draw 1 with exactly this rational probability, else 0."""
    if not 0 <= probability <= 1:
        raise InternalError("bernoulli needs a probability in [0, 1]")
    return _coins(source, lambda bits: (probability.numerator << bits) // probability.denominator, size)


@overload
def bernoulli_exp(source: Source, gamma: Fraction, size: None = None) -> int: ...
@overload
def bernoulli_exp(source: Source, gamma: Fraction, size: int) -> NDArray[np.int64]: ...
def bernoulli_exp(source: Source, gamma: Fraction, size: int | None = None) -> int | NDArray[np.int64]:
    """Draw 1 with probability exactly exp(-gamma), gamma >= 0, else 0."""
    if gamma < 0:
        raise InternalError("bernoulli_exp needs gamma >= 0")
    if gamma == 0:
        return 1 if size is None else np.ones(size, dtype=np.int64)
    return _coins(source, lambda bits: exp_fixed(gamma, bits), size)


@overload
def bernoulli_real(source: Source, floor: Callable[[int], int], size: None = None) -> int: ...
@overload
def bernoulli_real(source: Source, floor: Callable[[int], int], size: int) -> NDArray[np.int64]: ...
def bernoulli_real(
    source: Source, floor: Callable[[int], int], size: int | None = None
) -> int | NDArray[np.int64]:
    """Draw 1 with the probability p whose digits the caller certifies: floor(bits) = ⌊p · 2^bits⌋."""
    return _coins(source, floor, size)


def _coins(source: Source, floor: Callable[[int], int], size: int | None) -> int | NDArray[np.int64]:
    """Draw [U < p] for a uniform U whose bits are drawn as needed; floor(bits) = ⌊p · 2^bits⌋."""
    threshold = floor(64)
    if size is None:
        word = source.word()
        return int(word < threshold) if word != threshold else _continue(source, word, floor)
    if threshold >= _WORD:
        return np.ones(size, dtype=np.int64)
    words = source.words(size)
    heads = (words < np.uint64(threshold)).astype(np.int64)
    for i in np.flatnonzero(words == np.uint64(threshold)):
        heads[i] = _continue(source, threshold, floor)
    return heads


def _continue(source: Source, prefix: int, floor: Callable[[int], int]) -> int:
    """Settle [U < p] where the first 64 bits of U and p agree: draw on until they differ."""
    bits = 64
    while prefix == floor(bits):
        prefix, bits = prefix << 64 | source.word(), bits + 64
    return int(prefix < floor(bits))


def settle_below_exp(source: Source, prefix: int, gamma: Fraction, factor: Fraction) -> bool:
    """Return whether U < factor · exp(-gamma) <= 1 for a uniform U with these first 64 bits."""
    if gamma == 0:
        return bool(_continue(source, prefix, lambda bits: int(factor * 2**bits)))
    return bool(_continue(source, prefix, lambda bits: exp_fixed(gamma, bits, factor)))
