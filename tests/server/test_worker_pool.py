"""Workers: nobody is charged without one, one that does not stop is replaced, and they leave no trace."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pandas
import pytest

from discreet.apps.server import Service
from discreet.apps.server.deadlines import FixedTimeExecutor
from discreet.apps.server.limits import Limits
from discreet.apps.server.records import SqliteRecords
from discreet.asking.curator import Curator
from discreet.errors import InvalidParameter
from server.faults import deaf, dying, planted, slow, talking
from server.process import Process
from server.running import prompt, running, write_policy

COUNT = "SELECT COUNT(*) AS n{} FROM town"
DEADLINE_S = 2.0
CANARY = "Zanzibar-4711"


@pytest.fixture
def town(tmp_path):
    limits = Limits(runners=2, token_per_s=1e6, address_per_s=1e6)
    with running(write_policy(tmp_path, deadline_s=DEADLINE_S), limits=limits) as served:
        served.service.open_all()
        with prompt(served):
            served.ask(COUNT.format(0), epsilon=0.1)
        yield served


def pool_of(town):
    return town.service.datasets["town"]._pool


def states_of(town, who):
    history = town.send("GET", "/api/datasets/town/history", who=who).json["history"]
    return [record["state"] for record in history if record["kind"] == "charge"]


def wait_until(true, *, seconds=30.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def gone(pid):
    """Whether a process has ended; one that nobody waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def occupy(town, pool, questions):
    """An attacker's questions, none of which ends by itself."""
    return [pool.submit(town.ask, COUNT.format(10 + n), who="bob", epsilon=0.01) for n in range(questions)]


def test_a_bystander_is_never_charged_in_vain(town):
    """Eight questions that never end, on two runners; meanwhile another asks, and asks again when told to."""
    with ThreadPoolExecutor(8) as pool:
        with planted(town, deaf):
            attack = occupy(town, pool, 8)
            time.sleep(DEADLINE_S / 2)
            refused = town.ask(COUNT.format(1), epsilon=0.5)
        assert (refused.status, refused.code) == (429, "busy")
        assert sorted(each.result().status for each in attack) == [429] * 6 + [503] * 2
        time.sleep(int(dict(refused.headers)["retry-after"]))
        assert town.ask(COUNT.format(1), epsilon=0.5).status == 200
    assert states_of(town, "ann") == ["answered", "answered"]
    assert states_of(town, "bob") == ["failed", "failed"]
    assert town.spent().epsilon == Fraction(1, 10) + Fraction(1, 2) + Fraction(2, 100)


def test_the_check_sees_a_server_that_charges_without_a_runner(town, monkeypatch):
    """A planted fault: whoever asks is charged, runner or not."""
    monkeypatch.setattr(FixedTimeExecutor, "_wait_s", lambda *_: 1)
    take = FixedTimeExecutor._take

    def always(executor, pool, seconds):
        executor._slots.clear()
        return take(executor, pool, seconds)

    monkeypatch.setattr(FixedTimeExecutor, "_take", always)
    with ThreadPoolExecutor(8) as pool, planted(town, deaf):
        attack = occupy(town, pool, 2)
        time.sleep(DEADLINE_S / 4)
        town.ask(COUNT.format(1), epsilon=0.5)
        assert [each.result().status for each in attack]
    assert "failed" in states_of(town, "ann")


def test_stored_answers_are_given_while_every_runner_is_taken(town):
    with ThreadPoolExecutor(2) as pool, planted(town, slow, seconds=0.1):
        taken = occupy(town, pool, 2)
        time.sleep(DEADLINE_S / 2)
        free = town.ask(COUNT.format(0), epsilon=0.1)
        assert (free.status, free.json["charged"]) == (200, False)
        assert town.ask(COUNT.format(5), epsilon=0.1).status == 429
        assert [each.result().status for each in taken] == [200, 200]


@pytest.mark.parametrize("seconds", [0.0, 0.9])
def test_retry_after_follows_the_deadlines_and_not_the_runs(town, seconds):
    """However soon a run ends, its place is taken until it is due, and that is when one may come again."""
    with ThreadPoolExecutor(2) as pool, planted(town, slow, seconds=seconds):
        taken = [pool.submit(town.ask, [COUNT.format(n), COUNT.format(n + 10)], epsilon=0.1) for n in (1, 2)]
        time.sleep(0.2)
        waits = []
        for _ in range(3):
            refused = town.ask(COUNT.format(5), epsilon=0.1)
            assert refused.status == 429
            waits.append(dict(refused.headers)["retry-after"])
            time.sleep(0.1)
        assert [each.result().status for each in taken] == [200, 200]
    assert waits[0] == "4"  # two passes, 4 s in all, 0.2 s ago
    assert set(waits) <= {"3", "4"}


