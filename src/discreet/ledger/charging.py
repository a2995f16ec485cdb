"""How a request becomes a charge: all accounts or none, and one answer at most."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from discreet.accounting import Rule, Total, exceeded, read_rule
from discreet.errors import LedgerConflict
from discreet.ledger.declaration import Declaration, rest_of, share_of
from discreet.ledger.entry import Entry
from discreet.ledger.request import Request
from discreet.ledger.store import AccountRow, ChargeRow, State, Transaction


def append(transaction: Transaction, facts: Mapping[str, Any]) -> Entry:
    """Write the next entry of the chain."""
    entry = Entry.after(transaction.head(), facts)
    transaction.append(entry)
    return entry


def now() -> str:
    """The time of an entry, in UTC.

    Only what is written before data is read carries one: a duration would say something of the data.
    """
    return datetime.now(UTC).isoformat(timespec="seconds")


@lru_cache(maxsize=1024)
def rule_of(terms: str) -> Rule[Any]:
    """The rule of an account, from its canonical text."""
    return read_rule(json.loads(terms))


def question_digest(declared: Declaration, request: Request) -> str:
    """Under what an answer is found again: question, price, policy, version, and whose answer it is."""
    if request.question is None:
        return ""
    return request.digest(declared.version, whose=None if declared.answers == "own" else "")


def take(
    transaction: Transaction,
    declared: Declaration,
    request: Request,
    *,
    owner: str,
    costs: Mapping[tuple[str, ...], Total],
) -> ChargeRow:
    """Charge every account, or raise BudgetExceeded and change nothing."""
    question = question_digest(declared, request)
    moves = []
    for before in _accounts(transaction, declared, request.analyst, request.question):
        rule = rule_of(before.terms)
        cost = costs[rule.measure] if rule.measure in costs else rule.cost(request.loss, request.price)
        total = before.total.plus(cost)
        if not before.limit.admits(total):
            raise exceeded(rule, before.total, account=f"account '{before.name}'")
        moves.append((before, cost, total))
    entry = append(
        transaction,
        {
            "kind": "charge",
            "dataset": declared.dataset,
            "time": now(),
            "version": declared.version,
            **request.facts,
            "costs": {before.name: cost.to_json() for before, cost, _ in moves},
            "totals": {before.name: total.to_json() for before, _, total in moves},
        },
    )
    for before, _, total in moves:
        transaction.move_account(before, replace(before, total=total, sequence=entry.sequence))
    row = ChargeRow(entry.sequence, declared.dataset, request.analyst, question, owner)
    transaction.add_charge(row)
    return row


def _accounts(
    transaction: Transaction, declared: Declaration, analyst: str, question: str | None
) -> Iterator[AccountRow]:
    """Every account that a charge must fit; made where it is the first to need it."""
    for name, terms in declared.accounts(analyst=analyst, question=question).items():
        yield transaction.account(name) or open_account(transaction, name, terms)
    apart = kept_apart(transaction, declared.dataset, analyst)
    if apart is not None:
        yield apart


def kept_apart(transaction: Transaction, dataset: str, analyst: str) -> AccountRow | None:
    """The analyst's share, or the rest that is nobody's; None where nothing is reserved."""
    rest = transaction.account(rest_of(dataset))
    return rest and (transaction.account(share_of(dataset, analyst)) or rest)


def open_account(transaction: Transaction, name: str, terms: str) -> AccountRow:
    """Make an account, with its rule, as an entry of the chain."""
    entry = append(
        transaction, {"kind": "account", "account": name, "rule": json.loads(terms), "time": now()}
    )
    row = AccountRow(name, terms, rule_of(terms).limit, Total(), entry.sequence)
    transaction.open_account(row)
    return row


def settle(transaction: Transaction, charge: int, state: State, answer: bytes | None, digest: str) -> None:
    """Charged becomes answered or abandoned, once; the chain keeps the answer's digest."""
    if not transaction.settle(charge, state, answer):
        raise LedgerConflict(f"charge {charge} must be running to be {state}, and it is not.")
    append(transaction, {"kind": state, "charge": charge, "digest": digest})


def abandon(transaction: Transaction, charge: int) -> None:
    """Give up a charge; nothing is refunded."""
    settle(transaction, charge, "abandoned", None, "")
