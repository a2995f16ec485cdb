"""From a resolved question to a plan.

The exact half is here: `plan_exact(question, salt=...)` gives, for each grouping set, the `ExactPlan`s that
an engine runs and where each aggregate's whole numbers will stand in the `ExactTable`s that come back.

    for plans in plan_exact(question, salt=salt):
        tables = [engine.run(plan) for plan in plans.plans]
        for part in plans.parts:          # one for each of question.measures
            table = tables[part.plan]     # table.totals[group][j] for j in part.measures, or
            table.tallies[group]

A `Sum` counts in steps: its value is total · step; `largest` is the most one row moves it, so one unit
moves it by at most max_rows · largest in each of at most max_groups groups.
"""

from discreet.planning.exact import (
    ExactMeasure,
    ExactPlan,
    ExactTable,
    Lattice,
    RowCount,
    Sum,
    Tally,
    UnitCount,
)
from discreet.planning.plan_exact import ExactPlans, Part, plan_exact

__all__ = [
    "ExactMeasure",
    "ExactPlan",
    "ExactPlans",
    "ExactTable",
    "Lattice",
    "Part",
    "RowCount",
    "Sum",
    "Tally",
    "UnitCount",
    "plan_exact",
]
