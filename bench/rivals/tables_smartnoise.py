"""Whole questions by SmartNoise SQL on a pandas frame. Each function loads and returns the work to time."""

import logging
import warnings

import pandas as pd
import snsql
from snsql import Privacy

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


def count_and_sum(path, epsilon, keys, *, max_groups=5, max_rows=3, high=100.0):
    """It bounds the rows of a person alone, and charges epsilon once a column and once for a hidden count."""
    frame = pd.read_parquet(path)
    whole = isinstance(high, int)
    columns = {
        "max_ids": max_groups * max_rows,
        "person": {"type": "int", "private_id": True},
        "grp": {"type": "string"},
        "amount": {"type": "int" if whole else "float", "lower": 0 if whole else 0.0, "upper": high},
        "censor_dims": False,
    }
    text = "SELECT grp, COUNT(*) AS n, SUM(amount) AS s FROM s.t GROUP BY grp"
    metadata = {"": {"s": {"t": columns}}}
    reader = snsql.from_df(frame, privacy=Privacy(epsilon=1.0, delta=1e-6), metadata=metadata)
    parts = reader.get_privacy_cost(text)[0]
    reader = snsql.from_df(frame, privacy=Privacy(epsilon=epsilon / parts, delta=1e-6), metadata=metadata)

    def work():
        found = {row[0]: (row[1], row[2]) for row in reader.execute(text)[1:]}
        return [found.get(key, (0, 0)) for key in keys]

    return work


def whole(work, **parameters):
    """One whole question, to be timed."""
    return globals()[work](**parameters)


def repeated(work, times, **parameters):
    """So many answers to one question."""
    ask = whole(work, **parameters)
    return [ask() for _ in range(times)]
