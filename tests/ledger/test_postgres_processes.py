"""Processes that charge one PostgreSQL ledger: stopped, killed, forked; and a server that is killed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import psycopg
import pytest

from discreet.errors import DiscreetError
from discreet.kernel.ledger import Ledger
from discreet.kernel.losses import PureDP
from ledger.crash.killing import Worker, check
from ledger.places import ask, cut_all, entries_after_a_fork_in_the_middle, schema_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # forks beside threads, on purpose


def hold_a_charge(address, words):
    ledger = Ledger.open(address, dataset="bank", budget=PureDP(1))
    charge = ledger.charge(ask())
    words.send("ready")
    words.poll(60)
    ledger.answer(charge, b"late, but alive")


@pytest.fixture
def holder(address):
    """Another process with a running charge; and the word that lets it answer."""
    # A pipe and no Event: setting an Event waits for its waiters, and a killed one never answers.
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=hold_a_charge, args=(address, theirs))
    process.start()
    assert mine.poll(30)
    yield process, lambda: mine.send("go")
    process.kill()
    process.join()
    mine.close()
    theirs.close()


def states(ledger):
    return [record.state for record in ledger.history() if record.kind == "charge"]


def wait_for_states(open_ledger, wanted):
    """The server hears of a client's end in a moment."""
    deadline = time.monotonic() + 10
    while True:
        ledger = open_ledger()
        found = states(ledger)
        ledger.close()
        if found == wanted:
            return
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def test_a_living_process_keeps_its_running_charge_even_while_it_is_stopped(holder, open_ledger):
    process, go = holder
    os.kill(process.pid, signal.SIGSTOP)
    assert states(open_ledger()) == ["charged"]
    os.kill(process.pid, signal.SIGCONT)
    go()
    process.join()
    assert open_ledger().find_answer(ask()) == b"late, but alive"


def test_a_killed_process_leaves_its_charge_failed(holder, open_ledger, postgres_server):
    process, _ = holder
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    wait_for_states(open_ledger, ["failed"])
    assert open_ledger().spent == PureDP(0.1)


def test_a_name_that_no_process_has_is_dead(open_ledger):
    store = open_ledger()._store
    assert not [
        name for name in ("", "owner-", "owner-" + "g" * 16, "owner-" + "1" * 16) if store.is_alive(name)
    ]


def charge_in_child(ledger):
    ledger.answer(ledger.charge(ask("SELECT 'child'")), b"child")


def test_a_forked_child_charges_through_connections_of_its_own(open_ledger):
    ledger = open_ledger()
    mine = ledger.charge(ask())
    children = [multiprocessing.get_context("fork").Process(target=charge_in_child, args=(ledger,))]
    for child in children:
        child.start()
        child.join()
        assert child.exitcode == 0
    ledger.answer(mine, b"parent")
    assert ledger.find_answer(ask("SELECT 'child'")) == b"child"
    assert states(open_ledger()) == ["answered", "answered"]


def test_a_child_that_ends_in_the_middle_of_the_parents_commit_does_not_touch_it(address):
    assert entries_after_a_fork_in_the_middle(address) == 4


FORKED_AND_WAITING = """
import os, sys, time
from discreet.kernel.ledger import Ledger, Request
from discreet.kernel.losses import PureDP

ledger = Ledger.open(sys.argv[1], dataset="bank", budget=PureDP(1))
ledger.charge(Request(loss=PureDP(0.1), question="SELECT 1"))
child = os.fork()
if child:
    print(child, flush=True)
time.sleep(60)
"""


def test_a_killed_parent_is_dead_though_its_child_lives(address, open_ledger):
    """A child must not keep its parent's connection open."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED_AND_WAITING, address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        try:
            parent.kill()
            wait_for_states(open_ledger, ["failed"])
        finally:
            os.kill(child, signal.SIGKILL)


def load_and_strike(server, place, strike, rounds):
    """Two loaded processes; strike the server; all that was acknowledged must be there."""
    Ledger.open(place, dataset="bank", budget=PureDP(1000)).close()
    kept = 0
    for _ in range(rounds):
        workers = [Worker(place) for _ in range(2)]
        firsts = [worker.wait_for_load() for worker in workers]
        time.sleep(0.1)
        strike(server)
        time.sleep(0.1)
        acks = [ack for worker, first in zip(workers, firsts, strict=True) for ack in worker.kill(first)]
        wait_until_it_serves(server)
        check(place, acks, may_refuse=True)
        kept += sum(not ack.startswith("refused") for ack in acks)
    assert kept > 0  # there was something to lose


def wait_until_it_serves(server):
    deadline = time.monotonic() + 60
    while True:
        try:
            server.execute("SELECT 1")
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


def kill_postmaster(server):
    server.kill()
    server.start()


def kill_a_backend(server):
    found = "SELECT pid FROM pg_stat_activity WHERE application_name = 'discreet ledger' LIMIT 1"
    for (pid,) in server.execute(found):
        server.kill_backend(pid)


STRIKES = {"postmaster": kill_postmaster, "backend": kill_a_backend, "connections": cut_all}


@pytest.mark.parametrize("strike", STRIKES)
def test_nothing_acknowledged_is_lost_by_kills_of_the_server(postgres_server, address, strike):
    load_and_strike(postgres_server, address, STRIKES[strike], 3)


@pytest.mark.soak
@pytest.mark.parametrize("strike", STRIKES)
def test_nothing_acknowledged_is_lost_by_many_kills_of_the_server(postgres_server, address, strike):
    load_and_strike(postgres_server, address, STRIKES[strike], 50)


def test_a_restarted_server_is_found_again_by_an_open_ledger(open_ledger, postgres_server):
    ledger = open_ledger()
    ledger.charge(ask())
    postgres_server.restart()
    with_new_key = ledger.charge(ask("SELECT 2", key="k"))
    ledger.answer(with_new_key, b"42")
    assert ledger.verify().charges == 2


def test_errors_of_the_server_are_errors_of_ours(open_ledger, postgres_server, address):
    ledger = open_ledger()
    postgres_server.execute(f"DROP SCHEMA {schema_of(address)} CASCADE")
    for use in (lambda: ledger.charge(ask()), lambda: ledger.remaining, ledger.verify):
        with pytest.raises(DiscreetError):
            use()
