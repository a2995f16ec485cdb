"""Trees of counts: variances, estimates and slopes equal to dense algebra."""

import numpy as np
import pytest

from discreet.asking.planning.trees import Tree

TREE = Tree((np.array([3]), np.array([1, 3, 2]), np.array([2, 1, 4, 1, 1, 3])))
PRECISIONS = [
    [0.3, 0.7, 0.5, 2.0],
    [0.0, 0.7, 0.0, 2.0],
    [0.3, 0.2, 0.5, 0.0],  # leaves are not measured
    [0.0, 0.2, 0.0, 0.0],
]


def levels(tree, depth):
    """Return the matrices that add up the nodes of a level to those of each level above."""
    found = [np.eye(tree.sizes[depth])]
    for level in range(depth - 1, -1, -1):
        starts = tree.firsts[level]
        ends = starts + tree.families[level]
        below = found[0]
        found.insert(0, np.array([below[a:b].sum(axis=0) for a, b in zip(starts, ends, strict=True)]))
    return found


@pytest.mark.parametrize("precisions", PRECISIONS)
def test_variances_and_estimates_are_those_of_dense_least_squares(precisions):
    depth = max(level for level, each in enumerate(precisions) if each)
    matrices = levels(TREE, depth)
    inverse = np.linalg.inv(sum(q * m.T @ m for q, m in zip(precisions, matrices, strict=False)))
    generator = np.random.default_rng(1)
    measured = [generator.normal(size=size) for size in TREE.sizes]
    said = sum(q * m.T @ y for q, m, y in zip(precisions, matrices, measured, strict=False))
    found, estimates = TREE.variances(precisions), TREE.estimate(precisions, measured)
    assert len(found) == len(estimates) == depth + 1
    for matrix, variance, estimate in zip(matrices, found, estimates, strict=True):
        assert variance == pytest.approx(np.diag(matrix @ inverse @ matrix.T))
        assert estimate == pytest.approx(matrix @ inverse @ said)


@pytest.mark.parametrize("precisions", PRECISIONS)
def test_the_judgement_is_the_sum_of_variances_and_its_slopes(precisions):
    depth = max(level for level, each in enumerate(precisions) if each)
    weights = [1.0, 2.0, 0.5, 1.5]
    value, slopes = TREE.judge(precisions, weights)
    found = TREE.variances(precisions)
    assert value == pytest.approx(sum(w * v.sum() for w, v in zip(weights, found, strict=False)))
    for level in range(depth + 1):
        step = np.eye(4)[level] * 1e-6
        higher = TREE.judge(list(np.array(precisions) + step), weights)[0]
        assert (value - higher) / 1e-6 == pytest.approx(slopes[level], rel=1e-4)
    # All together they fall as one over the precision: the function is of degree -1.
    assert slopes @ precisions == pytest.approx(value)


def test_estimates_of_several_residuals_are_made_at_once():
    generator = np.random.default_rng(2)
    measured = [generator.normal(size=(2, 5, size)) for size in TREE.sizes]
    found = TREE.estimate(PRECISIONS[0], measured)
    alone = TREE.estimate(PRECISIONS[0], [each[1, 3] for each in measured])
    for each, one in zip(found, alone, strict=True):
        assert each[1, 3] == pytest.approx(one)


def test_children_add_up_to_their_parents():
    measured = [np.random.default_rng(3).normal(size=size) for size in TREE.sizes]
    found = TREE.estimate(PRECISIONS[0], measured)
    for level in range(3):
        assert TREE.add_up(level, found[level + 1]) == pytest.approx(found[level])


def test_a_tree_is_read_from_where_its_nodes_begin():
    found = Tree.of([(0, 4, 9), (0, 1, 4, 6, 9), tuple(range(10))])
    assert found.sizes == (1, 3, 5, 10)
    assert [each.tolist() for each in found.families] == [[3], [2, 2, 1], [1, 3, 2, 3, 1]]
