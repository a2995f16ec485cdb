"""The law of sums of cells of one table by one column: what ranges, prefixes and shares err by.

A book's estimates of a table by column i have the covariance P = (1 - J/n)/q_i + J/(n²·q_∅), J being all
ones: the residual of the column, and the total. Where the column is a level of a hierarchy, P·a is the
estimate of the tree if its deepest level had measured a, divided by that level's precision, and no other one.
"""

import numpy as np

from discreet.asking.planning.book_noise import BookNoise
from discreet.asking.planning.marginals import Columns, Floats
from discreet.asking.planning.nested import NestedDesign
from discreet.asking.planning.trees import deepest
from discreet.errors import UnsupportedQuery


def covariance_with(noise: BookNoise, columns: Columns, sums: Floats) -> Floats:
    """Return P·a for each of many sums a of a table's cells, which are on the last axis.

    The variance of a sum is a·P·a, and the covariance of two a·P·b.
    """
    if noise.laplace:
        raise UnsupportedQuery(
            "Ranges need a book with Gaussian noise: ask for it with rho, or with a delta.", reason="book"
        )
    design = noise.design
    if isinstance(design, NestedDesign):
        return _on_tree(design, columns, sums) / noise.precision
    precisions = dict(zip(design.workload.sets, design.precisions.tolist(), strict=True))
    return _of_column(sums, 1 / precisions[columns], 1 / precisions[()]) / noise.precision


def _of_column(sums: Floats, own: float, whole: float) -> Floats:
    """Return P·a where the residual of the column has one variance, and the total another."""
    total, cells = sums.sum(axis=-1, keepdims=True), sums.shape[-1]
    found: Floats = (sums - total / cells) * own + total / cells**2 * whole
    return found


def _on_tree(design: NestedDesign, columns: Columns, sums: Floats) -> Floats:
    workload, precisions = design.workload, design.by_residual[()]
    plain, level = workload.split(columns)
    if plain:
        roots = (workload.tree.variances(design.by_residual[each])[0][0] for each in (plain, ()))
        return _of_column(sums, *map(float, roots))
    depth, below = deepest(precisions), sums
    for each in range(level, depth):
        below = workload.tree.spread(each, below)
    measured = [np.zeros((*sums.shape[:-1], size)) for size in workload.tree.sizes]
    measured[depth] = below / precisions[depth]
    return workload.tree.estimate(precisions, measured)[level]
