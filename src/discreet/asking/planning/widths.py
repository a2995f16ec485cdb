"""The proof that no statement overflows: every whole number of a plan, on any data, from spans alone.

All engines compute in the same three widths: doubles, which hold everything; 64 bits, where a span fits; and
whole numbers up to 10^38 - 1, which DuckDB, PostgreSQL and Spark share. A plan that this pass lets through
stays inside them with whatever rows a table has, so that no row can make it fail. What cannot be proved is
refused, before anything is charged, and the same for every engine.
"""

from collections.abc import Iterable, Iterator

from discreet.asking.planning.exact import Bernstein, ExactMeasure, ExactPlan, Lattice, Sum
from discreet.asking.queries import (
    Aggregate,
    Expression,
    Filtered,
    Joined,
    PerUnit,
    Project,
    Relation,
    Scan,
    Stacked,
    integer_span,
    walk,
)
from discreet.asking.queries.ranges import MOST_WHOLE, WIDEST
from discreet.errors import UnsupportedQuery

MOST_ROWS = 2**40  # that any table has
_SMALL = 2**62  # steps from zero of what is tallied: one more and one less have 64 bits too


def check_widths(plan: ExactPlan) -> None:
    """Refuse a plan of which some whole number might not fit."""
    for expression in _expressions(plan):
        for node in walk(expression):
            if node.type == "integer" and not isinstance(node, Aggregate):
                _check(max(map(abs, integer_span(node))), WIDEST)
    for measure in plan.measures:
        if isinstance(measure, Sum | Bernstein):
            _check_lattice(measure.lattice)
            _check(measure.largest * MOST_ROWS, MOST_WHOLE)
    if plan.tally is not None and plan.tally.lattice is not None:
        _check_lattice(plan.tally.lattice)
        _check(plan.tally.lattice.largest, _SMALL)
    _check_weights(plan)


def most_norm(measures: Iterable[ExactMeasure]) -> int:
    """Return the largest norm that a unit can have: that of all rows there are."""
    return MOST_ROWS * sum(each.largest if isinstance(each, Sum | Bernstein) else 1 for each in measures)


def _check_weights(plan: ExactPlan) -> None:
    """Check weights: one is τ·2ᴷ divided by the norm, or by τ; a weighted part is at most τ·2ᴷ, since a part
    is at most the norm; there are no more units than rows. An excess is at most its span, in parts 2^bits."""
    if plan.weighs:
        _check(most_norm(plan.measures), MOST_WHOLE)
    if plan.limit is not None:
        _check(plan.limit.total * MOST_ROWS, MOST_WHOLE)
        if plan.cells is not None:
            _check(plan.limit.total * MOST_ROWS, _SMALL)
    for each in plan.excess:
        _check(max(each.start + each.span, each.span * each.one, each.one * MOST_ROWS), MOST_WHOLE)


def _check_lattice(lattice: Lattice) -> None:
    """Check a whole number that is clamped to the ends, moved by half a step, and divided into steps."""
    if lattice.type == "integer":
        _check((lattice.largest + 1) * int(lattice.step), MOST_WHOLE)


def _check(largest: int, most: int) -> None:
    if largest > most:
        raise UnsupportedQuery(
            "A whole number of this question could grow beyond 38 digits. Write CAST(x AS DOUBLE) first.",
            reason="overflow",
        )


def _expressions(plan: ExactPlan) -> Iterator[Expression]:
    """Return every expression that is computed for a row."""
    yield from _inside(plan.rows)
    yield from (key.expression for key in plan.keys)
    for measure in (*plan.measures, *(() if plan.tally is None else (plan.tally,))):
        parts = (getattr(measure, "argument", None), measure.condition)
        yield from (each for each in parts if each is not None)


def _inside(relation: Relation) -> Iterator[Expression]:
    if isinstance(relation, Scan):
        return
    if isinstance(relation, Filtered):
        yield relation.condition
    elif isinstance(relation, Project):
        yield from (expression for _, expression in relation.outputs)
    elif isinstance(relation, PerUnit):
        yield from relation.aggregates
        yield from (expression for _, expression in relation.outputs)
        yield from () if relation.condition is None else (relation.condition,)
    elif isinstance(relation, Joined):
        yield from (name for pair in relation.on for name in pair)
    for source in _sources(relation):
        yield from _inside(source)


def _sources(relation: Relation) -> tuple[Relation, ...]:
    if isinstance(relation, Scan):
        return ()
    if isinstance(relation, Joined):
        return relation.left, relation.right
    return relation.members if isinstance(relation, Stacked) else (relation.source,)
