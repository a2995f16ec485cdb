"""Bounds that nobody declared, found privately: where the values lie, as powers of two, by a noisy histogram.

One row of each unit is counted in the bin [2^k, 2^(k+1)) that its value lies in (likewise below zero). Bins
whose noisy count is above what noise alone reaches span the bounds; where there is none, they are a constant.

Privacy: one unit moves one count by one (two of them under replace). What was found is a function of noisy
counts alone, and the price of the whole question is fixed before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from discreet.asking.planning.exact import ExactPlan, RowCount
from discreet.asking.planning.noise import Noise, Share, least_noise
from discreet.asking.planning.reach import reach_of
from discreet.asking.planning.widths import check_widths
from discreet.asking.policy import Type
from discreet.asking.queries import Call, Case, Expression, Key, Literal, Measure, Question
from discreet.kernel.losses import PrivacyLoss, Relation
from discreet.kernel.numerics import readable

Bounds: TypeAlias = tuple[Fraction, Fraction]

PART = Fraction(1, 4)  # of the price that goes into finding bounds
FALLBACK: Bounds = (Fraction(0), Fraction(1))
CONFIDENCE = Fraction(999, 1000)  # that no empty bin is taken for a full one

_BOUNDED = ("sum", "average", "variance", "deviation", "quantile", "minimum", "maximum")
_EXPONENTS: dict[Type | None, tuple[int, int]] = {"integer": (0, 62), "number": (-20, 80)}


@dataclass(frozen=True)
class SearchStep:
    """The histogram of one argument, and the aggregates whose bounds it finds."""

    measures: tuple[int, ...]
    plan: ExactPlan
    noise: Noise
    edges: tuple[Fraction, ...]

    @property
    def loss(self) -> PrivacyLoss:
        return self.noise.loss

    @cached_property
    def threshold(self) -> float:
        """What the noise alone reaches in no bin, at the stated confidence."""
        return self.noise.error(confidence=CONFIDENCE, dimension=len(self.edges) - 1)

    def bounds(self, counts: Sequence[int]) -> Bounds:
        """The bounds that the noisy counts of all bins show."""
        full = [index for index, count in enumerate(counts) if count > self.threshold]
        return (self.edges[full[0]], self.edges[full[-1] + 1]) if full else FALLBACK


@dataclass(frozen=True)
class Search:
    """How missing bounds are found, and what is left of the price for the answer."""

    steps: tuple[SearchStep, ...]
    rest: Share
    found: tuple[Bounds, ...] | None = None

    def fill(self, question: Question) -> Question:
        """The question with its bounds: those that were found, or until then the constant."""
        measures = list(question.measures)
        for step, bounds in zip(self.steps, self.found or [FALLBACK] * len(self.steps), strict=True):
            for index in step.measures:
                measures[index] = replace(measures[index], range=bounds)
        return replace(question, measures=tuple(measures))

    @property
    def searched(self) -> set[int]:
        """The aggregates whose bounds are not known before the question is asked."""
        return {index for step in self.steps for index in step.measures}

    def sentences(self) -> list[str]:
        """What will be done, or was done, for a plan's words."""
        words = [
            f"Bounds: found privately with {PART} of the price. {step.noise.describe()}."
            for step in self.steps
        ]
        if self.found is not None:
            ends = ", ".join(f"[{readable(float(low))}, {readable(float(high))}]" for low, high in self.found)
            words.append(f"Bounds found: {ends}.")
        return words


def plan_search(question: Question, share: Share, *, relation: Relation, gaussian: bool) -> Search | None:
    """The search for all bounds that a question needs and the policy does not give; None if none is."""
    needed: dict[tuple[Expression, Expression | None, Type | None], list[int]] = {}
    for index, measure in enumerate(question.measures):
        if measure.range is None and measure.aggregate.function in _BOUNDED:
            needed.setdefault(_asked(measure), []).append(index)
    if not needed:
        return None
    each = replace(share.times(PART / len(needed)), delta=Fraction(0))

    def step(what: tuple[Expression, Expression | None, Type | None], measures: list[int]) -> SearchStep:
        plan = _histogram(question, *what)
        reach = reach_of(plan, plan.measures[0], relation)
        noise = least_noise(reach, each, confidence=CONFIDENCE, gaussian=gaussian)
        return SearchStep(tuple(measures), plan, noise, _edges(what[-1]))

    return Search(
        tuple(step(what, measures) for what, measures in needed.items()),
        replace(share.times(1 - PART), delta=share.delta),
    )


def _asked(measure: Measure) -> tuple[Expression, Expression | None, Type | None]:
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
    """Where the bins meet.

    >>> [str(edge) for edge in _edges("integer")[60:66]]
    ['-4', '-2', '-1', '1', '2', '4']
    """
    least, most = _EXPONENTS[kind]
    powers = [Fraction(2) ** exponent for exponent in range(least, most + 1)]
    return (*(-power for power in reversed(powers)), *powers)


def _bin(argument: Expression, edges: tuple[Fraction, ...]) -> Expression:
    """The number of the bin that a value lies in, by halving; NULL outside all of them."""

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
