"""The engines by name: a new engine is one more line here."""

from collections.abc import Mapping

from discreet.asking.engines.base import Engine, RegisteredEngine
from discreet.asking.engines.duckdb import DuckDBEngine
from discreet.asking.engines.memory import MemoryEngine
from discreet.asking.engines.postgres import PostgresEngine
from discreet.asking.engines.spark import SparkEngine
from discreet.asking.policy import Policy
from discreet.errors import InvalidParameter

ENGINES: dict[str, type[RegisteredEngine]] = {
    "duckdb": DuckDBEngine,
    "memory": MemoryEngine,
    "postgresql": PostgresEngine,
    "spark": SparkEngine,
}


def open_engine(
    engine: object, policy: Policy, sources: Mapping[str, object], *, timeout_s: float | None = None
) -> Engine:
    """Open an engine by its name ("duckdb"), its address ("postgresql://host/bank", "spark://host:7077",
    "sc://host", "local[4]"), or a Spark session; a plan that takes longer than `timeout_s` fails."""
    for name, kind in ENGINES.items():
        options = kind.options_for(engine, name)
        if options is not None:
            return kind(policy, sources, timeout_s=timeout_s, **options)
    shown = repr(engine.partition("://")[0] or engine) if isinstance(engine, str) else type(engine).__name__
    raise InvalidParameter(f"engine must be one of {', '.join(ENGINES)}, got {shown}.", parameter="engine")
