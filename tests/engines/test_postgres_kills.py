"""A server, a backend or a connection that dies in mid-question: one constant, charged, and asked again."""

import socket
import threading
import time

import psycopg
import pytest

from discreet.asking.curator import Curator
from discreet.errors import EngineFailure

QUESTION = "SELECT city, COUNT(*) AS n FROM slow GROUP BY city"


@pytest.fixture
def curator(postgres_database, postgres_server, tmp_path):
    """A table that takes as long as the table `pause` says."""
    with psycopg.connect(postgres_database) as connection:
        connection.execute("CREATE TABLE pause AS SELECT 60.0::float8 AS seconds")
        connection.execute(
            "CREATE TABLE t AS SELECT g AS person, 'Ottawa' AS city FROM generate_series(1, 100) g"
        )
        connection.execute(
            "CREATE VIEW slow AS SELECT t.* FROM t, (SELECT pg_sleep(seconds) FROM pause OFFSET 0) AS waited"
        )
    with Curator.open(
        "slow", unit="person", budget={"epsilon": 1}, keys={"city": ["Ottawa"]}, engine=postgres_database,
        ledger=tmp_path / "slow.ledger",
    ) as made:  # fmt: skip
        yield made
    postgres_server.execute(  # a backend does not notice by itself that its client is gone
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'"
    )


def backend_at_work(server):
    """The process id of the backend that runs the question, once it does."""
    for _ in range(600):
        found = server.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'discreet' AND state = 'active' "
            "AND wait_event = 'PgSleep'"
        )
        if found:
            return found[0][0]
        time.sleep(0.05)
    raise AssertionError("the question did not start")


def terminate(server, curator):
    server.execute(f"SELECT pg_terminate_backend({backend_at_work(server)})")


def kill_backend(server, curator):
    server.kill_backend(backend_at_work(server))


def kill_server(server, curator):
    backend_at_work(server)
    server.kill()
    server.start()


def cut_connection(server, curator):
    backend_at_work(server)
    for connection in [each for each in CONNECTIONS if not each.closed]:
        with socket.socket(fileno=socket.dup(connection.fileno())) as wire:
            wire.shutdown(socket.SHUT_RDWR)


CONNECTIONS = []


@pytest.fixture(autouse=True)
def connections(monkeypatch):
    """The connections that the engine opens."""
    CONNECTIONS.clear()
    connect = psycopg.connect

    def remember(*arguments, **options):
        made = connect(*arguments, **options)
        CONNECTIONS.append(made)
        return made

    monkeypatch.setattr(psycopg, "connect", remember)


@pytest.mark.parametrize("kill", [terminate, kill_backend, kill_server, cut_connection])
def test_what_dies_in_mid_question_is_one_constant_and_charged(kill, curator, postgres_server):
    caught = []

    def ask():
        with pytest.raises(EngineFailure) as error:
            curator.ask(QUESTION, epsilon=0.25)
        caught.append(error.value)

    asking = threading.Thread(target=ask)
    asking.start()
    kill(postgres_server, curator)
    asking.join(60)
    (error,) = caught
    assert str(error) == "The engine could not run the plan. Nothing was released; the charge is kept."
    assert error.__suppress_context__
    assert float(curator.remaining.epsilon) == 0.75
    assert curator.history[-1].state == "failed"
    _await(postgres_server)
    postgres_server.execute("UPDATE pause SET seconds = 0", "reused")
    answer = curator.ask(QUESTION, epsilon=0.5)
    assert [row["city"] for row in answer.rows] == ["Ottawa"]
    assert float(curator.remaining.epsilon) == 0.25


def _await(server):
    """After kill -9 of a backend PostgreSQL restarts the others."""
    for _ in range(600):
        try:
            server.execute("SELECT 1", "reused")
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
