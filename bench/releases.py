"""Many releases of one plan, the engine run once: what the noise does, without paying each time."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from discreet import Curator
from discreet.answers import Answer, Receipt
from discreet.engines import open_engine
from discreet.planning import ExactPlan, ExactTable
from discreet.release import release_invented
from discreet.tables import Value


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
