"""A real PostgreSQL server for tests, in a throw-away folder, on a Unix socket and on loopback.

Tests ask for the fixtures of tests/conftest.py:

    def test_x(postgres_server): ...      # the PostgresServer of this test process, started when first used
    def test_y(postgres_database): ...    # the address of a fresh, empty database on it

`initdb` is looked for on PATH and in Debian's folders, and refuses root: root starts the server as the user
`postgres` or `nobody`. The server ends with the process that started it, however that ends.
"""

import contextlib
import glob
import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg

USER, PASSWORD = "postgres", "not-a-secret"
FAST = {"fsync": "off", "full_page_writes": "off"}  # survives kills of processes, not of the machine
# Runs the server until its own standard input closes: when `stop` says so, or when its parent is gone.
GUARD = """
exec 3<&0
"$@" </dev/null 3<&- & server=$!
(cat <&3 >/dev/null; kill -INT $server 2>/dev/null) &
exec 3<&- ; wait $server
"""
PATIENCE_S = 60.0


class PostgresServer:
    """Starts, stops, restarts and kills one server; makes databases on it.

    It is durable as PostgreSQL is by default (fsync and synchronous_commit on); `durable=False` trades that
    for speed. `settings` are lines of postgresql.conf. The superuser is `postgres`: without a password on
    the socket, with PASSWORD on loopback.
    """

    def __init__(self, *, durable: bool = True, settings: Mapping[str, str] | None = None) -> None:
        self._settings = {**({} if durable else FAST), **(settings or {})}
        self._names = itertools.count()
        self._guard: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
        self.port = _free_port()
        self._initialise()

    def start(self) -> None:
        """Start the server and wait until it answers; also after a kill."""
        deadline = time.monotonic() + PATIENCE_S
        while True:  # after a kill the old backends may hold the shared memory for a moment
            with (self.folder / "log").open("ab") as log:
                self._guard = subprocess.Popen(
                    ["sh", "-c", GUARD, "sh", _binary("postgres"), "-D", str(self.folder / "data")],
                    stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=self.folder,
                    start_new_session=True, **_identity(),
                )  # fmt: skip
            if self._answers(deadline):
                return
            self._end_guard()
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{self.log()[-2000:]}")

    def stop(self) -> None:
        """Stop the server: open transactions are rolled back."""
        self._end_guard()

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """kill -9 of the postmaster and of all its backends: what a power cut leaves, the disk aside."""
        with contextlib.suppress(FileNotFoundError):  # it ended by itself
            self._kill_all(self.pid)
        self._end_guard()

    def _kill_all(self, postmaster: int) -> None:
        for pid in (postmaster, *_children(postmaster)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def kill_backend(self, pid: int) -> None:
        """kill -9 of one backend; PostgreSQL then restarts all of them."""
        os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        """End the server at once and remove its folder."""
        if self._guard is not None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def log(self) -> str:
        """All that the server has logged."""
        return (self.folder / "log").read_text(errors="replace")

    def database(self, name: str | None = None) -> str:
        """Make an empty database; its address."""
        made = name or f"d{os.getpid()}_{next(self._names)}"
        self.execute(f'CREATE DATABASE "{made}"')
        return self.url(made)

    def url(self, database: str = "postgres", *, user: str = USER, password: str = PASSWORD) -> str:
        """The address of a database over loopback."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement as the superuser, over the socket; its rows."""
        with self.connect(database) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """A connection of the superuser over the socket, in autocommit."""
        return psycopg.connect(
            host=str(self.folder), port=self.port, user=USER, dbname=database, autocommit=True
        )

    def __enter__(self) -> "PostgresServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _initialise(self) -> None:
        given = self.folder / "password"
        given.write_text(PASSWORD)
        if os.getuid() == 0:
            for path in (self.folder, given):
                shutil.chown(path, **_owner())
        subprocess.run(
            [
                _binary("initdb"), "--pgdata", str(self.folder / "data"), "--username", USER, "--no-sync",
                "--encoding", "UTF8", "--locale", "C.UTF-8", "--auth-local", "trust",
                "--auth-host", "scram-sha-256", "--pwfile", str(given),
            ],
            check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **_identity(),
        )  # fmt: skip
        settings = {
            "listen_addresses": "127.0.0.1", "port": str(self.port),
            "unix_socket_directories": str(self.folder), "max_connections": "300", "shared_buffers": "64MB",
            "recovery_init_sync_method": "syncfs",
            **self._settings,
        }  # fmt: skip
        with (self.folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def _answers(self, deadline: float) -> bool:
        assert self._guard is not None
        while time.monotonic() < deadline and self._guard.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                self.connect().close()
                return True
            time.sleep(0.05)
        return False

    def _end_guard(self) -> None:
        if self._guard is not None:
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard.wait(PATIENCE_S)
            self._guard = None


def _binary(name: str) -> str:
    """A program of PostgreSQL's: on PATH, else the newest of Debian's folders."""
    found = shutil.which(name)
    if found is None:
        installed = glob.glob(f"/usr/lib/postgresql/*/bin/{name}")
        found = max(installed, key=lambda path: int(path.split("/")[4]), default=None)
    if found is None:
        raise RuntimeError(f"{name} is missing. Run: make system")
    return found


def _owner() -> dict[str, Any]:
    """Whose the server is when root starts it."""
    names = {each.pw_name: each for each in pwd.getpwall()}
    found = names.get("postgres") or names["nobody"]
    return {"user": found.pw_uid, "group": found.pw_gid}


def _identity() -> dict[str, Any]:
    return {**_owner(), "extra_groups": []} if os.getuid() == 0 else {}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _children(parent: int) -> Iterator[int]:
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, rest = Path(path).read_text().split(" ", 1)
            if int(rest.rsplit(")", 1)[1].split()[1]) == parent:
                yield int(pid)
