"""Secure bits: AES-256 in counter mode, keyed by the operating system.

Nothing here can be seeded. A source is made for one answer and thrown away; every process and every thread
that touches it gets a key of its own, so that no two streams are ever the same.

Tested by: tests/randomness/test_coins.py, tests/randomness/test_source.py
"""

import os
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import EntropyFailure, InternalError, InvalidParameter
from discreet.kernel.numerics import ball, certified_floor

Words: TypeAlias = NDArray[np.uint64]

_BLOCK = 1 << 16  # bytes encrypted at a time: stays in cache
_ZEROS = bytes(_BLOCK)
_SCALAR_WORDS = 8  # a scalar draw seldom needs more


class Source(Protocol):
    """Independent uniform 64-bit words, each given out once."""

    def words(self, count: int) -> Words:
        """Return the next `count` words."""
        ...

    def word(self) -> int:
        """Return the next word, as a Python int."""
        ...


def fresh_source() -> Source:
    """Return a new secure source with keys of its own: one for each answer.

    >>> a, b = fresh_source(), fresh_source()
    >>> bool((a.words(4) == b.words(4)).any())
    False
    """
    return SecureSource()


def _entropy(count: int) -> bytes:
    try:
        return os.urandom(count)
    except (OSError, NotImplementedError) as error:
        raise EntropyFailure(
            "the operating system gave no secure randomness, so nothing was drawn."
        ) from error


_forks = 0  # processes between this one and the first


def _count_fork() -> None:
    global _forks  # noqa: PLW0603 the hook has nowhere else to leave its mark
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class _Secret:
    """What holds secret bits is neither shown nor stored nor copied."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of randomness cannot be copied or stored")


class _Stream(_Secret):
    """The bits of one thread of one process."""

    __slots__ = ("_cipher", "_few")

    def __init__(self) -> None:
        self._few: list[int] = []
        self._cipher: _Cipher | None = None

    def word(self) -> int:
        # A handful of words comes straight from the operating system: cheaper than setting up a cipher.
        if not self._few:
            block = _entropy(8 * _SCALAR_WORDS)
            self._few = [int.from_bytes(block[i : i + 8], "little") for i in range(0, 8 * _SCALAR_WORDS, 8)]
        return self._few.pop()

    def words(self, count: int) -> Words:
        if count <= _SCALAR_WORDS:
            return np.frombuffer(bytearray(_entropy(8 * count)), dtype=np.uint64)
        if self._cipher is None:
            self._cipher = _Cipher()
        return self._cipher.words(count)


class _Cipher(_Secret):
    """The key stream of AES-256-CTR, under a key that nobody else keeps."""

    __slots__ = ("_encryptor",)

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        seed = _entropy(48)
        self._encryptor = Cipher(algorithms.AES256(seed[:32]), modes.CTR(seed[32:])).encryptor()

    def words(self, count: int) -> Words:
        out = np.empty(count + 2, dtype=np.uint64)  # the cipher asks for room for one block more
        room = out.view(np.uint8).data
        for start in range(0, 8 * count, _BLOCK):
            size = min(_BLOCK, 8 * count - start)
            self._encryptor.update_into(memoryview(_ZEROS)[:size], room[start : start + size + 15])
        return out[:count]


class SecureSource(_Secret):
    """A source keyed by the operating system, separately in each process and thread that uses it."""

    __slots__ = ("_streams",)

    def __init__(self) -> None:
        self._streams: dict[tuple[int, int, int], _Stream] = {}

    def words(self, count: int) -> Words:
        """Return the next `count` words."""
        if count < 0:
            raise InvalidParameter(f"count must be >= 0, got {count}.", parameter="count")
        return self._stream().words(count)

    def word(self) -> int:
        """Return the next word, as a Python int."""
        return self._stream().word()

    def _stream(self) -> _Stream:
        # A child finds only its ancestors' entries and makes its own. The process id tells it from its parent
        # even if it was forked behind Python's back; the count of forks tells it from a dead ancestor whose
        # id was given out again.
        owner = (_forks, os.getpid(), threading.get_ident())
        stream = self._streams.get(owner)
        if stream is None:
            stream = self._streams[owner] = _Stream()
        return stream


# Uniform whole numbers and biased coins, exactly.

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
