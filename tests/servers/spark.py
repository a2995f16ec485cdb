"""Real Spark for tests: a session in this process, a standalone cluster, a Connect server; on loopback alone.

Tests ask for the fixtures of tests/conftest.py, and start a ConnectServer themselves:

    def test_x(spark_session): ...     # local[2], one for each test process, started when first used
    def test_y(spark_cluster): ...     # a SparkCluster: a master and two workers, which may be killed

All of it comes from pip's PySpark. Files lie in a throw-away folder; every process ends with the one that
started it.
"""

import contextlib
import importlib.util
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATIENCE_S = 600.0  # a machine may be busy
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"  # soon warm, few threads
SMALL = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.driver.memory": "2g",
    "spark.executor.extraJavaOptions": JAVA,
    "spark.executor.memory": "512m",
    "spark.log.level": "OFF",
    "spark.sql.ui.retainedExecutions": "1",  # as a Spark that is started here
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# What an owner may have set for their own work; it must change no answer.
OWNERS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.session.timeZone": "Pacific/Auckland",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
# Runs a server until its own standard input closes: when it is stopped, or when its parent is gone.
GUARD = """
exec 3<&0
"$@" </dev/null 3<&- & server=$!
(cat <&3 >/dev/null; kill -TERM $server 2>/dev/null) &
exec 3<&- ; wait $server
"""


def small_settings(folder: Path) -> dict[str, str]:
    """Variables under which a Spark that another process starts is as small as ours; written to a folder."""
    lines = (f"{name} {value}\n" for name, value in (SMALL | OWNERS).items())
    (folder / "spark-defaults.conf").write_text("".join(lines))
    return {"SPARK_CONF_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}


@contextlib.contextmanager
def local_session(**options: str) -> Iterator[Any]:
    """A session of a Spark with two threads in this process."""
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="discreet-spark-test-")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder = SparkSession.Builder().master("local[2]").appName("tests")
    places = {"spark.local.dir": folder, "spark.sql.warehouse.dir": folder}
    for name, value in {**SMALL, **OWNERS, **places, **options}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()
        shutil.rmtree(folder, ignore_errors=True)


class SparkCluster:
    """A standalone master and its workers: processes of their own, each of which can be killed."""

    def __init__(self, workers: int = 2, *, memory: str = "1500m") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="discreet-spark-cluster-"))
        self.port = free_port()
        self._master: Process | None = None
        self._workers: list[Process] = []
        self._count, self._memory, self._names = workers, memory, itertools.count()

    @property
    def address(self) -> str:
        """Where a driver finds the master."""
        return f"spark://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the master and the workers, and wait until each is registered."""
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--webui-port", str(free_port())]
        self._master = Process("master.Master", options, self.folder / "master")
        self._master.wait_for("New state: ALIVE")
        self.add_workers(self._count)

    def add_workers(self, count: int) -> None:
        """So many workers more: one core each, little memory."""
        started = [self._start_worker() for _ in range(count)]
        for worker in started:
            worker.wait_for("Successfully registered")

    def _start_worker(self) -> "Process":
        options = ["--host", "127.0.0.1", "--cores", "1", "--memory", self._memory]
        options += ["--webui-port", str(free_port()), self.address]
        worker = Process("worker.Worker", options, self.folder / f"worker{next(self._names)}")
        self._workers.append(worker)
        return worker

    def pause_worker(self) -> None:
        """The first worker and its executors take up work, and do none."""
        self._workers[0].pause()

    def kill_worker(self) -> None:
        """kill -9 of the first worker, and of its executors."""
        self._workers.pop(0).kill()

    def close(self) -> None:
        """Stop everything and remove the folder."""
        for process in (*self._workers, self._master):
            if process is not None:
                process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "SparkCluster":
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ConnectServer:
    """A Spark Connect server with two threads."""

    def __init__(self, port: int | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="discreet-spark-connect-"))
        self.port = port or free_port()
        settings = {**SMALL, "spark.connect.grpc.binding.port": str(self.port),
                    "spark.connect.grpc.binding.address": "127.0.0.1",
                    "spark.sql.warehouse.dir": str(self.folder), "spark.log.level": "INFO"}  # fmt: skip
        words = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        command = [_home() / "bin" / "spark-submit", "--master", "local[2]", *words]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        self.process = Process("", command, self.folder)
        self.process.wait_for("Spark Connect server started")

    @property
    def address(self) -> str:
        """Where a client finds it."""
        return f"sc://127.0.0.1:{self.port}"

    def pause(self) -> None:
        """It listens, and says nothing."""
        self.process.pause()

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()

    def close(self) -> None:
        """Stop it and remove its folder."""
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> "ConnectServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Process:
    """One JVM of Spark's, with a guard that ends it when this process ends."""

    def __init__(self, name: str, options: list[Any], folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._log = folder / "log"
        command = (
            options
            if not name
            else [_home() / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *options]
        )
        private = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder),
                   "SPARK_LOCAL_DIRS": str(folder),
                   "SPARK_DAEMON_MEMORY": "256m" if name else "1g", "SPARK_HOME": str(_home()),
                   "SPARK_DAEMON_JAVA_OPTS": JAVA,
                   "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false"}  # fmt: skip
        with self._log.open("wb") as log:
            self._guard = subprocess.Popen(
                ["sh", "-c", GUARD, "sh", *map(str, command)],
                stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder, env=os.environ | private,
                start_new_session=True,
            )  # fmt: skip

    def wait_for(self, words: str) -> None:
        """Until the log says so."""
        deadline = time.monotonic() + PATIENCE_S
        while words not in (said := self._log.read_text(errors="replace")):
            if time.monotonic() > deadline or self._guard.poll() is not None:
                raise RuntimeError(f"Spark did not say {words!r}:\n{said[-2000:]}")
            time.sleep(0.05)

    def pause(self) -> None:
        """Stop the clock for all of them."""
        os.killpg(self._guard.pid, signal.SIGSTOP)

    def kill(self) -> None:
        """kill -9 of all of them: the guard leads a group of its own, executors included."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._guard.pid, signal.SIGKILL)
        self._guard.wait(PATIENCE_S)
        self._hang_up()

    def stop(self) -> None:
        """Ask it to end; then make it."""
        self._hang_up()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._guard.wait(20)
        self.kill()

    def _hang_up(self) -> None:
        assert self._guard.stdin is not None
        with contextlib.suppress(OSError):
            self._guard.stdin.close()


def _home() -> Path:
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise RuntimeError("pyspark is missing. Run: make .venv/stamps/spark")
    return Path(found.origin).parent


def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
