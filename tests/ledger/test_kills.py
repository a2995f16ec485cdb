"""Random kill -9 under load."""

import subprocess
import sys
from pathlib import Path

import pytest

from ledger.places import fresh_address

KILLING = Path(__file__).parent / "crash" / "killing.py"


def kill(ledger, kills):
    done = subprocess.run(
        [sys.executable, KILLING, ledger, str(kills)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == kills // 2
    assert sum(int(line.split()[0]) for line in lines) > kills  # there was a load to lose


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_fifty_kills(tmp_path):
    kill(tmp_path / "bank.ledger", 50)


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_by_kills_of_the_clients_of_a_server(postgres_server):
    kill(fresh_address(postgres_server), 16)


@pytest.mark.soak
def test_nothing_acknowledged_is_lost_by_five_hundred_kills(fresh_place):
    kill(fresh_place(), 500)
