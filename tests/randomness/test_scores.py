from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.errors import InvalidParameter
from discreet.kernel.randomness.selection import gaps_of

FACTORS = st.fractions(min_value=-(2**60), max_value=2**60, max_denominator=2**60)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
INTS = st.integers(-(2**63), 2**63 - 1)


def check(scores, exact, factor):
    gaps = gaps_of(scores, factor)
    floats = gaps.floats(slice(None))
    best = max(factor * score for score in exact)
    for i, score in enumerate(exact):
        truth = best - factor * score
        assert gaps.exact(i) == truth >= 0
        if floats[i] == np.inf:
            assert truth > 2**1000
        else:
            assert abs(Fraction(floats[i]) - truth) <= truth / 2**50 + Fraction(1, 2**1000)


@given(st.lists(FLOATS, min_size=1, max_size=8), FACTORS)
def test_gaps_of_floats_are_those_of_their_binary_values(scores, factor):
    check(scores, [Fraction(score) for score in scores], factor)


@given(st.lists(INTS, min_size=1, max_size=8), FACTORS)
def test_gaps_of_ints_do_not_wrap(scores, factor):
    check(np.array(scores, dtype=np.int64), [Fraction(score) for score in scores], factor)


@pytest.mark.slow
@given(st.lists(st.fractions() | INTS | FLOATS | st.just(10**300), min_size=1, max_size=6), FACTORS)
def test_mixed_and_rational_scores_are_exact(scores, factor):
    check(scores, [Fraction(score) for score in scores], factor)


@given(st.lists(FLOATS, min_size=1, max_size=6), st.sampled_from([Fraction(2) ** 1500, Fraction(1, 2**1500)]))
def test_extreme_factors_do_not_lead_floats_astray(scores, factor):
    check(scores, [Fraction(score) for score in scores], factor)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64, np.float32, np.float16])
def test_every_small_type_is_read(dtype):
    assert gaps_of(np.array([1, 3], dtype=dtype), Fraction(2)).floats(slice(None)).tolist() == [4.0, 0.0]


def test_huge_unsigned_scores_are_read():
    assert gaps_of(np.array([2**64 - 1, 2**64 - 3], dtype=np.uint64), Fraction(1)).floats(
        slice(None)
    ).tolist() == [
        0.0,
        2.0,
    ]


@pytest.mark.parametrize(
    "scores",
    [
        [],
        [np.nan],
        [1.0, np.inf],
        np.array([np.nan, 1.0]),
        [1, float("nan")],
        [True, False],
        np.array([True]),
        ["1"],
        [None],
        [1j],
        np.zeros((2, 2)),
    ],
    ids=repr,
)
def test_what_is_not_a_list_of_finite_numbers_is_refused(scores):
    with pytest.raises(InvalidParameter):
        gaps_of(scores, Fraction(1))


def test_no_score_is_quoted():
    with pytest.raises(InvalidParameter) as refused:
        gaps_of([7919, float("inf"), "secret"], Fraction(1))
    assert "7919" not in str(refused.value)
    assert "secret" not in str(refused.value)
