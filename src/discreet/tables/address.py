"""Addresses of engines and ledgers: "duckdb", or "postgresql://host/bank". A policy's hold no secret."""

from pathlib import Path
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
