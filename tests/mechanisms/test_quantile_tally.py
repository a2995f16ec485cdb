from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet as dp
from oracles import mechanism_laws as oracle

VALUES = st.lists(st.integers(-3, 13), max_size=30)
FRACTIONS = st.fractions(0, 1, max_denominator=7)


def runs(mechanism, values):
    """The runs of points by the tally of the values."""
    counted = Counter(values)
    steps = np.array(sorted(counted), dtype=np.int64)
    return mechanism._gaps_of_tally(
        steps, np.array([counted[step] for step in steps.tolist()], dtype=np.int64)
    )


@given(VALUES, FRACTIONS)
def test_a_tally_has_the_runs_of_its_values(values, q):
    mechanism = dp.Quantile(epsilon=1, quantile=q, bounds=(0, 10), step=1, max_rows=3)
    pairs = zip(runs(mechanism, values), mechanism._gaps(*mechanism._in_steps(values)), strict=True)
    assert all(np.array_equal(by_tally, by_value) for by_tally, by_value in pairs)


@given(VALUES, FRACTIONS, st.sampled_from(["add/remove", "replace"]))
def test_a_tally_carries_the_law_of_the_definition(values, q, relation):
    mechanism = dp.Quantile(epsilon=1, quantile=q, bounds=(0, 10), step=1, relation=relation)
    starts, sizes, scores = runs(mechanism, values)
    assert starts.tolist() == [0, *np.cumsum(sizes)[:-1].tolist()]
    points = np.repeat(np.array([float(mechanism._factor * int(score)) for score in scores]), sizes)
    law = np.exp(points - points.max())
    assert law / law.sum() == pytest.approx([float(p) for p in oracle.quantile(mechanism, values).values()])


def test_scores_too_wide_for_64_bits_stay_exact():
    mechanism = dp.Quantile(epsilon=1, quantile=Fraction(1, 2**40 + 1), bounds=(0, 10), step=1)
    steps, counts = np.array([3, 5]), np.array([2**30, 1])
    assert mechanism._gaps_of_tally(steps, counts)[2].tolist() == [
        -(2**30 + 1),
        -1,
        1 - 2**70,
        -(2**70),
        -(2**40) * (2**30 + 1),
    ]


def test_more_rows_a_unit_need_more_noise():
    one = dp.Quantile(epsilon=1, bounds=(0, 20), step=1)
    three = dp.Quantile(epsilon=1, bounds=(0, 20), step=1, max_rows=3)
    assert three._factor * 3 == one._factor
    assert three.rank_error() > one.rank_error()
