"""Books with levels of a hierarchy: their variances, shares and slopes equal to dense algebra."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.asking.planning.nested import NestedWorkload
from discreet.asking.planning.trees import Tree
from discreet.errors import InvalidParameter, UnsupportedQuery

TREE = Tree((np.array([3]), np.array([1, 3, 2]), np.array([2, 1, 4, 1, 1, 3])))
PLAIN = (2, 3)
TABLES = {(0, 4): Fraction(1), (1, 3): Fraction(2), (0, 1): Fraction(1), (2,): Fraction(3)}


def workload(tables=None):
    return NestedWorkload((*PLAIN, *TREE.sizes[1:]), tables or TABLES, (2, 3, 4), tree=TREE)


def matrix(found, columns):
    """Return the matrix that adds up the full table, leaves last, to that by these columns."""
    plain, level = found.split(columns)
    result = np.ones((1, 1))
    for each, size in enumerate(PLAIN):
        result = np.kron(result, np.eye(size) if each in plain else np.ones((1, size)))
    leaves = np.eye(TREE.sizes[-1])
    for above in range(len(TREE.families) - 1, level - 1, -1):
        leaves = np.add.reduceat(leaves, TREE.firsts[above], axis=0)
    return np.kron(result, leaves)


def dense(found, plan):
    shares = plan.shares.items()
    return np.linalg.pinv(
        sum(float(share) * matrix(found, each).T @ matrix(found, each) for each, share in shares),
        rcond=1e-12,
    )


def test_variances_are_those_of_dense_least_squares():
    found = workload()
    plan = found.design()
    inverse = dense(found, plan)
    for each in found.sets:
        rows = matrix(found, each)
        variance = np.asarray(plan.variance(each))
        plain, _ = found.split(each)
        whole = np.broadcast_to(variance, [*(found.sizes[one] for one in plain), variance.size])
        assert whole.reshape(-1) == pytest.approx(np.diag(rows @ inverse @ rows.T))
    total = sum(
        float(weight) * np.trace(matrix(found, each) @ inverse @ matrix(found, each).T)
        for each, weight in found.tables.items()
    )
    assert plan.total == pytest.approx(total)


def test_slopes_are_how_fast_the_sum_falls():
    found = workload()
    shares = np.random.default_rng(1).uniform(0.5, 1.5, len(found.sets))
    value, slopes = found.judge(shares)
    assert slopes @ shares == pytest.approx(value)
    for place in range(0, len(found.sets), 3):
        more = shares.copy()
        more[place] += 1e-6
        assert (value - found.judge(more)[0]) / 1e-6 == pytest.approx(slopes[place], rel=1e-3)


def test_no_other_shares_are_better_by_more_than_what_is_said():
    found = workload()
    plan = found.design()
    assert plan.excess < 0.01
    base = np.array([float(plan.shares.get(each, 0)) for each in found.sets])
    generator = np.random.default_rng(2)
    for _ in range(300):
        other = base * generator.lognormal(0, 0.3, base.size) + generator.dirichlet(np.ones(base.size)) * 0.02
        assert found.judge(other / other.sum())[0] > plan.total / (1 + plan.excess)


def test_the_tables_and_their_totals_are_the_sets():
    found = workload({(0, 4): Fraction(1)})
    assert found.sets == ((), (0,), (2,), (3,), (4,), (0, 2), (0, 3), (0, 4))
    assert found.cells((0, 3)) == 2 * TREE.sizes[2]


def test_what_is_no_such_workload_is_refused():
    with pytest.raises(InvalidParameter, match="aim"):
        workload().design("maximum")
    wide = NestedWorkload(
        (2,) * 12 + (2,), {(*range(12), 12): Fraction(1)}, (12,), tree=Tree((np.array([2]),))
    )
    with pytest.raises(UnsupportedQuery, match="at most"):
        wide.sets  # noqa: B018  it is made when first asked for


def test_a_search_looks_at_no_more_nodes_however_many_there_are():
    many = Tree((np.array([10_000]), np.full(10_000, 3)))
    sizes, tables = (2, 2, 2, 2, *many.sizes[1:]), {(0, 1, 5): Fraction(1)}
    found = NestedWorkload(sizes, tables, (4, 5), tree=many)
    assert workload()._rounds == 400
    assert 160 < found._rounds < 170
    wide = NestedWorkload(sizes, {(0, 1, 2, 3, 5): Fraction(1)}, (4, 5), tree=many)
    assert wide._rounds < 50
    larger = Tree((np.array([100_000]), np.full(100_000, 3)))
    with pytest.raises(UnsupportedQuery, match="less work"):
        NestedWorkload(
            (2, 2, 2, 2, *larger.sizes[1:]), tables | {(2, 3, 5): Fraction(1)}, (4, 5), tree=larger
        ).design()
