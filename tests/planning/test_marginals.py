"""Shares of a book's tables: the known optimum reproduced, and all variances equal to dense algebra."""

import math
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.asking.planning.marginals import Columns, Design, Workload, design
from discreet.errors import InvalidParameter, UnsupportedQuery

CPS = (50, 100, 7, 4, 2)
ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
LOANS = (101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15)
# Root mean square errors of a cell at rho 1/2, of the optimum over all Gaussian noise.
KNOWN = [
    (CPS, (1.744, 2.035, 2.048, 2.276)),
    (ADULT, (3.047, 6.359, 10.515, 10.665)),
    (LOANS, (2.875, 5.634, 8.702, 8.876)),
]
ORDERS = ((1,), (2,), (3,), (0, 1, 2, 3))
TWELVE = [(sizes, order, known) for sizes, row in KNOWN for order, known in zip(ORDERS, row, strict=True)]


def marginal(sizes: tuple[int, ...], columns: Columns) -> np.ndarray:
    """Return the matrix that adds up a full table to the one by these columns."""
    found = np.ones((1, 1))
    for each, size in enumerate(sizes):
        found = np.kron(found, np.eye(size) if each in columns else np.ones((1, size)))
    return found


def dense_variances(plan: Design) -> dict[Columns, np.ndarray]:
    """Return the variance of each cell of the book by generalised least squares on the full table."""
    sizes = plan.workload.sizes
    precision = sum(
        float(share) * marginal(sizes, each).T @ marginal(sizes, each) for each, share in plan.shares.items()
    )
    inverse = np.linalg.pinv(precision, rcond=1e-12)
    return {
        each: np.diag(marginal(sizes, each) @ inverse @ marginal(sizes, each).T)
        for each in plan.workload.tables
    }


@pytest.mark.parametrize(("sizes", "orders", "known"), TWELVE)
def test_the_twelve_known_workloads_are_planned_in_a_second_near_the_optimum(
    sizes: tuple[int, ...], orders: tuple[int, ...], known: float
) -> None:
    started = time.process_time()
    plan = design(Workload.of_order(sizes, *orders))
    took = time.process_time() - started
    cells = sum(map(plan.workload.cells, plan.workload.tables))
    assert math.sqrt(plan.workload.least_sum() / cells) == pytest.approx(known, abs=6e-4)
    assert plan.beyond <= 1.20
    assert plan.excess <= 2e-3
    assert took < 4  # a second on a machine of its own


@pytest.mark.parametrize("aim", ["sum", "maximum"])
def test_variances_are_those_of_dense_least_squares(aim: str) -> None:
    tables = {(0, 1): Fraction(1), (1, 2): Fraction(3), (2,): Fraction(1, 2)}
    plan = design(Workload((2, 3, 4), tables), aim)  # type: ignore[arg-type]
    for each, cells in dense_variances(plan).items():
        assert plan.variances[each] == pytest.approx(plan.variance(each))
        np.testing.assert_allclose(cells, plan.variances[each], rtol=1e-8)


def test_a_wrong_share_is_found_by_dense_least_squares() -> None:
    plan = design(Workload.of_order((2, 3, 4), 2))
    (first, share), (second, other) = [(each, plan.shares[each]) for each in list(plan.workload.tables)[:2]]
    moved = Design(plan.workload, {**plan.shares, first: share / 2, second: other + share / 2}, 0.0)
    apart = [abs(cells.max() / plan.variances[each] - 1) for each, cells in dense_variances(moved).items()]
    assert max(apart) > 0.05
    assert moved.total > plan.total


def test_the_loss_is_the_sum_of_precisions_for_every_cell_and_pair_of_cells() -> None:
    sizes = (2, 3, 2)
    plan = design(Workload.of_order(sizes, 2))
    cells = list(product(*map(range, sizes)))
    costs = np.zeros((len(cells), len(cells)))
    ones = np.eye(len(cells))
    for each, share in plan.shares.items():
        moved = marginal(sizes, each) @ ones
        costs += float(share) * ((moved[:, :, None] - moved[:, None, :]) ** 2).sum(axis=0)
        assert (moved**2).sum(axis=0).max() == 1
    total = float(plan.shares.get((), 0))  # one number moves by no more when a unit is replaced
    assert costs.max() == pytest.approx(2 * (1 - total))
    inner = np.random.default_rng(1).dirichlet(np.ones(len(cells)), 200).T
    for each in plan.shares:
        assert ((marginal(sizes, each) @ inner) ** 2).sum(axis=0).max() <= 1


def test_no_shares_nearby_are_better() -> None:
    random = np.random.default_rng(2)
    plan = design(Workload.of_order((3, 5, 2, 4), 1, 2))
    sets = plan.workload.sets
    base = np.array([float(plan.shares.get(each, 0)) for each in sets])
    wanted = plan.workload.weights @ plan.workload.spread
    for _ in range(2000):
        other = np.abs(base + random.normal(0, 0.02, base.size) * (random.random(base.size) < 0.4))
        other /= other.sum()
        value = (wanted / (plan.workload.within @ other)).sum()
        assert value >= plan.total / (1 + plan.excess) * (1 - 1e-12)


def test_the_least_maximum_is_below_the_maximum_of_the_least_sum() -> None:
    workload = Workload.of_order(CPS, 1, 2)
    most, total = design(workload, "maximum"), design(workload)
    assert max(most.variances.values()) < max(total.variances.values())
    assert most.excess < 0.05
    assert total.total <= most.total


def test_all_pairs_of_fourteen_columns_are_one_book() -> None:
    assert len(Workload.of_order(ADULT, 2).tables) == 91


def test_what_is_no_book_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="must have a table"):
        Workload((2,), {})
    for tables in ({(1, 0): 1}, {(0, 0): 1}, {(2,): 1}, {(0,): 0}):
        with pytest.raises(InvalidParameter, match="known columns"):
            Workload((2, 3), {each: Fraction(weight) for each, weight in tables.items()})
    with pytest.raises(UnsupportedQuery, match="at most"):
        Workload.of_order([2] * 14, 14).sets  # noqa: B018
    with pytest.raises(InvalidParameter, match="aim"):
        design(Workload((2,), {(0,): Fraction(1)}), "least")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="be measured"):
        Design(Workload.of_order((2, 3), 2), {(0,): Fraction(1)}, 0.0)
