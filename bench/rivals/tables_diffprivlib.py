"""Whole questions by diffprivlib and pandas: bounding by hand, then its noise. Each function loads the table
and returns the work to time."""

import numpy as np
import pandas as pd
from diffprivlib import mechanisms, tools


def _bounded(frame, max_groups, max_rows):
    """At most max_rows random rows of a person in a group, and max_groups random groups of a person."""
    mixed = frame.sample(frac=1)
    rows = mixed[mixed.groupby(["person", "grp"]).cumcount() < max_rows]
    cells = rows[["person", "grp"]].drop_duplicates()
    return rows.merge(cells[cells.groupby("person").cumcount() < max_groups], on=["person", "grp"])


def count_and_sum(path, epsilon, keys, *, max_groups=5, max_rows=3, high=100.0):
    frame = pd.read_parquet(path)
    limit = max_groups * max_rows

    def work():
        groups = _bounded(frame, max_groups, max_rows).groupby("grp").amount
        counts = groups.size().reindex(keys, fill_value=0)
        sums = groups.apply(lambda each: each.clip(0, high).sum()).reindex(keys, fill_value=0)
        count = mechanisms.Laplace(epsilon=epsilon / 2, sensitivity=limit)
        total = mechanisms.Laplace(epsilon=epsilon / 2, sensitivity=limit * high)
        pairs = zip(counts.tolist(), sums.tolist(), strict=True)
        return [(count.randomise(float(rows)), total.randomise(float(summed))) for rows, summed in pairs]

    return work


def extreme(path, epsilon, high, quantile):
    """A quantile at the end of the data (0 or 1), by its exponential mechanism."""
    values = pd.read_parquet(path).amount.to_numpy(dtype=float)
    return lambda: float(tools.quantile(np.asarray(values), quantile, epsilon=epsilon, bounds=(0, high)))


def whole(work, **parameters):
    """One whole question, to be timed."""
    return globals()[work](**parameters)


def repeated(work, times, **parameters):
    """So many answers to one question."""
    ask = whole(work, **parameters)
    return [ask() for _ in range(times)]
