"""The certified table behind every noise law: cells, boxes and wedges.

A law with density exp(-ψ(y)), ψ increasing in |y|, is cut into cells [i, i+1) of a width that makes its scale
ρ cells. Below the curve a cell holds a *box* of height exp(-ψ(i+1)); what is left under the bound exp(-ψ(i))
is its *wedge*, where a point is kept only if it lies under the curve. Boxes, wedges and the whole cells
beyond the table form one sequence of outcomes; the table holds ⌊cumulative probability · 2^bits⌋ for each.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import takewhile
from math import ceil
from typing import Any, Literal, TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from discreet.kernel.numerics import Arb, ball, working_precision
from discreet.kernel.randomness.source import Source, Words, exp_fixed

Shape = Literal["linear", "quadratic"]
Part = Literal["box", "wedge", "cell"]

_GUARD_BITS = 96
_FEW = 64  # heights of a table that is as fast in whole numbers of Python
_PART = 48  # bits of the second word: 2^15 of them add up within int64


@dataclass(frozen=True)
class Envelope:
    """The outcomes of one law and their certified thresholds.

    ψ(y) = y/ρ (linear) or y²/2ρ² (quadratic). With `points`, each cell is a single whole number (the
    mirrored cell ~i stands for -1-i), so its box is everything.
    """

    shape: Shape
    ratio: Fraction  # ρ, the law's scale in cells
    sides: Literal[1, 2]
    points: bool

    @cached_property
    def cells(self) -> int:
        """Return cells on each side with a box and a wedge of their own; beyond lies less than 2^-64 of the
        law."""
        return ceil((45 if self.shape == "linear" else Fraction(19, 2)) * self.ratio)

    @cached_property
    def boxes(self) -> int:
        """Return how many outcomes need no further test; they come first."""
        return self.sides * self.cells

    def outcome(self, index: int) -> tuple[Part, int]:
        """Return what the index-th outcome is, and its cell: i >= 0, or ~i for the mirrored one."""
        if self.points or index < self.boxes:
            return "box", self._cell(index)
        return "wedge" if index < 2 * self.boxes else "cell", self._cell(index - self.boxes)

    def _cell(self, rank: int) -> int:
        if self.sides == 1:
            return rank
        return ~(rank >> 1) if rank & 1 else rank >> 1

    def all_cells(self, count: int) -> NDArray[np.int64]:
        """Return the cells of the first `count` outcomes."""
        ranks = np.arange(count)
        if not self.points:
            ranks[self.boxes :] -= self.boxes
        return ranks if self.sides == 1 else np.where(ranks & 1, ~(ranks >> 1), ranks >> 1)

    def thresholds(self, bits: int) -> list[int]:
        """Return ⌊c · 2^bits⌋ for the cumulative probability c of each outcome, until only 2^-bits is left.

        The last is 2^bits - 1: a draw of `bits` bits that equals a threshold is open and must be continued.
        """
        guard = _GUARD_BITS
        while (found := self._try_thresholds(bits, bits + guard)) is None:
            guard *= 2
        return found

    def _heights(self, precision: int) -> tuple[list[int], int]:
        """Return exp(-ψ(i)) in units of 2^-precision, each too low by at most the returned error, down to
        0."""
        heights = [1 << precision]
        if self.shape == "linear":
            ratio = exp_fixed(1 / self.ratio, precision)
            while height := heights[-1] * ratio >> precision:
                heights.append(height)
        else:
            curvature = 1 / (2 * self.ratio**2)
            ratio, change = exp_fixed(curvature, precision), exp_fixed(2 * curvature, precision)
            while height := heights[-1] * ratio >> precision:
                heights.append(height)
                ratio = ratio * change >> precision
        # Every product of two numbers <= 1 is cut once and inherits the errors of both.
        return heights, 4 * (len(heights) + 1) ** 2

    def _masses(self, heights: NDArray[Any]) -> NDArray[Any]:
        """Return the weight of each outcome."""
        beyond = np.zeros(max(1, self.cells + 1 - heights.size), dtype=heights.dtype)
        heights = np.concatenate((heights, beyond))
        if self.points:
            return heights if self.sides == 1 else np.column_stack((heights[:-1], heights[1:])).reshape(-1)
        boxes = heights[1 : self.cells + 1]
        wedges = heights[: self.cells] - boxes
        return np.repeat(np.concatenate((boxes, wedges, heights[self.cells :])), self.sides)

    def _total(self, heights: list[int]) -> int:
        """Return the weight of all outcomes together."""
        return self.sides * sum(heights) - (heights[0] if self.points and self.sides == 2 else 0)

    def _try_thresholds(self, bits: int, precision: int) -> list[int] | None:
        heights, error = self._heights(precision)
        outcomes = 2 * self.sides * (len(heights) + self.cells + 1)
        # Errors of all outcomes, and of the heights below one unit that were left out: ρ + 1 times the last.
        slack = 2 * error * (outcomes + 2 * (int(self.ratio) + 2))
        inverse = (1 << (2 * precision)) // self._total(heights)
        least = 1 << (precision - bits - 10)  # what lies beyond such a height has less than 2^-bits
        shares = [height * inverse >> precision for height in takewhile(least.__le__, heights)]
        margin = 8 * slack + 8
        if bits == 64 and len(shares) > _FEW:
            return self._in_machine_words(shares, precision, margin)
        cumulative, dropped = np.cumsum(self._masses(np.array(shares, dtype=object))), precision - bits
        full = (1 << bits) - 1
        thresholds: list[int] = (cumulative - margin >> dropped).tolist()
        if thresholds != np.minimum(cumulative + margin >> dropped, full).tolist():
            return None
        return thresholds[: thresholds.index(full) + 1]

    def _in_machine_words(self, shares: list[int], precision: int, margin: int) -> list[int] | None:
        """Return 64-bit thresholds from sums of the first 64 bits and of the next 48, for tables of
        thousands."""
        lowest = precision - 64 - _PART
        words = np.cumsum(self._masses(np.array([share >> (lowest + _PART) for share in shares], np.uint64)))
        mask = (1 << _PART) - 1
        parts = np.cumsum(self._masses(np.array([share >> lowest & mask for share in shares], np.int64)))
        thresholds = words + (parts >> _PART).astype(np.uint64)  # a negative carry wraps to what it means
        fraction, error = parts & mask, words.size + (margin >> lowest) + 1
        last = int(np.argmax(thresholds == np.uint64(2**64 - 1)))
        sure = (fraction > error) & (fraction < mask - error)
        if last == 0 or not sure[:last].all() or fraction[last] <= error:
            return None
        found: list[int] = thresholds[: last + 1].tolist()
        return found


# Whether a point of a wedge lies under the curve: in floating point if that is certain, else with
# balls.
#
# A point of cell i at distance `offset` from the end nearer 0 lies under exp(-ψ) if
# V · (1 - exp(-g₁)) > 1 - exp(-g), where V is uniform, g = ψ(i + offset) - ψ(i) and g₁ = ψ(i + 1) -
# ψ(i)
# (∞ for a point of the whole cell). Proofs: docs/theory/samplers.md.

Places = Literal["whole", "continuous"]
F = TypeVar("F", float, NDArray[np.float64])

_MARGIN = 2.0**-38  # relative to g₁; the proved error is below 2^-41


@dataclass
class Point:
    """A point under the bound: its part and cell, what is known of its place in the cell, its height."""

    part: Part
    cell: int
    place: int
    bits: int
    height: int


@dataclass(frozen=True)
class Curve:
    """ψ(y) = y/ρ or y²/2ρ², in cells that are 2^width wide, with whole or continuous places in them."""

    shape: Shape
    ratio: Fraction
    width: int
    places: Places

    @cached_property
    def _rate(self) -> Fraction:
        return 1 / self.ratio if self.shape == "linear" else 1 / (2 * self.ratio**2)

    @cached_property
    def _float_rate(self) -> float:
        return float(self._rate)

    def decide(self, cells: NDArray[np.int64], places: Words, heights: Words) -> NDArray[np.int8]:
        """Decide for points of wedges: 1 if certainly under the curve, -1 if certainly above, 0 if open."""
        inner: NDArray[np.float64] = np.where(cells < 0, ~cells, cells).astype(np.float64)
        uniform: NDArray[np.float64] = heights.astype(np.float64) * 2.0**-64
        gap, margin = self._float_gap(inner, self._float_offset(cells, places), uniform)
        return (gap > margin).astype(np.int8) - (gap < -margin).astype(np.int8)

    def decide_one(self, point: Point) -> int:
        """Decide for one point."""
        inner = point.cell if point.cell >= 0 else ~point.cell
        offset = (point.place >> (point.bits - 53)) * 2.0**-53
        if self.places == "whole":
            offset = (point.place >> (point.bits - self.width)) / (1 << self.width)
        offset = offset if point.cell >= 0 else 1 - offset
        gap, margin = self._float_gap(float(inner), offset, point.height * 2.0**-64)
        return (gap > margin) - (gap < -margin)

    def _float_gap(self, inner: F, offset: F, height: F) -> tuple[F, F]:
        """Return V · (1 - exp(-g₁)) - (1 - exp(-g)) in floating point, and a bound on its error."""
        rate = self._float_rate
        if self.shape == "linear":
            near, far = rate * offset, rate + 0 * offset
        else:
            near, far = rate * offset * (2 * inner + offset), rate * (2 * inner + 1)
        return height * _fall(far) - _fall(near), _MARGIN * far

    def _float_offset(self, cells: NDArray[np.int64], places: Words) -> NDArray[np.float64]:
        if self.places == "continuous":
            uniform = places * 2.0**-64
            return np.where(cells < 0, 1 - uniform, uniform)
        whole = (places >> np.uint64(64 - self.width)).astype(np.int64)
        return np.where(cells < 0, (1 << self.width) - whole, whole) * 2.0**-self.width

    def settle(self, source: Source, point: Point) -> bool:
        """Settle whether the point is under the curve: draw bits until that is certain."""
        height, known = point.height, 64
        while True:
            with working_precision(point.bits + known + 64):
                gap = self._gap(point, _uniform(height, known))
            if gap > 0 or gap < 0:
                return bool(gap > 0)
            height, known = height << 64 | source.word(), known + 64
            if self.places == "continuous":
                point.place, point.bits = point.place << 64 | source.word(), point.bits + 64

    def _gap(self, point: Point, height: Arb) -> Arb:
        offset = self._offset(point)
        inner = point.cell if point.cell >= 0 else ~point.cell
        top = -(-self._drop(inner, ball(1))).expm1() if point.part == "wedge" else ball(1)
        return height * top + (-self._drop(inner, offset)).expm1()

    def _offset(self, point: Point) -> Arb:
        if self.places == "continuous":
            offset = _uniform(point.place, point.bits)
            return offset if point.cell >= 0 else 1 - offset
        whole, size = point.place >> (point.bits - self.width), 1 << self.width
        return ball(Fraction(whole if point.cell >= 0 else size - whole, size))

    def _drop(self, inner: int, offset: Arb) -> Arb:
        """Return g = ψ(i + offset) - ψ(i)."""
        rate = ball(self._rate)
        return rate * offset if self.shape == "linear" else rate * offset * (2 * inner + offset)


def _fall(x: F) -> F:
    """Return 1 - exp(-x) by ten terms of its alternating series, for 0 <= x <= 0.15."""
    fall = 1 - x * (1 / 10)
    for term in range(9, 1, -1):
        fall = 1 - fall * x * (1 / term)
    return fall * x


def _uniform(prefix: int, bits: int) -> Arb:
    """Return all numbers in [0, 1) that begin with these bits, as a ball."""
    return ball(Fraction(2 * prefix + 1, 2 << bits)) + arb(0, arb(2) ** (-bits - 1))
