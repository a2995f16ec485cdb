"""A ledger with a long past, written straight into the file: the same rows, without waiting for the disk."""

import hashlib
import sqlite3
from pathlib import Path

from discreet.kernel.accounting import Total, rule_for
from discreet.kernel.ledger.declaration import Declaration
from discreet.kernel.ledger.entry import Entry, Head, canonical
from discreet.kernel.ledger.sqlite import MIGRATIONS, migrate
from discreet.kernel.ledger.store import AccountRow
from discreet.kernel.ledger.tables import Tables
from discreet.kernel.losses import PureDP

BUDGET = PureDP(10**4)
PRICE = PureDP(0.001)
ANSWER = b"42"


def write_past(path: Path, charges: int, *, version: int = len(MIGRATIONS)) -> None:
    """A ledger of data set "bank" with so many answered charges, as that version would have left it."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    try:
        _make_version(connection, version)
        connection.execute("BEGIN")
        _fill(connection, charges)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _make_version(connection: sqlite3.Connection, version: int) -> None:
    migrate(connection)
    for step in MIGRATIONS[version:]:
        for statement in reversed(step):
            kind, name = statement.split()[1:3]
            connection.execute(f"DROP {kind} {name}")
    connection.execute(f"PRAGMA user_version = {version}")


def _fill(connection: sqlite3.Connection, charges: int) -> None:
    rule, total, head = rule_for(BUDGET), Total(), Head.at_origin()
    declaration = Declaration(dataset="bank", rule=rule.to_json())
    cost = rule.cost(PRICE)
    entries, rows = [], []

    def add(**facts: object) -> None:
        nonlocal head
        entry = Entry.after(head, facts)
        entries.append((entry.sequence, entry.previous, entry.body, entry.digest))
        head = entry.head

    add(kind="dataset", dataset="bank", declaration=declaration.facts, other_people=None, time="")
    add(kind="account", account="bank", rule=rule.to_json(), time="")
    for number in range(charges):
        total = total.plus(cost)
        sums = {"costs": {"bank": cost.to_json()}, "totals": {"bank": total.to_json()}}
        add(kind="charge", dataset="bank", analyst="owner", question=None, version="1", time="", **sums)
        rows.append((head.sequence, "bank", "owner", f"{number:064x}", "owner", "answered", ANSWER))
        add(kind="answered", charge=head.sequence, digest=hashlib.sha256(ANSWER).hexdigest())
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?)", entries)
    connection.executemany("INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    connection.execute("UPDATE head SET sequence = ?, digest = ?", (head.sequence, head.digest))
    tables = Tables(connection.execute)
    tables.add_dataset("bank", declaration.to_json())
    last = head.sequence - 1 if charges else head.sequence
    tables.open_account(AccountRow("bank", canonical(rule.to_json()), rule.limit, total, last))
