"""Policies from a TOML file, from keyword arguments and from `Curator.open`: the same object either way."""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

from discreet.asking.policy.budget import Budget, read_budget, read_serving
from discreet.asking.policy.column import Column, read_columns
from discreet.asking.policy.hierarchy import read_hierarchies
from discreet.asking.policy.locations import (
    LedgerPlace,
    is_database,
    read_engine,
    read_place,
    sibling_path,
    stem,
)
from discreet.asking.policy.policy import (
    EachRow,
    Policy,
    PublicTable,
    RowLimit,
    Source,
    Table,
    Unit,
    read_unit,
)
from discreet.errors import InvalidParameter
from discreet.kernel.ledger import read_ration

DATASET_SETTINGS = {
    *("id", "version", "relation", "population", "engine"),
    *("budget", "filter", "per_analyst", "per_question", "share_answers", "ration"),
}
TABLE_SETTINGS = {
    *("source", "encoding", "unit", "each_row", "columns", "hierarchies"),
    *("limit", "max_groups", "max_rows"),
}
PUBLIC_SETTINGS = {"source", "encoding", "key", "columns"}
COLUMN_SETTINGS = {"type", "bounds", "keys", "nullable", "missing"}


def from_policy(path: str | Path, *, engine: object = None) -> Policy:
    """Return the policy a TOML file states; paths are taken relative to that file, its ledger is next to
    it.
    """
    policy = from_toml(_read_text(path), folder=Path(path).parent, engine=engine)
    return replace(policy, ledger=_beside(policy.ledger, path))


def ledger_of_policy(path: str | Path) -> LedgerPlace:
    """Return the place of the ledger of a policy file; nothing else of the policy is read."""
    settings = _section(_parse(_read_text(path)), "ledger")
    return _beside(read_place(settings, folder=Path(path).parent), path)


def _beside(ledger: LedgerPlace, path: str | Path) -> LedgerPlace:
    return replace(ledger, place=ledger.place or str(sibling_path(path)))


def _read_text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidParameter(f"policy must be a readable file, got {str(path)!r}.") from error


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidParameter(f"a policy must be valid TOML, got: {error}.") from error


def from_toml(text: str, *, folder: Path | None = None, engine: object = None) -> Policy:
    """Return the policy that a TOML text states.

    >>> policy = from_toml('''
    ... [dataset]
    ... id = "bank"
    ... budget = { epsilon = 1, delta = 1e-6 }
    ... [tables.accounts]
    ... unit = "person"
    ... [tables.accounts.columns]
    ... debt = { bounds = [0, 10000000] }
    ... ''')
    >>> policy.tables[0].column("debt").type
    'number'
    """
    document = _parse(text)
    _check_settings(document, {"dataset", "tables", "public", "ledger", "server"}, "the policy")
    dataset = _section(document, "dataset")
    _check_settings(dataset, DATASET_SETTINGS, "[dataset]")
    for name in ("id", "budget"):
        if name not in dataset:
            raise InvalidParameter(f"[dataset] must have {name}, got none. See docs/guide/policy.md.")
    declared = read_engine(dataset.get("engine", "duckdb"))
    base = None if is_database(engine or declared) else folder  # names of tables are not paths
    return Policy(
        id=dataset["id"],
        budget=read_budget(dataset["budget"]),
        version=dataset.get("version", "1"),
        relation=dataset.get("relation", "add/remove"),
        population=dataset.get("population"),
        filter=dataset.get("filter"),
        per_analyst=_read_part(dataset.get("per_analyst")),
        per_question=_read_part(dataset.get("per_question")),
        share_answers=dataset.get("share_answers", False),
        ledger=read_place(_section(document, "ledger"), folder=folder),
        engine=declared,
        serving=read_serving(_section(document, "server")),
        ration=read_ration(dataset.get("ration")),
        tables=tuple(
            _read_table(name, each, base, folder) for name, each in _section(document, "tables").items()
        ),
        public=tuple(_read_public(name, each, base) for name, each in _section(document, "public").items()),
    )


