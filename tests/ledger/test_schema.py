"""Old files become new ones, and a long past costs nothing."""

import sqlite3
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.errors import LedgerConflict
from discreet.kernel.ledger import Ledger, LedgerFile, Ration, Request
from discreet.kernel.ledger.sqlite import MIGRATIONS
from ledger.growing import BUDGET, PRICE, write_past


def open_ledger(path):
    return Ledger.open(path, dataset="bank", budget=BUDGET, ration=Ration(least_price=1e-7))


def version(path):
    connection = sqlite3.connect(path)
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    connection.close()
    return found


@pytest.mark.parametrize("old", range(1, len(MIGRATIONS) + 1))
def test_a_ledger_of_every_version_opens_and_keeps_its_past(tmp_path, old):
    write_past(tmp_path / "x.ledger", 50, version=old)
    with open_ledger(tmp_path / "x.ledger") as ledger:
        assert ledger.spent.epsilon == 50 * PRICE.epsilon
        ledger.charge(Request(loss=PRICE))
        assert ledger.verify().charges == 51
    assert version(tmp_path / "x.ledger") == len(MIGRATIONS)


def test_an_old_file_is_not_changed_by_looking_at_it(tmp_path):
    write_past(tmp_path / "x.ledger", 1, version=1)
    with pytest.raises(LedgerConflict, match="newest version"):
        LedgerFile(tmp_path / "x.ledger")
    assert version(tmp_path / "x.ledger") == 1


def test_a_newer_file_is_refused(tmp_path):
    write_past(tmp_path / "x.ledger", 1)
    connection = sqlite3.connect(tmp_path / "x.ledger")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(LedgerConflict, match="Update discreet"):
        open_ledger(tmp_path / "x.ledger")


def steps_of_a_charge(path):
    """How many instructions SQLite's machine runs for one charge: a count, not a time."""
    with open_ledger(path) as ledger:
        ledger.charge(Request(loss=PRICE))
        steps = 0

        def count():
            nonlocal steps
            steps += 1

        ledger._store._session._writer.connection.set_progress_handler(count, 1)
        ledger.charge(Request(loss=PRICE))
        ledger._store._session._writer.connection.set_progress_handler(None, 1)
        return steps


@pytest.mark.slow
def test_a_charge_after_a_hundred_thousand_does_no_more_work_than_the_first(tmp_path):
    write_past(tmp_path / "short.ledger", 1)
    write_past(tmp_path / "long.ledger", 10**5)
    short, long = (steps_of_a_charge(tmp_path / name) for name in ("short.ledger", "long.ledger"))
    assert 0 < long <= 1.05 * short


def timed_charge(ledger):
    start = time.perf_counter()
    charge = ledger.charge(Request(loss=PRICE, analyst=threading.current_thread().name))
    taken = time.perf_counter() - start
    ledger.answer(charge, b"42")
    return taken


@pytest.mark.soak
def test_the_last_of_a_hundred_thousand_charges_takes_as_long_as_the_first(tmp_path):
    with open_ledger(tmp_path / "long.ledger") as long, open_ledger(tmp_path / "short.ledger") as short:
        with ThreadPoolExecutor(32) as pool:
            list(pool.map(lambda _: timed_charge(long), range(10**5)))
        pairs = [(timed_charge(short), timed_charge(long)) for _ in range(1000)]  # in turns: disks have moods
    first, last = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"first {1e3 * first:.3f} ms, last {1e3 * last:.3f} ms")
    assert last <= 1.5 * first


@pytest.mark.soak
def test_a_ledger_of_a_million_entries_opens_migrates_and_verifies(tmp_path):
    write_past(tmp_path / "x.ledger", 500_000, version=1)
    start = time.perf_counter()
    with open_ledger(tmp_path / "x.ledger") as ledger:
        opened = time.perf_counter()
        assert ledger.verify().entries == 1_000_003  # one for the ration that it is opened with
        print(
            f"opened and migrated in {opened - start:.1f} s, verified in {time.perf_counter() - opened:.1f} s"
        )
        ledger.charge(Request(loss=PRICE))
    start = time.perf_counter()
    open_ledger(tmp_path / "x.ledger").close()
    assert time.perf_counter() - start < 2
