"""A budget that cannot be overspent: the durable record of charges.

The curator uses it so:

    ledger = Ledger.open("bank.ledger", dataset="bank", budget=ApproxDP(1, 1e-6), unit="person", schema=...,
    version="2026-11") charge = ledger.charge(Request(loss=plan.loss, price=ApproxDP(0.5, 1e-8),
    question=..., analyst=..., policy=..., key=...)) if charge.answer is None:              # else it was
    stored before, and is free
        ... run the object that was charged, once ...
        ledger.answer(charge, answer)      # on disk before its first byte leaves
    ... send charge.answer or answer ...

What holds, whatever crashes, races or retries:

- `charge` returns only after the price is on disk, taken from every account it must fit (data set, analyst,
  question) or from none. There is no refund: `abandon` only says that no answer will come.
- a charge has at most one answer, set by one compare-and-set; a charge without one whose process is gone is
  abandoned and never run again. Another process's running charge is left alone: it holds a lock that ends
  with it.
- the same idempotency key gives the same charge; the same question at the same price, policy and version
  gives the stored bytes, free.
- the ledger keeps its own budget. A different one is refused; `raise_budget` and `amend` are entries of the
  chain.
- every entry is chained by hash to all before it; anchors see a ledger that was set back or copied.
- a watch (sparse vector) is charged whole when opened (`open_watch`); each of its questions is entered
  before it reads data (`begin_test`).
- a charge that ends without an answer is counted (`failing.py`), by the unit of work that ends it; who has
  used up the allowance is refused until the owner releases it. A clean `close` is the owner's stop, and no
  failure.

`remaining`, `spent`, `history()` and `verify()` look; `LedgerFile` is the file in its owner's hands.
"""

from discreet.kernel.ledger.anchor import Anchor, CommandAnchor, FileAnchor
from discreet.kernel.ledger.declaration import Declaration, Ration, read_ration
from discreet.kernel.ledger.entry import Entry, Head
from discreet.kernel.ledger.failing import failed
from discreet.kernel.ledger.file import LedgerFile, read_declaration
from discreet.kernel.ledger.ledger import Ledger
from discreet.kernel.ledger.request import Answered, Charge, Request
from discreet.kernel.ledger.statement import Balance, Record
from discreet.kernel.ledger.verification import Verification

__all__ = [
    "Anchor",
    "Answered",
    "Balance",
    "Charge",
    "CommandAnchor",
    "Declaration",
    "Entry",
    "FileAnchor",
    "Head",
    "Ledger",
    "LedgerFile",
    "Ration",
    "Record",
    "Request",
    "Verification",
    "failed",
    "read_declaration",
    "read_ration",
]
