"""Charges and answers, one after another, and writes down what it was told; run under interpose.c.

usage: workload.py FOLDER QUESTIONS [SYNCHRONOUS]
"""

import os
import sys
from pathlib import Path

from discreet.errors import DiscreetError
from discreet.kernel.ledger import Ledger, Request
from discreet.kernel.ledger.sqlite import connection
from discreet.kernel.losses import PureDP


def main(folder: str, questions: int, synchronous: int = 3) -> None:
    connection.PRAGMAS = tuple(
        (name, synchronous if name == "synchronous" else value) for name, value in connection.PRAGMAS
    )
    acks = os.open(f"{folder}/acks", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    try:
        ledger = Ledger.open(Path(folder) / "bank.ledger", dataset="bank", budget=PureDP(1))
    except DiscreetError as error:
        os.write(acks, f"refused {error}\n".encode())
        return
    for number in range(questions):
        try:
            charge = ledger.charge(Request(loss=PureDP(0.01), question=f"SELECT {number}"))
            os.write(acks, f"charged {charge.id}\n".encode())
            ledger.answer(charge, f"answer {number}".encode())
            os.write(acks, f"sent {charge.id} answer {number}\n".encode())
        except DiscreetError as error:
            os.write(acks, f"refused {error}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
