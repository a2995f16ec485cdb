"""Whole questions by OpenDP on Polars."""

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


def _count_and_sum(frame, epsilon, keys, *, max_groups=5, max_rows=3, high=100.0):
    labels = pl.LazyFrame({"grp": keys})

    def ask():
        query = _query(frame, epsilon, keys, max_groups, max_rows)
        total = _filled(high).dp.sum((type(high)(0), high))
        return query.agg(dp.len(signed=True), total).with_keys(labels)

    return ask, lambda found: found.sort("grp").select("len", "amount").rows()


def _median(frame, epsilon, candidates, *, max_rows=3):
    """It asks for candidates: these."""

    def ask():
        query = _query(frame, epsilon, None, 1, max_rows)
        return query.select(_filled(candidates[0]).dp.median(candidates))

    return ask, lambda found: found.item()


def _average(frame, epsilon, high, *, max_rows=1):
    """The mean of a column: its sum over its length, as OpenDP's own mean under add/remove is."""

    def ask():
        query = _query(frame, epsilon, None, 1, max_rows)
        return query.select(_filled(high).dp.sum((type(high)(0), high)), dp.len(signed=True))

    def read(found):
        total, rows = found.row(0)
        return total / max(rows, 1)

    return ask, read


WORKS = {"count_and_sum": _count_and_sum, "median": _median, "average": _average}


def whole(work, path, **parameters):
    """One whole question, to be timed: from the query to the answer."""
    ask, read = WORKS[work](pl.read_parquet(path), **parameters)
    return lambda: read(ask().release().collect())


def repeated(work, times, path, **parameters):
    """So many answers to one question; the search for its noise, which takes seconds, is made once."""
    frame = pl.read_parquet(path)
    ask, read = WORKS[work](frame, **parameters)
    measurement = ask().resolve()
    return [read(measurement(frame.lazy()).collect()) for _ in range(times)]
