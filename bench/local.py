"""Local privacy against pure-LDP and a numpy OLH: reports, decoding, JavaScript, 10^8 reports on disk."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dp
from bench.harness import ROOT, Report, Rivals, Row, seconds

MILLION = 10**6
MANY = 10**8
SMALL = 1024  # values that the rivals are given: each of their reports costs as many hashes
SOME = 2000  # reports of the rivals

CHUNK = 2 * MILLION  # reports made and written at a time
SHARE = 0.02  # of people hold one value; the others are spread evenly
HELD = 123_456

# A process of its own, so that its memory and its processor time are measured alone.
DECODE = """
import json, resource, sys, time
import discreet as dp
protocol = dp.local.from_json(open(sys.argv[1]).read())
source = sys.argv[2]
if sys.argv[3] == "spark":
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.maxResultSize", "0")
    session = builder.config("spark.log.level", "ERROR").getOrCreate()
    source = session.read.parquet(source)
used = time.process_time()
start = time.perf_counter()
found = protocol.collect(source)
spent = time.perf_counter() - start
used = time.process_time() - used
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
lower, upper = found.intervals(confidence=1 - 1e-9, simultaneous=True)
print(json.dumps({
    "seconds": spent, "processor": used, "gigabytes": memory, "reports": found.reports,
    "values": len(found), "lower": lower[int(sys.argv[4])], "upper": upper[int(sys.argv[4])],
}))
"""


def run(rivals: Rivals) -> Report:
    """Time the client, the collector, and both against the rivals."""
    report = Report("Local privacy: one of many values")
    for epsilon in (0.5, 1, 2, 4):
        report.add(batch(epsilon))
    report.add(javascript())
    report.add(*against_rivals(rivals))
    for row in on_disk():
        report.add(row)
    return report


def batch(epsilon: float) -> Row:
    """A million reports among a million values, in one call."""
    protocol = dp.local.choice(domain=MILLION, epsilon=epsilon)
    truth = np.random.default_rng().integers(0, MILLION, MILLION)
    each = seconds(lambda: protocol.randomize_many(truth), rounds=3) / MILLION
    return Row(f"a report in a batch, 10^6 values, epsilon {epsilon}", each, limit=2e-6)


def javascript() -> Row:
    """The browser's client in Node."""
    protocol = dp.local.choice(domain=MILLION, epsilon=1).to_json()
    given = json.dumps({"protocol": protocol, "value": 7, "count": 20_000})
    words = ["node", str(ROOT / "tests" / "local" / "run_vectors.js"), "speed", given]
    spent = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return Row("a report of the JavaScript client, 10^6 values", spent["microseconds"] * 1e-6, limit=50e-6)


def against_rivals(rivals: Rivals) -> list[Row]:
    """Reports and decoding at 1024 values, for each report."""
    protocol = dp.local.choice(domain=SMALL, epsilon=1)
    truth = np.random.default_rng().integers(0, SMALL, MILLION)
    reports = protocol.randomize_many(truth)
    draw = seconds(lambda: protocol.randomize_many(truth), rounds=3) / MILLION
    decode = seconds(lambda: protocol.collect(reports), rounds=3) / MILLION
    case = {"values": SMALL, "epsilon": 1, "size": SOME}
    return [
        Row(
            "a report, 1024 values", draw, "pure-LDP OLH", rivals.time("local:olh_client", **case) / SOME, 0.1
        ),
        Row(
            "decoding a report, 1024 values",
            decode,
            "pure-LDP OLH",
            rivals.time("local:olh_server", **case) / SOME,
            0.1,
        ),
        Row("decoding a report, 1024 values", decode, "numpy OLH", numpy_olh() / SOME, 0.1),
    ]


def numpy_olh() -> float:
    """Local hashing with a vectorised multiply-shift hash: n·k hashes, however they are made."""
    random = np.random.default_rng()
    seeds = random.integers(1, 1 << 63, SOME, dtype=np.uint64) | np.uint64(1)
    digits = random.integers(0, 4, SOME, dtype=np.uint64)
    values = np.arange(1, SMALL + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)

    def work() -> None:
        hashes = (seeds[:, None] * values[None, :]) >> np.uint64(62)
        (hashes == digits[:, None]).sum(axis=0)

    return seconds(work, rounds=3)


def on_disk() -> Iterator[Row]:
    """10^8 reports at epsilon 4 in Parquet, grouped by DuckDB and by Spark, and decoded to 10^6 values."""
    protocol = dp.local.choice(domain=MILLION, epsilon=4)
    with tempfile.TemporaryDirectory() as folder:
        stored, reports = Path(folder) / "protocol.json", Path(folder) / "reports.parquet"
        stored.write_text(json.dumps(protocol.to_json()))
        write_reports(protocol, reports)
        what = "10^8 reports on disk decoded to 10^6 values, epsilon 4"
        for engine, limit in (("duckdb", 15.0), ("spark", None)):
            words = [sys.executable, "-c", DECODE, str(stored), str(reports), engine, str(HELD)]
            ended = subprocess.run(words, capture_output=True, text=True, check=True)
            found = json.loads(ended.stdout.splitlines()[-1])
            assert (found["reports"], found["values"]) == (MANY, MILLION)
            assert found["lower"] < SHARE < found["upper"] < SHARE + 0.001
            yield Row(f"{what}, {engine}", found["seconds"], limit=limit)
            if engine == "duckdb":  # Spark works in a process of Java's
                yield Row(f"{what}, {engine}: processor time", found["processor"])
                yield Row(f"{what}, {engine}: memory", found["gigabytes"], limit=2.0, unit="gigabytes")


def write_reports(protocol: Any, path: Path) -> None:
    """Real reports of people of whom a known share holds one value."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    random, writer = np.random.default_rng(), None
    for _ in range(MANY // CHUNK):
        truth = random.integers(0, MILLION, CHUNK)
        truth[: round(CHUNK * SHARE)] = HELD
        table = pa.table({"report": protocol.randomize_many(truth).astype(np.int32)})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()
