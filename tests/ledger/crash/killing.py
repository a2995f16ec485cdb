"""Kill processes under load, again and again, and look at what they left: prints one line for each round.

usage: killing.py LEDGER KILLS

In each round two processes of four threads charge and answer. One is killed at a random moment; the ledger
is then opened beside the other, which must not lose a single running charge; then the other is killed as
well.
"""

import os
import random
import signal
import sys
import threading
import time

from discreet.errors import DiscreetError
from discreet.kernel.ledger import Ledger, Ration, Request
from discreet.kernel.losses import PureDP

THREADS = 4
PRICE = PureDP(0.001)


def open_ledger(place: str) -> Ledger:
    return Ledger.open(place, dataset="bank", budget=PureDP(1000), ration=Ration(least_price=1e-6))


def load(place: str, pipe: int) -> None:
    """Ask without end; say what was acknowledged, never before it was."""
    ledger = open_ledger(place)

    def ask(thread: int) -> None:
        number, analyst = (
            0,
            f"{os.getpid()} {thread}",
        )  # however many failed before, one is left to a newcomer
        while True:
            number += 1
            question = f"SELECT {os.getpid()}, {thread}, {number}"
            try:
                charge = ledger.charge(Request(loss=PRICE, question=question, analyst=analyst))
                os.write(pipe, f"charged {charge.id}\n".encode())
                ledger.answer(charge, question.encode())
                os.write(pipe, f"sent {charge.id} {question}\n".encode())
            except DiscreetError as error:
                os.write(pipe, f"refused {error}\n".encode())

    for thread in range(THREADS):
        threading.Thread(target=ask, args=(thread,), daemon=True).start()
    threading.Event().wait()


class Worker:
    def __init__(self, place: str) -> None:
        self._reads, writes = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                load(place, writes)
            finally:
                os._exit(1)
        os.close(writes)

    def wait_for_load(self) -> bytes:
        return os.read(self._reads, 1)

    def kill(self, first: bytes) -> list[str]:
        """End the process as a power switch would; what it had acknowledged."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        said = first
        while part := os.read(self._reads, 1 << 16):
            said += part
        os.close(self._reads)
        return said.decode().splitlines()


def check(place: str, acks: list[str], *, may_refuse: bool = False) -> int:
    """Every charge and answer that was acknowledged is there, and the whole ledger verifies."""
    with open_ledger(place) as ledger:
        verified = ledger.verify()
        rows = {row.id: row for row in ledger._store.read(lambda transaction: list(transaction.charges()))}
        for ack in acks:
            word, rest = ack.split(" ", 1)
            if word == "refused" and may_refuse:
                continue
            assert word != "refused", ack
            charge, *answer = rest.split(" ", 1)
            assert int(charge) in rows, ack
            assert word == "charged" or rows[int(charge)].answer == answer[0].encode(), ack
        unfinished = [row for row in rows.values() if row.state == "abandoned"]
        assert ledger.failures() == len(unfinished), "what was killed under way counts as a failure"
        return verified.charges


def main(place: str, kills: int) -> None:
    for _ in range(kills // 2):
        workers = [Worker(place) for _ in range(2)]
        firsts = [worker.wait_for_load() for worker in workers]
        time.sleep(random.uniform(0, 0.06))
        acks = workers[0].kill(firsts[0])
        check(place, acks)
        time.sleep(random.uniform(0, 0.01))
        acks += workers[1].kill(firsts[1])
        charges = check(place, acks)
        print(f"{len(acks)} acknowledgements kept, {charges} charges")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
