import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.errors import InternalError
from discreet.kernel.randomness import bernoulli, bernoulli_exp, fresh_source, uniform_below
from discreet.kernel.randomness.source import exp_fixed, settle_below_exp
from discreet.testing import Tape

FULL = 2**64 - 1
SIZE = 10**6


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**32, 2**62 + 1, 2**63, 2**63 + 1, 2**64, 2**64 + 1, 10**40])
def test_uniform_numbers_stay_below_their_bound(bound):
    many = uniform_below(fresh_source(), bound, 200)
    assert many.dtype == (np.int64 if bound <= 2**63 else object)
    assert all(0 <= int(value) < bound for value in [*many, uniform_below(fresh_source(), bound)])


def test_words_beyond_the_last_multiple_are_drawn_anew():
    last = 2**64 - 2**64 % 10  # 18446744073709551610
    assert uniform_below(Tape([last, last - 1]), 10) == 9
    assert uniform_below(Tape([last, 7, FULL, last + 3, 4]), 10, 2).tolist() == [4, 7]
    assert uniform_below(Tape([FULL, FULL, 0, 5]), 2**64 + 1) == 5


def test_ten_faces_are_equally_likely():
    # Each count is binomial with standard deviation 300: 7.5 of them, ten faces, false alarm below 1e-12.
    counts = np.bincount(uniform_below(fresh_source(), 10, SIZE))
    assert np.abs(counts - SIZE / 10).max() < 2250


@given(st.fractions(min_value=0, max_value=1), st.integers(0, FULL), st.integers(0, FULL))
def test_a_coin_compares_its_bits_with_the_probability(p, first, second):
    uniform = Fraction(first << 64 | second, 2**128)
    if first != p.numerator * 2**64 // p.denominator:
        assert bernoulli(Tape([first]), p) == bernoulli(Tape([first]), p, 1)[0] == (uniform < p)


@pytest.mark.parametrize("p", [Fraction(1, 3), Fraction(1, 10**30), Fraction(3, 2**70), Fraction(1, 2)])
def test_a_coin_on_its_threshold_is_decided_by_more_bits(p):
    coarse, fine = (p.numerator * 2**bits // p.denominator for bits in (64, 128))
    rest = fine & FULL
    for tosses in (lambda tape: bernoulli(tape, p), lambda tape: bernoulli(tape, p, 1)[0]):
        assert tosses(Tape([coarse, rest + 1])) == 0
        if rest:
            assert tosses(Tape([coarse, rest - 1])) == 1


@pytest.mark.parametrize(
    "gamma", [Fraction(1, 7), Fraction(1), Fraction(40), Fraction(10**6), Fraction(1, 2**80)]
)
def test_an_exponential_coin_on_its_threshold_is_decided_by_more_bits(gamma):
    coarse, rest = exp_fixed(gamma, 64), exp_fixed(gamma, 128) & FULL
    for tosses in (lambda tape: bernoulli_exp(tape, gamma), lambda tape: bernoulli_exp(tape, gamma, 1)[0]):
        assert tosses(Tape([coarse, min(rest + 1, FULL), 1])) == 0
        if rest:
            assert tosses(Tape([coarse, rest - 1])) == 1


def test_certain_coins_need_no_luck():
    assert bernoulli_exp(Tape([]), Fraction(0)) == 1
    assert bernoulli(fresh_source(), Fraction(1), 100).sum() == 100
    assert bernoulli(fresh_source(), Fraction(0), 100).sum() == 0


@pytest.mark.parametrize("gamma", [Fraction(1, 10), Fraction(1), Fraction(5, 2)])
def test_heads_come_with_probability_exp_minus_gamma(gamma):
    # 8 standard deviations: false alarm below 1e-14; an error of 2 % in exp(-gamma) is 16 of them away.
    p = float(np.exp(-float(gamma)))
    size = math.ceil((16 / 0.02) ** 2 * (1 - p) / p)
    heads = int(bernoulli_exp(fresh_source(), gamma, size).sum())
    deviation = (p * (1 - p) * size) ** 0.5
    assert abs(heads - p * size) < 8 * deviation
    assert abs(heads - 0.98 * p * size) > 7.9 * deviation  # a coin that is 2 % off would be seen


def test_a_scaled_exponential_is_compared_exactly():
    factor = Fraction(3, 4)
    edge = exp_fixed(Fraction(1), 128, factor)
    for value, below in ((edge - 1, True), (edge + 1, False)):
        assert settle_below_exp(Tape([value & FULL]), value >> 64, Fraction(1), factor) is below
    assert settle_below_exp(Tape([]), 2**63, Fraction(0), factor)
    assert not settle_below_exp(Tape([1]), 3 * 2**62, Fraction(0), factor)


@pytest.mark.parametrize(
    "call",
    [
        lambda s: uniform_below(s, 0),
        lambda s: bernoulli(s, Fraction(3, 2)),
        lambda s: bernoulli_exp(s, Fraction(-1)),
    ],
)
def test_impossible_parameters_are_refused(call):
    with pytest.raises(InternalError):
        call(fresh_source())
