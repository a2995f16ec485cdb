"""The certified table behind every noise law: cells, boxes and wedges.

A law with density exp(-ψ(y)), ψ increasing in |y|, is cut into cells [i, i+1) of a width that makes its scale
ρ cells. Below the curve a cell holds a *box* of height exp(-ψ(i+1)); what is left under the bound exp(-ψ(i))
is its *wedge*, where a point is kept only if it lies under the curve. Boxes, wedges and the whole cells
beyond the table form one sequence of outcomes; the table holds ⌊cumulative probability · 2^bits⌋ for each.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import ceil
from typing import Literal

from discreet.randomness.fixed import exp_fixed

Shape = Literal["linear", "quadratic"]
Part = Literal["box", "wedge", "cell"]

_GUARD_BITS = 128


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
        """Cells on each side with a box and a wedge of their own; beyond lies less than 2^-64 of the law."""
        return ceil((45 if self.shape == "linear" else Fraction(19, 2)) * self.ratio)

    @cached_property
    def boxes(self) -> int:
        """Outcomes that need no further test come first: this many of them."""
        return self.sides * self.cells

    def outcome(self, index: int) -> tuple[Part, int]:
        """What the index-th outcome is, and its cell: i >= 0, or ~i for the mirrored one."""
        if self.points or index < self.boxes:
            return "box", self._cell(index)
        return "wedge" if index < 2 * self.boxes else "cell", self._cell(index - self.boxes)

    def _cell(self, rank: int) -> int:
        if self.sides == 1:
            return rank
        return ~(rank >> 1) if rank & 1 else rank >> 1

    def thresholds(self, bits: int) -> list[int]:
        """⌊c · 2^bits⌋ for the cumulative probability c of each outcome, until only 2^-bits is left.

        The last is 2^bits - 1: a draw of `bits` bits that equals a threshold is open and must be continued.
        """
        guard = _GUARD_BITS
        while (found := self._try_thresholds(bits, bits + guard)) is None:
            guard *= 2
        return found

    def _heights(self, precision: int) -> tuple[list[int], int]:
        """exp(-ψ(i)) in units of 2^-precision, each too low by at most the returned error, down to 0."""
        if self.shape == "linear":
            ratio, change = exp_fixed(1 / self.ratio, precision), 1 << precision
        else:
            curvature = 1 / (2 * self.ratio**2)
            ratio, change = exp_fixed(curvature, precision), exp_fixed(2 * curvature, precision)
        heights = [1 << precision]
        while height := heights[-1] * ratio >> precision:
            heights.append(height)
            ratio = ratio * change >> precision
        # Every product of two numbers <= 1 is cut once and inherits the errors of both.
        return heights, 4 * (len(heights) + 1) ** 2

    def _masses(self, heights: list[int]) -> list[int]:
        """The weight of each outcome."""
        sides = self.sides
        if self.points:
            pairs = zip(heights, [*heights[1:], 0], strict=True)
            return [mass for pair in pairs for mass in pair] if sides == 2 else heights
        heights = heights + [0] * (self.cells + 1 - len(heights))
        boxes = heights[1 : self.cells + 1]
        wedges = [top - box for top, box in zip(heights, boxes, strict=False)]
        masses = boxes + wedges + heights[self.cells :]
        return [mass for mass in masses for _ in range(2)] if sides == 2 else masses

    def _try_thresholds(self, bits: int, precision: int) -> list[int] | None:
        heights, error = self._heights(precision)
        masses = self._masses(heights)
        # Errors of all outcomes, and of the heights below one unit that were left out: ρ + 1 times the last.
        slack = 2 * error * (len(masses) + 2 * (int(self.ratio) + 2))
        total, full = sum(masses), (1 << bits) - 1
        # c · 2^precision, too low or too high by less than twice the relative error of the total (and 1).
        inverse = (1 << (2 * precision)) // total
        margin = 8 * slack + 8
        dropped = precision - bits
        thresholds: list[int] = []
        for cumulative in accumulate(masses):
            middle = cumulative * inverse >> precision
            threshold = middle - margin >> dropped
            if threshold != min(middle + margin >> dropped, full):
                return None
            thresholds.append(threshold)
            if threshold == full:
                return thresholds
        return None
