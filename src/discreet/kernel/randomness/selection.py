"""Choosing among candidates by log-weight, exactly, for a handful or millions of them.

No exponential is ever taken of a float: exp(-gap) is bounded above by a table of certified whole numbers, a
candidate is drawn exactly by those bounds, and kept with the exact ratio of its weight to its bound (at least
1 - 1/128 for all but negligible weights). Proofs: docs/theory/samplers.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from numbers import Rational
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError, InvalidParameter
from discreet.kernel.randomness.source import Source, exp_fixed, settle_below_exp, uniform_below

# Scores of candidates, as exact gaps to the best one.

Scores: TypeAlias = NDArray[Any] | Sequence[Any]

_LARGEST_FACTOR = Fraction(2**900)  # beyond these, products and differences of floats are not trusted
_LARGEST_SPAN = Fraction(2**1023)


@dataclass(frozen=True)
class Gaps:
    """factor · (best - score) of every candidate."""

    scores: NDArray[Any]
    best: Fraction
    factor: Fraction
    known: NDArray[np.float64] | None  # the gaps as floats, where they cannot be had by float arithmetic

    @property
    def size(self) -> int:
        """Return how many candidates there are."""
        return self.scores.size

    def exact(self, index: int) -> Fraction:
        """Return the gap of one candidate, exactly."""
        return self.factor * (self.best - _fraction(self.scores[index]))

    def floats(self, part: slice | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the gaps of some candidates, with an error of at most 2^-50 of them or 2^-1000."""
        if self.known is not None:
            return self.known[part]
        scores = self.scores[part]
        best = scores.dtype.type(self.best.numerator if scores.dtype == np.int64 else float(self.best))
        with np.errstate(over="ignore", under="ignore"):
            distance = best - scores if self.factor > 0 else scores - best
            if scores.dtype == np.int64 and distance.size and distance.min() < 0:
                distance = distance.view(np.uint64)  # the difference of two int64 wraps to its uint64
            gaps: NDArray[np.float64] = distance * float(abs(self.factor))
        return gaps


def gaps_of(scores: Scores, factor: Fraction) -> Gaps:
    """Return the gaps of finite scores; a negative factor prefers the least score.

    >>> gaps_of([3, 1, 2], Fraction(1, 2)).floats(slice(None)).tolist()
    [0.0, 1.0, 0.5]
    """
    array = _array(scores)
    low, high = _fraction(array.min()), _fraction(array.max())
    best = high if factor >= 0 else low
    known = None
    if not _floats_suffice(array, high - low, factor):
        known = np.array([_nearest(factor * (best - _fraction(score))) for score in array])
    return Gaps(array, best, factor, known)


def _floats_suffice(array: NDArray[Any], span: Fraction, factor: Fraction) -> bool:
    """Return whether no difference overflows and no product loses more than its last bits."""
    usual = 1 / _LARGEST_FACTOR < abs(factor) < _LARGEST_FACTOR
    return array.dtype != object and usual and span < _LARGEST_SPAN


def _nearest(gap: Fraction) -> float:
    try:
        return float(gap)
    except OverflowError:
        return float("inf")


def _array(scores: Scores) -> NDArray[Any]:
    array = scores if isinstance(scores, np.ndarray) else _from_sequence(scores)
    if array.ndim != 1 or array.size == 0:
        raise InvalidParameter("scores must be a list of at least one number.", parameter="scores")
    kind, small = array.dtype.kind, array.dtype.itemsize <= 8
    if kind == "f" and small:
        if not np.isfinite([array.min(), array.max()]).all():  # NaN is the minimum of any array that holds it
            raise InvalidParameter("scores must be finite numbers.", parameter="scores")
        return array.astype(np.float64, copy=False)
    if kind == "i" or (kind == "u" and array.max() < 1 << 63):
        return array.astype(np.int64, copy=False)
    if kind in "uO":
        exact = np.empty(array.size, dtype=object)
        exact[:] = [_fraction(score) for score in array]
        return exact
    raise InvalidParameter(
        f"scores must be whole, float or rational numbers, got {array.dtype}.", parameter="scores"
    )