def from_arguments(
    *,
    sources: Mapping[str, Source | None],
    unit: object,
    budget: object,
    id: str,  # noqa: A002  # named as in the policy file
    public: Mapping[str, tuple[str, Source | None]] | None = None,
    types: Mapping[str, object] | None = None,
    bounds: Mapping[str, object] | None = None,
    keys: Mapping[str, object] | None = None,
    encoding: str | Mapping[str, str] = "utf-8",
    limit: RowLimit | Mapping[str, RowLimit] | None = None,
    max_groups: int | Mapping[str, int] | None = None,
    max_rows: int | Mapping[str, int] | None = None,
    relation: str = "add/remove",
    population: int | None = None,
    version: str = "1",
    filter: str | None = None,  # noqa: A002  # named as in the policy file
    per_analyst: object = None,
    per_question: object = None,
    share_answers: bool = False,
    ration: object = None,
    hierarchies: Mapping[str, object] | None = None,
    ledger: Mapping[str, object] | None = None,
) -> Policy:
    """Return the policy that the arguments of `Curator.open` state.

    `sources` maps table names to where they are (None: in memory); with several tables, `unit`, `types`,
    `bounds` and `keys` are mappings by table name, and limits may be. `public` maps a name to (key, source).
    """
    several = len(sources) > 1
    stated = {"limit": limit, "max_groups": max_groups, "max_rows": max_rows}
    for setting, value in stated.items():
        _check_tables(setting, value, sources)
    units = {name: _read_unit_of(name, unit, several=several) for name in sources}
    tables = []
    for name, source in sources.items():
        plain = read_columns(
            types=_of_table(types, name, several=several),
            bounds=_of_table(bounds, name, several=several),
            keys=_of_table(keys, name, several=several),
        )
        columns, levels = read_hierarchies(_of_table(hierarchies, name, several=several), plain)
        limits = _limits({each: _one_of(value, name) for each, value in stated.items()}, units[name])
        found = Table(
            name=name,
            source=source,
            encoding=_encoding_of(encoding, name),
            unit=units[name],
            **limits,
            columns=columns,
            hierarchies=levels,
        )
        tables.append(found)
    return Policy(
        id=id,
        budget=read_budget(budget),
        version=version,
        relation=relation,  # type: ignore[arg-type]  # checked by Policy
        population=population,
        filter=filter,
        per_analyst=_read_part(per_analyst),
        per_question=_read_part(per_question),
        share_answers=share_answers,
        ration=read_ration(ration),
        ledger=read_place(ledger or {}),
        tables=tuple(tables),
        public=tuple(
            PublicTable(name=name, key=key, source=source, encoding=_encoding_of(encoding, name))
            for name, (key, source) in (public or {}).items()
        ),
    )


def _read_part(budget: object) -> Budget | None:
    return None if budget is None else read_budget(budget)


def _read_unit_of(name: str, unit: object, *, several: bool) -> Unit:
    if several:
        if not isinstance(unit, Mapping) or name not in unit:
            raise InvalidParameter(
                f"unit must say who is protected in table {name!r}. Write unit={{table: column, ...}}."
            )
        unit = unit[name]
    return read_unit(unit, name=f"unit of table {name!r}")


def _of_table(promises: Mapping[str, object] | None, name: str, *, several: bool) -> Mapping[str, object]:
    if not several:
        return promises or {}
    found = (promises or {}).get(name, {})
    if not isinstance(found, Mapping):
        raise InvalidParameter(f"promises of table {name!r} must be a mapping by column, got {found!r}.")
    return found


def _read_table(name: str, settings: object, folder: Path | None, beside: Path | None) -> Table:
    where = f"[tables.{name}]"
    settings = _mapping(settings, where)
    _check_settings(settings, TABLE_SETTINGS, where)
    if (settings.get("each_row") is True) == ("unit" in settings):
        raise InvalidParameter(
            f'{where} must have unit or each_row = true, and not both. Write unit = "person".'
        )
    unit = EachRow() if "unit" not in settings else read_unit(settings["unit"], name=f"unit of {where}")
    plain = _read_columns(settings, where)
    columns, levels = read_hierarchies(settings.get("hierarchies", {}), plain, folder=beside)
    return Table(
        name=name,
        source=_locate(settings.get("source"), folder, where),
        encoding=settings.get("encoding", "utf-8"),
        unit=unit,
        **_limits(settings, unit),
        columns=columns,
        hierarchies=levels,
    )


def _limits(stated: Mapping[str, Any], unit: Unit) -> dict[str, Any]:
    """Return how a table's units are limited: as stated, else by a limit that questions find.

    A unit of one row has nothing to find.
    """
    limit, groups, rows = (stated.get(each) for each in ("limit", "max_groups", "max_rows"))
    silent = limit is None and groups is None and rows is None
    return {
        "limit": "auto" if silent and not isinstance(unit, EachRow) else limit,
        "max_groups": 1 if groups is None else groups,
        "max_rows": 1 if rows is None else rows,
    }


