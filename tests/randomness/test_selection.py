from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings, strategies as st
from scipy.stats import chi2

from discreet.kernel.randomness import choice, fresh_source, permute_and_flip
from discreet.kernel.randomness.selection import _bounds
from discreet.kernel.randomness.source import exp_fixed
from discreet.testing import Tape

FULL = 2**64 - 1
SIZE = 10**6
ALARM = 1e-11  # of each chi-square test
CASES = {
    "ints": ([0, 1, 2, 3, 5, -2], Fraction(1)),
    "floats": ([0.1, 0.25, -1.5, 2.0], Fraction(3, 2)),
    "rationals": ([Fraction(1, 3), Fraction(-2, 7), 1], Fraction(1)),
    "ties": ([4, 4, 4, 1], Fraction(1, 2)),
    "negative factor": ([0, 1, 2], Fraction(-1)),
    "no preference": ([0, 10**9, -5.0], Fraction(0)),
    "tiny steps": ([k / 1000 for k in range(30)], Fraction(1)),
}


def probabilities(scores, factor):
    weights = np.array([float(factor * Fraction(score)) for score in scores])
    weights = np.exp(weights - weights.max())
    return weights / weights.sum()


def passes(draws, expected):
    return counts_pass(np.bincount(draws, minlength=len(expected)), expected)


def counts_pass(counts, expected):
    usual = expected * counts.sum()
    return float(((counts - usual) ** 2 / usual).sum()) < chi2.isf(ALARM, len(expected) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_choices_have_the_stated_law(case):
    scores, factor = CASES[case]
    assert passes(choice(fresh_source(), scores, factor, SIZE), probabilities(scores, factor))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_single_choices_have_the_stated_law(case):
    scores, factor = CASES[case]
    draws = [choice(fresh_source(), scores, factor) for _ in range(5000)]
    assert passes(draws, probabilities(scores, factor))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["ints", "floats", "rationals"])
def test_a_factor_off_by_two_percent_is_seen(case):
    # The noncentrality is the variance of the score times 0.02² · 5 · 10^6, at least 400: power > 1 - 1e-12.
    scores, factor = CASES[case]
    draws = choice(fresh_source(), scores, factor * Fraction(102, 100), 5 * SIZE)
    assert not passes(draws, probabilities(scores, factor))


def test_bounds_taken_for_weights_would_be_seen():
    # The planted fault: the table's bound instead of the weight, without the test that keeps or rejects.
    # Both gaps share the first entry, so it would be a fair coin: 6.4 · 10^7 tosses, 13 deviations off.
    scores, factor = [0.0, 1 / 300], Fraction(1)
    assert passes(choice(fresh_source(), scores, factor, SIZE), probabilities(scores, factor))
    heads = int(np.bitwise_count(fresh_source().words(SIZE)).astype(np.int64).sum())
    wrong = np.array([heads, 64 * SIZE - heads])
    assert counts_pass(wrong, np.ones(2) / 2)
    assert not counts_pass(wrong, probabilities(scores, factor))


def test_every_bound_is_certified_and_less_than_two_units_high():
    before, ctx.prec = ctx.prec, 300
    try:
        for k, bound in enumerate(_bounds().tolist()):
            if k % 37 == 0 or k > 12_790:
                truth = (-arb(fmpq(k, 256))).exp() * arb(2) ** 62
                assert truth <= bound < truth + 2
    finally:
        ctx.prec = before


def test_a_choice_on_the_edge_of_its_weight_is_decided_by_more_bits():
    # Two candidates: the weight of the second is exp(-1/300) · 2^60, its bound 2^60.
    gap = Fraction(1, 300)
    edge = exp_fixed(gap, 128)
    scores = [0, -gap]
    second = 2**60  # the first number that falls to the second candidate
    for value, kept in ((edge - 1, 1), (edge + 1, 0)):
        tape = Tape([second, *divmod(value, 2**64), 0, 0])
        assert choice(tape, scores, Fraction(1)) == kept


@pytest.mark.parametrize("scores", [[7], [-1e300], [Fraction(1, 3)]], ids=str)
def test_a_single_candidate_is_chosen(scores):
    assert choice(fresh_source(), scores, Fraction(10**6)) == 0
    assert permute_and_flip(fresh_source(), scores, Fraction(10**6)) == 0


@pytest.mark.parametrize(
    "scores", [[0, 10**6], [-1e308, 1e308], [-(2**63), 2**63 - 1], [0, Fraction(10**400)]], ids=str
)
def test_huge_gaps_are_no_problem(scores):
    assert choice(fresh_source(), scores, Fraction(1), 100).tolist() == [1] * 100
    assert permute_and_flip(fresh_source(), scores, Fraction(1)) == 1


def test_a_million_candidates_are_all_reached():
    # One candidate 2 ln(10^6) above the rest has weight 10^12: all others together 10^-6 of it.
    scores = np.zeros(10**6)
    uniform = choice(fresh_source(), scores, Fraction(1), 1000)
    assert np.unique(uniform).size > 950  # expected 999.5, false alarm below 1e-12
    scores[123_456] = 28
    assert (choice(fresh_source(), scores, Fraction(1), 50) == 123_456).all()


def flips(scores, factor):
    """The law of permute-and-flip by summing over all orders."""
    best = max(factor * Fraction(score) for score in scores)
    heads = [float(np.exp(float(factor * Fraction(score) - best))) for score in scores]
    law = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        reached = 1.0
        for i in order:
            law[i] += reached * heads[i] / len(orders)
            reached *= 1 - heads[i]
    return law


@pytest.mark.slow
@pytest.mark.parametrize("case", ["ints", "floats", "rationals", "ties", "negative factor"])
def test_permute_and_flip_has_the_law_of_its_definition(case):
    scores, factor = CASES[case]
    draws = [permute_and_flip(fresh_source(), scores, factor) for _ in range(8000)]
    assert passes(draws, flips(scores, factor))


def test_permute_and_flip_is_told_from_the_exponential_mechanism():
    scores, factor = CASES["ints"]
    assert not passes(choice(fresh_source(), scores, factor, 20_000), flips(scores, factor))


@settings(max_examples=30)
@example(5e-324, FULL, FULL)
@given(st.floats(0, 60), st.integers(0, FULL), st.integers(0, FULL))
def test_a_coin_of_permute_and_flip_is_exact_for_every_word(gap, first, second):
    # Two candidates: the best always shows heads, the other if U < exp(-gap); the last words choose one.
    uniform = first << 64 | second
    # Where both words are those of exp(-gap), later ones decide.
    heads = uniform <= (exp_fixed(Fraction(gap), 128) if gap else 2**128)
    tape = Tape([0, first, second, 1, 1])
    picked = permute_and_flip(tape, [0.0, -gap], Fraction(1))
    assert picked in ({0, 1} if heads else {0})
    if heads and first != exp_fixed(Fraction(gap or 1), 64):
        assert permute_and_flip(Tape([0, first, 1]), [0.0, -gap], Fraction(1)) == 1
