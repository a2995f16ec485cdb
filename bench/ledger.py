"""The ledger's throughput beside the store's own commit rate, in the same seconds, on the same disk.

    python bench/ledger.py [FOLDER]

The store's own rate is what SQLite does with the same settings and one row a commit. Disks have moods, so
every kind of writer takes turns with the store itself, and the ratio of each turn is what counts. Writes
bench/results/ledger.json.
"""

import json
import multiprocessing
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from discreet.ledger import Ledger, Request
from discreet.ledger.sqlite import configure
from discreet.losses import PureDP

RESULTS = Path(__file__).parent / "results"
SLICE_S, TURNS, WRITERS, LONG_PAST = 0.5, 8, 8, 100_000
BUDGET, PRICE = PureDP(10**4), PureDP(0.001)


def repeat(work: Callable[[], object], seconds: float = SLICE_S) -> float:
    """How often a second."""
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        work()
        count += 1
    return count / (time.perf_counter() - start)


class Plain:
    """SQLite itself: one row of a charge's size in each commit."""

    def __init__(self, path: Path) -> None:
        self._run = sqlite3.connect(path, isolation_level=None).execute
        configure(self._run.__self__)
        self._run("CREATE TABLE entries (sequence INTEGER PRIMARY KEY, body TEXT)")

    def commit(self) -> None:
        self._run("BEGIN IMMEDIATE")
        self._run("INSERT INTO entries (body) VALUES (?)", ("x" * 500,))
        self._run("COMMIT")

    def rate(self) -> float:
        return repeat(self.commit)


def open_ledger(path: Path) -> Ledger:
    return Ledger.open(path, dataset="bank", budget=BUDGET)


def charge(ledger: Ledger) -> None:
    ledger.charge(Request(loss=PRICE))


def threads_rate(ledger: Ledger, threads: int) -> float:
    """Charges a second of so many threads of one process."""
    rates: list[float] = []
    work = [
        threading.Thread(target=lambda: rates.append(repeat(lambda: charge(ledger)))) for _ in range(threads)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    return sum(rates)


def process_rate(path: Path) -> float:
    """Charges a second of one process among several."""
    with open_ledger(path) as ledger:
        return repeat(lambda: charge(ledger), 2 * SLICE_S)


def compare(own: Callable[[], float], theirs: Callable[[], float]) -> dict[str, float]:
    """Medians of both rates and of their ratio, measured in turns."""
    pairs = [(own(), theirs()) for _ in range(TURNS)]
    ratios = [rate / base for base, rate in pairs]
    return {
        "store_commits": statistics.median(base for base, _ in pairs),
        "charges": statistics.median(rate for _, rate in pairs),
        "ratio": statistics.median(ratios),
    }


def compare_past(short: Ledger, long: Ledger) -> dict[str, float]:
    """The median time of a charge with a short past and with a long one, in turns."""
    threads = [
        threading.Thread(target=lambda: [charge(long) for _ in range(LONG_PAST // 32)]) for _ in range(32)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(500):
        for ledger, found in zip((short, long), times, strict=True):
            start = time.perf_counter()
            charge(ledger)
            found.append(time.perf_counter() - start)
    first, last = map(statistics.median, times)
    return {"first_ms": 1e3 * first, "last_ms": 1e3 * last, "ratio": last / first}


def main(folder: str | None) -> None:
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        own = Plain(place / "plain.db").rate
        with open_ledger(place / "a.ledger") as ledger, open_ledger(place / "b.ledger") as other:
            found["1 thread"] = compare(own, lambda: threads_rate(ledger, 1))
            found["8 threads"] = compare(own, lambda: threads_rate(ledger, WRITERS))
            found[f"after {LONG_PAST} charges"] = compare_past(other, ledger)
        with multiprocessing.get_context("spawn").Pool(WRITERS) as pool:
            shared = [place / "c.ledger"] * WRITERS
            pool.map(process_rate, shared, chunksize=1)  # warm: everything is imported
            found["8 processes"] = compare(own, lambda: sum(pool.map(process_rate, shared, chunksize=1)))
    for label, numbers in found.items():
        print(label.ljust(24), "  ".join(f"{part} {number:.2f}" for part, number in numbers.items()))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "ledger.json").write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
