"""A false alarm of each statistical test lies below 1e-11."""

import math
from collections import Counter
from fractions import Fraction

import pytest

from discreet.errors import InternalError
from discreet.numerics import ball, certified_floor
from discreet.randomness import bernoulli_real, fresh_source, weighted_choice

DRAWS = 6000


def near(counts, law):
    return all(
        abs(counts[i] - DRAWS * p) <= 7.3 * math.sqrt(DRAWS * p * (1 - p)) + 1 for i, p in enumerate(law)
    )


@pytest.mark.parametrize(
    ("weights", "scores"),
    [
        ([1, 2, 3], [0, 0, 0]),
        ([100, 10, 1], [0, 1, 2]),
        ([2**60, 1, 2**60], [-1, 40, -2]),
        ([10**40, 1], [0, 92]),
    ],
)
def test_candidates_are_drawn_by_weight_and_score(weights, scores):
    source = fresh_source()
    counts = Counter(weighted_choice(source, scores, Fraction(1), weights) for _ in range(DRAWS))
    masses = [math.exp(math.log(w) + s) for w, s in zip(weights, scores, strict=True)]
    law = [mass / sum(masses) for mass in masses]
    assert near(counts, law)
    planted = [math.exp(s - max(scores)) for s in scores]  # the weights forgotten
    assert not near(counts, [mass / sum(planted) for mass in planted])


def test_a_score_far_below_the_best_is_never_drawn_and_never_fails():
    assert weighted_choice(fresh_source(), [0, -(10**6)], Fraction(1), [1, 2**62]) == 0


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, -1]])
def test_every_candidate_needs_a_weight(weights):
    with pytest.raises(InternalError):
        weighted_choice(fresh_source(), [1, 2], Fraction(1), weights)


def test_an_irrational_coin_falls_by_its_digits():
    def floor(bits):
        return certified_floor(lambda: ball(2**bits) / (1 + ball(1).exp()))

    p = 1 / (1 + math.e)
    heads = int(bernoulli_real(fresh_source(), floor, DRAWS).sum())
    assert abs(heads - DRAWS * p) < 7 * math.sqrt(DRAWS * p * (1 - p))
    assert bernoulli_real(fresh_source(), floor) in (0, 1)
