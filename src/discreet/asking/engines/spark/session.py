"""Sessions of Spark: opened at an address or next to an existing one, with settings of their own.

A question runs in a session of its own: its settings fix what SQL means (ANSI, UTC, no
substitution of variables into texts), whatever the owner's own session is set to.
"""

import contextlib
import importlib
import logging
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from discreet.asking.engines.base import cannot_open
from discreet.asking.engines.spark.java import java_options, silence
from discreet.errors import InvalidParameter

VERSIONS = ("4.0", "4.1", "4.2", "4.3")  # of Spark and of PySpark, each run against the reference
SETTINGS = {
    "spark.sql.ansi.enabled": "true",  # what overflows fails, and is never wrapped around or made NULL
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.variable.substitute": "false",  # a text such as ${x} stays one
    # Inferring filters from every pair of columns takes time and memory without end on wide statements.
    "spark.sql.constraintPropagation.enabled": "false",
    # Rows beyond a limit are dropped before they travel: one unit with half the rows sinks no task.
    "spark.sql.optimizer.windowGroupLimitThreshold": "1000000",
}
LEGACY = "spark.sql.legacy."
# Of a Spark that we start: nothing is shown, written, listened for or remembered that need not be. By default
# it keeps the plans of the last thousand statements, for a page that is off, and they fill a driver's memory.
STARTING = {
    "spark.app.name": "discreet",
    "spark.eventLog.enabled": "false",
    "spark.log.level": "OFF",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.showConsoleProgress": "false",
}
LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
PATIENCE = {"max_retries": 5, "max_backoff": 4000}  # of a Connect client: some ten seconds, not ten minutes
LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # PySpark's: they quote errors

_lock = threading.RLock()
_users: dict[str, int] = {}  # how many engines use the Spark that we started at an address
_asking: ContextVar[bool] = ContextVar("asking", default=False)


@dataclass(frozen=True)
class Opened:
    """A session of our own, and how it is given back."""

    session: Any
    close: Callable[[], None]


def open_beside(given: object) -> Opened:
    """Return a session of our own on the Spark of a given one, which stays the owner's."""
    if not hasattr(given, "newSession"):
        raise InvalidParameter(
            "engine must be a Spark session that can make another (over Spark Connect: of version 4.3). "
            'Or give its address: engine="sc://host:port".',
            parameter="engine",
        )
    session = _checked(given).newSession()
    return Opened(_set_up(session), partial(_leave, session))


def open_at(address: str) -> Opened:
    """Return a session at sc://host:port, spark://host:port or local[cores]; Spark is started where it must
    be.
    """
    try:
        return _open_remote(address) if address.startswith("sc://") else _open_driver(address)
    except InvalidParameter:
        raise
    except Exception:  # noqa: BLE001  # what Spark says of hosts and paths is for its own log
        cannot_open()