def test_a_run_that_nothing_interrupts_is_killed_and_its_place_is_back_when_due(town):
    pool = pool_of(town)
    with planted(town, deaf):
        (pid,) = [worker.pid for worker in pool._idle]
        assert town.ask(COUNT.format(1), epsilon=0.1).status == 503
        wait_until(lambda: gone(pid))
        with ThreadPoolExecutor(2) as threads:  # both places: the spare has taken the first one's
            start = time.monotonic()
            again = [threads.submit(town.ask, COUNT.format(n), epsilon=0.1) for n in (2, 3)]
            assert [each.result().status for each in again] == [503, 503]
            assert time.monotonic() - start < DEADLINE_S + pool.start_s + 3
    assert town.ask(COUNT.format(4), who="bob", epsilon=0.1).status == 200  # whose allowance is whole


def test_one_that_was_killed_while_it_waited_costs_nobody_anything(town):
    for worker in pool_of(town)._idle:
        os.kill(worker.pid, signal.SIGKILL)
        wait_until(lambda worker=worker: not worker.is_ready)
    assert town.ask(COUNT.format(1), epsilon=0.1).status == 200


def test_a_worker_that_failed_is_not_used_again(town):
    pool = pool_of(town)
    with planted(town, dying):
        assert town.ask(COUNT.format(1), epsilon=0.1).status == 503
    assert all(worker.healthy for worker in pool._idle)


def test_an_engine_that_cannot_be_opened_is_said_and_nothing_is_charged(town):
    before, pool = town.spent(), pool_of(town)
    while pool._starting:
        time.sleep(0.01)
    (town.folder / "town.csv").rename(town.folder / "away.csv")
    for worker in pool._idle:
        worker.end()
    reply = town.ask(COUNT.format(1), epsilon=0.1)
    (town.folder / "away.csv").rename(town.folder / "town.csv")
    assert (reply.status, reply.code) == (503, "engine_failure")
    assert "nothing was charged" in reply.json["error"]["message"]
    assert town.spent() == before
    assert town.ask(COUNT.format(1), epsilon=0.1).status == 200


def test_nothing_that_a_worker_says_is_heard(town, capfd):
    with planted(town, talking, canary=CANARY):
        reply = town.ask(COUNT.format(1), epsilon=0.1)
    said = capfd.readouterr()
    assert reply.status == 503
    assert CANARY.encode() not in reply.body
    assert CANARY not in said.out + said.err


def test_a_watch_lives_on_when_a_worker_is_replaced(town):
    body = {"threshold": 100, "epsilon": 2}
    opened = town.send("POST", "/api/datasets/town/watch", body=body).json["watch"]
    path = f"/api/datasets/town/watch/{opened}/test"
    low = {"sql": f"{COUNT.format('')} WHERE person < 0"}
    assert town.send("POST", path, body=low).json == {"above": False, "finished": False}
    for worker in pool_of(town)._idle:
        worker.end()
    assert town.send("POST", path, body=low).json == {"above": False, "finished": False}


def test_a_data_set_that_other_processes_cannot_open_is_not_served(tmp_path):
    frame = pandas.DataFrame({"person": range(9)})
    curator = Curator.open(
        frame, name="t", unit="person", budget={"epsilon": 1}, ledger=tmp_path / "t.ledger"
    )
    with pytest.raises(InvalidParameter, match="must be named by a policy"):
        Service([curator], SqliteRecords(tmp_path / "t.people"))


def workers_of(pid):
    """The processes that live as long as a server does: all whose environment it gave them."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout
    parents = {int(line.split()[0]): int(line.split()[1]) for line in listed.splitlines()[1:]}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_no_worker_and_no_file_outlives_its_server(tmp_path, monkeypatch, way):
    folder = Path(tempfile.mkdtemp(prefix="discreet-"))  # short: the name of a socket in it is
    monkeypatch.setenv("TMPDIR", str(folder))
    with Process(write_policy(tmp_path)) as server:
        family = workers_of(server._process.pid)
        assert len(family) >= 2  # the one that forks, and a worker
        assert list(folder.glob("discreet-worker-*"))
        getattr(server, way)()
        wait_until(lambda: all(map(gone, family)))
    wait_until(lambda: not list(folder.glob("discreet-worker-*")))


def test_a_stop_by_the_terminal_or_the_system_lets_jobs_end(town):
    """Both signal every process of a service: a worker that has a question finishes it."""
    replies = []
    with planted(town, slow, seconds=0.5):
        pool = pool_of(town)
        asking = threading.Thread(target=lambda: replies.append(town.ask(COUNT.format(1), epsilon=0.1)))
        asking.start()
        wait_until(lambda: len(pool._taken) == 1)
        time.sleep(0.3)
        (worker,) = pool._taken
        os.kill(worker.pid, signal.SIGINT)
        os.kill(worker.pid, signal.SIGTERM)
        asking.join()
    assert replies[0].status == 200
