"""A curator on Spark in a process of its own, told what to do line by line; each answer is a line of JSON.

    ask EPSILON       ask once
    die EPSILON       ask, and kill this process's own driver when the question is under way
    wait EPSILON      ask; when it is under way say so, and wait a second before the data is read

A process has one Spark, and tests kill it: so each has its own.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from discreet import Curator
from discreet.errors import DiscreetError

TEXT = "SELECT g, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY g"
OPENING = {
    "name": "t",
    "unit": "person",
    "budget": {"epsilon": 10_000},
    "keys": {"g": list(range(5))},
    "bounds": {"amount": (0, 10)},
    "max_groups": 5,
    "max_rows": 5,
}


def ask(curator, epsilon):
    """The rounded counts, or the error; and what is left either way."""
    try:
        found = {"counts": [round(row["n"]) for row in curator.ask(TEXT, epsilon=epsilon).rows]}
    except DiscreetError as error:
        found = {"error": error.code, "message": str(error), "cause": repr(error.__cause__)}
    return found | {"remaining": str(curator.remaining.epsilon)}


def kill_in_mid_question(driver):
    """kill -9 of the JVM, which had stood still so that it could not answer before."""
    time.sleep(2)
    os.kill(driver, signal.SIGKILL)


def pause_driver():
    """Let the JVM that is this process's child stand still."""
    (driver,) = map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
    os.kill(driver, signal.SIGSTOP)
    return driver


def when_under_way(engine, happens):
    """Let something happen after the next charge, before the data is read for it."""
    run = engine.run

    def run_once(plan):
        engine.run = run
        happens()
        return run(plan)

    engine.run = run_once


def die():
    threading.Thread(target=kill_in_mid_question, args=[pause_driver()]).start()


def wait():
    print(json.dumps({"under way": True}), flush=True)
    time.sleep(1)


def main():
    engine, path, ledger = sys.argv[1:]
    with Curator.open(path, engine=engine, ledger=ledger, **OPENING) as curator:
        curator.explain(TEXT, epsilon=1)  # opens the engine
        print(json.dumps({"ready": True}), flush=True)
        for line in sys.stdin:
            word, epsilon = line.split()
            if word != "ask":
                when_under_way(curator.resources.engine(), {"die": die, "wait": wait}[word])
            print(json.dumps(ask(curator, int(epsilon))), flush=True)


if __name__ == "__main__":
    main()
