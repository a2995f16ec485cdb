"""Local privacy against pure-LDP and a numpy OLH: reports, decoding, 10^8 reports on disk, JavaScript."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import discreet as dp
from bench.harness import ROOT, Report, Rivals, Row, seconds

MILLION = 10**6
MANY = 10**8
SMALL = 1024  # values that the rivals are given: each of their reports costs as many hashes
SOME = 2000  # reports of the rivals

# A process of its own, so that its memory is measured alone.
DECODE = """
import json, resource, sys, time
import discreet as dp
protocol = dp.local.from_json(open(sys.argv[1]).read())
start = time.perf_counter()
found = protocol.collect(sys.argv[2])
spent = time.perf_counter() - start
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps({"seconds": spent, "gigabytes": memory, "reports": found.reports, "values": len(found)}))
"""


def run(rivals: Rivals) -> Report:
    """Time the client, the collector, and both against the rivals."""
    report = Report("Local privacy: one of many values")
    for epsilon in (0.5, 1, 2, 4):
        report.add(batch(epsilon))
    report.add(javascript())
    report.add(*against_rivals(rivals))
    report.add(*on_disk())
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


def on_disk() -> list[Row]:
    """10^8 reports at epsilon 4 in Parquet, grouped by DuckDB and decoded to 10^6 values."""
    import duckdb

    protocol = dp.local.choice(domain=MILLION, epsilon=4)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "protocol.json").write_text(json.dumps(protocol.to_json()))
        # The time does not depend on who holds what: reports of people who answer evenly are even.
        with duckdb.connect() as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute(
                f"COPY (SELECT (random() * {protocol.reports - 1})::INTEGER AS report FROM range({MANY})) "
                f"TO '{place / 'reports.parquet'}' (FORMAT parquet)"
            )
        words = [sys.executable, "-c", DECODE, str(place / "protocol.json"), str(place / "reports.parquet")]
        found = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert found["reports"] == MANY
    what = "10^8 reports on disk decoded to 10^6 values, epsilon 4"
    return [
        Row(what, found["seconds"], limit=15.0),
        Row(f"{what}: memory", found["gigabytes"], limit=2.0, unit="gigabytes"),
    ]
