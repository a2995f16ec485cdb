import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.apps.auditing import bins
from discreet.apps.auditing.bins import Search

KINDS = {
    np.float64: st.floats(width=64),
    np.int64: st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20),
    np.uint64: st.integers(0, 2**64 - 1) | st.integers(0, 20),
}


def many(column):
    return np.resize(column, bins.WORTHWHILE)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_the_table_counts_as_the_binary_search_does(kind, data):
    points = np.array(data.draw(st.lists(KINDS[kind], max_size=40)), dtype=kind)
    others = np.array(data.draw(st.lists(KINDS[kind], min_size=1, max_size=20)), dtype=kind)
    points = np.sort(points[~np.isnan(points)])
    values = many(np.concatenate((others, points)))
    assert (Search(points)(values) == np.searchsorted(points, values, side="right")).all()


@pytest.mark.parametrize("crowd", [1, 1e-3, 1e-6])
def test_crowded_points_and_values_beside_them_are_told_apart(crowd):
    # Some hundred points in one cell, others alone, and values one grain of floating point to either side.
    points = np.sort(np.concatenate((np.linspace(0, crowd, 300), np.linspace(1, 1000, 300))))
    beside = np.concatenate([np.nextafter(points, end) for end in (-np.inf, np.inf)])
    values = many(np.concatenate((points, beside, [np.nan, np.inf, -np.inf])))
    assert (Search(points)(values) == np.searchsorted(points, values, side="right")).all()
