"""Secure bits: AES-256 in counter mode, keyed by the operating system.

Nothing here can be seeded. A source is made for one answer and thrown away; every process and every thread
that touches it gets a key of its own, so that no two streams are ever the same.
"""

import os
import threading
from typing import NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import EntropyFailure, InvalidParameter

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
