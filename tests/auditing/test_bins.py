import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.apps.auditing.bins import partition

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


def slow_place(bins, value):
    """The obvious oracle: the bin whose ends hold the value, single values first."""
    if np.isnan(value):
        return len(bins) - 1
    ends = bins.ends()
    for place, (low, high) in enumerate(ends):
        if low == high == value:
            return place
    return next(place for place, (low, high) in enumerate(ends) if low != high and low <= value < high)


@given(st.lists(finite, min_size=1, max_size=60), st.lists(finite, min_size=1, max_size=20))
def test_every_value_is_placed_where_the_ends_say(training, values):
    bins = partition(np.array(training * 3), fineness=8)
    probes = np.array([*values, *training, np.nan])
    assert bins.place(probes).tolist() == [slow_place(bins, value) for value in probes]


@pytest.mark.parametrize("last", [np.inf, 2**63 - 1])
def test_a_last_point_with_nothing_beyond_it_is_placed_too(last):
    bins = partition(np.array([0, 1, 2, last] * 20, dtype=type(last)), fineness=4)
    probes = np.array([-5, 0, 1, 2, 3, last], dtype=bins.points.dtype)
    assert bins.place(probes).tolist() == [slow_place(bins, value) for value in probes]


def test_frequent_values_are_bins_of_their_own():
    bins = partition(np.array([1.0] * 50 + [2.0] * 50 + [2.5]), fineness=4)
    assert bins.points[bins.single].tolist() == [1.0, 2.0]


def test_labels_have_no_intervals_and_new_ones_share_the_last_bin():
    bins = partition(np.array([5] * 10 + [9] * 10, dtype=np.uint64), fineness=4)
    assert bins.place(np.array([5, 9, 7], dtype=np.uint64)).tolist() == [0, 1, len(bins) - 1]


def test_coarse_groups_are_neighbours_of_about_equal_count():
    values = np.random.default_rng().normal(size=20_000)
    bins = partition(values, fineness=256)
    (counts,) = bins.count(values)
    group = bins.coarsen(counts, 10)
    assert (np.diff(group) >= 0).all()
    joined = np.bincount(group, weights=counts)
    assert joined[:10].min() > 1000
