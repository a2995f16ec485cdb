"""The pass that turns a question into exact plans, with the limits of what each unit adds to them."""

import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal as OneOf, NoReturn, TypeAlias

from discreet.asking.planning.draft import Draft, SetDraft
from discreet.asking.planning.exact import (
    MOST_GROUPS,
    ExactMeasure,
    ExactPlan,
    ExactPlans,
    Lattice,
    Part,
    RowCount,
    Sum,
    Tally,
    UnitCount,
)
from discreet.asking.planning.widths import check_widths
from discreet.asking.policy import Value
from discreet.asking.queries import Expression, Measure, Name, Question, walk
from discreet.errors import UnsupportedQuery

Values: TypeAlias = tuple[Expression | None, Expression | None]  # an argument, and the condition on its rows

_SPREADS = ("variance", "deviation")
_FARTHEST = Fraction(10) ** 150  # from zero: sums and squares of such values, noise included, are doubles
_TALLIED = ("mode", "count_distinct", "quantile", "minimum", "maximum")


@dataclass
class _Totals:
    """The counts and sums of one plan, each once."""

    measures: list[ExactMeasure] = field(default_factory=list)

    def position(self, measure: ExactMeasure) -> int:
        if measure not in self.measures:
            self.measures.append(measure)
        return self.measures.index(measure)


def bound(draft: Draft) -> Draft:
    """Add the exact plans of each grouping set."""
    plans = plan_exact(draft.question, salt=0)
    sets = tuple(SetDraft(keys, each) for keys, each in zip(draft.question.sets, plans, strict=True))
    return replace(draft, sets=sets)


def plan_exact(question: Question, *, salt: int) -> tuple[ExactPlans, ...]:
    """Return the exact plans of each grouping set of a question, in the order of the sets."""
    return tuple(_plan_set(question, chosen, salt) for chosen in question.sets)


def _plan_set(question: Question, chosen: tuple[int, ...], salt: int) -> ExactPlans:
    keys = tuple(question.keys[position] for position in chosen)
    blank = ExactPlan(
        rows=question.rows,
        keys=keys,
        labels=labels_of(question, chosen),
        measures=(),
        tally=None,
        max_groups=question.max_groups if keys else 1,
        max_rows=question.max_rows,
        each_row=question.each_row,
        salt=salt,
    )
    totals = _Totals()
    units = Part(0, (totals.position(UnitCount()),)) if blank.labels is None else None
    others = {(each.aggregate.function in _SPREADS, _values_of(each)) for each in question.measures
              if each.aggregate.function in ("sum", *_SPREADS)}  # fmt: skip
    needed = [None if _tally_of(each) else exact_values(each, others) for each in question.measures]
    positions = [None if each is None else tuple(map(totals.position, each)) for each in needed]
    plans = [replace(blank, measures=tuple(totals.measures))] if totals.measures else []
    parts = []
    for measure, where in zip(question.measures, positions, strict=True):
        if where is None:
            plans.append(replace(blank, tally=_tally_of(measure)))
        parts.append(Part(len(plans) - 1, ()) if where is None else Part(0, where))
    for plan in plans:
        check_widths(plan)
    return ExactPlans(tuple(plans), tuple(parts), units)


def groups_of(question: Question, chosen: tuple[int, ...]) -> int:
    """Return how many groups a grouping set has, as far as is known without the data: at least 1."""
    domains = [question.keys[position].domain for position in chosen]
    return 1 if None in domains else math.prod(len(each or ()) for each in domains)


def passes_of(question: Question, chosen: tuple[int, ...]) -> int:
    """Return how many exact plans a grouping set needs: one for counts and sums, one for each tally."""
    private = any(question.keys[position].domain is None for position in chosen)
    tallies = sum(each.aggregate.function in _TALLIED for each in question.measures)
    return tallies + (private or tallies < len(question.measures))


def passes_under_limits(question: Question, chosen: tuple[int, ...]) -> int:
    """Return the same where each unit has one limit: for each kind of measure what units have, how many are
    above the limit and by how much, and the totals; and one for keys in the data. Choices are bounded as
    without limits."""
    if any(each.aggregate.function in _TALLIED for each in question.measures):
        return passes_of(question, chosen)
    private = any(question.keys[position].domain is None for position in chosen)
    return private + 4 * len({_kind_of(each) for each in question.measures})


def _kind_of(measure: Measure) -> tuple[str, object]:
    """Return what measures share that have one limit: counts of rows, and mean and variance of one value."""
    function = measure.aggregate.function
    if function in ("count_rows", "count"):
        return "rows", None
    return "mean" if function in ("average", *_SPREADS) else function, _values_of(measure)


