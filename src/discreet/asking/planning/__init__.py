"""From a resolved question to a plan.

The exact half: `plan_exact(question, salt=...)` gives, for each grouping set, the `ExactPlan`s that
an engine runs and where each aggregate's whole numbers will stand in the `ExactTable`s that come back.

    for plans in plan_exact(question, salt=salt):
        tables = [engine.run(plan) for plan in plans.plans]
        for part in plans.parts:          # one for each of question.measures
            table = tables[part.plan]     # table.totals[group][j] for j in part.measures, or
            table.tallies[group]

A `Sum` counts in steps: its value is total · step; `largest` is the most one row moves it, so one unit
moves it by at most max_rows · largest in each of at most max_groups groups.

The noisy half: `make_plan(text, question, policy, price, ...)` gives the `Plan`: for each grouping set a
`SetPlan`
with the noise on every number (`NoiseStep`), the choices (`ChoiceStep`), the selection of private keys,
and how each aggregate is read from what was released (`Reading`).
"""

from discreet.asking.planning.asking import Asked, Several, Terms, plan_asked, read_asked
from discreet.asking.planning.exact import (
    Bernstein,
    ExactMeasure,
    ExactPlan,
    ExactTable,
    Lattice,
    RowCount,
    Sum,
    Tally,
    UnitCount,
)
from discreet.asking.planning.noise import Share, least_noise
from discreet.asking.planning.plan import Plan, price_of
from discreet.asking.planning.plan_exact import ExactPlans, Part, plan_exact
from discreet.asking.planning.planner import make_plan, with_bounds
from discreet.asking.planning.price import Price, Within, as_notion, budget_of, named_price
from discreet.asking.planning.promise import Promise
from discreet.asking.planning.reach import Reach, WeightedReach, reach_of, weighted_reach_of
from discreet.asking.planning.readings import Chosen, Reading
from discreet.asking.planning.search import Bounds, Search, SearchStep
from discreet.asking.planning.steps import ChoiceStep, NoiseStep, SetPlan
from discreet.asking.planning.tallied import Tallied
from discreet.asking.planning.weights import Excess, Limit

__all__ = [
    "Asked",
    "Bernstein",
    "Bounds",
    "ChoiceStep",
    "Chosen",
    "ExactMeasure",
    "ExactPlan",
    "ExactPlans",
    "ExactTable",
    "Excess",
    "Lattice",
    "Limit",
    "NoiseStep",
    "Part",
    "Plan",
    "Price",
    "Promise",
    "Reach",
    "Reading",
    "RowCount",
    "Search",
    "SearchStep",
    "SetPlan",
    "Several",
    "Share",
    "Sum",
    "Tallied",
    "Tally",
    "Terms",
    "UnitCount",
    "WeightedReach",
    "Within",
    "as_notion",
    "budget_of",
    "least_noise",
    "make_plan",
    "named_price",
    "plan_asked",
    "plan_exact",
    "price_of",
    "reach_of",
    "read_asked",
    "weighted_reach_of",
    "with_bounds",
]
