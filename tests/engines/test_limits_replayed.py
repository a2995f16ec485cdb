"""Questions under a limit, stage by stage on every engine: what one person moves, with earlier outputs fixed.

All golden questions that take a limit are walked along chosen rungs and keys; each stage is given what the
engine computes on generated tables and on the same tables without one person, or with another in their place.
"""

import contextlib
from collections import Counter
from dataclasses import replace

import pytest

from discreet.asking.engines import MemoryEngine, PostgresEngine
from discreet.asking.engines.sql.weighing import Weighing
from discreet.asking.planning import TableStage, plan_asked
from discreet.asking.planning.stages import AddNoise
from discreet.errors import DiscreetError
from discreet.kernel.mechanisms import KeySelection, Ladder
from discreet.kernel.plan import Output, Released
from engines.people import crowd
from engines.registry import MAKERS, fill
from engines.test_bounding import without
from engines.test_weights import norm_without_a_measure, rounded_up
from queries.bank import BANK
from queries.test_read import ACCEPTED

ENGINES = ["memory", "duckdb", "postgresql", "spark"]
FEW = {"memory": 1, "duckdb": 16, "postgresql": 16, "spark": 40}  # of so many golden questions one is run
OWN = (
    "SELECT city, COUNT(*) AS n, SUM(debt) AS s, AVG(age) AS m FROM accounts GROUP BY city",
    "SELECT job, COUNT(*) FILTER (WHERE debt > 5) AS a, COUNT(age) AS b, SUM(children - age) AS c "
    "FROM accounts GROUP BY job",
    "SELECT VARIANCE(debt) AS v, COUNT(DISTINCT person) AS people FROM accounts WHERE active",
)


def limited(relation):
    """The bank under a limit that is found."""
    tables = tuple(replace(table, limit="auto") for table in BANK.tables)
    return replace(BANK, tables=tables, relation=relation)


def plans_of(policy, every=1):
    for text in (*OWN, *ACCEPTED[::every]):
        try:
            (plan,) = plan_asked(text, policy, epsilon=0.5, delta=1e-8)
        except DiscreetError:
            continue
        if plan.weighs:
            yield plan


def outputs_of(stage, place, groups):
    """A rung at the lower end of the ladder, so that people are above it, in each group that chooses; people
    enough for all groups to choose; the keys that both tables have."""
    if isinstance(stage.mechanism, Ladder):
        rungs = getattr(stage, "rungs", range(stage.mechanism.rungs))
        return Output(numbers=(rungs[place % 3],) * len(getattr(stage, "cells", (0,))))
    if isinstance(stage, AddNoise):
        return Output(numbers=(2**80,) * len(stage.plan.labels))
    if isinstance(stage.mechanism, KeySelection):
        return Output(groups=tuple(sorted(groups, key=repr)))
    return Output(numbers=(0, 0))


def walk(stages, place, groups_of):
    """Yield each draw that the stages become with what was released before it."""
    released, waiting = Released(), list(stages)
    while waiting:
        stage = waiting.pop(0)
        if not isinstance(stage, TableStage):
            waiting[:0] = stage.ready(released)
            continue
        yield stage, released
        groups = groups_of(stage) if isinstance(stage.mechanism, KeySelection) else ()
        released = released.then(outputs_of(stage, place, groups))


def numbers_of(given):
    """What the mechanism is given: of several measures all numbers, without the facts beside them."""
    if isinstance(given, tuple) and given and isinstance(given[0], tuple):
        return tuple(number for part in given[:-1] for number in part)
    return given


def largest_moves(engines, policy, every=1):
    """The part of its sensitivity that one person uses, by kind of stage, over all questions and pairs."""
    found = Counter()

    def shown(stage):
        first, second = (set(engine.run(stage.plan).groups) for engine in engines)
        return first & second

    for place, plan in enumerate(plans_of(policy, every)):
        for part in plan.sets:
            for stage, released in walk(part.stages, place, shown):
                one, other = (
                    numbers_of(stage.take([engine.run(read) for read in stage.reads], released))
                    for engine in engines
                )
                for move in stage.moves([one], [other], stage.kind):
                    kind = type(stage).__name__
                    found[kind] = max(found[kind], move.part)
    return found


def opened(request, name, policy, rows, number):
    """An engine on these rows; each server's tables have a database of their own."""
    if name == "memory":
        return contextlib.nullcontext(MemoryEngine(policy, rows))
    if name == "postgresql":
        address = request.getfixturevalue("postgres_server").database(f"limits_{number}")
        fill(address, policy, rows)
        return contextlib.closing(PostgresEngine(policy, address=address, hashing="md5"))
    return MAKERS[name](request, policy, rows)


def moved_to(rows, person, by):
    """The rows of one person, under other account numbers."""
    mine = {row["id"] for row in rows["accounts"] if row["person"] == person}
    return {
        "accounts": [row | {"id": row["id"] + by} for row in rows["accounts"] if row["id"] in mine],
        "payments": [
            row | {"account": row["account"] + by} for row in rows["payments"] if row["account"] in mine
        ],
        "visits": [row for row in rows["visits"] if row["visitor"] == person],
        "survey": rows["survey"][:1],
    }


def neighbours(relation):
    """A crowd, and the same without one person, or with another in their place."""
    rows = crowd(3)
    fewer = without(rows, 1)
    if relation == "add/remove":
        return rows, fewer
    other = moved_to(crowd(4), 1, by=1000)
    return rows, {name: [*each, *other.get(name, [])] for name, each in fewer.items()}


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("name", ENGINES)
def test_one_person_moves_no_stage_beyond_its_sensitivity(name, relation, request):
    policy = limited(relation)
    with contextlib.ExitStack() as stack:
        pair = [
            stack.enter_context(opened(request, name, policy, rows, f"{relation[:3]}_{number}"))
            for number, rows in enumerate(neighbours(relation))
        ]
        found = largest_moves(pair, policy, FEW[name])
    assert max(found.values()) <= 1
    assert {"ChooseLimit", "CountAbove", "AddNoiseToAll"} <= set(found)
    assert min(found["ChooseLimit"], found["CountAbove"]) > 0.4


@pytest.mark.parametrize(("name", "fault"), [("_size", norm_without_a_measure), ("_weight", rounded_up)])
def test_a_fault_in_the_statement_is_found(name, fault, monkeypatch):
    monkeypatch.setattr(Weighing, name, fault)
    policy = limited("add/remove")
    with contextlib.ExitStack() as stack:
        pair = [
            stack.enter_context(opened(None, "duckdb", policy, rows, 0)) for rows in neighbours("add/remove")
        ]
        assert largest_moves(pair, policy, len(ACCEPTED))["AddNoiseToAll"] > 1
