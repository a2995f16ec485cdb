"""Tables of a book from least squares: they agree exactly, are unbiased, and vary as they say."""

from fractions import Fraction

import numpy as np
import pytest
from tests.planning.test_marginals import marginal

from discreet.asking.answers.consistent import agree_exactly, estimate_tables
from discreet.asking.planning.marginals import Columns, Workload, design

SIZES = (3, 4, 2)
PLAN = design(Workload(SIZES, {(0, 1): Fraction(1), (1, 2): Fraction(2), (0, 2): Fraction(1)}))
TRUTH = np.arange(24.0) ** 2


def measure(noise: float, random: np.random.Generator) -> dict[Columns, np.ndarray]:
    found = {}
    for each, share in PLAN.shares.items():
        exact = marginal(SIZES, each) @ TRUTH
        noisy = exact + random.normal(0, noise / float(share) ** 0.5, exact.size)
        found[each] = noisy.reshape([SIZES[column] for column in each])
    return found


def test_without_noise_the_tables_are_exact() -> None:
    for each, table in estimate_tables(PLAN, measure(0, np.random.default_rng(1))).items():
        np.testing.assert_allclose(table.ravel(), marginal(SIZES, each) @ TRUTH, atol=1e-8)


def test_the_estimate_is_that_of_dense_least_squares() -> None:
    given = measure(5, np.random.default_rng(2))
    rows = np.vstack([float(s) ** 0.5 * marginal(SIZES, each) for each, s in PLAN.shares.items()])
    seen = np.concatenate([float(s) ** 0.5 * given[each].ravel() for each, s in PLAN.shares.items()])
    full = np.linalg.lstsq(rows, seen, rcond=None)[0]
    for each, table in estimate_tables(PLAN, given).items():
        np.testing.assert_allclose(table.ravel(), marginal(SIZES, each) @ full, atol=1e-7)


def test_variances_are_as_stated() -> None:
    """False alarm: each of 50 sample variances of 4,000 draws is 7 standard errors off, below 1e-9."""
    random, times = np.random.default_rng(), 4000
    runs = [estimate_tables(PLAN, measure(1, random)) for _ in range(times)]
    for each in PLAN.workload.sets:
        found = np.var([run[each] for run in runs], axis=0)
        stated = PLAN.variance(each)
        assert np.abs(found / stated - 1).max() < 7 * (2 / times) ** 0.5, each


@pytest.mark.parametrize("steps", [1, 2**20])
def test_totals_are_the_sums_of_their_parts_exactly(steps: int) -> None:
    tables = estimate_tables(PLAN, measure(50, np.random.default_rng()))
    found = agree_exactly(tables, steps)
    for each, table in found.items():
        assert table.dtype == np.int64
        assert np.abs(table / steps - tables[each]).max() <= table.size / (2 * steps)
        for axis in range(len(each)):
            assert (table.sum(axis=axis) == found[each[:axis] + each[axis + 1 :]]).all()


def test_a_table_that_is_left_out_is_noticed() -> None:
    given = measure(1, np.random.default_rng())
    given.pop(next(iter(given)))
    with pytest.raises(KeyError):
        estimate_tables(PLAN, given)
