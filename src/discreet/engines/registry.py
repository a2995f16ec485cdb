"""The engines by name, and how one is opened from what the owner wrote."""

from collections.abc import Callable, Mapping
from typing import Any

from discreet.engines.base import Engine
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.memory import MemoryEngine
from discreet.engines.postgres import PostgresEngine
from discreet.engines.spark import SparkEngine
from discreet.errors import InvalidParameter
from discreet.tables import Policy

ENGINES: dict[str, Callable[..., Engine]] = {
    "duckdb": DuckDBEngine,
    "memory": MemoryEngine,
    "postgresql": PostgresEngine,
    "spark": SparkEngine,
}


def open_engine(
    engine: object, policy: Policy, sources: Mapping[str, object], *, timeout_s: float | None = None
) -> Engine:
    """An engine by its name ("duckdb"), its address ("postgresql://host/bank", "spark://host:7077",
    "sc://host", "local[4]"), or a session of Spark; a plan that takes longer than `timeout_s` fails."""
    limit: dict[str, Any] = {} if timeout_s is None else {"timeout_s": timeout_s}
    if type(engine).__module__.startswith("pyspark."):
        return SparkEngine(policy, sources, session=engine, **limit)
    if isinstance(engine, str) and engine.startswith(("sc://", "local[")):
        return SparkEngine(policy, sources, address=engine, **limit)
    name, _, place = engine.partition("://") if isinstance(engine, str) else ("", "", "")
    if name not in ENGINES:
        shown = repr(name or engine) if isinstance(engine, str) else type(engine).__name__
        raise InvalidParameter(
            f"engine must be one of {', '.join(ENGINES)}, got {shown}.", parameter="engine"
        )
    options: dict[str, Any] = {"address": engine} if place else {}
    if name != "memory":  # the reference, for small data
        options |= limit
    return ENGINES[name](policy, sources, **options)
