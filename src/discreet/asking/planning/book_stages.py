"""The stage of a book: noise on every cell of one table, which is added up from the finest cells."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.asking.planning.contribution import weighted_reach_of
from discreet.asking.planning.exact import ExactTable, Whole
from discreet.asking.planning.stages import Noise, TableStage
from discreet.errors import InternalError
from discreet.kernel.losses import PrivacyLoss, Relation
from discreet.kernel.plan import Move, Output, Released, move
from discreet.kernel.randomness import Source


@dataclass(frozen=True)
class AddNoiseToTable(TableStage):
    """Laplace or Gaussian noise on every cell of the table by some keys of a plan with `cells`.

    With `starts` the last key's labels are added up to those of a level above it.

    Privacy: a unit's weighted rows add at most τ to all finest cells together, each part at least 0, and so
    to those of any table, whose cells are sums of disjoint sets of them (docs/theory/books.md).
    """

    kind = "noise"

    mechanism: Noise
    axes: tuple[int, ...]  # the table's keys, by their position in the plan
    starts: tuple[int, ...] | None = None  # where, among the last key's labels, each of a level begins

    @property
    def loss(self) -> PrivacyLoss:
        return self.mechanism.loss

    @property
    def needs_delta(self) -> bool:
        return self.mechanism.norm == 2

    @property
    def sentence(self) -> str:
        return f"Noise on the table by keys {self.axes}: {self.mechanism.describe()}."

    def fits(self, relation: Relation) -> bool:
        noise, plan = self.mechanism, self.plan
        if plan.limit is None or plan.cells is None or plan.excess or len(plan.measures) != 1:
            return False
        known = len(set(self.axes) & set(range(len(plan.keys)))) == len(self.axes) and self._is_split()
        reach = weighted_reach_of(plan, relation).length(noise.norm)
        return known and noise.step == 1 and noise.relation == relation and noise.sensitivity >= reach

    def _is_split(self) -> bool:
        """Return whether each label of the last key is in just one of a level's."""
        if self.starts is None:
            return True
        if not self.axes or not self.starts or self.starts[0] != 0:
            return False
        ends = (*self.starts[1:], self.plan.sizes[self.axes[-1]])
        return all(start < end for start, end in zip(self.starts, ends, strict=True))

    def take(self, tables: Sequence[ExactTable], released: Released) -> Whole:
        (table,) = tables
        if table.cells is None:
            raise InternalError("a table of a book must be read from cells.")
        found = table.cells.table(self.plan.sizes, self.axes)
        if self.starts is not None:
            found = np.add.reduceat(found, self.starts, axis=-1)
        return found.reshape(-1)

    def draw(self, given: Whole, source: Source) -> Output:
        return Output(numbers=tuple(int(number) for number in self.mechanism.draw(given, source)))

    def exact(self, given: Whole, groups: Sequence[Any]) -> list[int]:
        return [int(number) for number in given]

    def moves(self, first: Sequence[Whole], second: Sequence[Whole], name: str) -> Iterator[Move]:
        left, right = ([int(number) for table in each for number in table] for each in (first, second))
        if len(left) != len(right):
            yield Move(f"how many numbers {name} is given", abs(len(left) - len(right)), 0)
            return
        distances = [a - b for a, b in zip(left, right, strict=True)]
        yield move(name, distances, self.mechanism.sensitivity, norm=self.mechanism.norm)
