"""The stages of a question: noise on numbers, and selection of keys. Each reads one exact table.

Privacy: `fits` holds each mechanism against the exact plan that it reads. One unit is in at most max_groups
groups with at most max_rows rows in each (docs/theory/exact-half.md); `Contribution` says how far that moves
the numbers of all groups together.
"""

import math
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from discreet.asking.planning.contribution import contribution_of, rows_counted, weighted_reach_of
from discreet.asking.planning.exact import (
    Bernstein,
    ExactMeasure,
    ExactPlan,
    ExactTable,
    RowCount,
    Sum,
    UnitCount,
)
from discreet.asking.queries import Expression, to_text
from discreet.kernel.losses import PrivacyLoss, Relation
from discreet.kernel.mechanisms import CountedKeys, Gaussian, KeySelection, Laplace
from discreet.kernel.plan import Draw, Group, Later, Move, Output, Released, changes, move
from discreet.kernel.randomness import Source

Noise: TypeAlias = Laplace | Gaussian

Counts: TypeAlias = Mapping[Group, int]
Bounds: TypeAlias = tuple[Fraction, Fraction]

CONFIDENCE = Fraction(999, 1000)  # that no empty bin is taken for a full one
FALLBACK: Bounds = (Fraction(0), Fraction(1))  # where no bin is full
ROOM = 8  # times: a bin counts as full only beyond what noise reaches, and few people may be above


@dataclass(frozen=True)
class TableStage(Draw[ExactPlan, ExactTable]):
    """A draw from the table of one exact plan. `kind` names it in audits."""

    kind: ClassVar[str]

    part: int | None
    column: int | None
    plan: ExactPlan
    mechanism: Any

    @property
    def reads(self) -> tuple[ExactPlan, ...]:
        return (self.plan,)

    @property
    def scope(self) -> Hashable:
        return self.plan.rows, self.plan.each_row

    @property
    def shows_keys(self) -> bool:
        """Whether the draw decides which groups are shown."""
        return False

    @property
    @abstractmethod
    def needs_delta(self) -> bool:
        """Whether the draw keeps no epsilon without a delta."""

    @abstractmethod
    def exact(self, given: Any, groups: Sequence[Group]) -> list[int]:
        """Return the numbers of these groups without noise: for rehearsals on invented people."""

    def exact_columns(self, given: Any, groups: Sequence[Group]) -> Mapping[int, Sequence[int]]:
        """Return the numbers of these groups without noise, by the columns where they are."""
        assert self.column is not None
        return {self.column: self.exact(given, groups)}

    def groups(self, released: Released) -> Sequence[Group]:
        """Return the groups that get a number: the public ones, or those that were shown."""
        return released.groups if self.plan.labels is None else self.plan.labels


@dataclass(frozen=True)
class NumberStage(TableStage):
    """A draw that gives a noisy number for each group: of a measure, or of how many values a tally has."""

    kind = "noise"

    position: int | None  # of the measure; None where values of the plan's tally are counted

    @property
    def loss(self) -> PrivacyLoss:
        loss: PrivacyLoss = self.mechanism.loss
        return loss

    @property
    def measure(self) -> ExactMeasure | None:
        """The exact measure that gets noise; None where values of a tally are counted."""
        return None if self.position is None else self.plan.measures[self.position]

    @property
    def what(self) -> str:
        """What the number is of, for texts."""
        return describe_measure(self.plan, self.measure)

    @property
    def sentence(self) -> str:
        return f"Noise on {self.what}: {self.mechanism.describe()}."

    def error(self, confidence: Fraction) -> float:
        """Return how far the noise may take the number."""
        error: float = self.mechanism.error(confidence=confidence)
        return error

    @abstractmethod
    def between(self, value: int, confidence: Fraction) -> tuple[int, int]:
        """Return whole numbers between which the exact one is, given what was released."""


