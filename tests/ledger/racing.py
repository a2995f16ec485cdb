"""One of eight processes, each with eight threads, that race for the same budget.

Started by test_races.py: a task comes in as a line of JSON, "ready" goes out, any line starts the race, and
how many threads were admitted goes out.
"""

import contextlib
import json
import sqlite3
import sys
import threading
from collections.abc import Callable

from discreet.accounting.rule import read_notion
from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger, Request

THREADS = 8


def race(ask: Callable[[], object]) -> int:
    """How many of this process's threads were admitted."""
    admitted: list[object] = []
    ready = threading.Barrier(THREADS + 1)

    def run() -> None:
        ready.wait()
        with contextlib.suppress(BudgetExceeded):
            admitted.append(ask())

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
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


def main() -> None:
    for line in sys.stdin:
        task = json.loads(line)
        if task["fault"]:
            print(race(lambda path=task["path"]: check_then_act(path)), flush=True)
            continue
        price = Request(loss=read_notion(task["price"]))
        with Ledger.open(task["path"], dataset="bank", budget=read_notion(task["budget"])) as ledger:
            print(race(lambda ledger=ledger, price=price: ledger.charge(price)), flush=True)


if __name__ == "__main__":
    main()
