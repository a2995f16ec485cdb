"""The whole ledger, recomputed from its entries alone and compared with what its tables say."""

import hashlib
import hmac
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.errors import BudgetExceeded, LedgerConflict
from discreet.kernel.accounting import Total, raised_rule
from discreet.kernel.ledger.charging import analyst_account, rule_of, set_aside
from discreet.kernel.ledger.declaration import Declaration, rest_of, share_of
from discreet.kernel.ledger.entry import Entry, Head, canonical
from discreet.kernel.ledger.failing import DECISIONS, left
from discreet.kernel.ledger.owner_actions import totals_for_groups
from discreet.kernel.ledger.store import AccountRow, ChargeRow, FailureRow, Guard, Transaction


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
    tests: int = 0  # of them, questions of watches, which were paid for before
    failures: dict[int, FailureRow] = field(default_factory=dict)
    counted: dict[str, list[FailureRow]] = field(default_factory=dict)  # by data set, since the owner looked
    amended: list[tuple[int, dict[str, Any]]] = field(default_factory=list)  # changes of who is protected

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
            _require(declaration.get(name) == before, sequence)
            declaration[name] = after
        self._declare(facts["dataset"])
        if "rule" in facts["changed"]:
            terms = canonical(declaration["rule"])
            for name in {facts["dataset"], rest_of(facts["dataset"])} & set(self.accounts):
                total = self._carried_over(sequence, name, terms)
                self.accounts[name] = AccountRow(name, terms, rule_of(terms).limit, total, sequence)
        if "group_size" in facts:
            self._amend(sequence, facts)

    def _carried_over(self, sequence: int, account: str, terms: str) -> Total:
        """Return the total of an account whose budget is raised."""
        row, rule = self.accounts[account], rule_of(terms)
        if "carried" not in rule.to_json():
            return row.total
        expected, total = raised_rule(rule_of(row.terms), rule.budget, row.total)
        _require(canonical(expected.to_json()) == terms and rule.limit.admits(total), sequence)
        return total

    def _amend(self, sequence: int, facts: dict[str, Any]) -> None:
        """Take the totals for groups as they are stated; `verify` computes them once more."""
        for name, total in facts["totals"].items():
            row = replace(self.accounts[name], total=Total.from_json(total), sequence=sequence)
            _require(row.limit.admits(row.total), sequence)
            self.accounts[name] = row
        self.amended.append((sequence, facts))

    def _share(self, sequence: int, facts: dict[str, Any]) -> None:
        names = rest_of(facts["dataset"]), share_of(facts["dataset"], facts["analyst"])
        before = self.accounts.get(names[0]), self.accounts.get(names[1])
        rule = rule_of(canonical(facts["rule"]))
        for row in set_aside(self.accounts[facts["dataset"]], *before, rule, names):
            self.accounts[row.name] = replace(row, sequence=sequence)

    def _charge(self, sequence: int, facts: dict[str, Any]) -> None:
        _require(set(facts["costs"]) == self._must_fit(facts), sequence)
        _require(self._may_ask(facts), sequence)
        self._pay(sequence, facts)
        self.states[sequence] = ("charged", "")

    def _read(self, sequence: int, facts: dict[str, Any]) -> None:
        declared = self.declared[facts["dataset"]]
        _require(list(facts["costs"]) == [analyst_account(declared, facts["analyst"])[0]], sequence)
        _require(self.states[facts["charge"]][0] == "answered", sequence)
        self._pay(sequence, facts)

    def _test(self, sequence: int, facts: dict[str, Any]) -> None:
        _require(facts["charge"] in self.states and self._may_ask(facts), sequence)
        self.states[sequence] = ("charged", "")
        self.tests += 1

    def _may_ask(self, facts: dict[str, Any]) -> bool:
        """Return whether the analyst had a failure left."""
        dataset = facts["dataset"]
        return left(self.counted.get(dataset, []), self.declared[dataset].allowed, facts["analyst"]) > 0

    def _pay(self, sequence: int, facts: dict[str, Any]) -> None:
        for name, cost in facts["costs"].items():
            row = self.accounts[name]
            total = row.total.plus(Total.from_json(cost))
            _require(total == Total.from_json(facts["totals"][name]), sequence)
            _require(row.limit.admits(total), sequence)
            self.accounts[name] = AccountRow(name, row.terms, row.limit, total, sequence)

    def _must_fit(self, facts: dict[str, Any]) -> set[str]:
        """Return the accounts that a charge must have been taken from."""
        dataset, analyst = facts["dataset"], facts["analyst"]
        accounts = set(self.declared[dataset].accounts(analyst=analyst, question=facts["question"]))
        if rest_of(dataset) in self.accounts:
            share = share_of(dataset, analyst)
            accounts.add(share if share in self.accounts else rest_of(dataset))
        return accounts

    def _answered(self, sequence: int, facts: dict[str, Any]) -> None:
        self._end(sequence, facts, facts["kind"], facts["digest"])

    def _end(self, sequence: int, facts: dict[str, Any], state: str, digest: str = "") -> None:
        _require(self.states.get(facts["charge"]) == ("charged", ""), sequence)
        self.states[facts["charge"]] = (state, digest)

    def _abandoned(self, sequence: int, facts: dict[str, Any]) -> None:
        self._end(sequence, facts, "abandoned")

    _stopped = _abandoned

    def _failure(self, sequence: int, facts: dict[str, Any]) -> None:
        self._end(sequence, facts, "abandoned")
        names = "dataset", "analyst", "charge", "question"
        row = self.failures[sequence] = FailureRow(sequence, *(facts[name] for name in names))
        self.counted.setdefault(row.dataset, []).append(row)

    def _release(self, sequence: int, facts: dict[str, Any]) -> None:
        counted = self.counted.get(facts["dataset"], [])
        released = [row for row in counted if facts["analyst"] in (None, row.analyst)]
        _require([row.id for row in released] == facts["failures"], sequence)
        self.counted[facts["dataset"]] = [row for row in counted if row not in released]
        for row in released:
            self.failures[row.id] = replace(row, released=sequence)

    def _decision(self, sequence: int, facts: dict[str, Any]) -> None:
        _require(facts["dataset"] in self.declared and facts["decision"] in DECISIONS, sequence)


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
    """Check tables against entries, and the chain's end against seal and anchors; raise at a difference."""
    guard.check(transaction)
    found = replay(transaction.entries())
    if transaction.head() != found.head:
        raise LedgerConflict("the ledger's head must be its last entry, and it is not.")
    if {row.name: row for row in transaction.accounts()} != found.accounts:
        raise LedgerConflict("every account must hold the total of its entries, and one does not.")
    kept = transaction.datasets()
    if kept != {name: declared.to_json() for name, declared in found.declared.items()}:
        raise LedgerConflict("every data set must be as its entries declare it, and one is not.")
    if transaction.failures() != list(found.failures.values()):
        raise LedgerConflict("every failure must be as its entries left it, and one is not.")
    for sequence, facts in found.amended:
        _check_amended(transaction, sequence, facts, found.accounts)
    answers = _check_charges(transaction.charges(), found.states)
    charges = len(found.states) - found.tests
    return Verification(found.head.sequence, charges, answers, found.head.digest)


def _check_amended(
    transaction: Transaction, sequence: int, facts: dict[str, Any], accounts: dict[str, AccountRow]
) -> None:
    """Check the totals that a change of who is protected stated, by its group size."""
    before = itertools.takewhile(lambda entry: entry.sequence < sequence, transaction.entries())
    names = {name: accounts[name] for name in facts["totals"]}
    totals = (
        {}
        if facts["group_size"] == 1
        else totals_for_groups(before, facts["dataset"], names, facts["group_size"])
    )
    _require({name: total.to_json() for name, total in totals.items()} == facts["totals"], sequence)


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
