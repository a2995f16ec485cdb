"""Pairs of neighbours worth trying: worst cases found in the literature, and the edges of a declared domain.

A pair that a mechanism must protect, and does not, is a violation; which pair is tried decides what is
found. These are the patterns of Ding et al. (CCS 2018) for query answers, magnitudes that strain floating
point, and all small tables.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, Literal, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.laws import plain
from discreet.kernel.mechanisms.mechanism import Pair, numbers, vectors
from discreet.kernel.numerics import Real, exact

__all__ = ["Pair", "Relation", "edges", "numbers", "tables", "vectors"]

Relation: TypeAlias = Literal["add/remove", "replace"]


def tables(
    values: Iterable[Any], *, sizes: Sequence[int] = (0, 1, 2, 3), relation: Relation = "add/remove"
) -> list[Pair]:
    """All pairs of small tables (lists of records) over a finite domain that differ in one record.

    >>> tables(["no", "yes"], sizes=(1,), relation="replace")
    [(['no'], ['yes'])]
    """
    domain = list(values)
    pairs: list[Pair] = []
    for size in sizes:
        for table in combinations_with_replacement(domain, size):
            if relation == "add/remove":
                pairs.extend((list(table), [*table, record]) for record in domain)
            elif relation == "replace":
                pairs.extend(_replaced(list(table), domain))
            else:
                raise InvalidParameter(f"relation must be 'add/remove' or 'replace', got {relation!r}.")
    return pairs


def _replaced(table: list[Any], domain: list[Any]) -> Iterator[Pair]:
    """Replace the last of equal records by every value that comes later in the domain: each pair once."""
    for place, record in enumerate(table):
        if place + 1 < len(table) and table[place + 1] == record:
            continue
        for other in domain[domain.index(record) + 1 :]:
            yield table, [*table[:place], other, *table[place + 1 :]]


def edges(bounds: tuple[Real, Real]) -> list[int | float]:
    """Values of a bounded number that tend to break things: the ends, 0, the middle, close to each.

    >>> edges((0, 8))
    [0, 8, 4, 1, 7]
    """
    lower, upper = (exact(end, name="bounds") for end in bounds)
    if lower >= upper:
        raise InvalidParameter("bounds must be (lower, upper) with lower < upper.", parameter="bounds")
    step = (
        Fraction(1)
        if lower.denominator == upper.denominator == 1 and upper - lower > 1
        else (upper - lower) / 8
    )
    found = [lower, upper, (lower + upper) / 2, lower + step, upper - step]
    if lower < 0 < upper:
        found.append(Fraction(0))
    return list(dict.fromkeys(plain(value) for value in found))
