"""Counts and sums by group on Spark: beside Tumult Analytics, and beside plain Spark SQL as limited.

The task: 1,000,000 people, 101 groups, at most 5 groups a person and 3 rows a group, on 10^6 and 10^7 rows in
one Parquet file; every Spark has two threads, 4 GB and the same settings. Ours is the question as it is
asked: planned, charged on disk, run, noised, stored. Tumult answers it as two. Warm times are of processes
that have answered before, in turns; cold ones are of a new process, from its start to its end, one answer:
Tumult's on a Spark as PySpark starts it, ours on one that discreet starts by its address, with its flags for
Java and the archive of classes that an owner makes once. Warm, all have Java as PySpark starts it.

    python -m bench spark
"""

import json
import os
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

from bench.harness import ROOT, Report, Rivals, Row, seconds
from bench.questions import BY_GROUP, KEYS, make_file, open_curator

SIZES = {10**6: 3, 10**7: 2}  # rows, and how many turns
MAX_GROUPS, MAX_ROWS = 5, 3
FASTER, FASTER_COLD, SLOWER_THAN_PLAIN = 1 / 5, 1 / 3, 1.5
TUMULT = "Tumult Analytics"
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.log.level": "OFF",
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "16",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
PLAIN = f"""
WITH numbered AS (
  SELECT person, grp, least(greatest(amount, 0D), 100D) AS amount,
         row_number() OVER (PARTITION BY person, grp ORDER BY xxhash64(person, amount), amount) AS r
  FROM parquet.`{{path}}` WHERE person IS NOT NULL AND grp IN ({", ".join(map(repr, KEYS))})),
pairs AS (
  SELECT person, grp, count(*) AS n, sum(amount) AS s FROM numbered WHERE r <= {MAX_ROWS}
  GROUP BY person, grp),
chosen AS (
  SELECT *, row_number() OVER (PARTITION BY person ORDER BY xxhash64(person, grp), grp) AS p FROM pairs)
SELECT grp, sum(n) AS n, sum(s) AS s FROM chosen WHERE p <= {MAX_GROUPS} GROUP BY grp
"""


def start_spark(folder: Path) -> object:
    """A Spark in this process, with the settings that all are given."""
    from pyspark.sql import SparkSession

    builder = SparkSession.Builder().appName("bench")
    for name, value in {**SETTINGS, **places(folder)}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def places(folder: Path) -> dict[str, str]:
    """Where a Spark of ours may write."""
    return {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder)}


def theirs(path: Path) -> dict[str, object]:
    """The same task in Tumult's words."""
    folder = path.parent / "tumult"
    return {
        "path": str(path),
        "keys": KEYS,
        "max_groups": MAX_GROUPS,
        "max_rows": MAX_ROWS,
        "settings": {**SETTINGS, **places(folder)},
    }


def warm(path: Path, rows: int, turns: int, tumult: Rivals) -> list[Row]:
    """In processes that have answered before, by turns."""
    spark, prices = start_spark(path.parent / "ours"), count(1)
    with open_curator(path, engine=spark) as curator:

        def ask() -> object:  # a new price each time: a stored answer would be free, and no measure
            return curator.ask(BY_GROUP, epsilon=next(prices))

        def plain() -> object:
            return spark.sql(PLAIN.format(path=path)).collect()

        for work in (ask, plain, ask, plain):
            work()
        found = [
            (seconds(ask), seconds(plain), tumult.time("tumult:by_group", **theirs(path)))
            for _ in range(turns)
        ]
    spark.stop()
    ours, plainly, rival = (min(times) for times in zip(*found, strict=True))
    return [
        Row(f"{rows:,} rows: count and sum by group", ours, TUMULT, rival, FASTER),
        Row(f"{rows:,} rows: the same", ours, "plain Spark SQL, bounded", plainly, SLOWER_THAN_PLAIN),
    ]


def call(folder: Path, *words: str) -> None:
    """A process that starts a Spark of ours by its address, with the settings that all are given."""
    options = [f"--conf {name}={value}" for name, value in SETTINGS.items()]
    own = {"PYSPARK_SUBMIT_ARGS": " ".join([*options, "pyspark-shell"]), "XDG_CACHE_HOME": str(folder)}
    subprocess.run(
        [sys.executable, "-m", *words], check=True, cwd=ROOT, capture_output=True, env=os.environ | own
    )


def cold(path: Path, rows: int) -> Row:
    """From a new process to its end: Java, Spark, one answer."""
    python = ROOT / ".venv-bench-tumult" / "bin" / "python"
    rival = [str(python), "-m", "bench.rivals.tumult", json.dumps(theirs(path))]
    times = [
        seconds(lambda: call(path.parent, "bench.spark", str(path))),
        seconds(lambda: subprocess.run(rival, check=True, cwd=ROOT, capture_output=True)),
    ]
    return Row(f"{rows:,} rows: from a cold start", times[0], TUMULT, times[1], FASTER_COLD)


def run(rivals: object = None) -> Report:
    """Every comparison on every size."""
    report = Report("Spark, local[2]: count and sum by group, at most 5 groups a person and 3 rows a group")
    with (
        tempfile.TemporaryDirectory() as folder,  # Tumult's Spark writes here as long as its process lives
        Rivals("bench-tumult", packages=("tmlt.analytics", "pyspark"), settings={}) as tumult,
    ):
        call(Path(folder), "discreet.asking.engines.spark.java")
        for rows, turns in SIZES.items():
            path = Path(folder) / f"t{rows}.parquet"
            make_file(path, rows)
            report.add(*warm(path, rows, turns, tumult), cold(path, rows))
    return report


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as own:
        where = Path(own)
        address, ledger = SETTINGS["spark.master"], where / "t.ledger"
        with open_curator(Path(sys.argv[1]), engine=address, ledger=ledger) as opened:
            opened.ask(BY_GROUP, epsilon=1)