@dataclass(frozen=True)
class AddNoise(NumberStage):
    """Laplace or Gaussian noise on one exact number of every group.

    Privacy: with at most max_rows rows of each unit in a group, and others' rows chosen without looking at
    that unit, it adds between 0 and max_rows to how many values a tally has.
    """

    mechanism: Noise

    def fits(self, relation: Relation) -> bool:
        noise, plan = self.mechanism, self.plan
        if plan.excess:
            return False
        weighed = plan.limit is not None
        moved = (
            weighted_reach_of(plan, relation) if weighed else contribution_of(plan, self.measure, relation)
        )
        return (
            noise.sensitivity >= moved.length(noise.norm) and noise.step == 1 and noise.relation == relation
        )

    @property
    def needs_delta(self) -> bool:
        return self.mechanism.norm == 2  # Gaussian noise

    @property
    def variance(self) -> float:
        """The variance of the noise."""
        return self.mechanism.variance

    def take(self, tables: Sequence[ExactTable], released: Released) -> tuple[int, ...]:
        (table,) = tables
        if self.position is None:
            tallied = dict(zip(table.groups, table.tallies, strict=True))
            return tuple(len(tallied.get(group, ())) for group in self.groups(released))
        found = dict(zip(table.groups, table.totals, strict=True))
        return tuple(found[group][self.position] for group in self.groups(released))

    def draw(self, given: tuple[int, ...], source: Source) -> Output:
        return Output(numbers=tuple(int(number) for number in self.mechanism.draw(list(given), source)))

    def exact(self, given: tuple[int, ...], groups: Sequence[Group]) -> list[int]:
        return list(given)

    def moves(
        self, first: Sequence[Sequence[int]], second: Sequence[Sequence[int]], name: str
    ) -> Iterator[Move]:
        left, right = ([number for values in each for number in values] for each in (first, second))
        if len(left) != len(right):
            yield Move(f"how many numbers {name} is given", abs(len(left) - len(right)), 0)
            return
        distances = [a - b for a, b in zip(left, right, strict=True)]
        yield move(name, distances, self.mechanism.sensitivity, norm=self.mechanism.norm)

    def between(self, value: int, confidence: Fraction) -> tuple[int, int]:
        reach = math.ceil(self.error(confidence))
        return value - reach, value + reach


@dataclass(frozen=True)
class FindBounds(AddNoise):
    """Noise on a histogram of values; the bins that are full, by it, are the bounds of some aggregates."""

    measures: tuple[int, ...]  # of the question, that the bounds are for
    edges: tuple[Fraction, ...]
    generous: bool = False  # where what follows searches on its own how far values really reach

    @property
    def sentence(self) -> str:
        return f"{self.mechanism.describe()}."

    @cached_property
    def threshold(self) -> float:
        """What the noise alone reaches in no bin, at the stated confidence."""
        return self.mechanism.error(confidence=CONFIDENCE, dimension=len(self.edges) - 1)

    def draw(self, given: tuple[int, ...], source: Source) -> Output:
        return Output(numbers=self.bounds(self.mechanism.draw(list(given), source)))

    def bounds(self, counts: Sequence[int]) -> Bounds:
        """Return the bounds that the noisy counts of all bins show."""
        full = [index for index, count in enumerate(counts) if count > self.threshold]
        if not full:
            return FALLBACK
        low, high = self.edges[full[0]], self.edges[full[-1] + 1]
        return (self._beyond(low, -1), self._beyond(high, 1)) if self.generous else (low, high)

    def _beyond(self, end: Fraction, sign: int) -> Fraction:
        """Return an end with room for the few people beyond it; 0 where there is nothing on its side of the
        bin around 0."""
        nearest = min(abs(edge) for edge in self.edges)
        if sign * end <= (nearest if sign < 0 else 0):
            return Fraction(0)
        return sign * min(ROOM * abs(end), self.edges[-1])


class ShowKeys(TableStage):
    """A draw that decides which of the groups found in the data are shown, by a count of each."""

    kind = "keys"

    mechanism: KeySelection | CountedKeys
    position: int | None

    @property
    def shows_keys(self) -> bool:
        return True

    @property
    def needs_delta(self) -> bool:
        return True

    @property
    @abstractmethod
    def keys_sentence(self) -> str:
        """How the groups are found, for the plan's text."""

    @property
    @abstractmethod
    def most(self) -> int:
        """The most that one unit adds to the count of a key."""

    def fits(self, relation: Relation) -> bool:
        assert self.position is not None
        keys, plan = self.mechanism, self.plan
        enough = self.most >= rows_counted(plan, plan.measures[self.position])
        return (
            enough and not plan.weighs and plan.labels is None
            and keys.max_groups >= plan.max_groups and keys.relation == relation
        )  # fmt: skip

    def take(self, tables: Sequence[ExactTable], released: Released) -> Counts:
        (table,) = tables
        assert self.position is not None
        return {
            group: totals[self.position] for group, totals in zip(table.groups, table.totals, strict=True)
        }

    def exact(self, given: Counts, groups: Sequence[Group]) -> list[int]:
        return [given[group] for group in groups]

    def moves(self, first: Sequence[Counts], second: Sequence[Counts], name: str) -> Iterator[Move]:
        """Return the moves: a unit holds at most max_groups keys; a replaced one comes to as many others."""
        if len(first) != len(second):
            yield Move(f"how often {name} are selected", abs(len(first) - len(second)), 0)
            return
        moved = [each for a, b in zip(first, second, strict=True) for each in changes(a, b) if each]
        swap = 1 if self.mechanism.relation == "add/remove" else 2
        yield Move(f"{name} held by one unit", len(moved), self.mechanism.max_groups * swap)
        yield Move(f"the count of one of the {name}", max(moved, default=0), self.most)


