"""Locations: addresses of engines, and the place, anchor and key file of a ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from discreet.errors import InvalidParameter

DATABASES = ("postgresql",)  # engines whose sources are names of tables, not paths


def is_database(engine: object) -> bool:
    """Return whether the engine's tables are in a database, under names.

    >>> is_database("postgresql://host/bank"), is_database("duckdb")
    (True, False)
    """
    return isinstance(engine, str) and engine.partition("://")[0] in DATABASES


def read_engine(engine: object) -> str:
    """Return the engine that a policy names."""
    if not isinstance(engine, str) or not engine:
        raise InvalidParameter("engine of [dataset] must be a name or an address.", parameter="engine")
    return without_password(engine, "engine of [dataset]")


def without_password(address: str, what: str) -> str:
    """Return the address, which a policy makes public: a secret in it is refused."""
    if "://" in address and (urlsplit(address).password or "password=" in address):
        raise InvalidParameter(
            f"{what} must not hold a password. Put it into libpq's password file or environment."
        )
    return address


def stem(source: str, engine: object) -> str:
    """Return what a table is called in questions: the file's stem, or the table's own name.

    >>> stem("data/accounts.csv", "duckdb"), stem("bank.accounts", "postgresql://host/bank")
    ('accounts', 'accounts')
    """
    return source.rpartition(".")[2].strip('"') if is_database(engine) else Path(source).name.split(".")[0]


Command: TypeAlias = tuple[str, ...]
_PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Commands:
    """An anchor by two commands: one is given each head, the other prints the last."""

    publish: Command
    latest: Command


@dataclass(frozen=True, kw_only=True)
class LedgerPlace:
    """A file or an address, an anchor elsewhere, and the file that holds the key; never the key itself."""

    place: str | None = field(default=None, repr=False)  # an address may name users and hosts
    anchor: str | Commands | None = None
    key_file: str | None = None


def sibling_path(path: str | Path, ending: str = ".ledger") -> Path:
    """Return the file of this ending next to another; in the working folder, where that one came with
    discreet.

    >>> bundled = _PACKAGE / "demo" / "people.parquet"
    >>> sibling_path("data/bank.csv").as_posix(), sibling_path(bundled).as_posix()
    ('data/bank.ledger', 'people.ledger')
    """
    found = Path(path).with_suffix(ending)
    return Path(found.name) if _PACKAGE in found.resolve().parents else found


def read_place(settings: object, *, folder: Path | None = None) -> LedgerPlace:
    """Return what the section [ledger] of a policy says; paths are taken relative to the policy's folder.

    >>> read_place({"anchor": "/mnt/elsewhere/bank.head"}).anchor
    '/mnt/elsewhere/bank.head'
    """
    if not isinstance(settings, Mapping) or set(settings) - {"place", "anchor", "key_file"}:
        raise InvalidParameter("[ledger] must have only the settings place, anchor and key_file.")
    anchor = settings.get("anchor")
    if isinstance(anchor, Mapping):
        if set(anchor) != {"publish", "latest"}:
            raise InvalidParameter("anchor of [ledger] must be a path, or have publish and latest.")
        read: Any = Commands(*(_command(anchor[name], name) for name in ("publish", "latest")))
    else:
        read = _path(anchor, "anchor", folder)
    place = _path(settings.get("place"), "place", folder)
    return LedgerPlace(
        place=None if place is None else without_password(place, "place of [ledger]"),
        anchor=read,
        key_file=_path(settings.get("key_file"), "key_file", folder),
    )


def _path(value: object, name: str, folder: Path | None) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str | Path) or not str(value):
        raise InvalidParameter(f"{name} of [ledger] must be a path or an address.", parameter=name)
    return str(value) if folder is None or "://" in str(value) else str(folder / value)


def _command(parts: object, name: str) -> Command:
    if not isinstance(parts, list | tuple) or not parts or not all(isinstance(part, str) for part in parts):
        raise InvalidParameter(f"{name} of the anchor must be a list of strings.", parameter="anchor")
    return tuple(parts)
