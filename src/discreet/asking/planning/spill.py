"""How much of the units' norms is in the two octaves above a limit: one noisy number for all groups.

Where a limit is shared by many numbers, few people above it may hold much of each: the upper ends of
intervals are then raised by an estimate of what the limit cut.

Privacy: a unit adds between 0 and one whole part (docs/theory/limits.md). The rest is post-processing.
Tested by: tests/planning/test_one_limit.py, tests/planning/test_limits_enumerated.py
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.asking.planning.contribution import Contribution
from discreet.asking.planning.exact import ExactTable
from discreet.asking.planning.stages import Noise, TableStage
from discreet.asking.planning.weights import Excess
from discreet.kernel.losses import PrivacyLoss, Relation
from discreet.kernel.plan import Move, Output, Released, move
from discreet.kernel.randomness import Source

PLAIN = 14  # so many groups have intervals about their noise alone: the limit is chosen well for few
OCTAVES = 3  # the two octaves above a limit are three limits wide
_BITS = 20


def above(limit: int) -> Excess:
    """Return what is measured: the part of each norm between the limit and four limits."""
    return Excess(limit, OCTAVES * limit, bits=_BITS)


def one_number(relation: Relation) -> Contribution:
    """Return how far a unit moves it."""
    return Contribution(1, 1 << _BITS, 1 << _BITS, relation, labels=1)


def raised_by(spill: int, reach: float, limit: int, part: Fraction) -> Fraction:
    """Return by how much the upper end of a number is raised that has this part of all that was released.

    `spill` is the noisy number, `reach` how far above it the real one may be; the result is in steps.

    >>> raised_by(2**20, 0, 10, Fraction(1, 4))
    Fraction(15, 2)
    """
    return Fraction(max(0, spill + round(reach)), 1 << _BITS) * OCTAVES * limit * part


@dataclass(frozen=True)
class MeasureSpill(TableStage):
    """The noisy sum, over units, of what of their norms is in the two octaves above the limit."""

    kind = "noise"

    mechanism: Noise

    @property
    def loss(self) -> PrivacyLoss:
        return self.mechanism.loss

    @property
    def needs_delta(self) -> bool:
        return False

    @property
    def sentence(self) -> str:
        return f"Noise on how much of all units is above the limit: {self.mechanism.describe()}."

    def fits(self, relation: Relation) -> bool:
        noise, masses = self.mechanism, self.plan.excess
        one = len(masses) == 1 and self.plan.limit is None and noise.relation == relation
        return one and noise.step == 1 and noise.sensitivity >= masses[0].one

    def take(self, tables: Sequence[ExactTable], released: Released) -> tuple[int, ...]:
        (table,) = tables
        return table.totals[0]

    def draw(self, given: tuple[int, ...], source: Source) -> Output:
        return Output(numbers=tuple(int(number) for number in self.mechanism.draw(list(given), source)))

    def exact(self, given: Any, groups: Sequence[Any]) -> list[int]:
        raise NotImplementedError("what it releases is no number of a group")

    def moves(
        self, first: Sequence[tuple[int, ...]], second: Sequence[tuple[int, ...]], name: str
    ) -> Iterator[Move]:
        ((one,),), ((other,),) = first, second
        yield move(name, [one - other], self.mechanism.sensitivity, norm=self.mechanism.norm)