@dataclass(frozen=True)
class CountAndShow(NumberStage, ShowKeys):
    """One draw for each group found in the data: it decides whether the group is shown, and is its number."""

    kind = "keys"

    mechanism: CountedKeys

    @property
    def loss(self) -> PrivacyLoss:
        return self.mechanism.guarantee

    @property
    def most(self) -> int:
        return self.mechanism.sensitivity

    @property
    def keys_sentence(self) -> str:
        return f"Keys: found in the data. One draw shows them and answers {self.what}."

    def draw(self, given: Counts, source: Source) -> Output:
        return _show(given, self.mechanism.draw(list(given.values()), source))

    def between(self, value: int, confidence: Fraction) -> tuple[int, int]:
        return self.mechanism.between(value, confidence)


def _show(given: Counts, noisy: Sequence[int | None]) -> Output:
    shown = {group: number for group, number in zip(given, noisy, strict=True) if number is not None}
    return Output(tuple(shown), tuple(shown.values()))


@dataclass(frozen=True)
class SelectKeys(ShowKeys):
    """A coin for each group found in the data, by how many units it has: whether it is shown."""

    mechanism: KeySelection
    position: int | None  # of the count of units

    @property
    def most(self) -> int:
        return 1

    @property
    def loss(self) -> PrivacyLoss:
        return self.mechanism.loss

    @property
    def keys_sentence(self) -> str:
        return f"Keys: found in the data. {self.mechanism.describe()}"

    @property
    def sentence(self) -> str:
        return self.keys_sentence

    def draw(self, given: Counts, source: Source) -> Output:
        kept = self.mechanism.draw(np.array(list(given.values()), dtype=np.int64), source)
        return Output(tuple(group for group, keep in zip(given, kept.tolist(), strict=True) if keep))


Stage: TypeAlias = TableStage | Later[ExactPlan, ExactTable]


def describe_measure(plan: ExactPlan, measure: ExactMeasure | None) -> str:
    """Say what a noisy number is of, and in which steps it is."""
    steps = in_steps(measure.lattice.step**measure.power) if isinstance(measure, Sum) else ""
    return name_measure(plan, measure) + steps


def name_measure(plan: ExactPlan, measure: ExactMeasure | None) -> str:
    """Say what a noisy number is of."""
    if measure is None:
        return f"how many values {describe_tally(plan, ' has')}"
    where = _where(measure.condition)
    if isinstance(measure, UnitCount):
        return f"the number of units{where}"
    if isinstance(measure, RowCount):
        with_value = "" if measure.argument is None else f" with a value of {to_text(measure.argument)}"
        return f"the number of rows{with_value}{where}"
    argument = to_text(measure.argument)
    if isinstance(measure, Bernstein):
        return f"the parts of {'a mean' if measure.degree == 1 else 'a variance'} of {argument}{where}"
    centre = measure.centre * measure.lattice.step
    if centre:
        argument = f"({argument}) - {centre}" if centre > 0 else f"({argument}) + {-centre}"
    squares = "squares of " if measure.power == 2 else ""
    return f"the sum of {squares}{argument}{where}"


def describe_tally(plan: ExactPlan, verb: str = "") -> str:
    """Say what is tallied."""
    assert plan.tally is not None
    return f"{to_text(plan.tally.argument)}{verb}{_where(plan.tally.condition)}"


def in_steps(step: Fraction) -> str:
    """Say that numbers are multiples of a step, unless it is 1."""
    return "" if step == 1 else f", in steps of {step}"


def _where(condition: Expression | None) -> str:
    return "" if condition is None else f" where {to_text(condition)}"
