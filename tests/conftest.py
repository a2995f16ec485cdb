"""What all tests share: patience, and servers, one of a kind for each test process, started when first asked
for."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from house import files_of_the_package
from servers.postgres import PostgresServer
from servers.spark import SparkCluster, local_session

# A busy machine is no fault: no example fails for its time. What must be fast has tests of its own.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


SERVERS = {"postgres_server", "postgres_database", "spark_session", "spark_cluster"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever starts a server is slow."""
    for item in items:
        chosen = getattr(item, "callspec", None)
        stores = [value for value in chosen.params.values() if isinstance(value, str)] if chosen else []
        if SERVERS & set(getattr(item, "fixturenames", ())) or "postgres" in stores:
            item.add_marker("slow")


@pytest.fixture(scope="session", autouse=True)
def clean_package() -> Iterator[None]:
    """No test leaves a file in the package's own folder: the next wheel would carry it."""
    before = files_of_the_package()
    yield
    assert files_of_the_package() - before == set()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A running PostgreSQL; a test that stops or kills it must start it again."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
def postgres_database(postgres_server: PostgresServer) -> str:
    """The address of a fresh, empty database."""
    return postgres_server.database()


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """A session of a Spark in this process; it must not be stopped."""
    with local_session() as session:
        yield session


@pytest.fixture
def spark_cluster() -> Iterator[SparkCluster]:
    """A master and two workers, which may be killed."""
    with SparkCluster() as cluster:
        yield cluster
