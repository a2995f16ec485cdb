"""Whole questions by OpenDP on Polars. Each function loads the table and returns the work to time."""

import warnings

import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")


def _query(frame, epsilon, keys, max_groups, max_rows):
    """Bounded rows. Its default way to choose groups fails, and "first" keeps one group less than it says."""
    margins = [dp.polars.Margin(by=[], max_length=frame.height)]
    if keys:
        margins.append(dp.polars.Margin(by=["grp"], max_length=frame.height, max_groups=len(keys)))
    context = dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(contributions=1, identifier="person"),
        privacy_loss=dp.loss_of(epsilon=float(epsilon)),
        split_evenly_over=1,
        margins=margins,
    )
    if not keys:
        return context.query().truncate_per_group(max_rows)
    bounded = context.query().truncate_per_group(max_rows, by=["grp"])
    return bounded.truncate_num_groups(max_groups, by=["grp"], keep="first").group_by("grp")


def _filled(high):
    kind = type(high)
    column = pl.col("amount").fill_null(kind(0))
    return column.fill_nan(0.0) if kind is float else column


def count_and_sum(path, epsilon, keys, *, max_groups=5, max_rows=3, high=100.0):
    frame, labels = pl.read_parquet(path), pl.LazyFrame({"grp": keys})

    def work():
        query = _query(frame, epsilon, keys, max_groups, max_rows)
        asked = query.agg(dp.len(signed=True), _filled(high).dp.sum((type(high)(0), high))).with_keys(labels)
        return asked.release().collect().sort("grp").select("len", "amount").rows()

    return work


def median(path, epsilon, candidates, max_rows=3):
    """It asks for candidates: these."""
    frame = pl.read_parquet(path)

    def work():
        query = _query(frame, epsilon, None, 1, max_rows)
        return query.select(_filled(candidates[0]).dp.median(candidates)).release().collect().item()

    return work


def average(path, epsilon, high, max_rows=1):
    """The mean of a column: its sum over its length, as OpenDP's own mean under add/remove is."""
    frame = pl.read_parquet(path)

    def work():
        query = _query(frame, epsilon, None, 1, max_rows)
        asked = query.select(_filled(high).dp.sum((type(high)(0), high)), dp.len(signed=True))
        total, rows = asked.release().collect().row(0)
        return total / max(rows, 1)

    return work


def repeated(work, times, **parameters):
    """The answers of one of the works above, so many times over."""
    ask = globals()[work](**parameters)
    return [ask() for _ in range(times)]
