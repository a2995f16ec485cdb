"""What an owner says when opening data by hand: the same policy that a file would state."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from discreet.errors import InvalidParameter
from discreet.tables.locations import is_database, sibling_path, stem
from discreet.tables.policy import Policy
from discreet.tables.read import from_arguments


class Opening(TypedDict, total=False):
    """The arguments of `Curator.open`; unit and budget are required."""

    unit: Any
    budget: Any
    name: str | None
    types: Mapping[str, Any]
    bounds: Mapping[str, Any]
    keys: Mapping[str, Any]
    max_groups: int
    max_rows: int
    relation: str
    population: int | None
    version: str
    filter: str | None
    per_analyst: Any
    per_question: Any
    share_answers: bool
    ration: Any
    public: Mapping[str, Any]


def read_opening(
    source: Any,
    opening: Opening,
    ledger: str | Path | Mapping[str, object] | None = None,
    engine: object = "duckdb",
) -> tuple[Policy, dict[str, object], str | Path]:
    """Return the policy, the tables that are in memory, and the place of the ledger: as stated, or next to
    the data.

    A source is a path, a frame, the name of a table where the engine is a database, or a mapping of table
    names to them; a public table is a source, its first column being its key, or (source, key).
    """
    said: dict[str, Any] = dict(opening)
    for name in ("unit", "budget"):
        if name not in said:
            raise InvalidParameter(f"{name} must be declared to open data, got none.", parameter=name)
    name = said.pop("name", None)
    tables = dict(source) if isinstance(source, Mapping) else {name or _stem(source, engine): source}
    public = {
        each: where if isinstance(where, tuple) else (where, "")
        for each, where in (said.pop("public", None) or {}).items()
    }
    policy = from_arguments(
        id=name or "+".join(tables),
        sources={each: _path(where) for each, where in tables.items()},
        public={each: (key, _path(where)) for each, (where, key) in public.items()},
        ledger=ledger if isinstance(ledger, Mapping) else None,
        **said,
    )
    every = {**tables, **{each: where for each, (where, _) in public.items()}}
    frames = {each: where for each, where in every.items() if _path(where) is None}
    place = policy.ledger.place if isinstance(ledger, Mapping) else ledger
    return policy, frames, place or default_ledger(policy.id, next(iter(tables.values()), None), engine)


def default_ledger(name: str, source: Any, engine: object) -> Path:
    """Return the default place of a data set's ledger: next to its file, or in the working folder."""
    first = None if is_database(engine) else _path(source)
    return Path(f"{name}.ledger") if first is None else sibling_path(first)


def _path(source: Any) -> str | None:
    return str(source) if isinstance(source, str | Path) else None


def _stem(source: Any, engine: object) -> str:
    if _path(source) is None:
        raise InvalidParameter("name must be given for data in memory, got none.", parameter="name")
    return stem(str(source), engine)
