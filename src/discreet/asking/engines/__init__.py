"""Engines run exact plans: bounded aggregates in whole numbers, the same on every engine.

    engine = DuckDBEngine(policy, {"accounts": frame})    # or sources named in the policy
    policy = engine.policy                                 # with the columns of the data's schema
    table = engine.run(exact_plan)                         # an ExactTable: groups, totals, tallies

`ENGINES` names them, by the part before "://" in an address; `open_engine` opens one. `MemoryEngine` is the
naive reference that all others must equal. An engine never raises its own errors while it runs:
EngineFailure with a constant text replaces all of them. Problems of registration (a CSV that is not
strict, a key that is not unique, a type that does not fit) are PolicyViolation, to the owner.
"""

from collections.abc import Mapping

from discreet.asking.engines.base import Engine, RegisteredEngine
from discreet.asking.engines.duckdb import DuckDBEngine
from discreet.asking.engines.duckdb.registration import describe_policy
from discreet.asking.engines.memory import MemoryEngine
from discreet.asking.engines.postgres import PostgresEngine
from discreet.asking.engines.spark import SparkEngine
from discreet.asking.policy import Policy
from discreet.errors import InvalidParameter

__all__ = [
    "ENGINES",
    "DuckDBEngine",
    "Engine",
    "MemoryEngine",
    "PostgresEngine",
    "SparkEngine",
    "describe_policy",
    "open_engine",
]


# The engines by name: a new engine is one more line here.

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
