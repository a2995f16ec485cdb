"""Eight processes of eight threads, two curators in each, race for a budget of exactly ten charges."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.kernel.accounting import notion_json
from discreet.kernel.ledger import LedgerFile, Ration
from discreet.kernel.losses import ZCDP, ApproxDP, PureDP

PROCESSES, ADMITTED = 8, 10
CASES = {
    "pure": (PureDP(1), PureDP(0.1)),
    "approximate": (ApproxDP(10, 1e-6), ApproxDP(0.1, 1e-7)),  # the deltas are what runs out
    "zcdp": (ZCDP(0.5), ZCDP(0.05)),
}


@pytest.fixture(scope="module")
def racers():
    """A warm pool: every round starts from processes that are already there."""
    command = [sys.executable, Path(__file__).parent / "racing.py"]
    pool = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    yield pool
    for process in pool:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def race(pool, place, case, *, fault=None, analyst=None):
    budget, price = map(notion_json, CASES[case])
    task = {"place": str(place), "budget": budget, "price": price, "fault": fault, "analyst": analyst}
    for process in pool:
        print(json.dumps(task), file=process.stdin, flush=True)
    assert {process.stdout.readline() for process in pool} == {"ready\n"}
    for process in pool:
        print("go", file=process.stdin, flush=True)
    admitted = sum(int(process.stdout.readline()) for process in pool)
    for process in pool if fault is None else ():
        print("done", file=process.stdin, flush=True)
    return admitted


def race_often(racers, fresh_place, case, rounds):
    for _ in range(rounds):
        place = fresh_place()
        assert race(racers, place, case) == ADMITTED
        with LedgerFile(place) as ledger:
            assert ledger.verify().charges == ADMITTED


@pytest.mark.parametrize("case", CASES)
def test_exactly_ten_are_admitted_in_every_round(racers, fresh_place, case):
    race_often(racers, fresh_place, case, 4)


@pytest.mark.soak
@pytest.mark.parametrize("case", CASES)
def test_exactly_ten_are_admitted_in_each_of_fifty_rounds(racers, fresh_place, case):
    race_often(racers, fresh_place, case, 50)


def test_no_more_questions_of_one_analyst_run_at_once_than_may_still_fail(racers, fresh_place):
    for _ in range(3):
        place = fresh_place()
        assert race(racers, place, "pure", analyst="ann") == Ration().failures
        with LedgerFile(place) as ledger:
            assert ledger.verify().charges == Ration().failures


def test_the_race_catches_a_file_that_is_checked_and_then_charged(racers, tmp_path):
    admitted = [race(racers, tmp_path / f"{number}", "pure", fault="file") for number in range(5)]
    assert max(admitted) > ADMITTED


@pytest.mark.slow
def test_the_race_catches_a_server_that_is_checked_and_then_charged(racers, postgres_server):
    admitted = []
    for _ in range(5):
        address = postgres_server.database()
        postgres_server.execute("CREATE TABLE account (spent INTEGER)", address.rpartition("/")[2])
        admitted.append(race(racers, address, "pure", fault="server"))
    assert max(admitted) > ADMITTED
