"""What an owner says when opening data by hand: the same policy that a file would state."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

from discreet.errors import InvalidParameter
from discreet.tables.locations import beside, is_database, stem
from discreet.tables.policy import Policy
from discreet.tables.read import from_arguments


class Opening(TypedDict, total=False):
    """The words of an opening; unit and budget are required."""

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
    """The policy, the tables that lie in memory, and where the ledger lies: as told, or beside the data.

    A source is a path, a frame, the name of a table where the engine is a database, or a mapping of table
    names to them; a public table is a source, its first column being its key, or (source, key).
    """
    said: dict[str, Any] = dict(opening)
    for word in ("unit", "budget"):
        if word not in said:
            raise InvalidParameter(f"{word} must be declared to open data, got none.", parameter=word)
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
    told = policy.ledger.place if isinstance(ledger, Mapping) else ledger
    return policy, frames, told or ledger_beside(policy.id, next(iter(tables.values()), None), engine)


def ledger_beside(name: str, source: Any, engine: object) -> Path:
    """Where a data set's ledger lies unless told otherwise: beside its file; here, where it has none."""
    first = None if is_database(engine) else _path(source)
    return Path(f"{name}.ledger") if first is None else beside(first)


def _path(source: Any) -> str | None:
    return str(source) if isinstance(source, str | Path) else None


def _stem(source: Any, engine: object) -> str:
    if _path(source) is None:
        raise InvalidParameter("name must be given for data in memory, got none.", parameter="name")
    return stem(str(source), engine)
