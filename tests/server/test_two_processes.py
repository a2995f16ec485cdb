"""Two processes on one ledger in PostgreSQL, either killed under load: what is spent is exact."""

import threading
import time
from fractions import Fraction

import pytest

import discreet as dp
from discreet.apps.server.people import People, Person
from discreet.apps.server.records import PostgresRecords
from discreet.kernel.ledger import Ration
from server.crowd import crowd
from server.process import Process
from server.running import write_policy
from servers.postgres import PASSWORD

LIMIT = 3


def write_shared(folder, address, **settings):
    policy = write_policy(folder, **settings)
    policy.write_text(policy.read_text() + f'\n[ledger]\nplace = "{address}"\n')
    return policy


def test_people_in_postgres_are_shared_and_survive_a_restart(postgres_server, postgres_database):
    records = [PostgresRecords(postgres_database) for _ in range(2)]
    one, other = map(People, records)
    token = one.add("ann", "analyst")
    assert other.identify(token) == Person("ann", "analyst")
    with pytest.raises(dp.InvalidParameter, match="taken"):
        other.add("ann", "owner")
    postgres_server.restart()
    assert other.revoke("ann") == 1
    assert one.identify(token) is None
    for each in records:
        each.close()


def test_either_of_two_processes_is_killed_under_load_and_the_ledger_is_exact(
    postgres_database, tmp_path, monkeypatch
):
    survive_kills(postgres_database, tmp_path, monkeypatch, seconds=12, kills=2)


@pytest.mark.soak
def test_two_processes_are_killed_twenty_times_and_the_ledger_is_exact(
    postgres_database, tmp_path, monkeypatch
):
    survive_kills(postgres_database, tmp_path, monkeypatch, seconds=90, kills=20)


def survive_kills(database, folder, monkeypatch, *, seconds, kills):
    monkeypatch.setenv("PGPASSWORD", PASSWORD)  # a policy never holds one
    policy = write_shared(folder, database.replace(f":{PASSWORD}@", "@"), deadline_s=2.0, epsilon=LIMIT)
    records = PostgresRecords(database)
    tokens = [People(records).add(f"analyst{number}", "analyst") for number in range(8)]
    records.close()
    servers = [Process(policy), Process(policy)]
    ports = [server.port for server in servers]
    killing = threading.Thread(target=kill_and_replace, args=(servers, ports, policy, seconds, kills))
    killing.start()
    seen = crowd(ports, tokens, seconds=seconds, clients=24)
    killing.join()
    for server in servers:
        server.kill()
    check(policy, seen)


def kill_and_replace(servers, ports, policy, seconds, kills):
    """kill -9 one after the other, each replaced by a new one."""
    for number in range(kills):
        time.sleep(seconds / (2 * kills))
        place = number % 2
        servers[place].kill()
        servers[place] = Process(policy)
        ports[place] = servers[place].port


def check(policy, seen):
    with dp.Curator.from_policy(policy) as curator:
        ledger = curator.ledger
        ledger.verify()
        charges = {record.sequence: record for record in ledger.history() if record.kind == "charge"}
        assert ledger.spent.epsilon == sum(Fraction(record.cost) for record in charges.values()) <= LIMIT
        failures = ledger.failures_by_analyst()
    states = [record.state for record in charges.values()]
    assert set(states) <= {"answered", "failed"}
    assert sum(failures.values()) == states.count("failed")  # whatever was killed under way counts,
    assert max(failures.values(), default=0) <= Ration().failures  # and is never more than was allowed
    # Whatever an analyst got was paid for, and stored; nothing was paid for once and given twice.
    assert {charges[charge].state for charge in seen.charges} == {"answered"}
    assert sum(seen.charges.values()) <= sum(Fraction(record.cost) for record in charges.values())
    assert seen.lost > 0
    allowed = {
        (200, ""),
        (403, "rationed"),
        (409, "budget_exceeded"),
        (409, "ledger_conflict"),
        (429, "busy"),
        (503, "engine_failure"),
    }
    assert {(status, code) for _, status, code in seen.statuses} <= allowed