def _one_of(value: object, table: str) -> object:
    return value.get(table) if isinstance(value, Mapping) else value


def _encoding_of(encoding: str | Mapping[str, str], table: str) -> str:
    return encoding.get(table, "utf-8") if isinstance(encoding, Mapping) else encoding


def _check_tables(setting: str, value: object, tables: Mapping[str, object]) -> None:
    for name in value if isinstance(value, Mapping) else ():
        if name not in tables:
            raise InvalidParameter(
                f"{setting} must name private tables, got {name!r}. Name one of {', '.join(tables)}.",
                parameter=setting,
            )


def _read_public(name: str, settings: object, folder: Path | None) -> PublicTable:
    where = f"[public.{name}]"
    settings = _mapping(settings, where)
    _check_settings(settings, PUBLIC_SETTINGS, where)
    if not isinstance(settings.get("key"), str) or not settings["key"]:
        raise InvalidParameter(f'{where} must name the key that its rows differ in. Write key = "...".')
    return PublicTable(
        name=name,
        key=settings["key"],
        source=_locate(settings.get("source"), folder, where),
        encoding=settings.get("encoding", "utf-8"),
        columns=_read_columns(settings, where),
    )


def _read_columns(settings: dict[str, Any], where: str) -> tuple[Column, ...]:
    columns = []
    for name, promises in _mapping(settings.get("columns", {}), f"columns of {where}").items():
        promise = _mapping(promises, f"column {name!r} of {where}")
        _check_settings(promise, COLUMN_SETTINGS, f"column {name!r} of {where}")
        columns.append(Column.read(name, **promise))
    return tuple(columns)


def _locate(source: object, folder: Path | None, where: str) -> Source | None:
    if source is None or (folder is None and not isinstance(source, list)):
        return source if isinstance(source, str) else None
    paths: list[Any] = source if isinstance(source, list) else [source]
    if not paths or not all(isinstance(each, str) and each for each in paths):
        raise InvalidParameter(f"source of {where} must be a path, or a list of paths, got {source!r}.")
    found = tuple(each if "://" in each or folder is None else str(folder / each) for each in paths)
    return found if isinstance(source, list) else found[0]


def _section(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    return _mapping(document.get(name, {}), f"[{name}]")


def _mapping(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidParameter(f"{where} must be a table of settings, got {value!r}.")
    return value


def _check_settings(found: Mapping[str, object], known: set[str], where: str) -> None:
    for name in found:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InvalidParameter(
                f"{where} must have only the settings {', '.join(sorted(known))}, got {name!r}.{hint}"
            )


class Opening(TypedDict, total=False):
    """The arguments of `Curator.open`; unit and budget are required."""

    unit: Any
    budget: Any
    name: str | None
    types: Mapping[str, Any]
    bounds: Mapping[str, Any]
    keys: Mapping[str, Any]
    encoding: str | Mapping[str, str]
    limit: RowLimit | Mapping[str, RowLimit] | None
    max_groups: int | Mapping[str, int] | None
    max_rows: int | Mapping[str, int] | None
    relation: str
    population: int | None
    version: str
    filter: str | None
    per_analyst: Any
    per_question: Any
    share_answers: bool
    ration: Any
    hierarchies: Mapping[str, Any]
    public: Mapping[str, Any]


def read_opening(
    source: Any,
    opening: Opening,
    ledger: str | Path | Mapping[str, object] | None = None,
    engine: object = "duckdb",
) -> tuple[Policy, dict[str, object], str | Path]:
    """Return the policy, the tables that are in memory, and the place of the ledger: as stated, or next to
    the data.

    A source is a path, a list of paths, a frame, the name of a table where the engine is a database, or a
    mapping of table names to them; a public table is a source, its first column being its key, or
    (source, key).
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
    return Path(f"{name}.ledger") if not isinstance(first, str) else sibling_path(first)


def _path(source: Any) -> Source | None:
    if isinstance(source, list | tuple) and source and all(isinstance(each, str | Path) for each in source):
        return tuple(map(str, source))
    return str(source) if isinstance(source, str | Path) else None


def _stem(source: Any, engine: object) -> str:
    if not isinstance(source, str | Path):
        raise InvalidParameter(
            "name must be given for data in memory or in several files, got none.", parameter="name"
        )
    return stem(str(source), engine)
