"""Choosing among candidates with a base measure: probability ∝ weight · exp(factor · score), exactly."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.randomness.coins import settle_below_exp, uniform_below
from discreet.randomness.scores import Scores, gaps_of
from discreet.randomness.selection import certified_bounds
from discreet.randomness.source import Source

_BITS = 62  # of the certified bounds, and of the sum of all proposals


def weighted_choice(
    source: Source, scores: Scores, factor: Fraction, weights: NDArray[np.int64] | Sequence[int]
) -> int:
    """An index i with probability ∝ weights[i] · exp(factor · scores[i]); weights are whole numbers > 0.

    A candidate is proposed by whole numbers U_i ≥ w_i·exp(-gap_i)·2^(62-s), and kept with the exact ratio of
    the two: what is kept follows the stated law, whatever the slack of U_i.
    """
    gaps = gaps_of(scores, factor)
    sizes = np.asarray(
        weights, dtype=np.float64
    )  # only for the proposals, which are raised by more than this rounds
    if sizes.shape != gaps.scores.shape or not (sizes > 0).all():
        raise InternalError("weighted_choice needs one weight > 0 for each score")
    raised = sizes * certified_bounds(gaps).astype(np.float64) * (1 + 2.0**-45)
    shift = max(0, int(np.frexp(raised.sum())[1]) - (_BITS - 2))
    proposals = np.ceil(np.ldexp(raised, -shift)).astype(np.int64) + 1
    cumulative = np.cumsum(proposals)
    scale = Fraction(1 << _BITS, 1 << shift)
    while True:
        drawn = int(np.searchsorted(cumulative, uniform_below(source, int(cumulative[-1])), side="right"))
        ratio = scale * _whole(weights[drawn]) / int(proposals[drawn])
        if settle_below_exp(source, source.word(), gaps.exact(drawn), ratio):
            return drawn


def _whole(weight: Any) -> int:
    return int(weight)
