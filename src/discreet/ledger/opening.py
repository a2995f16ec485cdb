"""Where a ledger lies: in a file, or on a server whose kind is the word before "://"."""

import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.errors import InvalidParameter
from discreet.ledger.sqlite import SqliteStore
from discreet.ledger.store import Guard, Store

# A store = one line here, one file, one line in the tests' registry. Loaded when first needed.
SERVERS = {"postgresql": "discreet.ledger.postgres:PostgresStore"}


def open_store(place: str | Path, *, guard: Guard, patience: float, create: bool) -> Store:
    """The store at a path or address; only `create` makes what is not there."""
    kind, is_server, _ = str(place).partition("://")
    if not is_server:
        if not create and not Path(place).is_file():
            raise InvalidParameter(f"the ledger must exist, got {place}.", parameter="ledger")
        return SqliteStore(Path(place), guard=guard, patience=patience, create=create)
    if kind not in SERVERS:
        raise InvalidParameter(
            f"a ledger's address must begin with {', '.join(f'{name}://' for name in SERVERS)}, "
            f"got {kind[:20]}://.",
            parameter="ledger",
        )
    store: Callable[..., Any] = pkgutil.resolve_name(SERVERS[kind])
    opened: Store = store(str(place), guard=guard, patience=patience, create=create)
    return opened
