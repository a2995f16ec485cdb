"""Choosing among candidates with a base measure: probability ∝ weight · exp(factor · score), exactly."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.randomness.coins import settle_below_exp, uniform_below
from discreet.randomness.fixed import exp_fixed
from discreet.randomness.scores import Scores, gaps_of
from discreet.randomness.selection import certified_bounds
from discreet.randomness.source import Source

_BITS = 62  # of the certified bounds, and of the sum of all proposals
_BLOCK = 50.0  # how deep the certified bounds reach; a deeper gap is so many blocks, and a rest
_BLOCKS = 14  # e^-700 is still a float; what lies deeper keeps that bound


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
