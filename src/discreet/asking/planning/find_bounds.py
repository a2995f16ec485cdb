"""The pass that finds undeclared bounds: where values are, as powers of two, by a noisy histogram.

One row of each unit is counted in the bin [2^k, 2^(k+1)) of its value (likewise below zero). Bins whose noisy
count is above what noise alone reaches span the bounds; where there is none, they are a constant. Where a
limit is found on its own, and with it how far values reach, the bounds have room for people beyond the bins.

Privacy: one unit moves one count by one (two of them under replace). What was found is a function of noisy
counts alone, and the price of the whole question is fixed before.
"""

from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.planning.choose_noise import least_noise
from discreet.asking.planning.contribution import contribution_of
from discreet.asking.planning.draft import PART, Draft, Search
from discreet.asking.planning.exact import ExactPlan, RowCount
from discreet.asking.planning.limit_units import AUTO, limit_of
from discreet.asking.planning.price import Share
from discreet.asking.planning.stages import CONFIDENCE, FindBounds
from discreet.asking.planning.widths import check_widths
from discreet.asking.policy import Type
from discreet.asking.queries import Call, Case, Expression, Key, Literal, Measure, Question

Values: TypeAlias = tuple[Expression, Expression | None, Type | None]  # an argument, its condition, its type

_BOUNDED = ("sum", "average", "variance", "deviation", "quantile", "minimum", "maximum")
_EXPONENTS: dict[Type | None, tuple[int, int]] = {"integer": (0, 62), "number": (-20, 80)}


def find_bounds(draft: Draft) -> Draft:
    """Plan a search for all bounds that the question needs and the policy does not give, if that is asked.

    Until they are found the question has constant bounds in their place.
    """
    search = draft.search
    if search is None and draft.options.bounds == "auto":
        search = _plan_search(draft)
    return draft if search is None else replace(draft, search=search, question=search.fill(draft.question))


def _plan_search(draft: Draft) -> Search | None:
    needed: dict[Values, list[int]] = {}
    for index, measure in enumerate(draft.question.measures):
        if measure.range is None and measure.aggregate.function in _BOUNDED:
            needed.setdefault(_asked(measure), []).append(index)
    if not needed:
        return None
    share = draft.share
    each = replace(share.times(PART / len(needed)), delta=Fraction(0))
    return Search(
        tuple(_stage(draft, each, values, tuple(measures)) for values, measures in needed.items()),
        replace(share.times(1 - PART), delta=share.delta),
    )


def _stage(draft: Draft, share: Share, values: Values, measures: tuple[int, ...]) -> FindBounds:
    plan = _histogram(draft.question, *values)
    contribution = contribution_of(plan, plan.measures[0], draft.relation)
    noise = least_noise(contribution, share, confidence=CONFIDENCE, gaussian=draft.takes_gaussian_only)
    generous = limit_of(draft) == AUTO and draft.relation == "add/remove" and not draft.takes_gaussian_only
    return FindBounds(None, None, plan, noise, 0, measures, _edges(values[-1]), generous)


def _asked(measure: Measure) -> Values:
    argument = measure.aggregate.argument
    assert argument is not None
    return argument, measure.aggregate.condition, argument.type


def _histogram(
    question: Question, argument: Expression, condition: Expression | None, kind: Type | None
) -> ExactPlan:
    edges = _edges(kind)
    labels = tuple(range(len(edges) - 1))
    plan = ExactPlan(
        rows=question.rows,
        keys=(Key(_bin(argument, edges), labels),),
        labels=tuple((label,) for label in labels),
        measures=(RowCount(condition),),
        tally=None,
        max_groups=1,
        max_rows=1,
        each_row=question.each_row,
        salt=0,
    )
    check_widths(plan)
    return plan


def _edges(kind: Type | None) -> tuple[Fraction, ...]:
    """Return where the bins meet.

    >>> [str(edge) for edge in _edges("integer")[60:66]]
    ['-4', '-2', '-1', '1', '2', '4']
    """
    least, most = _EXPONENTS[kind]
    powers = [Fraction(2) ** exponent for exponent in range(least, most + 1)]
    return (*(-power for power in reversed(powers)), *powers)


def _bin(argument: Expression, edges: tuple[Fraction, ...]) -> Expression:
    """Return the number of the bin that a value is in, by halving; NULL outside all of them."""

    def compare(function: str, edge: Fraction) -> Expression:
        value = int(edge) if argument.type == "integer" else float(edge)
        return Call(function, (argument, Literal(value, type=argument.type)), type="boolean")

    def halve(first: int, last: int) -> Expression:
        if last - first == 1:
            return Literal(first, type="integer")
        middle = (first + last) // 2
        left, right = halve(first, middle), halve(middle, last)
        return Case(((compare("less", edges[middle]), left),), right, type="integer")

    inside = Call("and", (compare("at_least", edges[0]), compare("less", edges[-1])), type="boolean")
    return Case(((inside, halve(0, len(edges) - 1)),), Literal(None, type="integer"), type="integer")
