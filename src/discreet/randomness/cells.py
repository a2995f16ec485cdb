"""One sampler for every noise law: a cell by table, a uniform place in it, a test only in the wedge.

The first word decides the outcome unless it equals a threshold; the test in the wedge is decided in floating
point outside a proved margin, and inside it with more bits and certified balls. The number of tries before a
draw is kept does not depend on what is kept. Proofs: docs/theory/samplers.md.
"""

from bisect import bisect_left
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from flint import arb
from numpy.typing import NDArray

from discreet.numerics import Arb, ball, working_precision
from discreet.randomness.envelope import Envelope, Part, Shape
from discreet.randomness.source import Source, Words
from discreet.randomness.table import Table

_CHUNK = 1 << 15
_MARGIN = 2.0**-38
_CELLS_PER_SCALE: dict[Shape, int] = {"linear": 32, "quadratic": 64}
_NARROW = 1 << 60  # laws whose table stays below this are drawn as int64


class Cells:
    """A law on the whole numbers with weights exp(-ψ(|k|/scale)), or its continuous twin rounded to them."""

    def __init__(self, shape: Shape, scale: Fraction, *, sides: Literal[1, 2], rounded: bool) -> None:
        width = _log2_floor(scale / _CELLS_PER_SCALE[shape])
        self._rounded = rounded
        self._width = width if rounded else max(0, width)  # log2 of a cell's width
        self._shift = max(0, self._width)
        ratio = scale / Fraction(2) ** self._width
        self._ratio, self._linear = ratio, shape == "linear"
        self._curve = float(1 / ratio if self._linear else 1 / (2 * ratio**2))
        self._envelope = Envelope(shape, ratio, sides, points=not rounded and self._width == 0)
        thresholds = self._envelope.thresholds(64)
        outcomes = [self._envelope.outcome(index)[1] for index in range(len(thresholds))]
        self._cell = np.array(outcomes, dtype=np.int64)
        self._boxes = len(outcomes) if self._envelope.points else self._envelope.boxes
        self.wide = (self._envelope.cells + 1) << self._shift >= _NARROW or self._width < -60
        codes = [self._value(cell) for cell in outcomes[: self._boxes]]
        self._table = Table(thresholds, np.array(codes, dtype=np.int16))

    def one(self, source: Source) -> int:
        """One draw."""
        while True:
            index = self._index(source)
            part, cell = self._envelope.outcome(index)
            place, bits = self._place(source)
            if part == "box" or self._keeps(source, part, cell, place, bits):
                return self._combine(cell, place, bits)

    def many(self, source: Source, size: int) -> NDArray[Any]:
        """Independent draws: int64 if all certainly fit, else exact Python ints."""
        if self.wide:
            return np.array([self.one(source) for _ in range(size)] or [], dtype=object)
        out = np.empty(size, dtype=np.int64)
        strays: dict[int, int] = {}  # draws that are too far out for int64
        for start in range(0, size, _CHUNK):
            part = out[start : start + _CHUNK]
            for i, value in self._fill(source, part).items():
                strays[start + i] = value
        if strays:
            out = out.astype(object)
            for i, value in strays.items():
                out[i] = value
        return out

    def _value(self, cell: int) -> int:
        """What the table stores for a cell: itself, or its whole number where cells are finer than those."""
        if self._width >= 0:
            return cell
        return (cell + (1 << (-self._width - 1))) >> -self._width

    def _index(self, source: Source) -> int:
        draw = source.word()
        index = self._table.search_one(draw)
        return self._continue(source, draw) if index is None else index

    def _continue(self, source: Source, draw: int) -> int:
        """The outcome of a draw that equals a threshold: more bits of both until they differ."""
        bits = 64
        while True:
            draw, bits = draw << 64 | source.word(), bits + 64
            thresholds = self._envelope.thresholds(bits)
            index = bisect_left(thresholds, draw)
            if thresholds[index] != draw:
                return index

    def _place(self, source: Source) -> tuple[int, int]:
        """A uniform place in the cell: enough bits to name a whole number, at least 64."""
        place, bits = source.word(), 64
        while bits <= self._width:
            place, bits = place << 64 | source.word(), bits + 64
        return place, bits

    def _combine(self, cell: int, place: int, bits: int) -> int:
        if self._width < 0:
            return self._value(cell)
        if self._rounded:
            return (cell << self._width) + (((place >> (bits - self._width - 1)) + 1) >> 1)
        return (cell << self._width) + (place >> (bits - self._width))

    def _fill(self, source: Source, out: NDArray[np.int64]) -> dict[int, int]:
        size = out.size
        words = source.words(2 * size if self._shift or (self._width == 0 and self._rounded) else size)
        draws, places = words[:size], words[size:]
        codes = self._table.guess(draws)
        out[:] = codes
        if places.size:
            self._spread(out, places)
        slow = np.flatnonzero(codes == Table.SLOW)
        if not slow.size:
            return {}
        return self._settle(source, out, slow, draws[slow], places[slow] if places.size else None)

    def _spread(self, cells: NDArray[np.int64], places: Words) -> None:
        """Replace cells by whole numbers at uniform places in them."""
        cells <<= self._width
        if self._rounded:
            halves = places >> np.uint64(63 - self._width)
            halves += np.uint64(1)
            halves >>= np.uint64(1)
            cells += halves.view(np.int64)
        else:
            cells += (places >> np.uint64(64 - self._width)).view(np.int64)

    def _settle(
        self,
        source: Source,
        out: NDArray[np.int64],
        where: NDArray[np.intp],
        draws: Words,
        places: Words | None,
    ) -> dict[int, int]:
        """Look closer at the draws that the guide did not answer."""
        strays: dict[int, int] = {}
        for position, draw in zip(where, draws, strict=True):
            value = self._finish(source, int(draw))
            out[position] = value
        return strays

    def _finish(self, source: Source, draw: int) -> int:
        index = self._table.search_one(draw)
        if index is None:
            index = self._continue(source, draw)
        part, cell = self._envelope.outcome(index)
        place, bits = self._place(source)
        if part == "box" or self._keeps(source, part, cell, place, bits):
            return self._combine(cell, place, bits)
        return self.one(source)

    def _keeps(self, source: Source, part: Part, cell: int, place: int, bits: int) -> bool:
        """Whether a point of a wedge or of a whole cell lies under the curve, with certainty."""
        height, height_bits = source.word(), 64
        while True:
            with working_precision(bits + height_bits + 64):
                gap = self._gap(part, cell, place, bits, _uniform(height, height_bits))
            if gap > 0 or gap < 0:
                return bool(gap > 0)
            height, height_bits = height << 64 | source.word(), height_bits + 64
            if self._rounded:
                place, bits = place << 64 | source.word(), bits + 64

    def _gap(self, part: Part, cell: int, place: int, bits: int, height: Arb) -> Arb:
        """V · (1 - exp(-g₁)) - (1 - exp(-g)): positive under the curve; g₁ = ∞ for a whole cell."""
        if self._rounded:
            offset = _uniform(place, bits)
            offset = offset if cell >= 0 else 1 - offset
        else:
            whole = place >> (bits - self._width)
            offset = ball(Fraction(whole if cell >= 0 else (1 << self._width) - whole, 1 << self._width))
        top = -(-self._drop(cell, ball(1))).expm1() if part == "wedge" else ball(1)
        return height * top + (-self._drop(cell, offset)).expm1()

    def _drop(self, cell: int, offset: Arb) -> Arb:
        """g = ψ(i + offset) - ψ(i)."""
        if self._linear:
            return offset / ball(self._ratio)
        inner = cell if cell >= 0 else ~cell
        return offset * (2 * inner + offset) / (2 * ball(self._ratio) ** 2)


def _uniform(prefix: int, bits: int) -> Arb:
    """All numbers in [0, 1) that begin with these bits, as a ball."""
    return ball(Fraction(2 * prefix + 1, 2 << bits)) + arb(0, arb(2) ** (-bits - 1))


def _log2_floor(value: Fraction) -> int:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1
