"""Engines only read: their server need not wait for the disk."""

from collections.abc import Iterator

import pytest

from servers.postgres import PostgresServer


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """In place of the durable one."""
    with PostgresServer(durable=False) as server:
        yield server


@pytest.fixture(scope="session")
def conformance_database(postgres_server: PostgresServer) -> str:
    """One database for all comparisons of engines; each makes its tables anew."""
    return postgres_server.database("conformance")


@pytest.fixture(scope="session")
def reused_database(postgres_server: PostgresServer) -> str:
    """A database costs hundreds of files: these tests share one."""
    return postgres_server.database("reused")


@pytest.fixture
def postgres_database(postgres_server: PostgresServer, reused_database: str) -> str:
    """The address of an empty database."""
    for (schema,) in postgres_server.execute(
        "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'",
        "reused",
    ):
        postgres_server.execute(f'DROP SCHEMA "{schema}" CASCADE', "reused")
    postgres_server.execute("CREATE SCHEMA public", "reused")
    postgres_server.execute("ALTER DATABASE reused RESET ALL")
    return reused_database
