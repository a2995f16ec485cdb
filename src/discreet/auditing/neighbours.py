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
from discreet.numerics import Real, exact, exact_positive, exact_whole

Pair: TypeAlias = tuple[Any, Any]
Relation: TypeAlias = Literal["add/remove", "replace"]
Kind: TypeAlias = Literal["general", "monotone"]


def numbers(*, sensitivity: Real = 1, bounds: tuple[Real, Real] | None = None) -> list[Pair]:
    """Pairs of query answers that are one sensitivity apart: at 0, at the bounds, at magnitudes far from 0.

    >>> numbers(sensitivity=1, bounds=(0, 10))
    [(0, 1), (9, 10), (4, 5)]
    """
    width = exact_positive(sensitivity, name="sensitivity")
    if bounds is None:
        starts = [Fraction(0), -width, Fraction(2**20), Fraction(2**40)]
    else:
        lower, upper = (exact(end, name="bounds") for end in bounds)
        width = min(width, upper - lower)
        starts = [lower, upper - width, (lower + upper - width) / 2 // width * width]
    pairs = [(_plain(start), _plain(start + width)) for start in starts]
    return list(dict.fromkeys(pairs))


def _plain(value: Fraction) -> int | float:
    return value.numerator if value.denominator == 1 else float(value)


def vectors(*, dimension: int, sensitivity: int = 1, scores: Kind = "general") -> list[Pair]:
    """Pairs of lists of counting-query answers, each answer moved by at most `sensitivity`.

    One up, all up, one up and the rest down, halves crossed, a single peak moved. "monotone" scores all move
    the same way.
    """
    k = exact_whole(dimension, name="dimension", least=1)
    s = exact_whole(sensitivity, name="sensitivity", least=1)
    moves = [m for m in _moves(k) if scores == "general" or min(m) >= 0 or max(m) <= 0]
    pairs = [_moved([1] * k, move, s) for move in moves]
    pairs.append(_moved(list(range(k)), moves[1 % len(moves)], s))
    if scores == "general":
        half = k // 2
        pairs.append(([0] * half + [s] * (k - half), [s] * half + [0] * (k - half)))
    return pairs


def _moved(base: list[int], move: list[int], by: int) -> Pair:
    return base, [value + by * m for value, m in zip(base, move, strict=True)]


def _moves(k: int) -> Iterator[list[int]]:
    half = k // 2
    yield [1] + [0] * (k - 1)
    yield [1] * k
    if k > 1:
        yield [0] * (k - 1) + [1]
        yield [1] + [-1] * (k - 1)
        yield [1] * half + [-1] * (k - half)
        yield [1, -1] + [0] * (k - 2)


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
    return list(dict.fromkeys(_plain(value) for value in found))
