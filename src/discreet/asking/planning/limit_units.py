"""The pass for questions with one limit for each unit: no groups and no rows are left out, they weigh less.

COUNT, SUM, AVG, VARIANCE and STDDEV alone: other aggregates need rows that are chosen. Counts share a limit;
each sum has its own, as it has its own unit of measure. Means and variances weigh a unit's rows 1/n, so that
nothing is to be found, and are split into parts that a row moves together by one.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from discreet.asking.planning.add_keys import select_keys
from discreet.asking.planning.bound import exact_values, labels_of
from discreet.asking.planning.clamping import Clamped, is_wide, least_left
from discreet.asking.planning.draft import Draft, SetDraft
from discreet.asking.planning.estimate import Estimator
from discreet.asking.planning.exact import (
    Bernstein,
    ExactMeasure,
    ExactPlan,
    ExactPlans,
    Lattice,
    RowCount,
    Sum,
    UnitCount,
)
from discreet.asking.planning.limit_estimators import BasisMean, BasisVariance, LimitedTotal
from discreet.asking.planning.limit_stages import Limited, Terms, ladder, step_of, what_of
from discreet.asking.planning.price import Share
from discreet.asking.planning.spill import above as spill_above
from discreet.asking.planning.stages import Stage
from discreet.asking.planning.weights import Excess, Limit
from discreet.asking.planning.widths import check_widths
from discreet.asking.queries import Call, Joined, Literal, Measure, Question, Relation, Scan, Stacked
from discreet.errors import InvalidParameter

_WEIGHED = ("count_rows", "count", "count_units", "sum", "average", "variance", "deviation")
_ROWS = ("count_rows", "count")
_SPREADS = ("variance", "deviation")
_MOST_ROWS = 2**20  # of one unit: the top of a ladder of rows
_BELOW, _ABOVE = 2**10, 2**12  # where the ladder of a sum begins and ends, from the most that a row adds
KEYS_PART = Fraction(2, 5)  # of the price: which keys are shown
AUTO = "auto"
_FAR = 2**60  # of steps: no limit that a question states is as large


def limit_of(draft: Draft) -> int | str | None:
    """Return the limit that the policy states for the tables of a question; None where it states none, or
    where the question is not one that is weighed."""
    question = draft.question
    stated = {draft.policy.table(name).limit for name in tables_of(question.rows)}  # type: ignore[union-attr]
    weighed = all(each.aggregate.function in _WEIGHED for each in question.measures)
    if question.each_row or not weighed or not question.measures or not stated or None in stated:
        return None
    if not question.keys and all(each.aggregate.function == "count_units" for each in question.measures):
        return None  # a unit is one of all units: nothing is cut and nothing is to be found
    numbers = [each for each in stated if isinstance(each, int)]
    known = max(numbers, default=None)
    if draft.takes_gaussian_only:  # whose accounts take no loss that is promised before a limit is found
        found = known or (AUTO if _all_stated(draft) else None)
        return found if question.public_keys else None
    return known or AUTO


def _all_stated(draft: Draft) -> bool:
    """Return whether the question states every limit that it needs, so that none is to be found: for all
    counts it is one."""
    stated, own = draft.options.limits(draft.question), list(_kinds(draft.question))
    known = {kind for limit, kind in zip(stated, own, strict=True) if limit}
    return all(kind in known or isinstance(kind[0], Bernstein) for kind in own)


def check_limits(draft: Draft) -> int | str | None:
    """Return the limit that the policy states; refuse those that a question states where there is none, or
    for what is no count and no sum.

    Privacy: a limit that an asker states is a public number, like any part of a question.
    """
    found, stated = limit_of(draft), draft.options.limits(draft.question)
    totals = [each.aggregate.function in (*_ROWS, "sum") for each in draft.question.measures]
    if found is None and any(stated):
        raise InvalidParameter(
            "limit must be for tables whose policy has a limit, and COUNT, SUM, AVG or VARIANCE alone. "
            "Leave it out.",
            parameter="limit",
        )
    if any(limit and not total for limit, total in zip(stated, totals, strict=True)):
        raise InvalidParameter("limit must name columns that are a COUNT or a SUM.", parameter="limit")
    return found


def limit_units(draft: Draft) -> Draft:
    """Plan all sets of a question whose tables have a limit."""
    limit = limit_of(draft)
    assert limit is not None
    each = draft.rest.times(Fraction(1, len(draft.question.sets)))
    sets = tuple(
        _plan_set(draft, part, chosen, each, limit) for part, chosen in enumerate(draft.question.sets)
    )
    return replace(draft, sets=sets)


def _plan_set(draft: Draft, part: int, chosen: tuple[int, ...], share: Share, limit: int | str) -> SetDraft:
    question = draft.question
    blank = ExactPlan(
        rows=question.rows,
        keys=tuple(question.keys[position] for position in chosen),
        labels=labels_of(question, chosen),
        measures=(),
        tally=None,
        max_groups=1,
        max_rows=1,
        each_row=False,
        salt=0,
    )
    stages: list[Stage] = []
    rest = replace(share, delta=Fraction(0))
    if blank.labels is None:
        keys = replace(rest.times(KEYS_PART), delta=share.delta)
        stages.append(select_keys(part, replace(blank, measures=(UnitCount(),)), keys, draft.relation))
        rest = rest.times(1 - KEYS_PART)
    own = list(_kinds(question))
    weights = draft.options.weights(question)
    heavy = {kind: max(weights[place] for place, each in enumerate(own) if each == kind) for kind in own}
    terms = Terms(draft.relation, draft.confidence, draft.adds_epsilons, draft.takes_gaussian_only)
    stated = draft.options.limits(question)
    named = {
        kind: max((stated[place] or 0 for place, each in enumerate(own) if each == kind), default=0)
        for kind in heavy
    }
    column, limited = 0, {}
    for kind, weight in heavy.items():
        part_of = rest.times(weight / sum(heavy.values()))
        stage = Limited(part, column, replace(blank, measures=kind), part_of, terms, None)
        limited[kind] = _state_limit(stage, named[kind]) if named[kind] else _with_limit(stage, limit)
        column += limited[kind].numbers
    estimators = tuple(
        _estimator(measure, limited[kind], search=limit == AUTO)
        for measure, kind in zip(question.measures, own, strict=True)
    )
    for each in limited.values():
        stages.extend(_stages(each, search=limit == AUTO))
    return SetDraft(chosen, ExactPlans((), (), None), stages=tuple(stages), estimators=estimators)


Kind = tuple[ExactMeasure, ...]


def _kinds(question: Question) -> Iterator[Kind]:
    """Yield for each aggregate the measures that it shares a limit with."""
    rows = [each for each in question.measures if each.aggregate.function in _ROWS]
    counts = tuple(dict.fromkeys(exact_values(each, set())[0] for each in rows))
    squared = {_values(each) for each in question.measures if each.aggregate.function in _SPREADS}
    for each in question.measures:
        function = each.aggregate.function
        if function in _ROWS:
            yield counts
        elif function in ("count_units", "sum"):
            yield exact_values(each, set())
        else:
            yield _basis(each, 2 if _values(each) in squared else 1)


def _values(measure: Measure) -> tuple[object, object]:
    return measure.aggregate.argument, measure.aggregate.condition


def _basis(measure: Measure, degree: int) -> Kind:
    """Return the parts of a mean or a variance."""
    summed = exact_values(measure, {(True, _values(measure))} if degree == 2 else set())[0]  # type: ignore[arg-type]
    assert isinstance(summed, Sum)
    return tuple(
        Bernstein(summed.argument, summed.lattice, summed.condition, degree, power)  # type: ignore[arg-type]
        for power in range(degree, -1, -1)
    )


def _state_limit(stage: Limited, stated: Fraction | int) -> Limited:
    """Return the stage with the limit that the question states, in steps."""
    steps = math.floor(stated / step_of(stage.plan))
    if not 0 < steps < _FAR:
        raise InvalidParameter(
            f"limit must be at least the step of {what_of(stage.plan)}, and less than 2^60 of them.",
            parameter="limit",
        )
    done = replace(stage, limit=steps)
    _check(done)
    return done


def _with_limit(stage: Limited, limit: int | str) -> Limited:
    """Return the stage with its limit, or with the ladder that one is found on."""
    done = _limits(stage, limit)
    _check(done)
    return done


def _limits(stage: Limited, limit: int | str) -> Limited:
    first = stage.plan.measures[0]
    if isinstance(first, Bernstein):
        return replace(stage, limit=first.largest, counting=False)
    if isinstance(first, UnitCount) and not stage.plan.keys:
        return replace(stage, limit=1)
    if limit != AUTO:
        assert isinstance(limit, int)
        return replace(stage, limit=limit * _most_of_a_row(stage.plan.measures))
    if isinstance(first, Sum):
        rungs = ladder(max(1, first.largest // _BELOW), first.largest * _ABOVE)
    else:
        rungs = ladder(1, _MOST_ROWS)
    return replace(stage, rungs=rungs)


def _most_of_a_row(measures: Kind) -> int:
    """Return the most that one row adds to measures which share a limit.

    To several counts it adds several ones; but of counts of one column's different labels, one.
    """
    first = measures[0]
    if isinstance(first, Sum):
        return first.largest
    labels: dict[object, Counter[object]] = {}
    for place, each in enumerate(measures):
        match each.condition if isinstance(each, RowCount) else None:
            case Call("equal", (subject, Literal(value))):
                labels.setdefault(subject, Counter())[value] += 1
            case _:
                labels[place] = Counter([None])
    return sum(max(each.values()) for each in labels.values())


def _stages(stage: Limited, *, search: bool) -> tuple[Stage, ...]:
    """Return the stages as far as they are known: means with a search for where their values end."""
    if search and is_wide(stage):
        return (Clamped(stage),)
    if stage.limit is not None and stage.plan.labels:
        return stage.under(stage.limit)
    return (stage,)


def _check(limited: Limited) -> None:
    """Refuse before the charge what might not fit, with any limit that may be found."""
    most = limited.limit or limited.rungs[-1]
    masses = tuple(Excess(rung, rung) for rung in limited.rungs)
    check_widths(replace(limited.plan, limit=Limit.of(most)))
    check_widths(replace(limited.plan, excess=(*masses, spill_above(most))))


def _estimator(measure: Measure, limited: Limited, *, search: bool) -> Estimator:
    function, whole = measure.aggregate.function, measure.aggregate.type == "integer"
    first = limited.plan.measures[0]
    if isinstance(first, Bernstein):
        lattice: Lattice = first.lattice
        left = least_left(limited) if search and is_wide(limited) else 100
        if function == "average":
            return BasisMean(limited, lattice.lowest, lattice.step, left)
        return BasisVariance(limited, lattice.lowest, lattice.step, left, function == "deviation")
    step = first.lattice.step if isinstance(first, Sum) else Fraction(1)
    own = exact_values(measure, set())[0]
    return LimitedTotal(limited, limited.plan.measures.index(own), step, whole)


def tables_of(rows: Relation) -> Iterator[str]:
    """Yield the private tables whose rows are asked about."""
    if isinstance(rows, Scan):
        yield from () if rows.public_key is not None else (rows.table,)
    elif isinstance(rows, Joined):
        yield from (name for side in (rows.left, rows.right) for name in tables_of(side))
    elif isinstance(rows, Stacked):
        yield from (name for member in rows.members for name in tables_of(member))
    else:
        yield from tables_of(rows.source)
