"""How the time of a question grows: 10^6, 10^7 and 10^8 rows, on DuckDB and on Spark with one worker and two.

The task of bench/spark.py with ten rows a person, generated on disk in pieces and removed afterwards. DuckDB
has 2 GB of memory and both cores; a Spark worker is a process of its own with one core and 2 GB: what does
not fit is spilled. Every measure is a process of its own: it asks thrice of 10^6 rows, so that Java has
compiled what it will compile, then once for the time.

    python -m bench scale              all sizes (10^8: up to 20 GB of disk while it runs)
    python -m bench.scale 1000000      these sizes alone, printed
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

import duckdb

from bench.harness import ROOT, Report, Row, show_time
from bench.questions import BY_GROUP, GROUPS, open_curator
from bench.scale_model import Measure, fitted
from bench.spark import SETTINGS, places

SIZES = (10**6, 10**7, 10**8)
PIECE = 10**7
WORKERS = (1, 2)
TIMES_WARMED = 3
MEMORY_GB = 2
DUCKDB = "DuckDB, 2 threads"
PAGE = ROOT / "docs" / "guide" / "scale.md"
LARGEST_DISK = 20 * 2**30


def make_pieces(folder: Path, rows: int) -> None:
    """Files of 10^7 rows, ten rows a person, amounts between 0 and 100."""
    folder.mkdir()
    for start in range(0, rows, PIECE):
        duckdb.execute(
            f"""COPY (SELECT (hash(i) % {rows // 10})::BIGINT AS person,
                             'g' || lpad((hash(i * 7 + 1) % {GROUPS})::VARCHAR, 3, '0') AS grp,
                             ((hash(i * 13 + 5) % 1000000) / 10000.0)::DOUBLE AS amount
                      FROM range({start}, {min(start + PIECE, rows)}) AS t(i))
                TO '{folder / f"{start // PIECE:04}.parquet"}'"""
        )


def measure(engine: str, path: Path, warming: Path) -> dict[str, float]:
    """In a process of its own: seconds of one question, and the most memory that this process held."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "bench.scale",
        "measure",
        engine,
        str(path),
        str(warming),
    ]
    done = subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def on_spark(workers: int, path: Path, warming: Path) -> dict[str, float]:
    """The same on a standalone cluster."""
    sys.path.append(str(ROOT / "tests"))
    from servers.spark import SparkCluster

    with SparkCluster(workers, memory=f"{MEMORY_GB + 1}g") as cluster:
        return measure(cluster.address, path, warming)


def _measure_here(engine: str, path: Path, warming: Path) -> None:
    """The child's part."""
    import resource

    prices = count(1)
    with tempfile.TemporaryDirectory() as folder:
        given = _session(engine, Path(folder)) if "://" in engine else engine
        times = []
        for each in (warming,) * TIMES_WARMED + (path,):
            ledger = Path(folder) / f"{each.name}.ledger"
            with open_curator(each / "*.parquet", engine=given, ledger=ledger) as curator:
                curator.explain(BY_GROUP, epsilon=1)
                start = time.perf_counter()
                curator.ask(BY_GROUP, epsilon=next(prices))
                times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"seconds": times[-1], "memory": peak}))


def _session(address: str, folder: Path) -> object:
    from pyspark.sql import SparkSession

    cluster = {"spark.master": address, "spark.driver.memory": "1g", "spark.executor.memory": f"{MEMORY_GB}g",
               "spark.sql.shuffle.partitions": "64", **places(folder)}  # fmt: skip
    builder = SparkSession.Builder().appName("bench")
    for name, value in {**SETTINGS, **cluster}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def run(rivals: object = None, *, sizes: tuple[int, ...] = SIZES) -> Report:
    """Every size on every engine, and the model that fits Spark's times."""
    report = Report(f"Scale: count and sum by group, {MEMORY_GB} GB for DuckDB and for each Spark worker")
    measures = []
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < LARGEST_DISK and max(sizes) >= 10**8:
            raise RuntimeError("10^8 rows must have 20 GB of disk free")
        warming = Path(folder) / "warming"
        make_pieces(warming, 10**6)
        for rows in sizes:
            path = Path(folder) / f"rows{rows}"
            make_pieces(path, rows)
            found = measure("duckdb", path, warming)
            report.add(Row(f"{rows:,} rows: {DUCKDB}", found["seconds"]))
            report.add(Row(f"{rows:,} rows: {DUCKDB}, memory of the process, GB", found["memory"], unit="GB"))
            for workers in WORKERS:
                took = on_spark(workers, path, warming)["seconds"]
                measures.append(Measure(rows, workers, took))
                report.add(Row(f"{rows:,} rows: Spark, {workers} worker{'s' * (workers > 1)}", took))
            shutil.rmtree(path)
    model = fitted(measures).report()
    if sizes == SIZES:
        write_page(report.rows, model)
    report.add(*model)
    return report


def write_page(rows: list[Row], model: list[Row]) -> None:
    """The numbers in docs/guide/scale.md, between the marks that say which."""
    text = PAGE.read_text(encoding="utf-8")
    for mark, shown in (("measured", rows), ("model", model)):
        lines = ["| what | value |", "|---|--:|", *(f"| {row.what} | {show(row)} |" for row in shown)]
        table = "\n".join(lines)
        text = re.sub(
            rf"<!-- {mark} -->.*?<!-- end -->",
            f"<!-- {mark} -->\n{table}\n<!-- end -->",
            text,
            flags=re.DOTALL,
        )
    PAGE.write_text(text, encoding="utf-8")


def show(row: Row) -> str:
    """A value in its unit."""
    return show_time(row.ours) if row.unit == "seconds" else f"{row.ours:.3g}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        _measure_here(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
    else:
        print(run(sizes=tuple(map(int, sys.argv[1:])) or SIZES).table({}))
