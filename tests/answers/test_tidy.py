"""Tidy tables are whole, from 0 on, agree with each other, and are no farther off than the raw ones."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from discreet.asking.answers.tidy import check_tidy, make_tidy, project, settle, settle_both
from discreet.asking.planning.marginals import Workload
from discreet.errors import UnsupportedQuery


def marginals(full, columns):
    return full.sum(axis=tuple(axis for axis in range(full.ndim) if axis not in columns))


def noisy_tables(seed, sizes, asked, spread=4.0):
    """Consistent estimates: those of one noisy full table; and the true one."""
    random = np.random.default_rng(seed)
    full = random.poisson(1.5, sizes).astype(float)
    noisy = full + random.normal(0, spread, sizes)
    sets = Workload(sizes, dict.fromkeys(asked, 1)).sets
    return {each: marginals(noisy, each) for each in sets}, full


@pytest.mark.parametrize(
    ("sizes", "asked"),
    [
        ((4, 5, 6), [(0, 1), (1, 2), (0, 2)]),
        ((30, 20), [(0, 1), (0,)]),
        ((4, 5, 6), [(0, 1, 2), (0,), ()]),
        ((7,), [(0,)]),
        ((3, 4), [(0,), (1,)]),
    ],
)
@pytest.mark.parametrize("seed", range(5))
def test_all_totals_agree_in_whole_numbers(sizes, asked, seed):
    tables, _ = noisy_tables(seed, sizes, asked)
    tidy = make_tidy(tables, asked)
    assert set(tidy) == set(tables)
    for columns, table in tidy.items():
        assert table.dtype == np.int64
        assert (table >= 0).all()
        for axis, _ in enumerate(columns):
            assert (table.sum(axis=axis) == tidy[columns[:axis] + columns[axis + 1 :]]).all()


def test_tidy_tables_of_few_people_are_nearer_to_the_truth():
    raw, mended = [], []
    for seed in range(20):
        asked = [(0, 1), (1, 2), (0, 2)]
        tables, full = noisy_tables(seed, (12, 12, 12), asked, spread=2.0)
        tidy = make_tidy(tables, asked)
        for columns in asked:
            truth = marginals(full, columns)
            raw.append(((tables[columns] - truth) ** 2).mean())
            mended.append(((tidy[columns] - truth) ** 2).mean())
    assert np.mean(mended) < np.mean(raw)


def test_tables_that_are_tidy_stay_as_they_are():
    random = np.random.default_rng(3)
    full = random.integers(0, 5, (4, 3, 5))
    for asked in ([(0, 1), (1, 2)], [(0, 1, 2)]):
        tables = {
            each: marginals(full, each).astype(float)
            for each in Workload(full.shape, dict.fromkeys(asked, 1)).sets
        }
        for columns, table in make_tidy(tables, asked).items():
            assert (table == tables[columns]).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-50, 50), min_size=1, max_size=6),
    st.lists(st.floats(-50, 50), min_size=1, max_size=6),
    st.integers(0, 60), st.integers(0, 2**32),
)  # fmt: skip
def test_any_table_gets_any_margins(first, second, total, seed):
    rows = settle(np.array([first]), np.array([total]))[0]
    columns = settle(np.array([second]), np.array([total]))[0]
    assert rows.sum() == columns.sum() == total
    noise = np.random.default_rng(seed).normal(0, 30, (rows.size, columns.size))
    found = settle_both(noise, rows, columns)
    assert (found >= 0).all()
    assert (found.sum(axis=1) == rows).all()
    assert (found.sum(axis=0) == columns).all()


def test_the_projection_is_the_nearest_row():
    random = np.random.default_rng(4)
    given_rows, totals = random.normal(0, 3, (20, 5)), random.integers(0, 9, 20)
    found = project(given_rows, totals)
    np.testing.assert_allclose(found.sum(axis=1), totals, atol=1e-9)
    for _ in range(500):
        other = random.dirichlet(np.ones(5), 20) * totals[:, None]
        nearer = ((other - given_rows) ** 2).sum(axis=1) < ((found - given_rows) ** 2).sum(axis=1) - 1e-9
        assert not nearer.any()


def test_tables_of_three_columns_that_overlap_are_refused():
    asked = {(0, 1, 2): Fraction(1), (1, 2, 3): Fraction(1)}
    with pytest.raises(UnsupportedQuery, match="two columns"):
        check_tidy(Workload((2, 2, 2, 2), asked))
    check_tidy(Workload((2, 2, 2, 2), {(0, 1, 2): Fraction(1), (1, 2): Fraction(1)}))
    check_tidy(Workload.of_order((2, 2, 2, 2), 2))
