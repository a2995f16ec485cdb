"""The ledger's throughput beside the store's own commit rate, in the same seconds, on the same disk.

The store's own rate is what SQLite does with the same settings and one row a commit, and what PostgreSQL
does with one row a commit over one connection. Disks have moods, so
every kind of writer takes turns with the store itself, and the ratio of each turn is what counts.
"""

import multiprocessing
import sqlite3
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg

from bench.harness import Report, Row
from discreet.kernel.ledger import Ledger, Ration, Request
from discreet.kernel.ledger.sqlite.connection import configure
from discreet.kernel.losses import PureDP

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from servers.postgres import PostgresServer

OWN, SERVER_OWN = "SQLite's own commit", "PostgreSQL's own commit"
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


class PlainServer:
    """PostgreSQL itself: the same row, one connection."""

    def __init__(self, address: str) -> None:
        self._run = psycopg.connect(address, autocommit=True).execute
        self._run("CREATE TABLE entries (sequence BIGSERIAL PRIMARY KEY, body TEXT)")

    def commit(self) -> None:
        self._run("BEGIN")
        self._run("INSERT INTO entries (body) VALUES (%s)", ("x" * 500,))
        self._run("COMMIT")

    def rate(self) -> float:
        return repeat(self.commit)


def open_ledger(place: Path | str) -> Ledger:
    return Ledger.open(place, dataset="bank", budget=BUDGET, ration=Ration(least_price=1e-7))


def charge(ledger: Ledger) -> None:
    ledger.open_watch(
        Request(loss=PRICE)
    )  # charged and settled in one commit: no more than three run at once


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


def process_rate(place: Path | str) -> float:
    """Charges a second of one process among several."""
    with open_ledger(place) as ledger:
        return repeat(lambda: charge(ledger), 2 * SLICE_S)


def compare(own: Callable[[], float], ours: Callable[[], float]) -> tuple[float, float]:
    """Seconds of our charge and of the store's own commit, at the median ratio, measured in turns."""
    pairs = sorted(((own(), ours()) for _ in range(TURNS)), key=lambda pair: pair[0] / pair[1])
    commits, charges = pairs[len(pairs) // 2]
    return 1 / charges, 1 / commits


def compare_past(short: Ledger, long: Ledger) -> tuple[float, float]:
    """The median seconds of a charge after a long past and after a short one, in turns."""
    with ThreadPoolExecutor(32) as pool:
        list(pool.map(lambda _: charge(long), range(LONG_PAST)))
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(500):
        for ledger, found in zip((long, short), times, strict=True):
            start = time.perf_counter()
            charge(ledger)
            found.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def run(rivals: object = None) -> Report:
    """Throughput with one and eight writers, and what a long past costs."""
    report = Report("Ledger: seconds a charge, beside the store's own commit on the same disk")

    def add(what: str, rival: str, times: tuple[float, float], limit: float | None) -> None:
        report.add(Row(what, times[0], rival, times[1], limit))

    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        own = Plain(place / "plain.db").rate
        with open_ledger(place / "a.ledger") as ledger, open_ledger(place / "b.ledger") as other:
            add("a charge, 1 thread", OWN, compare(own, lambda: threads_rate(ledger, 1)), 2)
            add("a charge, 8 threads", OWN, compare(own, lambda: threads_rate(ledger, WRITERS)), 2)
            add(f"a charge after {LONG_PAST}", "a charge after none", compare_past(other, ledger), 1.5)
        add("a charge, 8 processes", OWN, compare_processes(own, place / "c.ledger"), 2)
    with PostgresServer() as server:
        own, address = PlainServer(server.database()).rate, server.database()
        with open_ledger(address) as ledger:
            for threads in (1, WRITERS):
                times = compare(own, lambda count=threads: threads_rate(ledger, count))
                add(f"a charge in PostgreSQL, {threads} thread{'s' * (threads > 1)}", SERVER_OWN, times, None)
        add("a charge in PostgreSQL, 8 processes", SERVER_OWN, compare_processes(own, address), None)
    return report


def compare_processes(own: Callable[[], float], place: Path | str) -> tuple[float, float]:
    """The same with eight processes, warm: everything is imported."""
    with multiprocessing.get_context("spawn").Pool(WRITERS) as pool:
        shared = [place] * WRITERS
        pool.map(process_rate, shared, chunksize=1)
        return compare(own, lambda: sum(pool.map(process_rate, shared, chunksize=1)))
