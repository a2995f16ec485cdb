"""Small stages over tables of whole numbers: enough to run the runner without any data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.kernel.losses import PrivacyLoss, PureDP, Relation
from discreet.kernel.mechanisms import Laplace
from discreet.kernel.plan import Draw, Later, Move, Output, Permit, Promise, Released, Stage, move

Table = tuple[int, ...]


@dataclass(frozen=True)
class Query:
    """What a toy engine runs: counts that one unit moves by `most` in all."""

    name: str
    most: int = 1
    rows: str = "people"


@dataclass(frozen=True)
class Count(Draw[Query, Table]):
    """Noise on the counts of a query."""

    query: Query
    mechanism: Any
    part: int | None = 0
    column: int | None = 0

    @property
    def reads(self) -> tuple[Query, ...]:
        return (self.query,)

    @property
    def scope(self) -> str:
        return self.query.rows

    @property
    def loss(self) -> PrivacyLoss:
        return self.mechanism.loss

    def fits(self, relation: Relation) -> bool:
        return self.mechanism.sensitivity >= self.query.most and self.mechanism.relation == relation

    def take(self, tables: Sequence[Table], released: Released) -> Table:
        return tables[0]

    def draw(self, given: Table, source: Any) -> Output:
        return Output(numbers=tuple(self.mechanism.draw(list(given), source)))

    def moves(self, first: Sequence[Table], second: Sequence[Table], name: str) -> Iterator[Move]:
        distances = [a - b for a, b in zip(first[0], second[0], strict=True)]
        yield move(name, distances, self.mechanism.sensitivity, norm=self.mechanism.norm)

    @property
    def sentence(self) -> str:
        return f"Noise on {self.query.name}: {self.mechanism.describe()}."


@dataclass(frozen=True)
class Scaled(Later[Query, Table]):
    """Noise whose scale is the first number that was released, at a price that does not depend on it."""

    query: Query
    epsilon: Fraction
    scope: str = "people"

    @property
    def price(self) -> PureDP:
        return PureDP(self.epsilon)

    def ready(self, released: Released) -> tuple[Stage[Query, Table], ...]:
        limit = max(1, int(released[0].numbers[0]))
        noise = Laplace(epsilon=self.epsilon, sensitivity=limit, step=1)
        return (Count(replace(self.query, most=limit), noise, column=1),)


def laplace(epsilon: Any, sensitivity: int = 1, **more: Any) -> Laplace:
    return Laplace(epsilon=epsilon, sensitivity=sensitivity, step=1, **more)


def permit(*plans: Sequence[Stage[Query, Table]]) -> Permit:
    """The permit that a charge of these plans gives."""
    return Permit(1, None, tuple(tuple(map(Promise.of, plan)) for plan in plans))
