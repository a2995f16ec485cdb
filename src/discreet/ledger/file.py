"""A ledger file in its owner's hands: no data set is opened, nothing is charged."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from discreet.accounting import Budget
from discreet.errors import InvalidParameter
from discreet.ledger.anchor import Anchor
from discreet.ledger.balance import Balance, balance_of, read_balance
from discreet.ledger.guard import ChainGuard
from discreet.ledger.history import Record, read_history
from discreet.ledger.owning import declared, raise_budget
from discreet.ledger.sqlite import SqliteStore
from discreet.ledger.store import Transaction
from discreet.ledger.verification import Verification, verify

DATA = (".csv", ".tsv", ".parquet", ".json", ".toml")  # what no ledger is called


def ledger_beside(path: str | Path) -> Path:
    """The ledger that a path names: the file itself, or the one beside a data or policy file."""
    if Path(path).suffix not in DATA:
        return Path(path)
    beside = Path(path).with_suffix(".ledger")
    if not beside.is_file():
        raise InvalidParameter(
            f"there must be a ledger at {beside}, and there is none yet.", parameter="ledger"
        )
    return beside


class LedgerFile:
    """What an existing ledger says, for its owner and whoever checks it; and the owner's own entries."""

    def __init__(
        self,
        path: str | Path,
        *,
        anchors: Sequence[Anchor] = (),
        key: bytes | None = None,
        patience: float = 30.0,
    ) -> None:
        if not Path(path).is_file():
            raise InvalidParameter(f"the ledger must exist, got {path}.", parameter="ledger")
        guard = ChainGuard(anchors=anchors, key=key)
        self._store = SqliteStore(Path(path), guard=guard, patience=patience, create=False)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The ids of the data sets in this ledger."""
        return self._store.read(lambda transaction: tuple(transaction.datasets()))

    def the_dataset(self, name: str | None) -> str:
        """The data set of that name; without a name, the only one."""
        names = self.datasets
        if name is None and len(names) == 1:
            return names[0]
        if name not in names:
            raise InvalidParameter(
                f"the data set must be one of {', '.join(names)}, got {name}.", parameter="dataset"
            )
        return name

    def balances(self) -> tuple[Balance, ...]:
        """How every account stands."""
        return self._store.read(lambda transaction: tuple(map(balance_of, transaction.accounts())))

    def balance(self, dataset: str) -> Balance:
        """How the account of a data set stands."""
        return self._store.read(lambda transaction: read_balance(transaction, dataset))

    def history(self, dataset: str) -> tuple[Record, ...]:
        """Everything that happened to a data set, in order."""

        def look(transaction: Transaction) -> tuple[Record, ...]:
            declared(transaction, dataset)
            return read_history(transaction.entries(), dataset)

        return self._store.read(look)

    def verify(self) -> Verification:
        """Recompute every hash and every total; raise LedgerConflict at the first that differs."""
        return self._store.read(lambda transaction: verify(transaction, self._store.guard))

    def export(self) -> Iterator[str]:
        """Every entry, as one line of JSON."""
        yield from self._store.read(lambda transaction: [entry.to_line() for entry in transaction.entries()])

    def raise_budget(self, dataset: str, budget: Budget, *, reason: str) -> None:
        """Allow a data set more: an owner's entry in the chain. What was spent stays spent."""
        self._store.write(lambda transaction: raise_budget(transaction, dataset, budget, reason))

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
