"""A ledger in its owner's hands: no data set is opened, nothing is charged.

Tested by: tests/ledger/test_amending.py, tests/cli/test_ledger.py
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Self

from discreet.errors import InvalidParameter, LedgerConflict
from discreet.kernel.accounting import Budget
from discreet.kernel.ledger import failing
from discreet.kernel.ledger.anchor import Anchor, ChainGuard
from discreet.kernel.ledger.charging import reserve
from discreet.kernel.ledger.declaration import Declaration
from discreet.kernel.ledger.ledger import PATIENCE_S
from discreet.kernel.ledger.owner_actions import declared, raise_budget
from discreet.kernel.ledger.statement import Balance, Record, balance_of, read_balance, read_history
from discreet.kernel.ledger.store import Transaction, open_store
from discreet.kernel.ledger.verification import Verification, verify


def read_declaration(place: str | Path, dataset: str) -> Declaration | None:
    """Return what a ledger on disk holds of a data set; None without one that can be read."""
    if "://" in str(place) or not Path(place).is_file():
        return None
    try:
        with closing(open_store(place, guard=ChainGuard(), patience=PATIENCE_S, create=False)) as store:
            text = store.read(lambda transaction: transaction.dataset(dataset))
    except LedgerConflict:  # opening it in earnest says what is wrong, or brings it to the newest version
        return None
    return None if text is None else Declaration.from_json(text)


class LedgerFile:
    """What an existing ledger says, for its owner and for auditors; and the owner's own entries."""

    def __init__(
        self,
        place: str | Path,
        *,
        anchors: Sequence[Anchor] = (),
        key: bytes | None = None,
        patience: float = 30.0,
    ) -> None:
        self.is_anchored = bool(anchors)
        guard = ChainGuard(anchors=anchors, key=key)
        self._store = open_store(place, guard=guard, patience=patience, create=False)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The ids of the data sets in this ledger."""
        return self._store.read(lambda transaction: tuple(transaction.datasets()))

    def the_dataset(self, name: str | None) -> str:
        """Return the data set of that name; without a name, the only one."""
        names = self.datasets
        if name is None and len(names) == 1:
            return names[0]
        if name not in names:
            raise InvalidParameter(
                f"the data set must be one of {', '.join(names)}, got {name}.", parameter="dataset"
            )
        return name

    def balances(self) -> tuple[Balance, ...]:
        """Return the balance of every account."""
        return self._store.read(lambda transaction: tuple(map(balance_of, transaction.accounts())))

    def balance(self, dataset: str) -> Balance:
        """Return the balance of a data set's account."""
        return self._store.read(lambda transaction: read_balance(transaction, dataset))

    def history(self, dataset: str, analyst: str | None = None) -> tuple[Record, ...]:
        """Return everything that happened to a data set, in order; or one analyst's charges, with their
        sum.
        """

        def look(transaction: Transaction) -> tuple[Record, ...]:
            declared(transaction, dataset)
            return read_history(transaction.entries(), dataset, analyst)

        return self._store.read(look)

    def verify(self) -> Verification:
        """Recompute every hash and every total; raise LedgerConflict at the first that differs."""
        return self._store.read(lambda transaction: verify(transaction, self._store.guard))

    def export(self) -> Iterator[str]:
        """Yield every entry, as one line of JSON."""
        yield from self._store.read(lambda transaction: [entry.to_line() for entry in transaction.entries()])

    def raise_budget(self, dataset: str, budget: Budget, *, reason: str) -> None:
        """Allow a data set more: an owner's entry in the chain. What was spent stays spent."""
        self._store.write(lambda transaction: raise_budget(transaction, dataset, budget, reason))

    def reserve(self, dataset: str, analyst: str, budget: Budget, *, reason: str) -> None:
        """Keep a share of a data set's budget for one analyst: an owner's entry in the chain."""
        self._store.write(lambda transaction: reserve(transaction, dataset, analyst, budget, reason))

    def failures(self, dataset: str) -> dict[str, int]:
        """Return how many charges of each analyst ended without an answer since the owner last looked."""
        return self._store.read(lambda transaction: failing.by_analyst(transaction, dataset))

    def release_failures(self, dataset: str, *, reason: str, analyst: str | None = None) -> int:
        """Count failures from zero again, one analyst's or all, for the owner has looked: how many."""
        return self._store.write(
            lambda transaction: failing.release(transaction, dataset, reason, analyst, self._store.is_alive)
        )

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
