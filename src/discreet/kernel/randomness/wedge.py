"""Whether a point of a wedge lies under the curve: in floating point if that is certain, else with balls.

A point of cell i at distance `offset` from the end nearer 0 lies under exp(-ψ) if
V · (1 - exp(-g₁)) > 1 - exp(-g), where V is uniform, g = ψ(i + offset) - ψ(i) and g₁ = ψ(i + 1) - ψ(i)
(∞ for a point of the whole cell). Proofs: docs/theory/samplers.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from discreet.kernel.numerics import Arb, ball, working_precision
from discreet.kernel.randomness.envelope import Part, Shape
from discreet.kernel.randomness.source import Source, Words

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
