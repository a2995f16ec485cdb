"""The plan: everything that will happen to a question, in sentences that a lawyer understands."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Protocol

from discreet.asking.after import After, Columns
from discreet.asking.planning.clamping import Clamped
from discreet.asking.planning.draft import Search
from discreet.asking.planning.estimate import Estimator
from discreet.asking.planning.exact import ExactPlan, ExactTable
from discreet.asking.planning.limit_stages import AddNoiseToAll, Limited
from discreet.asking.planning.price import PlanOptions, Share
from discreet.asking.planning.stages import ShowKeys, Stage, TableStage
from discreet.asking.planning.work import Work, work_of
from discreet.asking.policy import Policy
from discreet.asking.queries import Question, Slot
from discreet.kernel.losses import ZCDP, ApproxDP, PrivacyLoss, PureDP, Relation
from discreet.kernel.numerics import lines_html, readable_up, short_up
from discreet.kernel.plan import Group, Later, Promise, Ran

_LATER = "Noise: calibrated to the bounds that are found, with the rest of the price."


@dataclass(frozen=True)
class SetPlan:
    """One grouping set: its stages in the order in which they run, and how each aggregate is read."""

    keys: tuple[int, ...]  # positions among the question's keys
    stages: tuple[Stage, ...]
    estimators: tuple[Estimator, ...]

    @property
    def draws(self) -> tuple[TableStage, ...]:
        """The stages that are complete."""
        return tuple(stage for stage in self.stages if isinstance(stage, TableStage))

    @property
    def columns(self) -> tuple[TableStage, ...]:
        """The draws that give a number for each group, in the order in which those are stored."""
        found = {stage.column: stage for stage in self.draws if stage.column is not None}
        return tuple(found[column] for column in sorted(found))

    @property
    def keys_stage(self) -> ShowKeys | None:
        """The draw that shows groups found in the data; None where groups are public."""
        return next((stage for stage in self.draws if isinstance(stage, ShowKeys)), None)

    @property
    def private(self) -> bool:
        """Whether the groups are found in the data, so that few of them may be shown."""
        return self.keys_stage is not None

    @property
    def reads(self) -> tuple[ExactPlan, ...]:
        """The exact plans that the stages read, each once."""
        found: dict[int, ExactPlan] = {id(plan): plan for stage in self.draws for plan in stage.reads}
        return tuple(found.values())

    @property
    def loss(self) -> PrivacyLoss:
        """What all stages together promise to lose at most."""
        first, *rest = (Promise.of(stage).loss for stage in self.stages)
        return sum(rest, first)

    def finish(self, ran: Sequence[Ran[ExactPlan, ExactTable]]) -> "SetPlan":
        """Return the set with the draws that its later stages became, and estimators that know them."""
        if len(self.draws) == len(self.stages):
            return self
        outputs = tuple(each.output for each in ran)
        return SetPlan(
            self.keys,
            tuple(each.draw for each in ran if isinstance(each.draw, TableStage)),
            tuple(each.after(outputs) for each in self.estimators),
        )

    def groups(self, ran: Sequence[Ran[ExactPlan, ExactTable]]) -> tuple[Group, ...]:
        """Return the groups of the answer: those that were shown, or the public ones."""
        shown = [each.output.groups for each in ran if each.output.groups is not None]
        return shown[-1] if shown else self.labels

    @property
    def labels(self) -> tuple[Group, ...]:
        """The public groups of the answer; none where they are found in the data."""
        stage = next(iter((*self.columns, *self.limited, *self.draws)))
        return stage.plan.labels or ()

    def sentences(self) -> list[str]:
        """Say how the groups are found, and what is drawn for each."""
        lines = [*self.keys_sentences(), *(stage.sentence for stage in self.columns)]
        return [*lines, *(line for stage in self.limited for line in stage.sentences)]

    @property
    def limited(self) -> tuple[Limited | Clamped, ...]:
        """The stages under a limit that are not complete before it is known."""
        return tuple(stage for stage in self.stages if isinstance(stage, Limited | Clamped))

    def keys_sentences(self) -> list[str]:
        """Say how the groups are found."""
        if self.keys_stage is not None:
            return [self.keys_stage.keys_sentence]
        if not self.keys:
            return []
        many = f"{len(self.labels):,} public labels"
        return [f"Keys: {many}, all shown; rows with any other label are dropped."]


@dataclass(frozen=True, repr=False)
class Plan:
    """What is computed, how each unit's part is bounded, what noise is added, what it costs and how far it
    errs.

    Its stages are what was charged. With bounds that are yet to be found these are the searches and `later`,
    which becomes the rest; until then `sets` are as constant bounds would have them.
    """

    text: str  # the question's canonical SQL
    question: Question
    policy: Policy
    share: Share  # the price
    sets: tuple[SetPlan, ...]
    confidence: Fraction
    options: PlanOptions = field(default_factory=PlanOptions)
    search: Search | None = None
    later: Later[ExactPlan, ExactTable] | None = None
    after: After | None = None  # what is selected from the answer: free, and no part of what is charged

    @property
    def asked(self) -> str:
        """The question as the ledger knows it: its text, and how it is to be planned."""
        return self.text + self.options.comment

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What is run, in order: the searches for bounds and what follows them, or all stages of all sets."""
        if self.search is not None and self.later is not None:
            return (*self.search.stages, self.later)
        return tuple(stage for each in self.sets for stage in each.stages)

    @property
    def columns(self) -> Columns:
        """The columns that the answer will show, with their types."""
        if self.after is not None:
            return self.after.columns
        return tuple((name, each.type or "text") for name, each in self.question.columns)

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What each stage may lose, whatever is released before it."""
        return tuple(map(Promise.of, self.stages))

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of all that is drawn; of what follows bounds that are yet to be found, the promise."""
        first, *rest = (promise.loss for promise in self.promises)
        return sum(rest, first)

    @property
    def price(self) -> PureDP | ApproxDP | ZCDP:
        """The notion that the loss keeps, at the price that was named."""
        return price_of([self])

    @property
    def passes(self) -> int:
        """How many exact tables the engine is asked for: each is a pass over the data."""
        searches = 0 if self.search is None else len(self.search.stages)
        # norms, units above the limit, how much is there, totals
        limited = 4 * sum(len(each.limited) for each in self.sets)
        return searches + limited + sum(len(each.reads) for each in self.sets)

    @cached_property
    def work(self) -> Work:
        """How much work it is, by policy and question alone."""
        return work_of(self.question, self.policy)

    @property
    def needs_delta(self) -> bool:
        """Whether private keys spend delta, or Gaussian noise does, or may, that is not priced by rho."""
        if any(each.private for each in self.sets):
            return True
        if self.share.rho is not None:
            return False
        if self.search is not None:  # which noise errs less is known when the bounds are
            return self.search.rest.delta > 0
        return any(stage.needs_delta for each in self.sets for stage in each.draws)

    @property
    def errors(self) -> dict[str, float | None]:
        """How far each column may be from the bounded truth, before anything is spent; None where the data
        decide, or where the error is not one in value."""
        return {name: self._error_of(slot) for name, slot in self._aggregates()}

    @property
    def missed(self) -> dict[str, str]:
        """What each choice may miss, as text, before anything is spent: it has no error in value."""
        found = [(name, slot, self._choice_error_of(slot)) for name, slot in self._aggregates()]
        return {name: self._missed(slot, error) for name, slot, error in found if error is not None}

    @property
    def counts(self) -> tuple[str, ...]:
        """The columns that are a COUNT and nothing else."""
        kinds = ("count_rows", "count", "count_units", "count_distinct")
        measures = self.question.measures
        return tuple(name for name, slot in self._aggregates() if measures[slot].aggregate.function in kinds)

    def _error_of(self, measure: int) -> float | None:
        if self._unbounded(measure):
            return None
        found = [
            each.estimators[measure].expected_error(self.confidence, self.policy.population)
            for each in self.sets
        ]
        known = [error for error in found if error is not None]
        return max(known) if len(known) == len(found) else None

    def _unbounded(self, measure: int) -> bool:
        """Return whether an aggregate's bounds are still to be found."""
        search = self.search
        return search is not None and search.found is None and measure in search.searched

    def _aggregates(self) -> list[tuple[str, int]]:
        """Return the columns that are an aggregate and nothing else, with its place among the measures."""
        first = len(self.question.keys)
        return [
            (name, expression.index - first)
            for name, expression in self.question.columns
            if isinstance(expression, Slot) and expression.index >= first
        ]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def __repr__(self) -> str:
        return f"<Plan of {self.text!r}: {self._price()}>"

    def _repr_html_(self) -> str:
        return lines_html("Plan", self.sentences())

    def sentences(self) -> list[str]:
        """Return the plan, a sentence a line."""
        lines = [f"Question: {self.text}", *self._bounding()]
        if self.search is not None:
            lines.extend(self.search.sentences())
        for each in self.sets:
            lines.extend(
                each.sentences()
                if self.search is None or self.search.found
                else [*each.keys_sentences(), _LATER]
            )
        lines.extend(self._expected())
        lines.append(f"Price: {self._price()}.")
        return lines

    def _bounding(self) -> list[str]:
        question = self.question
        if question.each_row:
            return ["Protected: each row. Rows with no value where one is needed add nothing."]
        if self.weighs:
            return [
                f"Protected: each unit of data set {self.policy.id!r}, under {self.policy.relation}.",
                "Bounded: after all filters and joins a unit's rows weigh less where it is above its limit; "
                "rows without a unit are dropped; values are clamped to their declared bounds.",
            ]
        groups = (
            f"in at most {question.max_groups} group{'s' * (question.max_groups > 1)}, "
            if question.keys
            else ""
        )
        rows = f"{question.max_rows} row{'s' * (question.max_rows > 1)}"
        where = " in each" if question.keys else ""
        return [
            f"Protected: each unit of data set {self.policy.id!r}, under {self.policy.relation}.",
            f"Bounded: {groups}at most {rows} of a unit{where}, after all filters and joins; "
            "rows without a unit are dropped; values are clamped to their declared bounds.",
        ]

    @property
    def weighs(self) -> bool:
        """Whether units are weighed as wholes, and no row is left out."""
        kinds = (Limited, Clamped, AddNoiseToAll)
        return any(isinstance(stage, kinds) for each in self.sets for stage in each.stages)

    def note(self) -> str | None:
        """Say what is left out of every number; None where no row is."""
        question = self.question
        if question.each_row or self.weighs:
            return None
        rows = f"{question.max_rows} row{'s' * (question.max_rows > 1)}"
        where = f" in {question.max_groups} group{'s' * (question.max_groups > 1)}" if question.keys else ""
        return f"at most {rows} of a unit{where}: rows beyond are not in these numbers"

    def _expected(self) -> list[str]:
        lines = []
        confidence = f"with {float(self.confidence):.0%} confidence"
        for name, measure in self._aggregates():
            error = self._error_of(measure)
            if error is not None:
                supposing = self._supposing(measure)
                lines.append(
                    f"Expected error of {name}: at most {readable_up(error)}, {confidence}{supposing}."
                )
            chosen = self._choice_error_of(measure)
            if chosen is not None:
                lines.append(f"Expected error of {name}: {self._missed(measure, chosen)}, {confidence}.")
        return lines

    def _choice_error_of(self, measure: int) -> float | None:
        """Return how far a choice may be from the best one; None for what is no choice, or not known yet."""
        if self._unbounded(measure):
            return None
        found = [each.estimators[measure].choice_error(self.confidence) for each in self.sets]
        return max((each for each in found if each is not None), default=None)

    def choice_notes(self) -> list[str]:
        """Say how sure each choice is, in rows: a value that was chosen has no interval."""
        lines, sure = [], f"with {float(self.confidence):.0%} confidence"
        for name, measure in self._aggregates():
            error = self._choice_error_of(measure)
            if error is not None:
                lines.append(f"{name}: {self._passed_over(measure, floor(error))}, {sure}")
        return lines

    def _passed_over(self, measure: int, most: int) -> str:
        """Say of how many rows a choice may be off."""
        rows = f"{most:,} row{'s' * (most != 1)}"
        words = {
            "mode": f"no other label has more than {rows} more",
            "minimum": f"at most {rows} below it",
            "maximum": f"at most {rows} above it",
        }
        function = self.question.measures[measure].aggregate.function
        return words.get(function, f"at most {rows} between it and the exact one, where values differ")

    def _missed(self, measure: int, most: float) -> str:
        """Say what a choice may have missed."""
        if self.question.measures[measure].aggregate.function == "mode":
            return f"a label with at most {readable_up(most)} rows fewer than the most frequent one"
        return f"a rank at most {readable_up(most)} from the asked one, where the values differ"

    def _supposing(self, measure: int) -> str:
        """Say what the error of a ratio supposes: it divides by how many values the owner expects."""
        ratio = self.question.measures[measure].aggregate.function == "average"
        return f", if there are at least {self.policy.population:,} values to average" if ratio else ""

    def _price(self) -> str:
        share = self.share
        main = f"epsilon {short_up(share.epsilon or Fraction(0))}"
        if share.rho is not None:
            main = f"rho {short_up(share.rho)}"
        return f"{main}, delta {short_up(share.delta)}" if self.needs_delta else main

    def to_json(self) -> dict[str, object]:
        """Return the plan for programs: its sentences, loss and errors."""
        return {
            "question": self.text,
            "price": {
                name: str(value)
                for name, value in (
                    ("epsilon", self.share.epsilon),
                    ("delta", self.share.delta),
                    ("rho", self.share.rho),
                )
                if value is not None
            },
            "loss": self.loss.to_json(),
            "errors": self.errors,
            "confidence": float(self.confidence),
            "work": self.work.to_json(),
            "sentences": self.sentences(),
        }


class Priced(Protocol):
    """What has a price: a plan, of a question or of a book."""

    @property
    def share(self) -> Share: ...
    @property
    def needs_delta(self) -> bool: ...
    @property
    def policy(self) -> Policy: ...


def price_of(plans: Sequence[Priced]) -> PureDP | ApproxDP | ZCDP:
    """Return the price of plans that are charged together: what they promise adds up."""
    return promised_price(
        [plan.share for plan in plans],
        needs_delta=[plan.needs_delta for plan in plans],
        relation=plans[0].policy.relation,
    )


def promised_price(
    shares: Sequence[Share], *, needs_delta: Sequence[bool], relation: Relation
) -> PureDP | ApproxDP | ZCDP:
    """Return what shares of a price promise together; without delta where none of it is needed."""
    delta = sum((share.delta for share, needs in zip(shares, needs_delta, strict=True) if needs), Fraction(0))
    if shares[0].rho is not None:
        return ZCDP(sum(share.rho or 0 for share in shares), delta, relation=relation)
    epsilon = sum((share.epsilon or Fraction(0) for share in shares), Fraction(0))
    return ApproxDP(epsilon, delta, relation=relation) if delta else PureDP(epsilon, relation=relation)
