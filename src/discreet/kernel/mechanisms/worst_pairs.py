"""Neighbouring query answers that break faulty mechanisms: the patterns of Ding et al. (CCS 2018)."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.kernel.laws import plain
from discreet.kernel.mechanisms.mechanism import Pair
from discreet.kernel.numerics import Real, exact, exact_positive, exact_whole

Kind: TypeAlias = Literal["general", "monotone"]


def numbers(*, sensitivity: Real = 1, bounds: tuple[Real, Real] | None = None) -> list[Pair]:
    """Return pairs of answers one sensitivity apart: at 0, at the bounds, at magnitudes far from 0.

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
    pairs = [(plain(start), plain(start + width)) for start in starts]
    return list(dict.fromkeys(pairs))


def vectors(*, dimension: int, sensitivity: int = 1, scores: Kind = "general") -> list[Pair]:
    """Return pairs of lists of counting-query answers, each answer moved by at most `sensitivity`.

    One up, all up, one up and the rest down, halves crossed, a single peak moved. "monotone" scores all move
    the same way.
    """
    k = exact_whole(dimension, name="dimension", least=1)
    s = exact_whole(sensitivity, name="sensitivity", least=1)
    moves = [m for m in _moves(k) if scores == "general" or min(m) >= 0 or max(m) <= 0]
    pairs = [_move([1] * k, move, s) for move in moves]
    pairs.append(_move(list(range(k)), moves[1 % len(moves)], s))
    if scores == "general":
        half = k // 2
        pairs.append(([0] * half + [s] * (k - half), [s] * half + [0] * (k - half)))
    return pairs


def _move(base: list[int], move: list[int], by: int) -> Pair:
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
