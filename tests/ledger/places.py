"""Where the ledgers of tests lie."""

import itertools
import os

from servers.postgres import PostgresServer

NUMBERS = itertools.count()


def fresh_address(server: PostgresServer) -> str:
    """A schema of its own, in the one database that the ledger tests share."""
    return f"{server.url()}?schema=ledger_{os.getpid()}_{next(NUMBERS)}"
