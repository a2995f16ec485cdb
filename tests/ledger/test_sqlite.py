"""What is special to the SQLite store: its settings, its file, processes, tampering."""

import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.ledger import Ledger, LedgerFile, Request
from discreet.kernel.ledger.entry import UNAVAILABLE
from discreet.kernel.ledger.sqlite.connection import configure
from discreet.kernel.losses import PureDP
from ledger.places import entries_after_a_fork_in_the_middle
from ledger.tampering import EDITS


def ask(question="SELECT 1"):
    return Request(loss=PureDP(0.1), question=question)


def edit(path, statement, *values):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(statement, values)
    connection.commit()
    connection.close()


# --- settings ---------------------------------------------------------------------------------------------


def test_a_connection_without_a_durable_journal_is_refused():
    connection = sqlite3.connect(":memory:")
    with pytest.raises(LedgerConflict, match="journal_mode"):
        configure(connection)
    connection.close()


def test_a_file_left_in_another_journal_mode_is_brought_back(sqlite_world):
    sqlite_world.open().close()
    edit(sqlite_world.path, "PRAGMA journal_mode = WAL")
    sqlite_world.open().charge(ask())
    connection = sqlite3.connect(sqlite_world.path)
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal"
    connection.close()


@pytest.mark.parametrize("path", [":memory:", "", "file::memory:?cache=shared"])
def test_a_ledger_is_always_a_file(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    try:
        Ledger.open(path, dataset="bank", budget=PureDP(1)).close()
    except (LedgerConflict, InvalidParameter):
        return
    assert (tmp_path / path).stat().st_size > 0


def test_a_hard_link_is_refused(sqlite_world, tmp_path):
    sqlite_world.open().close()
    os.link(sqlite_world.path, tmp_path / "other name")
    with pytest.raises(LedgerConflict, match="hard links"):
        sqlite_world.open()


def test_a_file_of_another_program_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "x.ledger"
    edit(path, "CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(LedgerConflict, match="ledger of discreet"):
        Ledger.open(path, dataset="bank", budget=PureDP(1))
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "x.ledger").write_text("not a database, but long enough to be looked at as one" * 100)
    with pytest.raises(LedgerConflict) as refusal:
        Ledger.open(tmp_path / "x.ledger", dataset="bank", budget=PureDP(1))
    assert refusal.value.message == UNAVAILABLE


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER reset AFTER UPDATE ON accounts BEGIN UPDATE accounts SET main = '0'; END",
        "CREATE TABLE more (x)",
        "DROP INDEX stored_answers",
    ],
)
def test_changed_tables_are_refused(sqlite_world, change):
    sqlite_world.open().close()
    edit(sqlite_world.path, change)
    with pytest.raises(LedgerConflict, match="tables"):
        sqlite_world.open()


def test_the_table_itself_refuses_an_overspent_account(sqlite_world):
    sqlite_world.open().close()
    connection = sqlite3.connect(sqlite_world.path)
    for value in (f"{2 * 10**48:064d}", "nan", "", f"{-1:064d}"):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("UPDATE accounts SET main = ?", (value,))
    connection.close()


# --- a disk that does not serve ---------------------------------------------------------------------------


def test_a_locked_file_gives_the_constant_error_and_charges_nothing(sqlite_world):
    ledger = sqlite_world.open(patience=0.2)
    other = sqlite3.connect(sqlite_world.path)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LedgerConflict) as refusal:
        ledger.charge(ask())
    other.close()
    assert refusal.value.message == UNAVAILABLE
    assert ledger.remaining == PureDP(1)
    ledger.charge(ask())


def test_a_missing_folder_gives_the_constant_error(tmp_path):
    with pytest.raises(LedgerConflict) as refusal:
        Ledger.open(tmp_path / "none" / "x.ledger", dataset="bank", budget=PureDP(1))
    assert refusal.value.message == UNAVAILABLE


