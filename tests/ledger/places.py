"""Where the ledgers of tests lie, and what is asked of them."""

import itertools
import os
import subprocess
import sys

from discreet.kernel.ledger import Request
from discreet.kernel.losses import PureDP
from servers.postgres import PostgresServer

NUMBERS = itertools.count()


def fresh_address(server: PostgresServer) -> str:
    """A schema of its own, in the one database that the ledger tests share."""
    return f"{server.url()}?schema=ledger_{os.getpid()}_{next(NUMBERS)}"


def schema_of(address):
    return address.rpartition("=")[2]


def cut_all(server):
    """End every connection of a ledger, as a restart or a firewall would."""
    whose = "FROM pg_stat_activity WHERE application_name = 'discreet ledger'"
    assert server.execute(f"SELECT pg_terminate_backend(pid, 5000) {whose}")


def ask(question="SELECT 1", **more):
    return Request(loss=PureDP(0.1), question=question, **more)


FORKED_IN_THE_MIDDLE = """
import os, sys, threading
from discreet.kernel.ledger import Ledger, Request
from discreet.kernel.ledger.charging import abandon
from discreet.kernel.losses import PureDP

ledger = Ledger.open(sys.argv[1], dataset="bank", budget=PureDP(1))
charge = ledger.charge(Request(loss=PureDP(0.1)))
inside, go = threading.Event(), threading.Event()

def work(transaction):
    abandon(transaction, charge.id)
    inside.set()
    go.wait()

thread = threading.Thread(target=ledger._store.write, args=(work,))
thread.start()
inside.wait()
if os.fork() == 0:
    sys.exit(0)  # an ordinary end, with everything that Python tidies up
os.wait()
go.set()
thread.join()
print(ledger.verify().entries)
"""


def entries_after_a_fork_in_the_middle(place):
    """How many entries a ledger has after a child ended in the middle of its parent's commit."""
    command = [sys.executable, "-W", "ignore", "-c", FORKED_IN_THE_MIDDLE, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)
