import itertools
from pathlib import Path

import pytest

from discreet.ledger import Ledger
from discreet.ledger.declaration import Declaration
from discreet.ledger.guard import ChainGuard
from discreet.ledger.memory import MemoryStore
from discreet.losses import PureDP

DECLARED = {
    "filter": None,
    "relation": "add/remove",
    "unit": "person",
    "schema": "city text, debt number",
    "limits": {"max_rows": 1},
    "version": "1",
    "per_analyst": None,
    "per_question": None,
    "answers": "own",
}


class MemoryWorld:
    """A ledger that survives `reopen` only: the store is the file."""

    def __init__(self) -> None:
        self._store = MemoryStore(ChainGuard())

    def open(self, *, dataset="bank", budget=None, other_people=None, **declared):
        declaration = Declaration.of(dataset, budget or PureDP(1), **{**DECLARED, **declared})
        self._store.restart()
        return Ledger(self._store, declaration, other_people=other_people)


class SqliteWorld:
    """Ledgers in one file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bank.ledger"
        self._open: list[Ledger] = []

    def open(self, *, dataset="bank", budget=None, **declared):
        for ledger in self._open:
            ledger.close()
        declared = {**DECLARED, **declared}
        ledger = Ledger.open(self.path, dataset=dataset, budget=budget or PureDP(1), **declared)
        self._open = [ledger]
        return ledger


@pytest.fixture(params=["memory", "sqlite"])
def world(request, tmp_path):
    """A place for a ledger; `open` closes the one that was open, as a restart would."""
    return MemoryWorld() if request.param == "memory" else SqliteWorld(tmp_path)


@pytest.fixture
def sqlite_world(tmp_path):
    return SqliteWorld(tmp_path)


@pytest.fixture
def names():
    """Questions that differ."""
    return (f"SELECT {number}" for number in itertools.count())
