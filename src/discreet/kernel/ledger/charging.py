"""How a request becomes a charge: all accounts or none, and one answer at most.

Tested by: tests/ledger/test_ledger.py, tests/ledger/test_stateful.py
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import LedgerConflict, PolicyViolation
from discreet.kernel.accounting import Rule, Total, exceeded, read_rule
from discreet.kernel.ledger.declaration import Declaration, rest_of, share_of
from discreet.kernel.ledger.entry import Entry, readable
from discreet.kernel.ledger.request import Request
from discreet.kernel.ledger.store import AccountRow, ChargeRow, KeyRow, State, Transaction
from discreet.kernel.numerics import short_down, show_exact


def append(transaction: Transaction, facts: Mapping[str, Any]) -> Entry:
    """Write the next entry of the chain."""
    entry = Entry.after(transaction.head(), facts)
    transaction.append(entry)
    return entry


def now() -> str:
    """Return the time of an entry, in UTC.

    Only what is written before data is read carries one: a duration would say something of the data.
    """
    return datetime.now(UTC).isoformat(timespec="seconds")


@lru_cache(maxsize=1024)
def rule_of(terms: str) -> Rule[Any]:
    """Return the rule of an account, from its canonical text."""
    with readable():
        return read_rule(json.loads(terms))


def question_digest(declared: Declaration, request: Request) -> str:
    """Return under what an answer is found again: question, price, policy, version, and whose answer it
    is.
    """
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
    moves = [
        _move(before, request, costs)
        for before in _accounts(transaction, declared, request.analyst, request.question)
    ]
    check_least(declared, moves[0][0], moves[0][1])
    entry = _pay(transaction, declared, request, moves, kind="charge")
    question = question_digest(declared, request)
    row = ChargeRow(entry.sequence, declared.dataset, request.analyst, question, owner)
    transaction.add_charge(row)
    return row


def read_shared(
    transaction: Transaction,
    declared: Declaration,
    request: Request,
    charge: int,
    *,
    costs: Mapping[tuple[str, ...], Total],
) -> None:
    """Charge an analyst who reads what another paid for: the reader's own account alone, once for each
    answer.
    """
    name, terms = analyst_account(declared, request.analyst)
    before = transaction.account(name) or open_account(transaction, name, terms)
    entry = _pay(transaction, declared, request, [_move(before, request, costs)], kind="read", charge=charge)
    mark = KeyRow(declared.dataset, request.analyst, read_mark(charge), "", entry.sequence)
    transaction.add_key(mark)


def must_pay_to_read(transaction: Transaction, declared: Declaration, analyst: str, row: ChargeRow) -> bool:
    """Return whether a stored answer is another's, and this analyst's own account has not paid for it yet."""
    if row.analyst == analyst or declared.per_analyst is None:
        return False
    return transaction.key(declared.dataset, analyst, read_mark(row.id)) is None


def read_mark(charge: int) -> str:
    """Return under what it is remembered that an analyst has read an answer; no key of a request can look
    so.
    """
    return f"\nread {charge}"


def analyst_account(declared: Declaration, analyst: str) -> tuple[str, str]:
    """Return the account of one analyst, and its rule's canonical text."""
    own = declared.accounts(analyst=analyst, question=None).items()
    return next((name, terms) for name, terms in own if name != declared.dataset)


def _move(
    before: AccountRow, request: Request, costs: Mapping[tuple[str, ...], Total]
) -> tuple[AccountRow, Total, Total]:
    """Return what a request costs an account, and the total after it, if it fits."""
    rule = rule_of(before.terms)
    cost = costs[rule.measure] if rule.measure in costs else rule.cost(request.loss, request.price)
    total = before.total.plus(cost)
    if not before.limit.admits(total):
        raise exceeded(rule, before.total, account=f"account '{before.name}'")
    return before, cost, total


def _pay(
    transaction: Transaction,
    declared: Declaration,
    request: Request,
    moves: Sequence[tuple[AccountRow, Total, Total]],
    **what: Any,
) -> Entry:
    entry = append(
        transaction,
        {
            **what,
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
    return entry


def check_least(declared: Declaration, whole: AccountRow, cost: Total) -> None:
    """Refuse a price below the least part of the data set's budget, counted as its account counts."""
    part = declared.allowed.least_price
    if cost.main < part * whole.limit.main:
        got = short_down(Fraction(cost.main, whole.limit.main))
        raise PolicyViolation(
            f"a question must cost at least {show_exact(part)} of the budget, got {got} of it. Name a "
            "larger price; the policy sets the least one (least_price of its ration).",
            parameter="least_price",
        )


def _accounts(
    transaction: Transaction, declared: Declaration, analyst: str, question: str | None
) -> Iterator[AccountRow]:
    """Yield every account that a charge must fit; made where it is the first to need it."""
    for name, terms in declared.accounts(analyst=analyst, question=question).items():
        yield transaction.account(name) or open_account(transaction, name, terms)
    apart = kept_apart(transaction, declared.dataset, analyst)
    if apart is not None:
        yield apart


def kept_apart(transaction: Transaction, dataset: str, analyst: str) -> AccountRow | None:
    """Return the account this analyst draws from (own share or unreserved rest); None without
    reservations.
    """
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


def end(transaction: Transaction, charge: int, state: State, answer: bytes | None) -> None:
    """Turn a charge from charged to answered or abandoned, once."""
    if not transaction.settle(charge, state, answer):
        raise LedgerConflict(f"charge {charge} must be running to be {state}, and it is not.")


def answer(transaction: Transaction, charge: int, given: bytes) -> None:
    """Store the answer of a charge; the chain keeps its digest."""
    end(transaction, charge, "answered", given)
    digest = hashlib.sha256(given).hexdigest()
    append(transaction, {"kind": "answered", "charge": charge, "digest": digest})


def abandon(transaction: Transaction, charge: int, *, stopped: bool = False) -> None:
    """Give up a charge that ended without a failure; nothing is refunded. A clean stop is the owner's."""
    end(transaction, charge, "abandoned", None)
    when = {"time": now()} if stopped else {}
    kind = "stopped" if stopped else "abandoned"
    append(transaction, {"kind": kind, "charge": charge, "digest": "", **when})
