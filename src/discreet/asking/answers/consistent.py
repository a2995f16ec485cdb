"""Least squares over the noisy tables of a book: all tables agree, and every cell has its variance.

The estimate of residual B is the mean, weighted by precision, of what each measured table says of it. A table
W is the sum of the residuals B ⊆ W, each spread evenly over the columns W∖B. The noise of different residuals
is independent, so this is the least squares estimate (`discreet.asking.planning.marginals`).

Tables are then put on a lattice such that totals equal the sums of their parts exactly. The cells without a
last label, in all tables by all sets of columns, determine every other cell by subtraction, and may be any
numbers: they are rounded, and the others follow in whole numbers.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.asking.planning.marginals import Columns, Design, Floats

Whole = NDArray[np.int64]


def residuals(design: Design, measured: Mapping[Columns, NDArray[Any]]) -> dict[Columns, Floats]:
    """Return the estimate of each residual, as a table by its columns whose sums over any column are 0."""
    workload = design.workload
    found: dict[Columns, Floats] = {}
    for columns, precision in zip(workload.sets, design.precisions.tolist(), strict=True):
        total = np.zeros([workload.sizes[each] for each in columns])
        for table, share in design.shares.items():
            if set(columns) <= set(table):
                away = tuple(axis for axis, each in enumerate(table) if each not in columns)
                spread = workload.cells(table) / workload.cells(columns)
                total += float(share) / spread * np.asarray(measured[table], dtype=float).sum(axis=away)
        for axis in range(len(columns)):
            total -= total.mean(axis=axis, keepdims=True)
        found[columns] = total / precision
    return found


def estimate_tables(design: Design, measured: Mapping[Columns, NDArray[Any]]) -> dict[Columns, Floats]:
    """Return the least squares estimate of every table of the book, and of every total."""
    workload, parts = design.workload, residuals(design, measured)
    found: dict[Columns, Floats] = {}
    for columns in workload.sets:
        total = np.zeros([workload.sizes[each] for each in columns])
        for part, values in parts.items():
            if set(part) <= set(columns):
                shape = [workload.sizes[each] if each in part else 1 for each in columns]
                total += values.reshape(shape) / (workload.cells(columns) / workload.cells(part))
        found[columns] = total
    return found


def agree_exactly(tables: Mapping[Columns, Floats], steps: float) -> dict[Columns, Whole]:
    """Return tables in whole numbers of 1/steps, such that every total is the sum of its parts.

    `tables` holds, with each table, all its totals. Only cells with a last label are off by more than half a
    step, and by no more than half a step for each cell that was subtracted.

    >>> tables = {(): np.array(4.0), (0,): np.array([1.4, 1.3, 1.3])}
    >>> {columns: table.tolist() for columns, table in agree_exactly(tables, 1).items()}
    {(): 4, (0,): [1, 1, 2]}
    """
    found: dict[Columns, Whole] = {}
    for columns in sorted(tables, key=len):
        whole = np.rint(tables[columns] * steps).astype(np.int64)
        for axis, _ in enumerate(columns):
            total = found[columns[:axis] + columns[axis + 1 :]]
            inside = np.moveaxis(whole, axis, -1)
            inside[..., -1] = total - inside[..., :-1].sum(axis=-1)
        found[columns] = whole
    return found
