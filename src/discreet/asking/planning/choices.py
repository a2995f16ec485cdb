"""Stages that choose in every group: the most frequent label, or a quantile."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.asking.planning.contribution import contribution_of
from discreet.asking.planning.exact import ExactTable, TallyArrays
from discreet.asking.planning.stages import TableStage, describe_tally, in_steps
from discreet.asking.policy import Value
from discreet.kernel.losses import PrivacyLoss, Relation
from discreet.kernel.mechanisms import Exponential, PermuteAndFlip, Quantile
from discreet.kernel.plan import Group, Move, Output, Released, changes
from discreet.kernel.randomness import Source


@dataclass(frozen=True)
class Choose(TableStage):
    """One choice in every group, from a tally; a unit moves at most `times` of them.

    Where no rows were found the choice is made among scores that are all equal.
    """

    kind = "choice"

    times: int

    @property
    def loss(self) -> PrivacyLoss:
        loss: PrivacyLoss = self.times * self.mechanism.loss
        return loss

    @property
    def needs_delta(self) -> bool:
        return False

    @property
    @abstractmethod
    def rows(self) -> Fraction | int:
        """The most rows of one unit that the mechanism is made for."""

    def fits(self, relation: Relation) -> bool:
        moved = contribution_of(self.plan, None, relation).moved
        enough = self.rows >= self.plan.max_rows and self.times >= moved
        return enough and not self.plan.weighs and self.mechanism.relation == relation

    def take(self, tables: Sequence[ExactTable], released: Released) -> list[Any]:
        (table,) = tables
        found = dict(zip(table.groups, table.tallies, strict=True))
        return [self.given(TallyArrays.of(found.get(group, {}))) for group in self.groups(released)]

    @abstractmethod
    def given(self, tally: TallyArrays) -> Any:
        """Return what the mechanism chooses by in one group."""

    @abstractmethod
    def error(self, confidence: Fraction) -> float:
        """Return how far the choice may be from the best: in ranks, or in rows of the most frequent label."""

    def moves(self, first: Sequence[Any], second: Sequence[Any], name: str) -> Iterator[Move]:
        if len(first) != len(second):
            yield Move(f"how many choices {name} makes", abs(len(first) - len(second)), 0)
            return
        touched = [(a, b) for a, b in zip(first, second, strict=True) if a != b]
        yield Move(f"groups touched by {name}", len(touched), self.times)
        yield from self._group_moves(touched, name)

    @abstractmethod
    def _group_moves(self, touched: list[tuple[Any, Any]], name: str) -> Iterator[Move]:
        """Return how far the tallies or scores of one group move."""


@dataclass(frozen=True)
class ChooseLabel(Choose):
    """The most frequent of public labels, by noisy selection."""

    mechanism: Exponential | PermuteAndFlip

    @property
    def rows(self) -> Fraction | int:
        return self.mechanism.sensitivity

    @property
    def labels(self) -> tuple[Value, ...]:
        """The candidates."""
        assert self.plan.tally is not None
        return self.plan.tally.labels or ()

    @property
    def sentence(self) -> str:
        return f"Choice of the most frequent {describe_tally(self.plan)}: {self.mechanism.describe()}"

    def fits(self, relation: Relation) -> bool:
        return super().fits(relation) and (self.mechanism.scores != "monotone" or relation == "add/remove")

    def given(self, tally: TallyArrays) -> tuple[int, ...]:
        return tuple(tally.among(len(self.labels)).tolist())

    def draw(self, given: list[tuple[int, ...]], source: Source) -> Output:
        scores = (np.array(each, dtype=np.int64) for each in given)
        return Output(numbers=tuple(int(self.mechanism.draw(each, source)) for each in scores))

    def exact(self, given: list[tuple[int, ...]], groups: Sequence[Group]) -> list[int]:
        return [scores.index(max(scores)) for scores in given]

    def error(self, confidence: Fraction) -> float:
        return self.mechanism.utility_bound(candidates=len(self.labels), confidence=confidence)

    def _group_moves(self, touched: list[tuple[Any, Any]], name: str) -> Iterator[Move]:
        moved = [[b - a for a, b in zip(*pair, strict=True)] for pair in touched]
        most = max((abs(each) for group in moved for each in group), default=0)
        yield Move(f"a score of {name}", float(most), float(self.mechanism.sensitivity))
        if self.mechanism.scores == "monotone":
            both = sum(min(group) < 0 < max(group) for group in moved)
            yield Move(f"groups of {name} whose scores move both ways", both, 0)


@dataclass(frozen=True)
class ChooseQuantile(Choose):
    """A quantile, among all points of a lattice."""

    mechanism: Quantile

    @property
    def rows(self) -> Fraction | int:
        return self.mechanism.max_rows

    @property
    def sentence(self) -> str:
        assert self.plan.tally is not None
        assert self.plan.tally.lattice is not None
        steps = in_steps(self.plan.tally.lattice.step)
        return f"Choice of a quantile of {describe_tally(self.plan)}{steps}: {self.mechanism.describe()}"

    def given(self, tally: TallyArrays) -> TallyArrays:
        return tally

    def draw(self, given: list[TallyArrays], source: Source) -> Output:
        chosen = (self.mechanism.draw_tally(each.numbers, each.rows, source) for each in given)
        return Output(numbers=tuple(map(int, chosen)))

    def exact(self, given: list[TallyArrays], groups: Sequence[Group]) -> list[int]:
        return [self._exact(tally) for tally in given]

    def _exact(self, tally: TallyArrays) -> int:
        rank, seen = self.mechanism.quantile * sum(tally.values()), 0
        for value, rows in tally.items():  # ascending
            seen += rows
            if seen >= rank:
                return value
        return int(self.mechanism.bounds[0])

    def error(self, confidence: Fraction) -> float:
        return self.mechanism.rank_error(confidence=confidence)

    def _group_moves(self, touched: list[tuple[Any, Any]], name: str) -> Iterator[Move]:
        swap = 1 if self.mechanism.relation == "add/remove" else 2
        most = max((sum(changes(a, b)) for a, b in touched), default=0)
        yield Move(f"the tally of {name}", most, self.mechanism.max_rows * swap)
