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

The noisy half: `PASSES` turn a question with its price into a `Plan`: for each grouping set a `SetPlan` with
its stages (`AddNoise`, `CountAndShow`, `SelectKeys`, `ChooseLabel`, `ChooseQuantile`), and how each aggregate
is read from what was released (`Estimator`). `FindBounds` stages come first, where bounds are to be found.
"""

from discreet.asking.planning.book_plan import BookPlan, plan_book
from discreet.asking.planning.book_question import BookQuestion, Tables
from discreet.asking.planning.bound import plan_exact
from discreet.asking.planning.cell_law import CellLaw
from discreet.asking.planning.choices import Choose, ChooseLabel, ChooseQuantile
from discreet.asking.planning.choose_noise import least_noise
from discreet.asking.planning.contribution import (
    Contribution,
    WeightedReach,
    contribution_of,
    weighted_reach_of,
)
from discreet.asking.planning.covered import is_covered
from discreet.asking.planning.draft import Draft, Search
from discreet.asking.planning.estimate import Chosen, Estimator
from discreet.asking.planning.exact import (
    Bernstein,
    CellArrays,
    ExactMeasure,
    ExactPlan,
    ExactPlans,
    ExactTable,
    Lattice,
    Part,
    RowCount,
    Sum,
    Tally,
    TallyArrays,
    UnitCount,
    Whole,
)
from discreet.asking.planning.marginals import Aim, Columns, Floats, Workload
from discreet.asking.planning.nested import NestedDesign, NestedWorkload
from discreet.asking.planning.plan import Plan, SetPlan, price_of
from discreet.asking.planning.planner import (
    PASSES,
    AskOptions,
    QuestionBatch,
    QuestionLike,
    finish,
    make_plan,
    plan_asked,
    read_asked,
    with_bounds,
)
from discreet.asking.planning.price import Price, Share, Within, as_notion, budget_of, named_price
from discreet.asking.planning.range_law import covariance_with
from discreet.asking.planning.stages import (
    AddNoise,
    Bounds,
    CountAndShow,
    FindBounds,
    NumberStage,
    SelectKeys,
    ShowKeys,
    Stage,
    TableStage,
)
from discreet.asking.planning.weights import Excess, Limit

__all__ = [
    "PASSES",
    "AddNoise",
    "Aim",
    "AskOptions",
    "Bernstein",
    "BookPlan",
    "BookQuestion",
    "Bounds",
    "CellArrays",
    "CellLaw",
    "Choose",
    "ChooseLabel",
    "ChooseQuantile",
    "Chosen",
    "Columns",
    "Contribution",
    "CountAndShow",
    "Draft",
    "Estimator",
    "ExactMeasure",
    "ExactPlan",
    "ExactPlans",
    "ExactTable",
    "Excess",
    "FindBounds",
    "Floats",
    "Lattice",
    "Limit",
    "NestedDesign",
    "NestedWorkload",
    "NumberStage",
    "Part",
    "Plan",
    "Price",
    "QuestionBatch",
    "QuestionLike",
    "RowCount",
    "Search",
    "SelectKeys",
    "SetPlan",
    "Share",
    "ShowKeys",
    "Stage",
    "Sum",
    "TableStage",
    "Tables",
    "Tally",
    "TallyArrays",
    "UnitCount",
    "WeightedReach",
    "Whole",
    "Within",
    "Workload",
    "as_notion",
    "budget_of",
    "contribution_of",
    "covariance_with",
    "finish",
    "is_covered",
    "least_noise",
    "make_plan",
    "named_price",
    "plan_asked",
    "plan_book",
    "plan_exact",
    "price_of",
    "read_asked",
    "weighted_reach_of",
    "with_bounds",
]