def labels_of(question: Question, chosen: tuple[int, ...]) -> tuple[tuple[Value, ...], ...] | None:
    """Return all combinations of public labels; None if some key's labels are only in the data."""
    domains = [question.keys[position].domain for position in chosen]
    known = [domain for domain in domains if domain is not None]
    if len(known) < len(domains):
        return None
    if math.prod(map(len, known)) > MOST_GROUPS:
        raise UnsupportedQuery(
            f"A question must have at most {MOST_GROUPS} groups, got {math.prod(map(len, known))}. "
            "Group by fewer or coarser keys.",
            reason="groups",
        )
    return tuple(itertools.product(*known))


def _values_of(measure: Measure) -> Values:
    return measure.aggregate.argument, measure.aggregate.condition


def exact_values(measure: Measure, others: set[tuple[bool, Values]]) -> tuple[ExactMeasure, ...]:
    """Return the exact numbers of one aggregate. `others` says of what a SUM (False) or a VARIANCE (True) is
    also asked: an average then reads its sum, and else one of its own.

    Privacy: a centre is taken off the rows that have a value, one by one. The count may count others too,
    where the owner promised that there are none: it moves by what it counts, promise or not.
    """
    aggregate = measure.aggregate
    argument, condition = aggregate.argument, aggregate.condition
    if aggregate.function == "count_units":
        return (UnitCount(condition),)
    count = RowCount(condition, None if measure.present else argument)
    if argument is None or aggregate.function == "count":
        return (count,)
    bounds, kind = _bounds(measure), _kind(measure)
    if aggregate.function == "sum":
        return (Sum(argument, Lattice.over(bounds, kind), condition),)
    if aggregate.function == "average" and (True, _values_of(measure)) not in others:
        lattice = Lattice.over(bounds, kind)
        centre = 0 if (False, _values_of(measure)) in others else lattice.middle
        return Sum(argument, lattice, condition, centre=centre), count
    lattice = Lattice.coarse(bounds, kind)
    total = Sum(argument, lattice, condition, centre=lattice.middle)
    if aggregate.function == "average":
        return total, count
    return Sum(argument, lattice, condition, power=2, centre=lattice.middle), total, count


def _tally_of(measure: Measure) -> Tally | None:
    aggregate = measure.aggregate
    if aggregate.function not in _TALLIED:
        return None
    assert aggregate.argument is not None
    if aggregate.function in ("mode", "count_distinct"):
        return Tally(aggregate.argument, labels=measure.domain, condition=aggregate.condition)
    lattice = Lattice.coarse(_bounds(measure), _kind(measure))
    return Tally(aggregate.argument, lattice=lattice, condition=aggregate.condition)


def _kind(measure: Measure) -> OneOf["integer", "number"]:
    assert measure.aggregate.argument is not None
    return "integer" if measure.aggregate.argument.type == "integer" else "number"


def _bounds(measure: Measure) -> tuple[Fraction, Fraction]:
    found = measure.range
    if found is None:
        _refuse(
            measure,
            "no_bounds",
            "This aggregate needs bounds of its values, and the policy gives none. Declare them, as "
            f'{_example(measure.aggregate.argument)}, or ask with bounds="auto" (--auto-bounds) to find them '
            "privately.",
        )
    low, high = found
    if max(abs(low), abs(high)) > _FARTHEST:
        _refuse(
            measure,
            "overflow",
            "An aggregate's values must lie within ±10^150, and these could be larger. Ask about smaller "
            "units, as x / 1e200.",
        )
    return (low, high) if low < high else (low, low + 1)  # a constant is known to lie in some range


def _example(argument: Expression | None) -> str:
    """Return what an owner writes to declare bounds of the column that an argument is about."""
    columns = [each for each in walk(argument) if isinstance(each, Name)] if argument is not None else []
    name = columns[0].name if columns else "x"
    if columns and columns[0].type in ("date", "timestamp"):
        ends, flag = '"2020-01-01", "2026-12-31"', "2020-01-01:2026-12-31"
    else:
        ends, flag = "0, 1000", "0:1000"
    return f"{name} = {{ bounds = [{ends}] }} (on the command line --bounds {name}={flag})"


def _refuse(measure: Measure, reason: str, message: str) -> NoReturn:
    place = measure.aggregate.place
    raise UnsupportedQuery(message, reason=reason, **({} if place is None else {"place": list(place)}))
