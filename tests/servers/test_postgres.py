"""The throw-away server does what the tests that use it rely on."""

import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psycopg
import pytest

from servers.postgres import PostgresServer


def test_it_is_durable_unless_asked_otherwise(postgres_server):
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        assert postgres_server.execute(f"SHOW {setting}") == [("on",)]


def test_databases_are_fresh_and_reached_over_loopback_with_a_password(postgres_server, postgres_database):
    with psycopg.connect(postgres_database) as connection:
        assert connection.execute(
            "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchone() == (0,)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(postgres_server.url(password="another")).close()
    assert postgres_server.database() != postgres_server.database()


def test_what_was_committed_survives_kills_of_a_backend_and_of_all(postgres_server, postgres_database):
    with psycopg.connect(postgres_database, autocommit=True) as connection:
        connection.execute("CREATE TABLE t AS SELECT 42 AS x")
        postgres_server.kill_backend(connection.info.backend_pid)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(60)")
    postgres_server.kill()
    postgres_server.start()
    with psycopg.connect(postgres_database) as connection:
        assert connection.execute("SELECT x FROM t").fetchone() == (42,)


def test_it_ends_with_the_process_that_started_it():
    program = textwrap.dedent("""
        import os, sys
        from servers.postgres import PostgresServer
        server = PostgresServer(durable=False)
        server.start()
        print(server.pid, server.folder, flush=True)
        os.kill(os.getpid(), 9)
    """)
    made = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=False,
        env={"PYTHONPATH": "tests", "PATH": "/usr/bin:/bin"}, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    pid, folder = made.stdout.split()
    for _ in range(200):
        if not Path(f"/proc/{pid}").exists():
            break
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    assert Path(folder).name.startswith("discreet-pg-")
    subprocess.run(["rm", "-r", folder], check=True)


def test_a_closed_server_leaves_nothing():
    server = PostgresServer(durable=False)
    server.start()
    pid = server.pid
    server.close()
    assert not server.folder.exists()
    assert not Path(f"/proc/{pid}").exists()
