"""The SQL that people write gives the same exact numbers on every engine."""

import datetime
import random
import runpy
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import plan_asked
from discreet.asking.planning.limit_stages import Limited
from discreet.asking.planning.weights import Limit
from discreet.errors import UnsupportedQuery
from engines.registry import MAKERS
from engines.test_agreement import SLOW, seen

TABLE = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "make-sql-table"))
POLICY = TABLE["POLICY"]


def stops(count=200):
    draw = random.Random(5)
    genders = ["Male", "Female", " male ", ""]
    names = {"race": TABLE["RACES"], "gender": genders, "problem": ["traffic", "other"],
             "personSearch": ["NO", "YES"], "neighborhood": ["Downtown West", "down", "Éire", "", "Uptown"],
             "citationIssued": ["YES", "NO"]}  # fmt: skip
    first = datetime.datetime(2017, 1, 1)
    return [
        {
            "idNum": f"p{draw.randrange(80)}",
            "date": draw.choice([None, first + datetime.timedelta(minutes=draw.randrange(600_000))]),
            "lat": draw.choice([None, float("inf"), 44.8, 45.1, 44.5 + draw.random()]),
            "long": draw.choice([None, -93.25, -93.5 + draw.random()]),
            "policePrecinct": draw.choice([None, 1.0, 2.0, 5.0]),
            **{name: draw.choice([None, *labels]) for name, labels in names.items()},
        }
        for _ in range(count)
    ]


def exact_plans():
    """With rows that are chosen, and with rows that weigh less above a limit."""
    chosen = replace(
        POLICY, tables=tuple(replace(each, limit=None, max_groups=2, max_rows=3) for each in POLICY.tables)
    )
    for policy, (name, sql) in product((chosen, POLICY), TABLE["constructs"]()):
        try:
            plans = plan_asked(sql, policy, epsilon=0.5)
        except UnsupportedQuery:
            continue
        for each in (own for plan in plans for own in plan.sets):
            yield from ((name, exact) for exact in each.reads)
            under = (stage for stage in each.limited if isinstance(stage, Limited))
            yield from (
                (f"{name} (limit)", replace(stage.plan, limit=Limit.of(stage.limit or stage.rungs[2])))
                for stage in under
            )


@pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=pytest.mark.soak if name in SLOW else ()) for name in MAKERS]
)
def test_every_construct_agrees_with_the_reference(engine, request):
    rows = {"stops": stops()}
    reference, plans = MemoryEngine(POLICY, rows), list(exact_plans())
    names = {name for name, _ in plans}
    assert len(names) >= 100
    assert sum(name.endswith("(limit)") for name in names) >= 50
    with MAKERS[engine](request, POLICY, rows) as opened:
        for name, plan in plans:
            assert seen(opened.run(plan)) == seen(reference.run(plan)), name
