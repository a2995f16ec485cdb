"""How a request becomes a charge: all accounts or none, and one answer at most.

Tested by: tests/ledger/test_ledger.py, tests/ledger/test_shares.py, tests/ledger/test_stateful.py
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import BudgetExceeded, InvalidParameter, LedgerConflict, PolicyViolation
from discreet.kernel.accounting import NEVER, Budget, Rule, Total, describe, exceeded, read_rule, rule_for
from discreet.kernel.ledger.declaration import Declaration, rest_of, share_of
from discreet.kernel.ledger.entry import Entry, canonical, readable
from discreet.kernel.ledger.request import Request, check_name, check_reason
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


def question_digests(declared: Declaration, request: Request) -> tuple[str, ...]:
    """Return every name under which a question's answer or failure may be kept, today's first."""
    names = (question_digest(declared, each) for each in request.spellings)
    return tuple(name for name in names if name)


def find_answered(transaction: Transaction, declared: Declaration, request: Request) -> ChargeRow | None:
    """Return the answered charge that a request repeats, if there is one."""
    found = (transaction.answered(declared.dataset, name) for name in question_digests(declared, request))
    return next((row for row in found if row is not None), None)


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


# Reserved shares: a part of a data set's budget that is kept for one analyst.
#
# From the first reservation on the data set has a second account with its own budget, the *rest*, in
# which a share counts as spent from the moment it is reserved. A charge of an analyst with a share must
# fit the share, anyone else's the rest, and each, as ever, the data set's account.
#
#     total(data set) = total(rest) − Σ shares + Σ spent of shares <= total(rest) <= budget
#
# So what is left of a share always fits, whatever the others asked. This needs costs that add up: the
# advanced filter's do not.


def reserve(transaction: Transaction, dataset: str, analyst: str, budget: Budget, reason: str) -> None:
    """Set an analyst's share; one that has a share already may get more, or less than is unspent back."""
    check_name(analyst, name="analyst")
    whole = transaction.account(dataset)
    if whole is None:
        raise LedgerConflict(f"the ledger must have a data set '{dataset}', and it has none.")
    rule = _share_rule(rule_of(whole.terms), budget)
    names = rest_of(dataset), share_of(dataset, analyst)
    before = transaction.account(names[0]), transaction.account(names[1])
    after = set_aside(whole, *before, rule, names)
    facts = {"kind": "share", "dataset": dataset, "analyst": analyst, "rule": rule.to_json()}
    entry = append(transaction, {**facts, "reason": check_reason(reason), "time": now()})
    for old, new in zip(before, after, strict=True):
        row = replace(new, sequence=entry.sequence)
        if old is None:
            transaction.open_account(row)
        else:
            transaction.move_account(old, row)


def set_aside(
    whole: AccountRow,
    rest: AccountRow | None,
    share: AccountRow | None,
    rule: Rule[Any],
    names: tuple[str, str],
) -> tuple[AccountRow, AccountRow]:
    """Return the accounts of the rest and of the share, once a share has this rule and budget."""
    rest = rest or replace(whole, name=names[0])  # what was spent so far was spent by all
    share = share or AccountRow(names[1], "", rule.limit, Total(), 0)
    freed = rest.total.minus(_cost(whole, rule_of(share.terms)) if share.terms else Total())
    total = freed.plus(_cost(whole, rule))
    if not rest.limit.admits(total):
        left = describe(rule_of(whole.terms).remaining(freed))
        raise BudgetExceeded(
            f"a share must fit what is not reserved yet: {left} is left. Reserve less, or raise the budget."
        )
    if not rule.limit.admits(share.total):
        raise BudgetExceeded("a share must hold what was spent of it already, and this one does not.")
    return replace(rest, total=total), replace(share, terms=canonical(rule.to_json()), limit=rule.limit)


def _cost(whole: AccountRow, rule: Rule[Any]) -> Total:
    """Return what a share takes from the rest."""
    cost = rule_of(whole.terms).cost_of_promise(rule.budget)
    if cost is None:
        raise InvalidParameter("a share must be priced by the data set's rule.", parameter="budget")
    return cost


def _share_rule(whole: Rule[Any], budget: Budget) -> Rule[Any]:
    if whole.limit.square != NEVER:
        raise InvalidParameter(
            "shares must be reserved of a budget whose costs add up, and those of filter='advanced' do not. "
            "Open the data set without it.",
            parameter="filter",
        )
    if type(budget) is not type(whole.budget):
        raise InvalidParameter(
            f"a share must be of the budget's own notion, {type(whole.budget).__name__}, "
            f"got {type(budget).__name__}.",
            parameter="budget",
        )
    return rule_for(budget, relation=whole.budget.relation)
