import contextlib
import itertools
from pathlib import Path

import pytest

from discreet.kernel.ledger import Ledger
from discreet.kernel.ledger.anchor import ChainGuard
from discreet.kernel.ledger.declaration import Declaration
from discreet.kernel.losses import PureDP
from discreet.testing.memory_store import MemoryStore
from ledger.places import NUMBERS, fresh_address

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
        self._open: list[Ledger] = []

    def open(self, *, dataset="bank", budget=None, other_people=None, **declared):
        self.close()
        declaration = Declaration.of(dataset, budget or PureDP(1), **{**DECLARED, **declared})
        self._store.restart()
        self._open = [Ledger(self._store, declaration, other_people=other_people)]
        return self._open[0]

    def crash(self):
        self._open = []

    def close(self):
        for ledger in self._open:
            ledger.close()
        self._open = []


class PlacedWorld:
    """Ledgers in one file, or in one schema of a server."""

    def __init__(self, place: str | Path) -> None:
        self.path = place
        self._open: list[Ledger] = []

    def open(self, *, dataset="bank", budget=None, **declared):
        self.close()
        declared = {**DECLARED, **declared}
        ledger = Ledger.open(self.path, dataset=dataset, budget=budget or PureDP(1), **declared)
        self._open = [ledger]
        return ledger

    def crash(self):
        """What kill -9 leaves: the locks are gone, and nothing was said."""
        for ledger in self._open:
            ledger._store.close()
        self._open = []

    def close(self):
        for ledger in self._open:
            ledger.close()
        self._open = []


# Every store that the suites run on; those that outlive a process lie at a place of their own.
PLACES = {
    "sqlite": lambda request: request.getfixturevalue("tmp_path") / "bank.ledger",
    "postgres": lambda request: fresh_address(request.getfixturevalue("postgres_server")),
}
WORLDS = {"memory": lambda request: MemoryWorld(), **PLACES}


@pytest.fixture(params=WORLDS)
def world(request):
    """A place for a ledger; `open` closes the one that was open, as a restart would."""
    made = WORLDS[request.param](request)
    with contextlib.closing(made if isinstance(made, MemoryWorld) else PlacedWorld(made)) as world:
        yield world


@pytest.fixture(params=PLACES)
def placed_world(request):
    """A ledger that outlives its process."""
    with contextlib.closing(PlacedWorld(PLACES[request.param](request))) as world:
        yield world


@pytest.fixture(params=PLACES)
def fresh_place(request):
    """Places where there is no ledger yet, one for each call."""
    if request.param == "postgres":
        server = request.getfixturevalue("postgres_server")
        return lambda: fresh_address(server)
    folder = request.getfixturevalue("tmp_path")
    return lambda: folder / f"{next(NUMBERS)}.ledger"


@pytest.fixture
def sqlite_world(tmp_path):
    with contextlib.closing(PlacedWorld(tmp_path / "bank.ledger")) as world:
        yield world


@pytest.fixture
def names():
    """Questions that differ."""
    return (f"SELECT {number}" for number in itertools.count())


@pytest.fixture
def address(postgres_server):
    return fresh_address(postgres_server)


@pytest.fixture
def open_ledger(address):
    """Opens as often as asked, and closes all at the end."""
    opened = []

    def open_ledger(place=address, **more):
        opened.append(Ledger.open(place, dataset="bank", budget=PureDP(1), **more))
        return opened[-1]

    yield open_ledger
    for ledger in opened:
        ledger.close()
