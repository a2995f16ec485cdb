"""Engines run exact plans: bounded aggregates in whole numbers, the same on every engine.

    engine = DuckDBEngine(policy, {"accounts": frame})    # or sources named in the policy
    policy = engine.policy                                 # with the columns of the data's schema
    table = engine.run(exact_plan)                         # an ExactTable: groups, totals, tallies

`ENGINES` names them, by the part before "://" in an address; `open_engine` opens one. `MemoryEngine` is the
naive reference that all others must equal. An engine never raises its own errors while it runs:
EngineFailure with a constant text replaces all of them. Problems of registration (a CSV that is not
strict, a key that is not unique, a type that does not fit) are PolicyViolation, to the owner.
"""

from discreet.asking.engines.base import Engine
from discreet.asking.engines.duckdb import DuckDBEngine
from discreet.asking.engines.duckdb.registration import describe_policy
from discreet.asking.engines.memory import MemoryEngine
from discreet.asking.engines.postgres import PostgresEngine
from discreet.asking.engines.registry import ENGINES, open_engine
from discreet.asking.engines.spark import SparkEngine

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
