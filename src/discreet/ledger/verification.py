"""The whole ledger, recomputed from its entries alone and compared with what its tables say."""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.accounting import Total
from discreet.errors import BudgetExceeded, LedgerConflict
from discreet.ledger.charging import rule_of
from discreet.ledger.declaration import Declaration, rest_of, share_of
from discreet.ledger.entry import Entry, Head, canonical
from discreet.ledger.shares import set_aside
from discreet.ledger.store import AccountRow, ChargeRow, Guard, Transaction


@dataclass(frozen=True)
class Verification:
    """What was found sound."""

    entries: int
    charges: int
    answers: int
    head: str


@dataclass
class Replay:
    """What the entries add up to."""

    head: Head = field(default_factory=Head.at_origin)
    accounts: dict[str, AccountRow] = field(default_factory=dict)
    declarations: dict[str, dict[str, Any]] = field(default_factory=dict)
    declared: dict[str, Declaration] = field(default_factory=dict)  # the same, read
    states: dict[int, tuple[str, str]] = field(default_factory=dict)  # of each charge: state, answer's digest

    def add(self, entry: Entry) -> None:
        """Take one more entry, or refuse it."""
        if not entry.follows(self.head):
            raise LedgerConflict(
                f"entry {entry.sequence} must follow the one before it, and its hash does not."
            )
        self.head = entry.head
        facts = entry.facts
        getattr(self, f"_{facts['kind']}")(entry.sequence, facts)

    def _dataset(self, sequence: int, facts: dict[str, Any]) -> None:
        _require(facts["dataset"] not in self.declarations, sequence)
        self.declarations[facts["dataset"]] = facts["declaration"]
        self._declare(facts["dataset"])

    def _declare(self, dataset: str) -> None:
        self.declared[dataset] = Declaration.from_json(canonical(self.declarations[dataset]))

    def _account(self, sequence: int, facts: dict[str, Any]) -> None:
        _require(facts["account"] not in self.accounts, sequence)
        terms = canonical(facts["rule"])
        row = AccountRow(facts["account"], terms, rule_of(terms).limit, Total(), sequence)
        self.accounts[row.name] = row

    def _owner(self, sequence: int, facts: dict[str, Any]) -> None:
        declaration = self.declarations[facts["dataset"]]
        for name, (before, after) in facts["changed"].items():
            _require(declaration[name] == before, sequence)
            declaration[name] = after
        self._declare(facts["dataset"])
        if "rule" in facts["changed"]:
            terms = canonical(declaration["rule"])
            for name in {facts["dataset"], rest_of(facts["dataset"])} & set(self.accounts):
                total = self.accounts[name].total
                self.accounts[name] = AccountRow(name, terms, rule_of(terms).limit, total, sequence)

    def _share(self, sequence: int, facts: dict[str, Any]) -> None:
        names = rest_of(facts["dataset"]), share_of(facts["dataset"], facts["analyst"])
        before = self.accounts.get(names[0]), self.accounts.get(names[1])
        rule = rule_of(canonical(facts["rule"]))
        for row in set_aside(self.accounts[facts["dataset"]], *before, rule, names):
            self.accounts[row.name] = replace(row, sequence=sequence)

    def _charge(self, sequence: int, facts: dict[str, Any]) -> None:
        _require(set(facts["costs"]) == self._must_fit(facts), sequence)
        for name, cost in facts["costs"].items():
            row = self.accounts[name]
            total = row.total.plus(Total.from_json(cost))
            _require(total == Total.from_json(facts["totals"][name]), sequence)
            _require(row.limit.admits(total), sequence)
            self.accounts[name] = AccountRow(name, row.terms, row.limit, total, sequence)
        self.states[sequence] = ("charged", "")

    def _must_fit(self, facts: dict[str, Any]) -> set[str]:
        """The accounts that a charge must have been taken from."""
        dataset, analyst = facts["dataset"], facts["analyst"]
        accounts = set(self.declared[dataset].accounts(analyst=analyst, question=facts["question"]))
        if rest_of(dataset) in self.accounts:
            share = share_of(dataset, analyst)
            accounts.add(share if share in self.accounts else rest_of(dataset))
        return accounts

    def _answered(self, sequence: int, facts: dict[str, Any]) -> None:
        _require(self.states.get(facts["charge"]) == ("charged", ""), sequence)
        self.states[facts["charge"]] = (facts["kind"], facts["digest"])

    _abandoned = _answered


def replay(entries: Iterable[Entry]) -> Replay:
    """Check every hash and add up every account."""
    found = Replay()
    for entry in entries:
        try:
            found.add(entry)
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, BudgetExceeded):
            raise _broken(entry.sequence) from None
    return found


def verify(transaction: Transaction, guard: Guard) -> Verification:
    """Compare tables with entries, and the end with seal and anchors; the first difference is an error."""
    guard.check(transaction)
    found = replay(transaction.entries())
    if transaction.head() != found.head:
        raise LedgerConflict("the ledger's head must be its last entry, and it is not.")
    if {row.name: row for row in transaction.accounts()} != found.accounts:
        raise LedgerConflict("every account must hold the total of its entries, and one does not.")
    kept = transaction.datasets()
    if kept != {name: canonical(facts) for name, facts in found.declarations.items()}:
        raise LedgerConflict("every data set must be as its entries declare it, and one is not.")
    answers = _check_charges(transaction.charges(), found.states)
    return Verification(found.head.sequence, len(found.states), answers, found.head.digest)


def _check_charges(rows: Iterable[ChargeRow], states: dict[int, tuple[str, str]]) -> int:
    seen, answers = 0, 0
    for row in rows:
        digest = "" if row.answer is None else hashlib.sha256(row.answer).hexdigest()
        if not _same(states.get(row.id), (row.state, digest)):
            raise LedgerConflict(f"charge {row.id} must be as its entries left it, and it is not.")
        seen, answers = seen + 1, answers + (row.answer is not None)
    if seen != len(states):
        raise LedgerConflict("every charge of the chain must be kept, and one is missing.")
    return answers


def _same(stated: tuple[str, str] | None, found: tuple[str, str]) -> bool:
    return stated is not None and stated[0] == found[0] and hmac.compare_digest(stated[1], found[1])


def _require(condition: bool, sequence: int) -> None:
    if not condition:
        raise _broken(sequence)


def _broken(sequence: int) -> LedgerConflict:
    return LedgerConflict(f"entry {sequence} must agree with the entries before it, and it does not.")