def _from_sequence(scores: Sequence[Any]) -> NDArray[Any]:
    kinds = {type(score) for score in scores}
    if kinds == {float}:
        return np.array(scores, dtype=np.float64)
    if kinds == {int} and all(-(1 << 63) <= score < 1 << 63 for score in scores):
        return np.array(scores, dtype=np.int64)
    array = np.empty(len(scores), dtype=object)
    array[:] = list(scores)
    return array


def _fraction(score: Any) -> Fraction:
    """Return a score as a rational; a float here is data and stands for its binary value."""
    number = score.item() if isinstance(score, np.generic) else score
    if isinstance(number, bool) or not isinstance(number, Rational | float):
        raise InvalidParameter("scores must be whole, float or rational numbers.", parameter="scores")
    if isinstance(number, float) and not np.isfinite(number):
        raise InvalidParameter("scores must be finite numbers.", parameter="scores")
    return Fraction(number)


_STEPS = 256  # table entries for each factor e
_DEEPEST = 50 * _STEPS  # gaps beyond 50 share the last entry
_BITS = 62  # of the certified bounds, and of the sum of all proposals
_CHUNK = 1 << 14  # candidates at a time: they stay in cache
_BLOCK = 50.0  # how deep the certified bounds reach; a deeper gap is so many blocks, and a rest
_BLOCKS = 14  # e^-700 is still a float; what lies deeper keeps that bound
_CLOSER = _STEPS * (1 - 2.0**-40)  # never rounds a gap up to the next entry


@lru_cache(maxsize=1)
def _bounds() -> NDArray[np.int64]:
    """Return whole numbers >= 2^62 exp(-k/256), certified and less than 2 units above it, for k = 0 ...
    12800."""
    precision = _BITS + 64
    ratio = exp_fixed(Fraction(1, _STEPS), precision) + 1  # rounded up, like every product below
    power, bounds = 1 << precision, []
    for _ in range(_DEEPEST + 1):
        bounds.append(-(-power >> 64))
        power = (power * ratio >> precision) + 1
    return np.array(bounds, dtype=np.int64)


@lru_cache(maxsize=64)
def _coarser_bounds(shift: int) -> NDArray[np.int64]:
    """Return the bounds in units of 2^shift, rounded up."""
    return (_bounds() - 1 >> shift) + 1


