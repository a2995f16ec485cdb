"""Where the ledgers of tests lie, and what is asked of them."""

import itertools
import os

from discreet.ledger import Request
from discreet.losses import PureDP
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
