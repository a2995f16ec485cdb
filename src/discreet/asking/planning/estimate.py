"""The pass that says how each aggregate is read from the numbers that are released."""

from dataclasses import replace
from fractions import Fraction

from discreet.asking.planning.choices import Choose
from discreet.asking.planning.draft import Draft, SetDraft
from discreet.asking.planning.estimators import Average, Chosen, Estimator, NoisyNumber, Total, Variance
from discreet.asking.planning.exact import ExactPlans, Part, Sum
from discreet.asking.planning.stages import NumberStage
from discreet.asking.queries import Measure


def estimate(draft: Draft) -> Draft:
    """Add an estimator for every aggregate of every grouping set."""
    measures = draft.question.measures
    return replace(
        draft,
        sets=tuple(
            replace(
                each,
                estimators=tuple(
                    _estimator(measure, part, each)
                    for measure, part in zip(measures, each.exact.parts, strict=True)
                ),
            )
            for each in draft.sets
        ),
    )


def _estimator(measure: Measure, part: Part, each: SetDraft) -> Estimator:
    function, whole = measure.aggregate.function, measure.aggregate.type == "integer"
    if function == "count_distinct":
        return Total(_number(each, part.plan, None), Fraction(1), whole)
    if not part.measures:
        return _chosen(each, part.plan, whole=whole)
    numbers = [_number(each, part.plan, position) for position in part.measures]
    if function in ("count_rows", "count", "count_units"):
        return Total(numbers[0], Fraction(1), whole)
    summed = _sum_at(each.exact, part.measures[0])
    if function == "average":
        ends = (summed.lattice.lowest, summed.lattice.highest)
        total, count = numbers
        return Average(total, count, summed.lattice.step, summed.centre, ends)
    if function in ("variance", "deviation"):
        squares, total, count = numbers
        lattice = summed.lattice
        return Variance(squares, total, count, lattice.step, lattice.width, function == "deviation")
    return Total(numbers[0], summed.lattice.step, whole)


def _number(each: SetDraft, plan: int, position: int | None) -> NoisyNumber:
    exact = each.exact.plans[plan]
    stage = next(
        stage
        for stage in each.stages
        if isinstance(stage, NumberStage) and stage.plan is exact and stage.position == position
    )
    assert stage.column is not None
    return NoisyNumber(stage.column, stage)


def _chosen(each: SetDraft, plan: int, *, whole: bool) -> Chosen:
    exact = each.exact.plans[plan]
    stage = next(stage for stage in each.stages if isinstance(stage, Choose) and stage.plan is exact)
    tally = exact.tally
    assert tally is not None
    assert stage.column is not None
    step = Fraction(1) if tally.lattice is None else tally.lattice.step
    return Chosen(stage.column, stage, tally.labels, step, whole)


def _sum_at(exact: ExactPlans, position: int) -> Sum:
    measure = exact.plans[0].measures[position]
    assert isinstance(measure, Sum)
    return measure
