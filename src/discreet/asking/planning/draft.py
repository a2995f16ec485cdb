"""A plan in the making: what is asked and paid, and what the passes have added so far."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.asking.planning.exact import ExactPlans
from discreet.asking.planning.price import PlanOptions, Share, budget_of
from discreet.asking.planning.stages import FALLBACK, Bounds, FindBounds, Stage
from discreet.asking.policy import Policy
from discreet.asking.queries import Measure, Question
from discreet.kernel.losses import GDP, ApproxDP, PureDP, Relation
from discreet.kernel.numerics import readable

if TYPE_CHECKING:
    from discreet.asking.planning.estimate import Estimator

PART = Fraction(1, 4)  # of the price that goes into finding bounds


@dataclass(frozen=True)
class Search:
    """How missing bounds are found, and what is left of the price for the answer."""

    stages: tuple[FindBounds, ...]
    rest: Share
    found: tuple[Bounds, ...] | None = None

    def fill(self, question: Question) -> Question:
        """Return the question with its bounds: those that were found, or until then a constant."""
        measures = list(question.measures)
        for stage, bounds in zip(self.stages, self.found or [FALLBACK] * len(self.stages), strict=True):
            for index in stage.measures:
                measures[index] = replace(measures[index], range=bounds)
        return replace(question, measures=tuple(measures))

    @property
    def searched(self) -> set[int]:
        """The aggregates whose bounds are not known before the question is asked."""
        return {index for stage in self.stages for index in stage.measures}

    def sentences(self) -> list[str]:
        """Say what will be done, or was done."""
        lines = [
            f"Bounds: found privately with {PART} of the price. {stage.sentence}" for stage in self.stages
        ]
        if self.found is not None:
            ends = ", ".join(f"[{readable(float(low))}, {readable(float(high))}]" for low, high in self.found)
            lines.append(f"Bounds found: {ends}.")
        return lines


@dataclass(frozen=True)
class Wanted:
    """A number that each group of a set gets, with its share of the price: a measure, or from a tally."""

    column: int
    plan: int  # among the exact plans of the set
    position: int | None  # of the measure; None where the plan has a tally
    measure: int | None  # of the question, that a tally is for
    share: Share


@dataclass(frozen=True)
class SetDraft:
    """One grouping set in the making."""

    keys: tuple[int, ...]  # positions among the question's keys
    exact: ExactPlans
    keys_share: Share | None = None  # where keys are found in the data
    wanted: tuple[Wanted, ...] = ()
    stages: tuple[Stage, ...] = ()
    estimators: "tuple[Estimator, ...]" = ()


@dataclass(frozen=True)
class Draft:
    """A question with its price, and what the passes have made of it so far."""

    text: str  # the question's canonical SQL
    question: Question
    policy: Policy
    share: Share  # the price
    confidence: Fraction  # that errors are compared at
    options: PlanOptions
    search: Search | None = None
    sets: tuple[SetDraft, ...] = ()

    @property
    def relation(self) -> Relation:
        """The relation between neighbours, by the policy."""
        return self.policy.relation

    @property
    def rest(self) -> Share:
        """What the answer may cost: the price without what goes into finding bounds."""
        return self.share if self.search is None else self.search.rest

    @property
    def takes_gaussian_only(self) -> bool:
        """Whether only Gaussian noise fits the budget."""
        return isinstance(budget_of(self.policy), GDP) and self.share.rho is not None

    @property
    def adds_epsilons(self) -> bool:
        """Whether the budget adds up epsilons and deltas."""
        return isinstance(budget_of(self.policy), PureDP | ApproxDP) and self.share.epsilon is not None

    def measure_of(self, wanted: Wanted) -> Measure:
        """Return the aggregate that a tally is for."""
        assert wanted.measure is not None
        return self.question.measures[wanted.measure]
