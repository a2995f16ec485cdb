"""The ledger: charged first, drawn once, never refunded. The rules, on any store."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

# Loaded now: a process that has no file descriptor left must still fail with the ledger's own error.
import discreet.kernel.ledger.sqlite  # noqa: F401
from discreet.errors import DiscreetError, LedgerConflict
from discreet.kernel.accounting import Budget, Total
from discreet.kernel.ledger import charging, failing, owner_actions
from discreet.kernel.ledger.anchor import Anchor, ChainGuard
from discreet.kernel.ledger.charging import (
    abandon,
    answer as store_answer,
    append,
    find_answered,
    must_pay_to_read,
    question_digests,
    read_shared,
    rule_of,
    take,
)
from discreet.kernel.ledger.declaration import Declaration, Ration, Sharing
from discreet.kernel.ledger.request import Answered, Charge, Request
from discreet.kernel.ledger.statement import (
    Balance,
    Record,
    balance_of,
    read_balance,
    read_balances,
    read_history,
    read_remaining,
)
from discreet.kernel.ledger.store import ChargeRow, KeyRow, Store, Transaction, open_store
from discreet.kernel.ledger.verification import Verification, verify

PATIENCE_S = 30.0  # how long a charge waits for its turn before it fails


class Ledger:
    """One data set's account of everything it ever answered.

    Privacy: the answers that leave, all together and however chosen, keep the budget under the account's
    rule (docs/theory/accounts.md), if each is released only after `charge` and what is released is what
    `answer` stored.
    """

    def __init__(self, store: Store, declaration: Declaration, *, other_people: str | None = None) -> None:
        self._store, self._dataset = store, declaration.dataset
        self._unsettled: set[int] = set()  # charges of this object that have no answer yet
        store.write(lambda transaction: owner_actions.register(transaction, declaration, other_people))
        self._opened = self.declaration
        store.write(self._abandon_the_dead)

    @classmethod
    def open(
        cls,
        place: str | Path,
        *,
        dataset: str,
        budget: Budget,
        filter: str | None = None,  # noqa: A002  named as in the policy
        relation: str = "add/remove",
        unit: str = "",
        schema: str | Sequence[str] = "",
        limits: Mapping[str, object] | None = None,
        version: str = "1",
        per_analyst: Budget | None = None,
        per_question: Budget | None = None,
        answers: Sharing = "own",
        ration: Ration | None = None,
        other_people: str | None = None,
        anchors: Sequence[Anchor] = (),
        key: bytes | None = None,
        patience: float = PATIENCE_S,
    ) -> Self:
        """Open the ledger at a path or address for one data set; a known data set must agree.

        A file that is not there is made, and so are the tables in a PostgreSQL database.
        """
        declaration = Declaration.of(
            dataset,
            budget,
            filter=filter,
            relation=relation,
            unit=unit,
            schema=schema,
            limits=limits or {},
            version=version,
            per_analyst=per_analyst,
            per_question=per_question,
            answers=answers,
            ration=ration,
        )
        guard = ChainGuard(anchors=anchors, key=key)
        store = open_store(place, guard=guard, patience=patience, create=True)
        try:
            return cls(store, declaration, other_people=other_people)
        except BaseException:
            store.close()
            raise

    # --- charging ------------------------------------------------------------------------------------------

    def charge(self, request: Request) -> Charge:
        """Take the price from every account it must fit, or from none; on disk when this returns.

        An answer that is already stored comes back with the charge, free. A charge without one is to be run
        once, and ended by `answer` or `abandon`. An analyst who has used up the allowance of failures is
        refused.
        """
        return self._charged(request, is_watch=False)

    def open_watch(self, request: Request) -> Charge:
        """Charge a watch whole. There is nothing more to settle: each of its questions is (`begin_test`)."""
        return self._charged(request, is_watch=True)

    def _charged(self, request: Request, *, is_watch: bool) -> Charge:
        owner = self._store.owner()
        costs = self._prices(request)  # before the turn: a price may take a while to compute
        _ = request.facts, question_digests(self._opened, request)  # remembered: the turn is for what is not

        def work(transaction: Transaction) -> Charge | DiscreetError:
            charge = self._charge(transaction, request, owner, costs)
            if not is_watch or isinstance(charge, DiscreetError):
                return charge
            if charge.answer is not None:
                return LedgerConflict("an idempotency key opens one watch, and this one has opened it.")
            store_answer(transaction, charge.id, b"")
            return replace(charge, answer=b"")

        return self._kept(self._store.write(work))

    def _kept(self, outcome: Charge | DiscreetError) -> Charge:
        if isinstance(outcome, DiscreetError):
            raise outcome
        if outcome.answer is None:
            self._unsettled.add(outcome.id)
        return outcome

    def _prices(self, request: Request) -> dict[tuple[str, ...], Total]:
        accounts = self._opened.accounts(analyst=request.analyst, question="any")
        rules = {rule.measure: rule for rule in map(rule_of, accounts.values())}
        return {measure: rule.cost(request.loss, request.price) for measure, rule in rules.items()}

    def _charge(
        self, transaction: Transaction, request: Request, owner: str, costs: Mapping[tuple[str, ...], Total]
    ) -> Charge | DiscreetError:
        declared = owner_actions.declared(transaction, self._dataset)
        if declared.unit != self._opened.unit:
            return LedgerConflict("who is protected was changed since the ledger was opened. Open it again.")
        if request.key is not None:
            known = transaction.key(self._dataset, request.analyst, request.key)
            if known is not None:
                digests = [each.digest(declared.version) for each in request.spellings]
                return self._repeat(transaction, known, digests)
        row = find_answered(transaction, declared, request)
        if row is not None and must_pay_to_read(transaction, declared, request.analyst, row):
            read_shared(transaction, declared, request, row.id, costs=costs)
        if row is None:
            names = question_digests(declared, request)
            refused = failing.refusal(transaction, declared, request.analyst, names, self._store.is_alive)
            if refused is not None:
                return refused
            row = take(transaction, declared, request, owner=owner, costs=costs)
        if request.key is not None:
            digest = request.digest(declared.version)
            transaction.add_key(KeyRow(self._dataset, request.analyst, request.key, digest, row.id))
        return _as_charge(row)

    def _repeat(
        self, transaction: Transaction, known: KeyRow, digests: Sequence[str]
    ) -> Charge | DiscreetError:
        """Return what a used key was for. An error is returned, not raised: a failure found here is then
        kept.
        """
        if known.request not in digests:
            return LedgerConflict(
                "an idempotency key must be used for one request, and this one was used for another."
            )
        row = transaction.charge(known.charge)
        if row is None:
            return LedgerConflict("an idempotency key must belong to a charge of the ledger. Run verify.")
        if row.state == "answered":
            return _as_charge(row)
        if row.state == "charged" and self._store.is_alive(row.owner):
            return LedgerConflict(
                "this request is still running. Ask again later under the same key.", state="running"
            )
        if row.state == "charged":
            failing.end_the_dead(transaction, [row], self._store.is_alive)
        if any(each.charge == row.id for each in transaction.failures(self._dataset)):
            return failing.failed()
        return LedgerConflict("this request was charged and abandoned: it is never run again. Use a new key.")

    def answer(self, charge: Charge, answer: bytes) -> None:
        """Store the answer, once: charged becomes answered. Only after this may a byte of it leave."""
        self._store.write(lambda transaction: store_answer(transaction, charge.id, answer))
        self._unsettled.discard(charge.id)

    def abandon(self, charge: Charge) -> None:
        """Say that a charge failed, or was late: counted before its error leaves. Nothing is refunded."""
        self._store.write(lambda transaction: self._fail(transaction, charge.id))
        self._unsettled.discard(charge.id)

    def _fail(self, transaction: Transaction, charge: int) -> None:
        row = transaction.charge(charge)
        if row is None:
            raise LedgerConflict(f"charge {charge} must be one of the ledger's, and it is not.")
        failing.fail(transaction, row)

    def begin_test(self, watch: Charge) -> Charge:
        """Enter one question of a watch, which is paid for: it is under way until `answer` or `abandon`."""
        owner = self._store.owner()

        def work(transaction: Transaction) -> Charge | DiscreetError:
            declared = owner_actions.declared(transaction, self._dataset)
            refused = failing.refusal(transaction, declared, watch.analyst, (), self._store.is_alive)
            if refused is not None:
                return refused
            facts = {"kind": "test", "dataset": self._dataset, "analyst": watch.analyst, "charge": watch.id}
            entry = append(transaction, facts)
            row = ChargeRow(entry.sequence, self._dataset, watch.analyst, f"test {entry.sequence}", owner)
            transaction.add_charge(row)
            return _as_charge(row)

        return self._kept(self._store.write(work))

    def find_answer(self, request: Request) -> bytes | None:
        """Return the stored answer that this request would get for nothing, or None if it would be
        charged.
        """

        def look(transaction: Transaction) -> bytes | None:
            declared = owner_actions.declared(transaction, self._dataset)
            row = find_answered(transaction, declared, request)
            if row is None or must_pay_to_read(transaction, declared, request.analyst, row):
                return None
            return row.answer

        return self._store.read(look)

    def find_seen(self, charge: int, analyst: str | None) -> Answered | None:
        """Return an answered charge that this analyst may see: their own, or one that the owner lets analysts
        share and that they need not pay for; with None, any. What is not there and what is not theirs look
        the same.
        """

        def look(transaction: Transaction) -> Answered | None:
            row, entry = transaction.charge(charge), transaction.entry(charge)
            if row is None or entry is None or row.dataset != self._dataset or not row.answer:
                return None
            if analyst not in (None, row.analyst):
                declared = owner_actions.declared(transaction, self._dataset)
                if declared.answers == "own" or must_pay_to_read(transaction, declared, str(analyst), row):
                    return None
            facts = entry.facts
            return Answered(row.id, row.analyst, facts["time"], facts["version"], entry.digest, row.answer)

        return self._store.read(look)

    def _abandon_the_dead(self, transaction: Transaction) -> None:
        """End the charges whose process is gone: they are never run again."""
        failing.end_the_dead(transaction, transaction.running(self._dataset), self._store.is_alive)

    # --- what the owner may say ----------------------------------------------------------------------------

    def raise_budget(self, budget: Budget, *, reason: str) -> None:
        """Allow more. What was spent stays spent; the new budget is an owner's entry in the chain."""
        self._store.write(
            lambda transaction: owner_actions.raise_budget(transaction, self._dataset, budget, reason)
        )

    def amend(
        self,
        *,
        reason: str,
        unit: str | None = None,
        version: str | None = None,
        group_size: int | None = None,
    ) -> None:
        """Change who is protected, or the version label.

        A new unit needs `group_size`, the most old units that one new unit may hold: what was spent is then
        counted for groups of so many, and refused where the budget does not hold it.
        """
        terms: dict[str, Any] = {"unit": unit, "version": version, "group_size": group_size}
        self._store.write(
            lambda transaction: owner_actions.amend(transaction, self._dataset, reason, **terms)
        )

    def reserve(self, analyst: str, budget: Budget, *, reason: str) -> None:
        """Keep a share of the budget for one analyst: others cannot spend it, and it spends nothing else.

        Reserving again changes the share: to more, if that much is unreserved, or to less, down to what is
        spent of it.
        """
        self._store.write(
            lambda transaction: charging.reserve(transaction, self._dataset, analyst, budget, reason)
        )

    def release_failures(self, *, reason: str, analyst: str | None = None) -> int:
        """Count failures from zero again, one analyst's or all, for the owner has looked: how many."""
        return self._store.write(
            lambda transaction: failing.release(
                transaction, self._dataset, reason, analyst, self._store.is_alive
            )
        )

    def record_decision(self, decision: failing.Decision, **facts: object) -> None:
        """Enter an owner's decision on a question that waited for approval: analyst, question, price, by,
        approval.
        """
        self._store.write(lambda transaction: failing.decide(transaction, self._dataset, facts, decision))

    # --- looking -------------------------------------------------------------------------------------------

    @property
    def declaration(self) -> Declaration:
        """What the ledger holds of this data set, owner's changes included."""
        return self._store.read(lambda transaction: owner_actions.declared(transaction, self._dataset))

    @property
    def remaining(self) -> Budget:
        """The largest single charge that still fits, as a value of the budget's own class."""
        return self._store.read(lambda transaction: read_balance(transaction, self._dataset).remaining)

    @property
    def spent(self) -> Budget:
        """The total loss since collection, never reset, as a value of the budget's own class."""
        return self._store.read(lambda transaction: read_balance(transaction, self._dataset).spent)

    def remaining_for(self, analyst: str) -> Budget:
        """Return what this analyst could still be charged at most, as a value of the budget's own class.

        The least that is left in the data set's account, the analyst's own, and its share or the unreserved
        rest.
        """
        return self._store.read(
            lambda transaction: read_remaining(
                transaction, owner_actions.declared(transaction, self._dataset), analyst
            )
        )

    def failures(self, analyst: str | None = None) -> int:
        """Return how many charges ended without an answer since the owner last looked; one analyst's, or
        all.
        """
        return self._store.read(lambda transaction: failing.count(transaction, self._dataset, analyst))

    def failures_by_analyst(self) -> dict[str, int]:
        """Return the same for everyone who has any."""
        return self._store.read(lambda transaction: failing.by_analyst(transaction, self._dataset))

    def failures_left(self, analyst: str) -> int:
        """Return how many of this analyst's questions may still fail before asking waits for the owner."""

        def look(transaction: Transaction) -> int:
            allowed = owner_actions.declared(transaction, self._dataset).allowed
            return failing.left(transaction.failures(self._dataset), allowed, analyst)

        return self._store.read(look)

    def balances_for(self, analyst: str) -> tuple[Balance, ...]:
        """Return the balances of the accounts that every charge of this analyst must fit, the data set's
        first.
        """
        return self._store.read(
            lambda transaction: read_balances(
                transaction, owner_actions.declared(transaction, self._dataset), analyst
            )
        )

    def balances(self) -> tuple[Balance, ...]:
        """Return the balance of every account of this data set."""

        def look(transaction: Transaction) -> tuple[Balance, ...]:
            mine = (row for row in transaction.accounts() if row.name.partition("/")[0] == self._dataset)
            return tuple(map(balance_of, mine))

        return self._store.read(look)

    def history(self, analyst: str | None = None) -> tuple[Record, ...]:
        """Return everything that happened to this data set, in order; or one analyst's charges, with their
        sum.
        """
        return self._store.read(
            lambda transaction: read_history(transaction.entries(), self._dataset, analyst)
        )

    def verify(self) -> Verification:
        """Recompute every hash and every total; raise LedgerConflict at the first that differs."""
        return self._store.read(lambda transaction: verify(transaction, self._store.guard))

    def close(self) -> None:
        """End this process's ownership. What it was running is stopped by its owner, and is no failure."""
        if self._unsettled:
            with contextlib.suppress(LedgerConflict):  # else they are found dead, and counted
                self._store.write(self._stop)
            self._unsettled.clear()
        self._store.close()

    def _stop(self, transaction: Transaction) -> None:
        owner = self._store.owner()  # in a forked child another one: the parent's charges go on
        for row in transaction.running(self._dataset):
            if row.owner == owner and row.id in self._unsettled:
                abandon(transaction, row.id, stopped=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _as_charge(row: ChargeRow) -> Charge:
    return Charge(row.id, row.dataset, row.analyst, row.answer)