def is_alive(session: Any) -> bool:
    """Return whether the session still answers at all."""
    with quiet(), contextlib.suppress(Exception):
        return bool(session.sql("SELECT 1").collect())
    return False


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence PySpark in this thread: it logs the errors of Spark, which may quote the data."""
    from pyspark.logger import PySparkLogger

    for name in LOGGERS:
        logger = PySparkLogger.getLogger(
            name
        )  # of PySpark's own class: on another class its calls would fail
        if _is_not_ours not in logger.filters:
            logger.addFilter(_is_not_ours)
    token = _asking.set(True)
    try:
        yield
    finally:
        _asking.reset(token)


def _is_not_ours(record: logging.LogRecord) -> bool:
    return not _asking.get()


def _checked(session: Any) -> Any:
    check_version("Spark", session.version)
    return session


def check_version(name: str, version: str) -> None:
    """Refuse a version, older or newer, that was never run against the reference.

    >>> check_version("Spark", "4.1.2")
    """
    if ".".join(version.split(".")[:2]) not in VERSIONS:
        raise InvalidParameter(
            f"{name} must be of version {VERSIONS[0]} to {VERSIONS[-1]}, got {version}.", parameter="engine"
        )


def _set_up(session: Any) -> Any:
    """Return our settings, and nothing of what an owner has set to keep the meaning of an older Spark."""
    for name in session.conf.getAll:
        if name.startswith(LEGACY) and session.conf.isModifiable(name):
            session.conf.unset(name)
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    return session


def _pyspark() -> Any:
    try:
        import pyspark
    except ImportError:
        raise InvalidParameter(
            "engine must be installed, got Spark without PySpark. Run: pip install 'discreet[spark]'.",
            parameter="engine",
        ) from None
    check_version("PySpark", pyspark.__version__)
    return pyspark


def _open_remote(address: str) -> Opened:
    _pyspark()
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    session = SparkSession.Builder().remote(address).create()
    session.client.set_retry_policies([DefaultPolicy(**PATIENCE)])
    return Opened(_set_up(_checked(session)), partial(_leave, session))


def _leave(session: Any) -> None:
    """End our own session; a classic one has nothing but names, which go with it."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        with quiet(), contextlib.suppress(Exception):
            session.stop()


def _open_driver(address: str) -> Opened:
    _pyspark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with _lock:
        running = SparkContext._active_spark_context
        if running is not None and address in _users and not _answers(running):
            _forget(address)
            running = None
        if running is not None and running.master != address:
            raise InvalidParameter(
                "engine must be the Spark that this process already runs, got another address. "
                "Give its session instead: engine=session.",
                parameter="engine",
            )
        if running is not None and address not in _users:
            return open_beside(SparkSession(running))  # the owner's own
        if running is None:
            _start(address, SparkSession)
        _users[address] = _users.get(address, 0) + 1
        session = SparkSession(SparkContext._active_spark_context).newSession()
        return Opened(_set_up(_checked(session)), partial(_release, address))


def _start(address: str, session_type: Any) -> None:
    """Start a driver in this process, its files in a private folder."""
    folder = tempfile.mkdtemp(prefix="discreet-spark-")
    near = address.startswith("local") or urlsplit(address).hostname in ("127.0.0.1", "localhost")
    options: Mapping[str, str] = {
        **STARTING,
        **(LOOPBACK if near else {}),
        "spark.driver.defaultJavaOptions": f"{java_options(_pyspark().__version__)} {silence(folder)}",
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": folder,
    }
    builder = session_type.Builder().master(address)
    for name, value in options.items():
        builder = builder.config(name, value)
    # We hand over Arrow, never pandas.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    threading.Thread(target=_import_ahead, daemon=True).start()
    try:
        builder.getOrCreate()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    _folders[address] = folder


_folders: dict[str, str] = {}


def _import_ahead() -> None:
    """Import what PySpark needs for its first call to Java, while Java starts."""
    with contextlib.suppress(ImportError):
        importlib.import_module("pandas")


def _release(address: str) -> None:
    """Count one engine fewer; the last one stops what the first one started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with _lock:
        _users[address] = _users.get(address, 1) - 1
        if _users[address] > 0:
            return
        running = SparkContext._active_spark_context
        if running is not None and running.master == address and _answers(running):
            SparkSession(running).stop()
            _users.pop(address)
            shutil.rmtree(_folders.pop(address, ""), ignore_errors=True)
        else:
            _forget(address)


def _answers(context: Any) -> bool:
    """Return whether the driver of a context is still there."""
    with quiet(), contextlib.suppress(Exception):
        return not context._jsc.sc().isStopped()
    return False


def _forget(address: str) -> None:
    """Drop what PySpark holds of a driver that is gone: it has no call for that, and would wait forever."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    _users.pop(address, None)
    shutil.rmtree(_folders.pop(address, ""), ignore_errors=True)
    if SparkContext._gateway is not None:
        with contextlib.suppress(Exception):
            SparkContext._gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