def _entries(gaps: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the table entry of each gap: never above the true 256 · gap."""
    with np.errstate(over="ignore"):
        return np.minimum(gaps * _CLOSER, _DEEPEST).astype(np.int64)


def _accumulate(gaps: Gaps, shift: int) -> NDArray[np.int64]:
    """Return exact running sums of the weights' upper bounds, in units of 2^(shift - 62), at most 2^62."""
    bounds = _coarser_bounds(shift)
    cumulative = np.empty(gaps.size, dtype=np.int64)
    carried = np.int64(0)
    for start in range(0, gaps.size, _CHUNK):
        part = cumulative[start : start + _CHUNK]
        np.cumsum(bounds.take(_entries(gaps.floats(slice(start, start + _CHUNK)))), out=part)
        part += carried
        carried = part[-1]
    return cumulative


def certified_bounds(gaps: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a whole number >= 2^62 exp(-gap) for each gap, within 1/128 of it unless the gap exceeds 50."""
    return _bounds()[_entries(gaps)]


@overload
def choice(source: Source, scores: Scores, factor: Fraction, size: None = None) -> int: ...
@overload
def choice(source: Source, scores: Scores, factor: Fraction, size: int) -> NDArray[np.int64]: ...
def choice(
    source: Source, scores: Scores, factor: Fraction, size: int | None = None
) -> int | NDArray[np.int64]:
    """Draw an index i with probability ∝ exp(factor · scores[i]), exactly."""
    gaps = gaps_of(scores, factor)
    shift = gaps.size.bit_length()
    cumulative = _accumulate(gaps, shift)
    if size is None:
        return int(_choose(source, gaps, cumulative, _BITS - shift, 1)[0])
    return _choose(source, gaps, cumulative, _BITS - shift, size)


def _choose(
    source: Source, gaps: Gaps, cumulative: NDArray[np.int64], bits: int, size: int
) -> NDArray[np.int64]:
    drawn = np.searchsorted(cumulative, uniform_below(source, int(cumulative[-1]), size), side="right")
    weights = cumulative[drawn] - np.where(drawn > 0, cumulative[drawn - 1], 0)
    heights = source.words(size)
    # exp(-r) >= 1 - r; r exceeds one entry by float error only; rounding up added less than 2 units.
    surely = 1 - (1 / _STEPS + 2.0**-20) - 2 / weights
    clear = (gaps.floats(drawn) < 49) & (heights * 2.0**-64 < surely - 2.0**-40)
    for i in np.flatnonzero(~clear):
        gap = gaps.exact(int(drawn[i]))
        if not settle_below_exp(source, int(heights[i]), gap, Fraction(1 << bits, int(weights[i]))):
            drawn[i] = _choose(source, gaps, cumulative, bits, 1)[0]
    return drawn


def permute_and_flip(source: Source, scores: Scores, factor: Fraction) -> int:
    """Draw an index by the permute-and-flip law: candidates in random order, each kept with probability
    exp(-gap).

    All coins are thrown at once; the first head in a random order is a uniform choice among the heads.
    """
    gaps = gaps_of(scores, factor)
    entries = _entries(gaps.floats(slice(None)))
    words = source.words(entries.size)
    uniform = words * 2.0**-64
    upper = _bounds()[entries] * 2.0**-_BITS
    # A bound is less than 2 units too high, and the gap less than one entry and a float error beyond its own.
    lower = np.where(entries < _DEEPEST, (upper - 2.0 ** (1 - _BITS)) * (1 - 1 / _STEPS - 2.0**-20), 0)
    heads = uniform + 2.0**-62 < lower * (1 - 2.0**-40)
    for i in np.flatnonzero(~heads & (uniform <= upper * (1 + 2.0**-40))):
        heads[i] = settle_below_exp(source, int(words[i]), gaps.exact(int(i)), Fraction(1))
    among = np.flatnonzero(heads)
    return int(among[uniform_below(source, among.size)])


def weighted_choice(
    source: Source, scores: Scores, factor: Fraction, weights: NDArray[np.int64] | Sequence[int]
) -> int:
    """Draw an index i with probability ∝ weights[i] · exp(factor · scores[i]); weights are whole numbers > 0.

    A candidate is proposed by whole numbers U_i ≥ w_i·exp(-gap_i)·2^(62-s), and kept with the exact ratio of
    the two: what is kept follows the stated law, whatever the slack of U_i.
    """
    gaps = gaps_of(scores, factor)
    # Floats are only used for the proposals, which are raised by more than floats round.
    sizes = np.asarray(weights, dtype=np.float64)
    if sizes.shape != (gaps.size,) or not (sizes > 0).all():
        raise InternalError("weighted_choice needs one weight > 0 for each score")
    raised = sizes * _upper_bounds(gaps.floats(slice(None)))
    shift = max(0, int(np.frexp(raised.sum())[1]) - (_BITS - 2))
    proposals = np.ceil(np.ldexp(raised, -shift)).astype(np.int64) + 1
    cumulative = np.cumsum(proposals)
    scale = Fraction(1 << _BITS, 1 << shift)
    while True:
        drawn = int(np.searchsorted(cumulative, uniform_below(source, int(cumulative[-1])), side="right"))
        ratio = scale * int(weights[drawn]) / int(proposals[drawn])
        if settle_below_exp(source, source.word(), gaps.exact(drawn), ratio):
            return drawn


def _upper_bounds(gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return floats above 2^62 exp(-gap), closely down to exp(-700): all rounding together stays below
    2^-30."""
    blocks = np.minimum(np.floor(gaps / _BLOCK), _BLOCKS)
    block = float(exp_fixed(Fraction(50), 128) + 1) * 2.0**-128
    with np.errstate(invalid="ignore"):  # an infinite gap stays infinite
        rest = np.where(blocks < _BLOCKS, gaps - blocks * _BLOCK, gaps)
    bounds = certified_bounds(rest).astype(np.float64)
    deepest = 2.0**_BITS * block**_BLOCKS * (1 + 2.0**-30)
    closely: NDArray[np.float64] = bounds * block**blocks * (1 + 2.0**-30)
    return np.where(blocks < _BLOCKS, closely, deepest)
