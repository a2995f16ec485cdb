"""Tumult Analytics: counts and sums by group under the same limits, on its own Spark of the same size.

python -m bench.rivals.tumult '{"path": ...}'      from a cold start to the answer
"""

import json
import os
import sys

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def by_group(path, keys, max_groups, max_rows, settings):
    """Open a session; the work is the two questions that counts and sums take."""
    from pyspark.sql import SparkSession
    from tmlt.analytics import (
        AddRowsWithID,
        KeySet,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    session = Session.from_dataframe(
        PureDPBudget(float("inf")), "t", spark.read.parquet(path), protected_change=AddRowsWithID("person")
    )
    limited = QueryBuilder("t").enforce(MaxGroupsPerID("grp", max_groups))
    grouped = limited.enforce(MaxRowsPerGroupPerID("grp", max_rows)).groupby(KeySet.from_dict({"grp": keys}))

    def ask():
        counts = session.evaluate(grouped.count(), PureDPBudget(1)).collect()
        sums = session.evaluate(grouped.sum("amount", low=0, high=100), PureDPBudget(1)).collect()
        assert len(counts) == len(sums) == len(keys)

    return ask


if __name__ == "__main__":
    by_group(**json.loads(sys.argv[1]))()
