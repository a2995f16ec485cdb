"""Finite fields of q elements, q a prime or a small prime power, on arrays of whole numbers below q."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError

MOST_TABLED = 256  # elements of a field whose sums and products are tables

Numbers = NDArray[np.int64]


@lru_cache(maxsize=4096)
def prime_power(q: int) -> tuple[int, int] | None:
    """Return (p, r) with q = p^r for a prime p, or None.

    >>> prime_power(8), prime_power(7), prime_power(12)
    ((2, 3), (7, 1), None)
    """
    if q < 2:
        return None
    p = next((d for d in range(2, int(q**0.5) + 1) if q % d == 0), q)
    degree, rest = 0, q
    while rest % p == 0:
        rest, degree = rest // p, degree + 1
    return (p, degree) if rest == 1 else None


def is_supported(q: int) -> bool:
    """Whether there is a field of q elements here: any prime, prime powers up to 256."""
    power = prime_power(q)
    return power is not None and (power[1] == 1 or q <= MOST_TABLED)


@dataclass(frozen=True)
class Field:
    """The field of `order` elements. An element of F_(p^r) is a polynomial over F_p, written as the number
    Σ aᵢ·pⁱ; products are taken modulo the least monic irreducible polynomial of degree r in that writing.

    >>> four = Field(4)
    >>> int(four.multiply(np.int64(2), np.int64(3))), int(four.add(np.int64(2), np.int64(3)))
    (1, 1)
    """

    order: int

    def __post_init__(self) -> None:
        if not is_supported(self.order):
            raise InternalError("a field must have a prime or a small prime power of elements")

    @property
    def is_prime(self) -> bool:
        """Whether sums and products are those of whole numbers modulo the order."""
        return self._power[1] == 1

    @property
    def _power(self) -> tuple[int, int]:
        power = prime_power(self.order)
        assert power is not None
        return power

    def add(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a + b."""
        if self.is_prime:
            total: Numbers = a + b
            return np.where(total >= self.order, total - self.order, total)
        return self._tables[0].take(a * self.order + b)

    def multiply(self, a: Numbers, b: Numbers) -> Numbers:
        """Return a · b."""
        if self.is_prime:
            result: Numbers = (a * b) % self.order
            return result
        return self._tables[1].take(a * self.order + b)

    @cached_property
    def _tables(self) -> tuple[Numbers, Numbers]:
        return _tables(self.order)


@lru_cache(maxsize=16)
def _tables(q: int) -> tuple[Numbers, Numbers]:
    """Return the tables of sums and products, by polynomial arithmetic."""
    power = prime_power(q)
    assert power is not None
    p, degree = power
    elements = [_digits(x, p, degree) for x in range(q)]
    modulus = _irreducible(p, degree)
    sums = [_number([(x + y) % p for x, y in zip(a, b, strict=True)], p) for a in elements for b in elements]
    products = [_number(_product(a, b, modulus, p), p) for a in elements for b in elements]
    return np.array(sums, dtype=np.int64), np.array(products, dtype=np.int64)


def _digits(x: int, p: int, count: int) -> list[int]:
    return [x // p**i % p for i in range(count)]


def _number(digits: list[int], p: int) -> int:
    return sum(digit * p**i for i, digit in enumerate(digits))


def _product(a: list[int], b: list[int], modulus: list[int], p: int) -> list[int]:
    """a·b modulo the monic polynomial whose lower coefficients are `modulus`, lowest first."""
    degree = len(modulus)
    result = [0] * (2 * degree - 1)
    for i, j in product(range(degree), repeat=2):
        result[i + j] = (result[i + j] + a[i] * b[j]) % p
    for i in range(2 * degree - 2, degree - 1, -1):
        for j in range(degree):
            result[i - degree + j] = (result[i - degree + j] - result[i] * modulus[j]) % p
    return result[:degree]


def _irreducible(p: int, degree: int) -> list[int]:
    """The lower coefficients of the least monic polynomial without a monic factor of degree 1 … r/2."""
    for code in range(p**degree):
        candidate = [*_digits(code, p, degree), 1]
        factors = ([*_digits(c, p, d), 1] for d in range(1, degree // 2 + 1) for c in range(p**d))
        if not any(_divides(factor, candidate, p) for factor in factors):
            return candidate[:-1]
    raise InternalError("there is an irreducible polynomial of every degree")


def _divides(factor: list[int], whole: list[int], p: int) -> bool:
    rest = list(whole)
    for i in range(len(rest) - 1, len(factor) - 2, -1):
        lead = rest[i]
        for j, coefficient in enumerate(factor):
            rest[i - len(factor) + 1 + j] = (rest[i - len(factor) + 1 + j] - lead * coefficient) % p
    return not any(rest)
