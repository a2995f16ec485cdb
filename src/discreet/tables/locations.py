"""Where the ledger of a data set lies, who remembers its head, and what seals it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from discreet.errors import InvalidParameter

DATABASES = ("postgresql",)  # engines whose sources are names of tables, not paths


def is_database(engine: object) -> bool:
    """Whether the engine's tables lie in a database, under names.

    >>> is_database("postgresql://host/bank"), is_database("duckdb")
    (True, False)
    """
    return isinstance(engine, str) and engine.partition("://")[0] in DATABASES


def read_engine(engine: object) -> str:
    """The engine that a policy names."""
    if not isinstance(engine, str) or not engine:
        raise InvalidParameter("engine of [dataset] must be a name or an address.", parameter="engine")
    return without_password(engine, "engine of [dataset]")


def without_password(address: str, what: str) -> str:
    """The address, which a policy makes public: a secret in it is refused."""
    if "://" in address and (urlsplit(address).password or "password=" in address):
        raise InvalidParameter(
            f"{what} must not hold a password. Put it into libpq's password file or environment."
        )
    return address


def stem(source: str, engine: object) -> str:
    """What a table is called in questions: the file's stem, or the table's own name.

    >>> stem("data/accounts.csv", "duckdb"), stem("bank.accounts", "postgresql://host/bank")
    ('accounts', 'accounts')
    """
    return source.rpartition(".")[2].strip('"') if is_database(engine) else Path(source).name.split(".")[0]


Command: TypeAlias = tuple[str, ...]
_PACKAGE = Path(__file__).resolve().parents[1]


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


def beside(path: str | Path, ending: str = ".ledger") -> Path:
    """The file of this ending beside another; in the working folder, where that one came with discreet.

    >>> beside("data/bank.csv").as_posix(), beside(_PACKAGE / "demo" / "people.parquet").as_posix()
    ('data/bank.ledger', 'people.ledger')
    """
    found = Path(path).with_suffix(ending)
    return Path(found.name) if _PACKAGE in found.resolve().parents else found


def read_place(words: object, *, folder: Path | None = None) -> LedgerPlace:
    """What the section [ledger] of a policy says; paths are taken relative to the policy's folder.

    >>> read_place({"anchor": "/mnt/elsewhere/bank.head"}).anchor
    '/mnt/elsewhere/bank.head'
    """
    if not isinstance(words, Mapping) or set(words) - {"place", "anchor", "key_file"}:
        raise InvalidParameter("[ledger] must have only the settings place, anchor and key_file.")
    anchor = words.get("anchor")
    if isinstance(anchor, Mapping):
        if set(anchor) != {"publish", "latest"}:
            raise InvalidParameter("anchor of [ledger] must be a path, or have publish and latest.")
        read: Any = Commands(*(_command(anchor[name], name) for name in ("publish", "latest")))
    else:
        read = _path(anchor, "anchor", folder)
    place = _path(words.get("place"), "place", folder)
    return LedgerPlace(
        place=None if place is None else without_password(place, "place of [ledger]"),
        anchor=read,
        key_file=_path(words.get("key_file"), "key_file", folder),
    )


def _path(value: object, name: str, folder: Path | None) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str | Path) or not str(value):
        raise InvalidParameter(f"{name} of [ledger] must be a path or an address.", parameter=name)
    return str(value) if folder is None or "://" in str(value) else str(folder / value)


def _command(words: object, name: str) -> Command:
    if not isinstance(words, list | tuple) or not words or not all(isinstance(word, str) for word in words):
        raise InvalidParameter(f"{name} of the anchor must be a list of words.", parameter="anchor")
    return tuple(words)
