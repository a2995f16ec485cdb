import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.errors import InternalError
from discreet.kernel.numerics import ball, certified_floor
from discreet.kernel.randomness import bernoulli_real, fresh_source
from discreet.kernel.randomness.selection import weighted_choice

SIZE = 20_000
ALARM = 1e-11


def passes(draws, expected):
    counts, usual = np.bincount(draws, minlength=len(expected)), np.array(expected) * len(draws)
    return float(((counts - usual) ** 2 / usual).sum()) < chi2.isf(ALARM, len(expected) - 1)


def law(scores, factor, weights):
    shares = np.array(weights) * np.exp([float(factor * score) for score in scores])
    return shares / shares.sum()


@pytest.mark.slow
@pytest.mark.parametrize("weights", [[1, 1, 1], [5, 1, 30], [2**40, 2**41, 2**40 + 1]], ids=str)
def test_choices_follow_weight_times_exponential(weights):
    scores, factor = [Fraction(1), Fraction(0), Fraction(-1, 2)], Fraction(3, 2)
    draws = [weighted_choice(fresh_source(), scores, factor, weights) for _ in range(SIZE)]
    assert passes(draws, law(scores, factor, weights))
    assert not passes(draws, law(scores, 2 * factor, weights))


def test_weights_beyond_a_float_are_kept_exactly():
    assert weighted_choice(fresh_source(), [0, -1000], Fraction(1), [1, 2**62]) == 0


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -1]])
def test_every_candidate_needs_a_weight(weights):
    with pytest.raises(InternalError):
        weighted_choice(fresh_source(), [0, 1], Fraction(1), weights)


@pytest.mark.slow
def test_a_heavy_candidate_far_below_the_best_score_is_drawn_by_its_weight():
    scores, weights = [0, 92], [10**40, 1]
    draws = [weighted_choice(fresh_source(), scores, Fraction(1), weights) for _ in range(2000)]
    heavy = math.exp(40 * math.log(10) - 92)
    assert passes(draws, [heavy / (1 + heavy), 1 / (1 + heavy)])
    assert weighted_choice(fresh_source(), [0, -(10**6)], Fraction(1), [1, 2**62]) == 0


def test_an_irrational_coin_falls_by_its_digits():
    def floor(bits):
        return certified_floor(lambda: ball(2**bits) / (1 + ball(1).exp()))

    p = 1 / (1 + math.e)
    assert passes(bernoulli_real(fresh_source(), floor, SIZE), [1 - p, p])
    assert bernoulli_real(fresh_source(), floor) in (0, 1)
