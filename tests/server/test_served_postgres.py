"""Data that is in PostgreSQL, served: what is late is cancelled there too, and nobody else is hurt."""

import time

import psycopg
import pytest

from server.running import running
from server.test_worker_pool import wait_until
from servers.postgres import PASSWORD

DEADLINE_S = 3.0
POLICY = """
[dataset]
id = "town"
budget = {{ epsilon = 10 }}
engine = "{address}"
[server]
deadline_s = {deadline_s}
[tables.slow]
source = "slow"
unit = "person"
"""
AT_WORK = (
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'discreet' AND wait_event = 'PgSleep'"
)


@pytest.fixture
def town(postgres_database, tmp_path, monkeypatch):
    with psycopg.connect(postgres_database) as connection:
        connection.execute("CREATE TABLE pause AS SELECT 60.0::float8 AS seconds")
        connection.execute("CREATE TABLE t AS SELECT g AS person FROM generate_series(1, 100) g")
        connection.execute(
            "CREATE VIEW slow AS SELECT t.* FROM t, (SELECT pg_sleep(seconds) FROM pause OFFSET 0) AS waited"
        )
    monkeypatch.setenv("PGPASSWORD", PASSWORD)  # a policy never holds one
    policy = tmp_path / "town.toml"
    address = postgres_database.replace(f":{PASSWORD}@", "@")
    policy.write_text(POLICY.format(address=address, deadline_s=DEADLINE_S))
    with running(policy) as served:
        served.service.open_all()
        yield served


def test_a_late_statement_is_cancelled_in_the_database_before_its_worker_would_be_killed(
    town, postgres_server, postgres_database
):
    pool = town.service.datasets["town"]._pool
    (first,) = pool._idle
    start = time.monotonic()
    late = town.ask("SELECT COUNT(*) AS n FROM slow", epsilon=0.5)
    assert (late.status, late.code) == (503, "engine_failure")
    assert time.monotonic() - start >= DEADLINE_S
    wait_until(lambda: postgres_server.execute(AT_WORK)[0][0] == 0, seconds=DEADLINE_S)
    assert not first.healthy  # it failed, and is not used again
    with psycopg.connect(postgres_database) as connection:
        connection.execute("UPDATE pause SET seconds = 0")
    assert town.ask("SELECT COUNT(*) AS again FROM slow", epsilon=0.5).status == 200
