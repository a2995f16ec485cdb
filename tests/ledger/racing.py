"""One of eight processes, each with eight threads, that race for the same budget.

Started by test_races.py: a task comes in as a line of JSON, "ready" goes out, any line starts the race, how
many threads were admitted goes out, and any line ends it.
"""

import contextlib
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from functools import partial

import psycopg

from discreet.errors import BudgetExceeded, Rationed
from discreet.kernel.accounting import Notion, read_notion
from discreet.kernel.ledger import Ledger, Request

THREADS = 8


def race(ask: Callable[[int], object]) -> int:
    """How many of this process's threads were admitted."""
    admitted: list[object] = []
    ready = threading.Barrier(THREADS + 1)

    def run(number: int) -> None:
        ready.wait()
        with contextlib.suppress(BudgetExceeded, Rationed):
            admitted.append(ask(number))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    sys.stdin.readline()
    ready.wait()
    for thread in threads:
        thread.join()
    return len(admitted)


def check_then_act(path: str) -> None:
    """The planted fault: look whether a charge fits, then take it."""
    with contextlib.closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS account (spent INTEGER)")
        spent = connection.execute("SELECT coalesce(sum(spent), 0) FROM account").fetchone()[0]
        if spent >= 10:
            raise BudgetExceeded("spent")
        connection.execute("INSERT INTO account VALUES (1)")


def check_then_act_on_a_server(address: str) -> None:
    """The same fault in PostgreSQL, where READ COMMITTED does not help against it."""
    with psycopg.connect(address) as connection:
        spent = connection.execute("SELECT count(*) FROM account").fetchone()
        if spent is None or spent[0] >= 10:
            raise BudgetExceeded("spent")
        connection.execute("INSERT INTO account VALUES (1)")


def ask_for(ledgers: list[Ledger], price: Notion, analyst: str | None, thread: int) -> object:
    """One charge of a thread: an analyst of its own, who has failures left, unless all are one."""
    name = analyst or f"{os.getpid()} {thread}"
    return ledgers[thread % 2].charge(Request(loss=price, analyst=name))


FAULTS = {"file": check_then_act, "server": check_then_act_on_a_server}


def main() -> None:
    for line in sys.stdin:
        task = json.loads(line)
        if task["fault"]:
            fault = FAULTS[task["fault"]]
            print(race(lambda _, fault=fault, place=task["place"]: fault(place)), flush=True)
            continue
        price, budget = read_notion(task["price"]), read_notion(task["budget"])
        with contextlib.ExitStack() as open_ledgers:  # two curators in each process, four threads for each
            ledgers = [
                open_ledgers.enter_context(Ledger.open(task["place"], dataset="bank", budget=budget))
                for _ in range(2)
            ]
            print(race(partial(ask_for, ledgers, price, task["analyst"])), flush=True)
            sys.stdin.readline()  # what was charged is under way until all have raced


if __name__ == "__main__":
    main()