READ_ONLY = """
import os, sys
from discreet.errors import LedgerConflict
from discreet.kernel.ledger import Ledger, Request
from discreet.kernel.losses import PureDP
if os.getuid() == 0:
    os.setuid(65534)  # root may write anywhere; everything is imported before
try:
    Ledger.open(sys.argv[1], dataset="bank", budget=PureDP(1)).charge(Request(loss=PureDP(0.1)))
except LedgerConflict as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("exists", [True, False])
def test_a_read_only_folder_gives_the_constant_error(exists):
    folder = Path(tempfile.mkdtemp())
    try:
        if exists:
            Ledger.open(folder / "x.ledger", dataset="bank", budget=PureDP(1)).close()
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        arguments = [sys.executable, "-c", READ_ONLY, folder / "x.ledger"]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert done.stdout.strip() == UNAVAILABLE, done.stderr
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


# --- processes --------------------------------------------------------------------------------------------


def test_another_process_that_lives_keeps_its_running_charge(sqlite_world):
    first = Ledger.open(sqlite_world.path, dataset="bank", budget=PureDP(1))
    charge = first.charge(ask())
    with Ledger.open(sqlite_world.path, dataset="bank", budget=PureDP(1)) as second:
        assert [record.state for record in second.history()[1:]] == ["charged"]
        with pytest.raises(LedgerConflict, match="still running"):
            second.charge(Request(loss=PureDP(0.1), key=running_key(first)))
    first.answer(charge, b"42")
    first.close()


def running_key(ledger):
    ledger.charge(Request(loss=PureDP(0.1), key="running"))
    return "running"


def hold_a_charge(path, ready, go):
    ledger = Ledger.open(path, dataset="bank", budget=PureDP(1))
    charge = ledger.charge(ask())
    ready.set()
    go.wait()
    ledger.answer(charge, b"late, but alive")


def test_a_slow_process_is_not_taken_for_dead(sqlite_world):
    context = multiprocessing.get_context("fork")
    ready, go = context.Event(), context.Event()
    process = context.Process(target=hold_a_charge, args=(sqlite_world.path, ready, go))
    process.start()
    ready.wait()
    for _ in range(3):
        sqlite_world.open(unit="", schema="", limits={})
    go.set()
    process.join()
    ledger = sqlite_world.open(unit="", schema="", limits={})
    assert process.exitcode == 0
    assert ledger.find_answer(ask()) == b"late, but alive"


def charge_in_child(ledger, results):
    ledger.answer(ledger.charge(ask("SELECT 'child'")), b"child")
    results.put(os.getpid())


def test_a_forked_child_charges_through_connections_of_its_own(sqlite_world):
    ledger = sqlite_world.open()
    mine = ledger.charge(ask())
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    children = [context.Process(target=charge_in_child, args=(ledger, results)) for _ in range(1)]
    for child in children:
        child.start()
    for child in children:
        child.join()
        assert child.exitcode == 0
    ledger.answer(mine, b"parent")
    assert ledger.find_answer(ask("SELECT 'child'")) == b"child"
    assert ledger.spent == PureDP(0.2)
    ledger.verify()


@pytest.mark.slow
def test_a_child_that_ends_in_the_middle_of_the_parents_commit_does_not_touch_it(tmp_path):
    assert entries_after_a_fork_in_the_middle(tmp_path / "x.ledger") == 4


def test_a_childs_end_does_not_end_the_parents_ownership(sqlite_world):
    ledger = sqlite_world.open()
    mine = ledger.charge(ask())
    child = multiprocessing.get_context("fork").Process(target=int)
    child.start()
    child.join()
    with Ledger.open(
        sqlite_world.path,
        dataset="bank",
        budget=PureDP(1),
        unit="person",
        schema="city text, debt number",
        limits={"max_rows": 1},
    ):
        pass
    ledger.answer(mine, b"still mine")


def test_nobody_waits_for_ever_behind_a_busy_process(sqlite_world):
    busy = sqlite_world.open(budget=PureDP(1000))
    stop = threading.Event()

    def load():
        while not stop.is_set():
            name = threading.current_thread().name
            busy.answer(busy.charge(Request(loss=PureDP(0.1), analyst=name)), b"42")

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    start = time.perf_counter()
    with LedgerFile(sqlite_world.path) as reader:
        for _ in range(20):
            reader.balances()
    waited = time.perf_counter() - start
    stop.set()
    for thread in threads:
        thread.join()
    assert waited < 10


def test_a_closed_ledger_charges_nothing(sqlite_world):
    ledger = sqlite_world.open()
    ledger.close()
    with pytest.raises(LedgerConflict, match="closed"):
        ledger.charge(ask())


# --- tampering --------------------------------------------------------------------------------------------


def spent_ledger(world):
    ledger = world.open()
    for number in range(4):
        ledger.answer(ledger.charge(ask(f"SELECT {number}")), b"%d" % number)
    ledger.close()


@pytest.mark.parametrize("statement", EDITS)
def test_every_edit_is_found(sqlite_world, statement):
    spent_ledger(sqlite_world)
    edit(sqlite_world.path, statement)
    with LedgerFile(sqlite_world.path) as reader, pytest.raises(LedgerConflict):
        reader.verify()


def test_an_edited_last_entry_is_found_at_open_and_at_every_charge(sqlite_world):
    ledger = sqlite_world.open()
    ledger.charge(ask())
    edit(sqlite_world.path, "UPDATE entries SET body = replace(body, 'SELECT 1', 'SELECT 7')")
    with pytest.raises(LedgerConflict, match="last entry"):
        ledger.charge(ask("SELECT 2"))
    with pytest.raises(LedgerConflict, match="last entry"):
        sqlite_world.open()


def test_moving_the_file_changes_nothing(sqlite_world, tmp_path):
    spent_ledger(sqlite_world)
    (tmp_path / "elsewhere").mkdir()
    shutil.move(sqlite_world.path, tmp_path / "elsewhere" / "renamed.db")
    sqlite_world.path = tmp_path / "elsewhere" / "renamed.db"
    assert sqlite_world.open().remaining == PureDP(0.6)
