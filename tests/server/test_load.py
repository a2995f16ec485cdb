"""Sixty-four clients with a second of thought on one process: refusals at most, a ledger that adds up."""

import multiprocessing
import time
from fractions import Fraction

import pytest

from discreet.apps.server.people import People
from discreet.apps.server.records import SqliteRecords
from discreet.asking.curator import Curator
from server.crowd import crowd
from server.process import Process
from server.running import write_policy

P99_S = 0.2  # times the control's worst moments, 1.3 on a quiet machine: the 0.25 s that is promised
DEADLINE_S, AT_ONCE = 6.0, 8  # so many questions are answered in that time on a busy machine too
SPIN_S, REST_S = 0.01, 0.05


def slowness(ready, stop, found) -> None:
    """How much longer work takes on this machine than its processor time: others may be using it.

    The worst but one in a hundred, as for the latencies.
    """
    ratios = []
    ready.set()
    while not stop.is_set():
        wall, busy = time.monotonic(), time.process_time()
        while time.process_time() - busy < SPIN_S:
            pass
        ratios.append((time.monotonic() - wall) / SPIN_S)
        stop.wait(REST_S)
    found.put(sorted(ratios)[int(0.99 * len(ratios))])


def serve_a_crowd(folder, *, seconds, epsilon):
    policy = write_policy(folder, deadline_s=DEADLINE_S, epsilon=epsilon)
    records = SqliteRecords(folder / "town.people")
    tokens = [People(records).add(f"analyst{number}", "analyst") for number in range(8)]
    records.close()
    context = multiprocessing.get_context("spawn")
    ready, stop, found = context.Event(), context.Event(), context.Queue()
    with Process(policy, "--at-once", str(AT_ONCE)) as server:
        crowd([server.port], tokens, seconds=1, clients=2)  # everything has been loaded once
        control = context.Process(target=slowness, args=(ready, stop, found), daemon=True)
        control.start()
        assert ready.wait(60)  # its own start is not part of the load
        seen = crowd([server.port], tokens, seconds=seconds)
        stop.set()
        slower = max(1.0, found.get(timeout=30))
        control.join()
        assert server.stop() == 0
    return policy, seen, slower


def check(policy, seen, slower, *, epsilon):
    allowed = {("ask", 200, ""), ("explain", 200, ""), ("ask", 409, "budget_exceeded"), ("ask", 429, "busy")}
    allowed |= {("ask", 403, "rationed")}  # eight clients share a name, of whose questions three run at once
    assert set(seen.statuses) <= allowed, seen.statuses
    assert seen.lost == 0
    with Curator.from_policy(policy) as curator:
        ledger = curator.ledger
        ledger.verify()
        charges = [record for record in ledger.history() if record.kind == "charge"]
        assert {record.state for record in charges} == {"answered"}
        assert set(seen.charges) <= {record.sequence for record in charges}
        assert (
            ledger.spent.epsilon == sum(Fraction(record.cost) for record in charges) <= Fraction(str(epsilon))
        )
        assert len(charges) - len(seen.charges) <= 2  # of the two that came first, to warm up
    assert seen.quantile(0.99) < P99_S * slower, (seen.quantile(0.5), seen.quantile(0.99), slower)


@pytest.mark.soak
def test_a_crowd_meets_refusals_at_most_and_the_ledger_adds_up(tmp_path):
    """The budget ends under way. Latency is counted in time of a machine that does nothing else."""
    check(*serve_a_crowd(tmp_path, seconds=10, epsilon=0.9), epsilon=0.9)


@pytest.mark.soak
def test_a_crowd_for_a_minute(tmp_path):
    policy, seen, slower = serve_a_crowd(tmp_path, seconds=60, epsilon=100)
    low, high = seen.quantile(0.5), seen.quantile(0.99)
    print(f"explain: {len(seen.explains_s)} times, p50 {low:.3f} s, p99 {high:.3f} s,")
    print(f"machine {slower:.2f} times slower than its processor time; {dict(seen.statuses)}")
    check(policy, seen, slower, epsilon=100)
