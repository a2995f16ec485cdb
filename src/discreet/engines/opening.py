"""The engines by name, and how one is opened from what the owner wrote."""

from collections.abc import Callable, Mapping
from typing import Any

from discreet.engines.base import Engine
from discreet.engines.duckdb import DuckDBEngine
from discreet.engines.memory import MemoryEngine
from discreet.engines.postgres import PostgresEngine
from discreet.errors import InvalidParameter
from discreet.tables import Policy

ENGINES: dict[str, Callable[..., Engine]] = {
    "duckdb": DuckDBEngine,
    "memory": MemoryEngine,
    "postgresql": PostgresEngine,
}


def open_engine(engine: object, policy: Policy, sources: Mapping[str, object]) -> Engine:
    """An engine by its name ("duckdb") or by its address ("postgresql://host/bank")."""
    name, _, place = engine.partition("://") if isinstance(engine, str) else ("", "", "")
    if name not in ENGINES:
        shown = repr(name or engine) if isinstance(engine, str) else type(engine).__name__
        raise InvalidParameter(
            f"engine must be one of {', '.join(ENGINES)}, got {shown}.", parameter="engine"
        )
    options: dict[str, Any] = {"address": engine} if place else {}
    return ENGINES[name](policy, sources, **options)
