"""OpenDP's contingency tables: all tables of a fixed workload from one graphical model."""

import warnings

import opendp.prelude as dp
import polars as pl

warnings.simplefilter("ignore")
dp.enable_features("contrib")


def _query(frame, rho, keys, tables):
    from opendp.extras.mbi import Count, Fixed

    context = dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(rho=rho),
        split_evenly_over=1,
    )
    workload = Fixed(queries=[Count(tuple(each)) for each in tables])
    return context.query().contingency_table(keys=keys, algorithm=workload)


def book(path, rho, keys, tables):
    """One release, to be timed: from the query to all tables."""
    frame = pl.read_parquet(path).select(list(keys))

    def ask():
        released = _query(frame, rho, keys, tables).release()
        return [released.project(tuple(each)) for each in tables]

    return ask


def books(path, rho, keys, tables, times):
    """The declared cells of so many releases, table by table. Its label for other values, the last, is left
    out."""
    ask = book(path, rho, keys, tables)
    found = []
    for _ in range(times):
        cells = []
        for each, table in zip(tables, ask(), strict=True):
            inside = tuple(slice(0, len(keys[name])) for name in each)
            cells += [float(count) for count in table[inside].reshape(-1)]
        found.append(cells)
    return found
