"""The noise laws by name, scalar and vectorised."""

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from discreet.kernel.numerics import exponent_of_two, largest_power_of_two
from discreet.kernel.randomness.envelope import Curve, Envelope, Places, Point, Shape
from discreet.kernel.randomness.source import Source, Words

# One sampler for every noise law: a cell by table, a uniform place in it, a test only in the wedge.
#
# The first word decides the outcome unless it equals a threshold; the test in the wedge is decided in
# floating
# point outside a proved margin, and inside it with more bits and certified balls. The number of tries
# before a
# draw is kept does not depend on what is kept. Proofs: docs/theory/samplers.md.

_CHUNK = 1 << 15  # draws at a time: words, codes and results stay in cache
_CELLS_PER_SCALE: dict[Shape, int] = {"linear": 32, "quadratic": 64}  # at least; less than twice as many
_GUIDE_BITS = 16
_NARROW = 1 << 60  # laws whose table stays below this are drawn as int64


class Table:
    """The outcome of a 64-bit draw: the first whose threshold is not below it.

    A guide on the top 16 bits answers at once where no threshold lies among the draws that share them.
    """

    __slots__ = ("_guide", "_list", "_thresholds")

    SLOW = -(1 << 15)  # the guide's code for "look closer"

    def __init__(self, thresholds: list[int], codes: NDArray[np.int16]) -> None:
        """Make the guide answer `codes` for the first outcomes; all others are slow."""
        self._list = thresholds
        self._thresholds = np.array(thresholds, dtype=np.uint64)
        tops = (self._thresholds >> np.uint64(64 - _GUIDE_BITS)).astype(np.int64)
        inside = np.bincount(tops, minlength=1 << _GUIDE_BITS)
        first = np.cumsum(inside) - inside  # thresholds below the first draw of each guide cell
        answers = np.full(first.size, self.SLOW, dtype=np.int16)
        sure = (inside == 0) & (first < codes.size)
        answers[sure] = codes[first[sure]]
        self._guide = answers

    def guess(self, draws: Words) -> NDArray[np.int16]:
        """Return the code of each draw, or SLOW."""
        return self._guide.take((draws >> np.uint64(64 - _GUIDE_BITS)).view(np.int64))

    def search(self, draws: Words, *, beyond: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the outcome of each draw, and the positions of those that are open or not before
        `beyond`."""
        found = np.searchsorted(self._thresholds, draws, side="left")
        return found, np.flatnonzero((self._thresholds[found] == draws) | (found >= beyond))

    def search_one(self, draw: int) -> int | None:
        """Return the outcome of a draw, None if it is open."""
        found = bisect_left(self._list, draw)
        return None if self._list[found] == draw else found


class Cells:
    """A law on the whole numbers with weights exp(-ψ(|k|)), or its continuous twin rounded to them."""

    def __init__(self, shape: Shape, scale: Fraction, *, sides: Literal[1, 2], places: Places) -> None:
        self._rounded = places == "continuous"
        width = exponent_of_two(largest_power_of_two(scale / _CELLS_PER_SCALE[shape]))
        self._width = width if self._rounded else max(0, width)  # log2 of a cell's width
        ratio = scale / Fraction(2) ** self._width
        self._curve = Curve(shape, ratio, self._width, places)
        self._envelope = Envelope(shape, ratio, sides, points=not self._rounded and self._width == 0)
        thresholds = self._envelope.thresholds(64)
        self._boxes = len(thresholds) if self._envelope.points else self._envelope.boxes
        self._cells = self._envelope.all_cells(len(thresholds))
        self._values = self._cells if self._width >= 0 else self._finer_values()
        self._table = Table(thresholds, self._values[: self._boxes].astype(np.int16))
        self._wide = (self._envelope.cells + 1) << max(0, self._width) >= _NARROW
        self._spreads = self._width >= 0 and not self._envelope.points  # a cell holds several whole numbers

    def one(self, source: Source) -> int:
        """Draw once."""
        while True:
            value = self._finish(source, source.word())
            if value is not None:
                return value

    def many(self, source: Source, size: int) -> NDArray[Any]:
        """Draw independently: int64 if all are below 2^61 in size, else exact Python ints."""
        if self._wide:
            return np.array([self.one(source) for _ in range(size)] or [], dtype=object)
        out = np.empty(size, dtype=np.int64)
        above, strays = self._try(source, out)
        while above.size:
            again = np.empty(above.size, dtype=np.int64)
            still, further = self._try(source, again)
            out[above] = again
            strays.update((int(above[position]), value) for position, value in further.items())
            above = above[still]
        return _with_strays(out, strays) if strays else out

    def _finish(self, source: Source, draw: int) -> int | None:
        """Return the whole number that a draw leads to; None if its point lies above the curve."""
        index = self._table.search_one(draw)
        if index is None:
            index = self._continue(source, draw)
        part, cell = self._envelope.outcome(index)
        if part == "box" and not self._spreads:
            return self._value(cell)
        place, bits = source.word(), 64
        while bits <= self._width:
            place, bits = place << 64 | source.word(), bits + 64
        if part != "box" and not self._keeps(source, Point(part, cell, place, bits, source.word())):
            return None
        return self._combine(cell, place, bits)

    def _continue(self, source: Source, draw: int) -> int:
        """Settle a draw that equals a threshold: take more bits of both until they differ."""
        bits = 64
        while True:
            draw, bits = draw << 64 | source.word(), bits + 64
            thresholds = self._envelope.thresholds(bits)
            index = bisect_left(thresholds, draw)
            if thresholds[index] != draw:
                return index

    def _keeps(self, source: Source, point: Point) -> bool:
        sure = self._curve.decide_one(point) if point.part == "wedge" else 0
        return sure > 0 if sure else self._curve.settle(source, point)

    def _value(self, cell: int) -> int:
        """Return what the table stores for a cell: itself, or its whole number where cells are finer than
        those."""
        if self._width >= 0:
            return cell
        return (cell + (1 << (-self._width - 1))) >> -self._width

    def _finer_values(self) -> NDArray[np.int64]:
        return np.array([self._value(cell) for cell in self._cells.tolist()], dtype=np.int64)

    def _combine(self, cell: int, place: int, bits: int) -> int:
        if self._width < 0:
            return self._value(cell)
        if self._rounded:
            return (cell << self._width) + (((place >> (bits - self._width - 1)) + 1) >> 1)
        return (cell << self._width) + (place >> (bits - self._width))

    def _try(self, source: Source, out: NDArray[np.int64]) -> tuple[NDArray[np.intp], dict[int, int]]:
        """Draw once for each place of `out`.

        Returned are the positions whose point was above the curve, and values of 2^61 or more.
        """
        slow = [self._fill(source, out, start) for start in range(0, out.size, _CHUNK)]
        if not slow:
            return np.empty(0, dtype=np.intp), {}
        positions, draws, places = (np.concatenate(parts) for parts in zip(*slow, strict=True))
        return self._look_closer(source, out, positions, draws, places)

    def _fill(
        self, source: Source, out: NDArray[np.int64], start: int
    ) -> tuple[NDArray[np.intp], Words, Words]:
        """Return Fill a chunk; positions, draws and places are returned where the guide did not answer."""
        part = out[start : start + _CHUNK]
        size = part.size
        words = source.words(2 * size if self._spreads else size)
        draws, places = words[:size], words[size:]
        codes = self._table.guess(draws)
        part[:] = codes
        if self._spreads:
            self._spread(part, places)
        slow = np.flatnonzero(codes == Table.SLOW)
        return slow + start, draws[slow], places[slow] if self._spreads else source.words(slow.size)

    def _spread(self, cells: NDArray[np.int64], places: Words) -> None:
        """Replace cells by the whole numbers at these places in them."""
        cells <<= self._width
        if self._rounded:
            halves = places >> np.uint64(63 - self._width)
            halves += np.uint64(1)
            halves >>= np.uint64(1)
            cells += halves.view(np.int64)
        else:
            cells += (places >> np.uint64(64 - self._width)).view(np.int64)

    def _look_closer(
        self, source: Source, out: NDArray[np.int64], slow: NDArray[np.intp], draws: Words, places: Words
    ) -> tuple[NDArray[np.intp], dict[int, int]]:
        found, rare = self._table.search(draws, beyond=2 * self._boxes)
        values = self._values[found]
        if self._spreads:
            self._spread(values, places)
        out[slow] = values
        found[rare] = 0  # not in a wedge: settled one by one
        above = slow[self._above(source, found, places)]
        strays: dict[int, int] = {}
        for position in rare:
            value = self._finish(source, int(draws[position]))
            value = self.one(source) if value is None else value
            if -2 * _NARROW < value < 2 * _NARROW:  # so that who adds them to data need not look again
                out[slow[position]] = value
            else:
                strays[int(slow[position])] = value
        return above, strays

    def _above(self, source: Source, found: NDArray[np.intp], places: Words) -> NDArray[np.intp]:
        """Return the positions of those outcomes whose point is in a wedge and above the curve."""
        wedge = np.flatnonzero(found >= self._boxes)
        cells, places, heights = self._cells[found[wedge]], places[wedge], source.words(wedge.size)
        sure = self._curve.decide(cells, places, heights)
        for i in np.flatnonzero(sure == 0):
            point = Point("wedge", int(cells[i]), int(places[i]), 64, int(heights[i]))
            sure[i] = 1 if self._curve.settle(source, point) else -1
        return wedge[sure < 0]


def _with_strays(out: NDArray[np.int64], strays: dict[int, int]) -> NDArray[Any]:
    wide = out.astype(object)
    for position, value in strays.items():
        wide[position] = value
    return wide


@lru_cache(maxsize=64)
def cells(shape: Shape, scale: Fraction, sides: Literal[1, 2], places: Places) -> Cells:
    """Return the sampler of a law with its tables; the last 64 are kept."""
    return Cells(shape, scale, sides=sides, places=places)


def _draw(sampler: Cells, source: Source, size: int | None) -> int | NDArray[Any]:
    return sampler.one(source) if size is None else sampler.many(source, size)


@overload
def geometric(source: Source, scale: Fraction, size: None = None) -> int: ...
@overload
def geometric(source: Source, scale: Fraction, size: int) -> NDArray[Any]: ...
def geometric(source: Source, scale: Fraction, size: int | None = None) -> int | NDArray[Any]:
    """Draw k = 0, 1, ... with probability ∝ exp(-k/scale)."""
    return _draw(cells("linear", scale, 1, "whole"), source, size)


@overload
def discrete_laplace(source: Source, scale: Fraction, size: None = None) -> int: ...
@overload
def discrete_laplace(source: Source, scale: Fraction, size: int) -> NDArray[Any]: ...
def discrete_laplace(source: Source, scale: Fraction, size: int | None = None) -> int | NDArray[Any]:
    """Draw a whole number k with probability ∝ exp(-|k|/scale)."""
    return _draw(cells("linear", scale, 2, "whole"), source, size)


@overload
def discrete_gaussian(source: Source, sigma: Fraction, size: None = None) -> int: ...
@overload
def discrete_gaussian(source: Source, sigma: Fraction, size: int) -> NDArray[Any]: ...
def discrete_gaussian(source: Source, sigma: Fraction, size: int | None = None) -> int | NDArray[Any]:
    """Draw a whole number k with probability ∝ exp(-k²/2σ²)."""
    return _draw(cells("quadratic", sigma, 2, "whole"), source, size)


@overload
def rounded_gaussian(source: Source, sigma: Fraction, size: None = None) -> int: ...
@overload
def rounded_gaussian(source: Source, sigma: Fraction, size: int) -> NDArray[Any]: ...
def rounded_gaussian(source: Source, sigma: Fraction, size: int | None = None) -> int | NDArray[Any]:
    """Draw ⌊Y + 1/2⌋ for the continuous Gaussian Y ~ N(0, σ²)."""
    return _draw(cells("quadratic", sigma, 2, "continuous"), source, size)
