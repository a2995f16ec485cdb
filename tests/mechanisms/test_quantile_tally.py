from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

import discreet as dp

MEDIAN = dp.Quantile(epsilon=1, quantile=0.3, bounds=(0, 20), step=1, max_rows=3)


@given(st.lists(st.integers(0, 20), max_size=30))
def test_a_tally_has_the_scores_of_its_values(values):
    steps = np.array(sorted(set(values)), dtype=np.int64)
    counts = np.array([Counter(values)[step] for step in steps.tolist()], dtype=np.int64)
    by_value = MEDIAN._gaps(*MEDIAN._in_steps(values))
    by_tally = MEDIAN._gaps(steps, steps, counts)
    assert all(np.array_equal(one, other) for one, other in zip(by_value, by_tally, strict=True))


def test_more_rows_a_unit_need_more_noise():
    one = dp.Quantile(epsilon=1, bounds=(0, 20), step=1)
    three = dp.Quantile(epsilon=1, bounds=(0, 20), step=1, max_rows=3)
    assert three._factor * 3 == one._factor
    assert three.rank_error() > one.rank_error()
