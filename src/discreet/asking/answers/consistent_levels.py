"""Least squares over the noisy tables of a book in which one column has levels, and what agrees with it.

As `consistent`, with a tree of counts for each residual of the plain columns: levels are estimated up and
down, and children add up to their parents.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.asking.answers.consistent import Whole
from discreet.asking.answers.tidy import settle
from discreet.asking.planning import Columns, Floats, NestedDesign, NestedWorkload


def estimate_nested(design: NestedDesign, measured: Mapping[Columns, NDArray[Any]]) -> dict[Columns, Floats]:
    """Return the least squares estimate of every table of the book, and of every total."""
    workload = design.workload
    trees = {each: _estimate_residual(design, each, measured) for each in workload.residuals}
    found: dict[Columns, Floats] = {}
    for columns in workload.sets:
        plain, level = workload.split(columns)
        total = np.zeros([*(workload.sizes[each] for each in plain), workload.tree.sizes[level]])
        for residual, tree in trees.items():
            if set(residual) <= set(plain):
                shape = [workload.sizes[each] if each in residual else 1 for each in plain]
                part = tree[level].reshape([*shape, workload.tree.sizes[level]])
                total += part / (workload.cells(plain) / workload.cells(residual))
        found[columns] = total if level else total[..., 0]
    return found


def _estimate_residual(
    design: NestedDesign, residual: Columns, measured: Mapping[Columns, NDArray[Any]]
) -> list[Floats]:
    """Return a residual of the plain columns, at the nodes of every level."""
    workload, precisions = design.workload, design.by_residual[residual]
    said = [np.zeros([*(workload.sizes[each] for each in residual), size]) for size in workload.tree.sizes]
    for table, share in design.shares.items():
        plain, level = workload.split(table)
        if set(residual) <= set(plain):
            cells = np.asarray(measured[table], dtype=float)
            cells = cells if level else cells[..., None]
            away = tuple(axis for axis, each in enumerate(plain) if each not in residual)
            spread = workload.cells(plain) / workload.cells(residual)
            said[level] += float(share) / spread * cells.sum(axis=away)
    for level, precision in enumerate(precisions):
        for axis in range(len(residual)):
            said[level] -= said[level].mean(axis=axis, keepdims=True)
        if precision:
            said[level] /= precision
    return workload.tree.estimate(precisions, said)


def agree_nested(
    workload: NestedWorkload, tables: Mapping[Columns, Floats], steps: float
) -> dict[Columns, Whole]:
    """Return tables in whole numbers of 1/steps, such that every total is the sum of its parts: a last label,
    or a last child, is the difference."""
    found: dict[Columns, Whole] = {}
    for columns in sorted(tables, key=len):
        plain, level = workload.split(columns)
        whole = np.rint(tables[columns] * steps).astype(np.int64)
        for axis, _ in enumerate(plain):
            total = found[columns[:axis] + columns[axis + 1 :]]
            inside = np.moveaxis(whole, axis, -1)
            inside[..., -1] = total - inside[..., :-1].sum(axis=-1)
        if level:
            above = found[workload.joined(plain, level - 1)]
            above = above if level > 1 else above[..., None]
            _close_families(workload, level, whole, above)
        found[columns] = whole
    return found


def _close_families(workload: NestedWorkload, level: int, whole: Whole, above: Whole) -> None:
    """Make each last child what its siblings leave of their parent."""
    sums = workload.tree.add_up(level - 1, whole)
    lasts = workload.tree.firsts[level - 1] + workload.tree.families[level - 1] - 1
    whole[..., lasts] += (above - sums).astype(np.int64)


def tidy_nested(workload: NestedWorkload, tables: Mapping[Columns, Floats]) -> dict[Columns, Whole]:
    """Return whole tables from 0 on, such that every total is the sum of its parts: settled from the grand
    total down, one plain column after the other, then level by level."""
    plain = max(workload.residuals, key=len)
    deepest = max(workload.split(each)[1] for each in workload.sets)
    whole = np.maximum(np.rint(tables[()]), 0).astype(np.int64).reshape(1)
    for size in range(1, len(plain) + 1):
        rows = tables[plain[:size]].reshape(whole.size, -1)
        whole = settle(rows, whole).reshape(-1)
    levels = [whole.reshape([workload.sizes[each] for each in plain] + [1])]
    for level in range(1, deepest + 1):
        levels.append(_settle_level(workload, level, tables[workload.joined(plain, level)], levels[-1]))
    return {each: _added(workload, plain, levels, each) for each in workload.sets}


def _settle_level(workload: NestedWorkload, level: int, near: Floats, above: Whole) -> Whole:
    found = np.zeros(near.shape, dtype=np.int64)
    for parents, children in _families(workload, level):
        rows, totals = near[..., children], above[..., parents]
        settled = settle(rows.reshape(totals.size, -1), totals.reshape(-1))
        found[..., children] = settled.reshape(rows.shape)
    return found


def _families(workload: NestedWorkload, level: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield parents that have equally many children, and the positions of these, a row for each."""
    sizes, firsts = workload.tree.families[level - 1], workload.tree.firsts[level - 1]
    for size in np.unique(sizes):
        parents = np.flatnonzero(sizes == size)
        yield parents, firsts[parents][:, None] + np.arange(size)


def _added(workload: NestedWorkload, plain: Columns, levels: list[Whole], columns: Columns) -> Whole:
    own, level = workload.split(columns)
    away = tuple(axis for axis, each in enumerate(plain) if each not in own)
    found: Whole = levels[level].sum(axis=away)
    return found if level else found[..., 0]
