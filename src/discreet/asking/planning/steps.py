"""What will be drawn for one grouping set: noised numbers, choices and keys, each with its mechanism."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.planning.exact import ExactTable
from discreet.asking.planning.noise import Noise
from discreet.asking.planning.plan_exact import ExactPlans
from discreet.asking.planning.readings import Chosen, Reading
from discreet.asking.policy import Value
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.mechanisms import CountedKeys, Exponential, KeySelection, PermuteAndFlip, Quantile

Chooser: TypeAlias = Exponential | PermuteAndFlip | Quantile


@dataclass(frozen=True)
class NoiseStep:
    """Noise on one exact number of every group: measure `position`, or how many values the tally of exact
    plan `tally` has.

    Privacy: with at most max_rows rows of each unit in a group, and others' rows chosen without looking at
    that unit, it adds between 0 and max_rows to how many values there are.
    """

    position: int
    noise: Noise | CountedKeys
    tally: int | None = None

    @property
    def loss(self) -> PrivacyLoss:
        return self.noise.loss

    def exact(self, totals: Sequence[int]) -> int:
        """The number of one group that is noised, from its exact totals."""
        return totals[self.position]

    def exact_of(self, tables: Mapping[int, ExactTable], groups: Sequence[tuple[Value, ...]]) -> list[int]:
        """The number of every group that is noised, from the tables of the exact plans."""
        if self.tally is not None:
            tallied = dict(zip(tables[self.tally].groups, tables[self.tally].tallies, strict=True))
            return [len(tallied.get(group, ())) for group in groups]
        found = dict(zip(tables[0].groups, tables[0].totals, strict=True))
        return [self.exact(found[group]) for group in groups]


@dataclass(frozen=True)
class ChoiceStep:
    """One choice in every group, from the tally of exact plan `plan`; a unit moves at most `groups` of
    them.
    """

    plan: int
    chooser: Chooser
    groups: int

    @property
    def loss(self) -> PrivacyLoss:
        return self.groups * self.chooser.loss

    def error(self, confidence: Fraction, labels: int) -> float:
        """How far the choice may be from the best: in ranks, or in rows of the most frequent label."""
        if isinstance(self.chooser, Quantile):
            return self.chooser.rank_error(confidence=confidence)
        return self.chooser.utility_bound(candidates=labels, confidence=confidence)


@dataclass(frozen=True)
class SetPlan:
    """Everything about one grouping set: what is computed, drawn and read, in this order.

    Private keys are shown by a `selection` of their own, or by the noise of the step `showing`.
    """

    keys: tuple[int, ...]  # positions among the question's keys
    exact: ExactPlans
    selection: KeySelection | None
    noises: tuple[NoiseStep, ...]
    choices: tuple[ChoiceStep, ...]
    readings: tuple[Reading, ...]

    @property
    def private(self) -> bool:
        """Whether the groups are found in the data, and few of them may be shown."""
        return self.exact.units is not None

    @property
    def showing(self) -> int | None:
        """The noised number whose draw also decides which keys are shown; None where none does."""
        counted = [index for index, step in enumerate(self.noises) if isinstance(step.noise, CountedKeys)]
        return counted[0] if counted else None

    def choice_error(self, measure: int, confidence: Fraction) -> float | None:
        """How far the choice that an aggregate reads may be from the best; None for what is no choice."""
        reading = self.readings[measure]
        if not isinstance(reading, Chosen):
            return None
        step = self.choices[reading.index - len(self.noises)]
        return step.error(confidence, len(reading.labels or ()))

    @property
    def loss(self) -> PrivacyLoss:
        losses = [step.loss for step in self.noises] + [step.loss for step in self.choices]
        if self.selection is not None:
            losses.append(self.selection.loss)
        return sum(losses[1:], losses[0])
