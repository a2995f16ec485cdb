"""Tumult Analytics on its own Spark: counts and sums by group under the same limits, and how far answers err.

python -m bench.rivals.tumult '{"path": ...}'      from a cold start to the answer
"""

import json
import os
import sys

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def start(settings):
    """A Spark with these settings."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def by_group(path, keys, max_groups, max_rows, settings):
    """Open a session; the work is the two questions that counts and sums take."""
    from tmlt.analytics import (
        AddRowsWithID,
        KeySet,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    table = start(settings).read.parquet(path)
    session = Session.from_dataframe(
        PureDPBudget(float("inf")), "t", table, protected_change=AddRowsWithID("person")
    )
    limited = QueryBuilder("t").enforce(MaxGroupsPerID("grp", max_groups))
    grouped = limited.enforce(MaxRowsPerGroupPerID("grp", max_rows)).groupby(KeySet.from_dict({"grp": keys}))

    def ask():
        counts = session.evaluate(grouped.count(), PureDPBudget(1)).collect()
        sums = session.evaluate(grouped.sum("amount", low=0, high=100), PureDPBudget(1)).collect()
        assert len(counts) == len(sums) == len(keys)

    return ask


def repeated(*, work, times, path, epsilon, settings, high=None, keys=None):
    """So many answers on a table with one row a person: one question by group on as many copies of it."""
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    spark = start(settings)
    copies = spark.read.parquet(path).crossJoin(spark.range(times).withColumnRenamed("id", "copy"))
    labels = {"copy": list(range(times))} | ({"grp": keys} if keys else {})
    session = Session.from_dataframe(
        PureDPBudget(float("inf")), "t", copies.drop("person"), protected_change=AddOneRow()
    )
    grouped = QueryBuilder("t").groupby(KeySet.from_dict(labels))
    if work != "mode":
        asked = getattr(grouped, work)("amount", low=0, high=high, name="x")
        return [row["x"] for row in session.evaluate(asked, PureDPBudget(epsilon)).collect()]
    largest = {}  # it has no mode: the largest of noisy counts, by its position among the keys
    for row in session.evaluate(grouped.count(name="x"), PureDPBudget(epsilon)).collect():
        largest[row["copy"]] = max(largest.get(row["copy"], (-1e300, 0)), (row["x"], keys.index(row["grp"])))
    return [label for _, label in largest.values()]


def book(path, rho, keys, tables, settings):
    """Open a session; the work is one count by group for each table, at even shares of the price."""
    from tmlt.analytics import AddOneRow, KeySet, QueryBuilder, RhoZCDPBudget, Session

    table = start(settings).read.parquet(path)
    session = Session.from_dataframe(RhoZCDPBudget(float("inf")), "t", table, protected_change=AddOneRow())
    price = RhoZCDPBudget(rho / len(tables))

    def ask():
        found = []
        for each in tables:
            labels = KeySet.from_dict({name: keys[name] for name in each})
            asked = QueryBuilder("t").groupby(labels).count(name="n")
            found.append(session.evaluate(asked, price).collect())
        return found

    return ask


def books(*, times, **given):
    """The cells of so many of these, table by table, in the order of the keys."""
    ask, keys, tables = book(**given), given["keys"], given["tables"]
    found = []
    for _ in range(times):
        cells = []
        for each, rows in zip(tables, ask(), strict=True):
            counts = {tuple(row[name] for name in each): row["n"] for row in rows}
            first, second = each
            cells += [counts[one, other] for one in keys[first] for other in keys[second]]
        found.append(cells)
    return found


if __name__ == "__main__":
    by_group(**json.loads(sys.argv[1]))()
