"""Servers that tests share: one of a kind for each test process, started when a test first asks for it."""

from collections.abc import Iterator

import pytest

from servers.postgres import PostgresServer


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running PostgreSQL; a test that stops or kills it must start it again."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_database(postgres_server: PostgresServer) -> str:
    """The address of a fresh, empty database."""
    return postgres_server.database()
