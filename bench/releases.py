"""Many releases of one plan, the engine run once: what the noise does, without paying each time."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from discreet import Curator
from discreet.asking.answers import Answer, Receipt
from discreet.asking.engines import open_engine
from discreet.asking.planning import ExactPlan, ExactTable
from discreet.asking.policy import Value
from discreet.asking.release import release_invented


def released(
    curator: Curator, question: str, times: int, *, epsilon: float = 1
) -> list[tuple[Mapping[str, Value], ...]]:
    """The rows of so many answers."""
    policy = curator.resources.known
    engine = open_engine("duckdb", policy, {})
    plan = curator.explain(question, epsilon=epsilon)

    @cache
    def run_once(exact: ExactPlan) -> ExactTable:
        return engine.run(exact)

    def run(exact: ExactPlan) -> ExactTable:
        return run_once(replace(exact, salt=0))

    try:
        return [Answer(plan, release_invented(plan, run), Receipt({})).rows for _ in range(times)]
    finally:
        engine.close()
