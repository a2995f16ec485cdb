"""The ledger: charged first, drawn once, never refunded. The rules, on any store."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from discreet.accounting import Budget, Total
from discreet.errors import LedgerConflict
from discreet.ledger import owning, shares
from discreet.ledger.anchor import Anchor
from discreet.ledger.balance import Balance, balance_of, read_balance, read_balances, read_remaining
from discreet.ledger.charging import abandon, question_digest, rule_of, settle, take
from discreet.ledger.declaration import Declaration, Sharing
from discreet.ledger.guard import ChainGuard
from discreet.ledger.history import Record, read_history
from discreet.ledger.opening import open_store
from discreet.ledger.request import Charge, Request
from discreet.ledger.store import ChargeRow, KeyRow, Store, Transaction
from discreet.ledger.verification import Verification, verify

PATIENCE_S = 30.0  # how long a charge waits for its turn before it fails


class Ledger:
    """One data set's account of everything it ever answered.

    Privacy: the answers that leave, all together and however chosen, keep the budget under the account's
    rule (docs/theory/accounts.md), if each is released only after `charge` and what is released is what
    `answer` stored.
    """

    def __init__(self, store: Store, declaration: Declaration, *, other_people: str | None = None) -> None:
        self._store, self._dataset = store, declaration.dataset
        store.write(lambda transaction: owning.register(transaction, declaration, other_people))
        self._opened = self.declaration
        store.write(self._abandon_the_dead)

    @classmethod
    def open(
        cls,
        place: str | Path,
        *,
        dataset: str,
        budget: Budget,
        filter: str | None = None,  # noqa: A002  the policy's own word for it
        relation: str = "add/remove",
        unit: str = "",
        schema: str = "",
        limits: Mapping[str, object] | None = None,
        version: str = "1",
        per_analyst: Budget | None = None,
        per_question: Budget | None = None,
        answers: Sharing = "own",
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
        once.
        """
        owner = self._store.owner()
        costs = self._prices(request)  # before the turn: a price may take a while to compute
        _ = request.facts, question_digest(self._opened, request)  # remembered: the turn is for what is not
        outcome = self._store.write(lambda transaction: self._charge(transaction, request, owner, costs))
        if isinstance(outcome, LedgerConflict):
            raise outcome
        return outcome

    def _prices(self, request: Request) -> dict[tuple[str, ...], Total]:
        accounts = self._opened.accounts(analyst=request.analyst, question="any")
        rules = {rule.measure: rule for rule in map(rule_of, accounts.values())}
        return {measure: rule.cost(request.loss, request.price) for measure, rule in rules.items()}

    def _charge(
        self, transaction: Transaction, request: Request, owner: str, costs: Mapping[tuple[str, ...], Total]
    ) -> Charge | LedgerConflict:
        declared = owning.declared(transaction, self._dataset)
        if request.key is not None:
            known = transaction.key(self._dataset, request.analyst, request.key)
            if known is not None:
                return self._repeat(transaction, known, request.digest(declared.version))
        question = question_digest(declared, request)
        row = transaction.answered(self._dataset, question) if question else None
        if row is None:
            row = take(transaction, declared, request, owner=owner, costs=costs)
        if request.key is not None:
            digest = request.digest(declared.version)
            transaction.add_key(KeyRow(self._dataset, request.analyst, request.key, digest, row.id))
        return _as_charge(row)

    def _repeat(self, transaction: Transaction, known: KeyRow, digest: str) -> Charge | LedgerConflict:
        """What a used key stands for. A conflict is returned, not raised: an abandonment is then kept."""
        if known.request != digest:
            return LedgerConflict(
                "an idempotency key must stand for one request, and this one stands for another."
            )
        row = transaction.charge(known.charge)
        if row is None:
            return LedgerConflict("an idempotency key must stand for a charge of the ledger. Run verify.")
        if row.state == "answered":
            return _as_charge(row)
        if row.state == "charged" and self._store.is_alive(row.owner):
            return LedgerConflict(
                "this request is still running. Ask again later under the same key.", state="running"
            )
        if row.state == "charged":
            abandon(transaction, row.id)
        return LedgerConflict("this request was charged and abandoned: it is never run again. Use a new key.")

    def answer(self, charge: Charge, answer: bytes) -> None:
        """Store the answer, once: charged becomes answered. Only after this may a byte of it leave."""
        digest = hashlib.sha256(answer).hexdigest()
        self._store.write(lambda transaction: settle(transaction, charge.id, "answered", answer, digest))

    def abandon(self, charge: Charge) -> None:
        """Give up a charge that cannot be answered. Nothing is refunded."""
        self._store.write(lambda transaction: abandon(transaction, charge.id))

    def find_answer(self, request: Request) -> bytes | None:
        """The stored answer that this request would get for nothing, or None if it would be charged."""

        def look(transaction: Transaction) -> bytes | None:
            declared = owning.declared(transaction, self._dataset)
            row = transaction.answered(self._dataset, question_digest(declared, request))
            return None if row is None else row.answer

        return self._store.read(look)

    def find_charge(self, charge: int) -> Charge | None:
        """The charge of this data set with that number, and its answer if it has one."""
        row = self._store.read(lambda transaction: transaction.charge(charge))
        return None if row is None or row.dataset != self._dataset else _as_charge(row)

    def _abandon_the_dead(self, transaction: Transaction) -> None:
        """After a restart: a charge whose process is gone is never run again."""
        for row in transaction.running(self._dataset):
            if not self._store.is_alive(row.owner):
                abandon(transaction, row.id)

    # --- what the owner may say ----------------------------------------------------------------------------

    def raise_budget(self, budget: Budget, *, reason: str) -> None:
        """Allow more. What was spent stays spent; the new budget is an owner's entry in the chain."""
        self._store.write(lambda transaction: owning.raise_budget(transaction, self._dataset, budget, reason))

    def amend(self, *, reason: str, unit: str | None = None, version: str | None = None) -> None:
        """Change who is protected, or the version label. What was spent stays spent."""
        self._store.write(
            lambda transaction: owning.amend(transaction, self._dataset, reason, unit=unit, version=version)
        )

    def reserve(self, analyst: str, budget: Budget, *, reason: str) -> None:
        """Keep a share of the budget for one analyst: others cannot spend it, and it spends nothing else.

        Reserving again changes the share: to more, if that much is unreserved, or to less, down to what is
        spent of it.
        """
        self._store.write(
            lambda transaction: shares.reserve(transaction, self._dataset, analyst, budget, reason)
        )

    # --- looking -------------------------------------------------------------------------------------------

    @property
    def declaration(self) -> Declaration:
        """What the ledger holds of this data set, owner's changes included."""
        return self._store.read(lambda transaction: owning.declared(transaction, self._dataset))

    @property
    def remaining(self) -> Budget:
        """The largest single charge that still fits, as a value of the budget's own class."""
        return self._store.read(lambda transaction: read_balance(transaction, self._dataset).remaining)

    @property
    def spent(self) -> Budget:
        """The total loss since collection, never reset, as a value of the budget's own class."""
        return self._store.read(lambda transaction: read_balance(transaction, self._dataset).spent)

    def remaining_for(self, analyst: str) -> Budget:
        """What this analyst could still be charged at most, as a value of the budget's own class.

        The least that is left in the data set's account, the analyst's own, and its share or the unreserved
        rest.
        """
        return self._store.read(
            lambda transaction: read_remaining(
                transaction, owning.declared(transaction, self._dataset), analyst
            )
        )

    def balances_for(self, analyst: str) -> tuple[Balance, ...]:
        """How the accounts stand that every charge of this analyst must fit, the data set's first."""
        return self._store.read(
            lambda transaction: read_balances(
                transaction, owning.declared(transaction, self._dataset), analyst
            )
        )

    def balances(self) -> tuple[Balance, ...]:
        """How every account of this data set stands."""

        def look(transaction: Transaction) -> tuple[Balance, ...]:
            mine = (row for row in transaction.accounts() if row.name.partition("/")[0] == self._dataset)
            return tuple(map(balance_of, mine))

        return self._store.read(look)

    def history(self, analyst: str | None = None) -> tuple[Record, ...]:
        """Everything that happened to this data set, in order; or one analyst's charges, with their sum."""
        return self._store.read(
            lambda transaction: read_history(transaction.entries(), self._dataset, analyst)
        )

    def verify(self) -> Verification:
        """Recompute every hash and every total; raise LedgerConflict at the first that differs."""
        return self._store.read(lambda transaction: verify(transaction, self._store.guard))

    def close(self) -> None:
        """End this process's ownership: its charges without an answer are abandoned at the next opening."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _as_charge(row: ChargeRow) -> Charge:
    return Charge(row.id, row.dataset, row.analyst, row.answer)
