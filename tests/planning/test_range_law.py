"""Covariances of a table's cells are those of dense least squares, also by levels."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.asking.planning.book_noise import noise_for
from discreet.asking.planning.contribution import WeightedReach
from discreet.asking.planning.marginals import Workload
from discreet.asking.planning.price import Share
from discreet.asking.planning.range_law import covariance_with
from discreet.errors import UnsupportedQuery
from planning.test_marginals import marginal
from planning.test_nested import dense, matrix, workload

REACH = WeightedReach(1024, signed=False)
HALF = Share(rho=Fraction(1, 2))


@pytest.mark.parametrize("columns", [(0,), (1,), (2,)])
def test_covariances_are_those_of_dense_least_squares(columns):
    found = Workload.of_order((2, 3, 4), 1, 2)
    noise = noise_for(found, "sum", HALF, REACH, 1024)
    precision = sum(marginal(found.sizes, each).T @ marginal(found.sizes, each) / variance
                    for each, variance in noise.variances.items())  # fmt: skip
    inverse = np.linalg.pinv(precision, rcond=1e-12)
    rows = marginal(found.sizes, columns)
    said = covariance_with(noise, columns, np.eye(found.cells(columns)))
    assert said == pytest.approx(rows @ inverse @ rows.T)


@pytest.mark.parametrize("columns", [(0,), (1,), (2,), (3,), (4,)])
def test_covariances_by_levels_are_too(columns):
    found = workload()
    noise = noise_for(found, "sum", HALF, REACH, 1024)
    inverse = dense(found, noise.design) / noise.precision
    rows = matrix(found, columns)
    said = covariance_with(noise, columns, np.eye(found.cells(columns)))
    assert said == pytest.approx(rows @ inverse @ rows.T)
    assert np.diag(said) == pytest.approx(np.broadcast_to(noise.variance(columns), len(said)))


def test_laplace_noise_has_no_covariance_that_tells_of_intervals():
    found = Workload((3,), {(0,): Fraction(1)})
    noise = noise_for(found, "sum", replace(HALF, rho=None, epsilon=Fraction(1)), REACH, 1024)
    with pytest.raises(UnsupportedQuery, match="Gaussian"):
        covariance_with(noise, (0,), np.eye(3))
