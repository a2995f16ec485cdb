"""Statements of account: balances in the notion of the budget, and the history.

Tested by: tests/ledger/test_balance.py
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import LedgerConflict
from discreet.kernel.accounting import Budget, Total, describe, least, read_rule
from discreet.kernel.ledger.charging import kept_apart, rule_of
from discreet.kernel.ledger.declaration import Declaration
from discreet.kernel.ledger.entry import Entry, readable
from discreet.kernel.ledger.store import AccountRow, Transaction
from discreet.kernel.numerics import Shown, exact


@dataclass(frozen=True)
class Balance:
    """Budget, rule, what is spent since collection and what is left."""

    account: str
    rule: str
    budget: Budget
    spent: Budget
    remaining: Budget

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers; where a float cannot hold one exactly, spending is rounded up, the rest
        down.
        """
        return {
            "account": self.account,
            "rule": self.rule,
            "relation": self.budget.relation,
            "budget": _numbers(self.budget, -math.inf),
            "spent": _numbers(self.spent, math.inf),
            "remaining": _numbers(self.remaining, -math.inf),
        }


def _numbers(notion: Budget, side: float) -> dict[str, float]:
    return {name: _shown(number, side) for name, number in notion.numbers().items()}


def _shown(value: Fraction, side: float) -> float:
    """Return the float that prints as the number; where there is none, the next float on the safe side."""
    nearest = float(value)
    return nearest if exact(nearest, name="number") == value else math.nextafter(nearest, side)


def balance_of(row: AccountRow) -> Balance:
    """Return the balance of a stored account."""
    rule = rule_of(row.terms)
    return Balance(row.name, rule.name, rule.budget, rule.spent(row.total), rule.remaining(row.total))


def read_remaining(transaction: Transaction, declared: Declaration, analyst: str) -> Budget:
    """Return what an analyst could still be charged: the least that is left in any account it must fit."""
    left, *others = (each.remaining for each in read_balances(transaction, declared, analyst))
    return least(left, others)


def read_balances(transaction: Transaction, declared: Declaration, analyst: str) -> tuple[Balance, ...]:
    """Return the accounts that every charge of an analyst must fit, the data set's first."""
    rows = [
        transaction.account(name) or AccountRow(name, terms, rule_of(terms).limit, Total(), 0)
        for name, terms in declared.accounts(analyst=analyst, question=None).items()
    ]
    apart = kept_apart(transaction, declared.dataset, analyst)
    return tuple(map(balance_of, (*rows, *([apart] if apart else []))))


def read_balance(transaction: Transaction, account: str) -> Balance:
    """Return the balance of the account of this name."""
    row = transaction.account(account)
    if row is None:
        raise LedgerConflict(f"the ledger must have an account '{account}', and it has none.")
    return balance_of(row)


@dataclass(repr=False)
class Record(Shown):
    """One charge or owner's entry. Numbers are exact decimals in the rule's own measure."""

    sequence: int
    kind: str  # "dataset", "owner", "share", "charge", "read", "release" or "decision"
    time: str
    analyst: str | None = None
    question: str | None = None
    version: str | None = None
    state: str | None = (
        None  # of a charge: charged, answered, failed, stopped, abandoned; of a decision: which
    )
    cost: str | None = None
    delta: str | None = None
    total: str | None = None  # of the data set's account, after this; or of the one analyst asked about
    total_delta: str | None = None
    reason: str | None = None
    share: str | None = None  # what was reserved for the analyst

    def to_json(self) -> dict[str, Any]:
        """Return the record without what does not apply to it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def read_history(entries: Iterator[Entry], dataset: str, analyst: str | None = None) -> tuple[Record, ...]:
    """Return the records of one data set, in order; of one analyst alone, the charges, and nothing of
    others.
    """
    with readable():
        records = _read_all(entries, dataset)
    if analyst is None:
        return records
    mine = [record for record in records if (record.kind, record.analyst) == ("charge", analyst)]
    total = Total()
    for record in mine:
        total = total.plus(Total.from_json([record.cost or "0", "0", record.delta or "0"]))
        record.total, _, record.total_delta = total.to_json()
    return tuple(mine)


_ENDS = {"answered": "answered", "abandoned": "abandoned", "failure": "failed", "stopped": "stopped"}


def _read_all(entries: Iterator[Entry], dataset: str) -> tuple[Record, ...]:
    records: dict[int, Record] = {}
    tests: dict[int, int] = {}  # the watch of each of its questions
    for entry in entries:
        facts = entry.facts
        if facts["kind"] == "test":
            tests[entry.sequence] = facts["charge"]
        elif facts["kind"] in _ENDS:
            charge, is_test = facts["charge"], facts["charge"] in tests
            record = records.get(tests[charge] if is_test else charge)
            if record is not None and (not is_test or facts["kind"] == "failure"):
                record.state = _ENDS[facts["kind"]]
        elif facts.get("dataset") == dataset:
            records[entry.sequence] = _record(entry.sequence, facts, dataset)
    return tuple(records.values())


def _record(sequence: int, facts: dict[str, Any], dataset: str) -> Record:
    record = Record(sequence, facts["kind"], facts["time"], facts.get("analyst"), reason=facts.get("reason"))
    if facts["kind"] == "charge":
        record.question, record.version = facts["question"], facts["version"]
        record.state = "charged"
        record.cost, _, record.delta = facts["costs"][dataset]
        record.total, _, record.total_delta = facts["totals"][dataset]
    if facts["kind"] == "decision":
        record.question, record.state = facts["question"], facts["decision"]
    if facts["kind"] == "share":
        record.share = describe(read_rule(facts["rule"]).budget)
    return record
