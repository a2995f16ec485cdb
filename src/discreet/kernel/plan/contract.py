"""Stages of a plan: a draw from exact tables, or a later stage that earlier releases decide.

A `Draw` is complete: it names the exact tables that it reads, the mechanism that it uses and its loss. A
`Later` becomes one or several stages once earlier ones have released something. It is a function of
`Released`, which holds public values only, so nothing but those can decide what runs next.
"""

import datetime
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from discreet.errors import InternalError
from discreet.kernel.accounting import Notion
from discreet.kernel.losses import PrivacyLoss, Relation

P = TypeVar("P")  # what an engine runs
T = TypeVar("T")  # the exact table that it returns

Label: TypeAlias = bool | int | float | str | datetime.date | datetime.datetime | None
Group: TypeAlias = tuple[Label, ...]

_LABELS = {bool, int, float, str, datetime.date, datetime.datetime, type(None)}


@dataclass(frozen=True)
class Output:
    """What one draw released: the groups that it shows, if it decides about groups, and its numbers.

    >>> Output(numbers=(1, object()))
    Traceback (most recent call last):
    discreet.errors.InternalError: a stage must release plain values. Nothing was released.
    """

    groups: tuple[Group, ...] | None = None
    numbers: tuple[int | Fraction, ...] = ()

    def __post_init__(self) -> None:
        groups = () if self.groups is None else self.groups
        plain = _holds(self.numbers, {int, Fraction}) and _holds(groups, {tuple})
        if not (plain and all(_holds(group, _LABELS) for group in groups)):
            raise InternalError("a stage must release plain values. Nothing was released.")


def _holds(values: object, kinds: set[type]) -> bool:
    return isinstance(values, tuple) and set(map(type, values)) <= kinds


@dataclass(frozen=True)
class Released:
    """What the stages so far released, in their order: all of the data that a later stage may depend on."""

    outputs: tuple[Output, ...] = ()

    def __post_init__(self) -> None:
        if {type(each) for each in self.outputs} - {Output}:
            raise InternalError("a later stage must depend on released values alone.")

    def __getitem__(self, index: int) -> Output:
        return self.outputs[index]

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups that were shown last."""
        return next(each.groups for each in reversed(self.outputs) if each.groups is not None)

    def then(self, output: Output) -> "Released":
        """Return this, and one output more."""
        return Released((*self.outputs, output))


class Draw(ABC, Generic[P, T]):
    """A stage that can run: exact tables in, one independent draw of a mechanism out.

    A subclass is a frozen dataclass. `part` is the grouping set of the answer that it belongs to (None for
    what is found before all of them), `column` where its numbers are among those of a group (None where
    they are not of groups).
    """

    part: int | None
    column: int | None

    @property
    @abstractmethod
    def reads(self) -> tuple[P, ...]:
        """The exact plans whose tables it reads."""

    @property
    @abstractmethod
    def scope(self) -> Hashable:
        """The rows that it may read, and what a unit is: compared with the promise."""

    @property
    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """The loss of the draw, if it `fits`."""

    @abstractmethod
    def fits(self, relation: Relation) -> bool:
        """Return whether the mechanism is made for the farthest that one unit moves what it is given."""

    @abstractmethod
    def take(self, tables: Sequence[T], released: Released) -> Any:
        """Return the exact input of the mechanism, from the tables of `reads`."""

    @abstractmethod
    def draw(self, given: Any, source: Any) -> Output:
        """Draw from what `take` returned."""

    @abstractmethod
    def moves(self, first: Sequence[Any], second: Sequence[Any], name: str) -> Iterator["Move"]:
        """Return how much of its sensitivity two neighbours use, by all that the mechanism was given."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What it does, for the plan's text."""

    def columns_of(self, output: Output) -> "Mapping[int, tuple[int | Fraction, ...]]":
        """Return the numbers of all groups by the columns where they are: its own, and no other."""
        return {} if self.column is None else {self.column: output.numbers}


class Later(ABC, Generic[P, T]):
    """A stage that becomes others when earlier ones have released what it depends on.

    A subclass is a frozen dataclass. `price` and `scope` are its promise: they are fixed before the charge
    and must cover whatever it may become, whatever was released.
    """

    price: PrivacyLoss | Notion
    scope: Hashable

    @abstractmethod
    def ready(self, released: Released) -> "tuple[Stage[P, T], ...]":
        """Return the stages that it becomes: a function of what was released, and of nothing else."""


Stage: TypeAlias = Draw[P, T] | Later[P, T]


class Move(NamedTuple):
    """What moved by how much between two neighbours, and how much it may. More than 1 of it is a leak."""

    what: str
    moved: float
    allowed: float

    @property
    def part(self) -> float:
        """1 where the whole sensitivity is used."""
        return self.moved / self.allowed if self.allowed else math.inf if self.moved else 0.0

    def __str__(self) -> str:
        return f"{self.what} moved by {self.moved:,.10g} of {self.allowed:,.10g}"


def move(what: str, moved: Sequence[int], declared: Fraction, *, norm: int) -> Move:
    """Return the move of a vector in l1 or l2 norm: above what is declared if and only if it exactly is.

    >>> move("x", [3, -4], Fraction(5), norm=2), move("x", [3, -4], Fraction(5), norm=1).part
    (Move(what='x (l2)', moved=5.0, allowed=5.0), 1.4)
    """
    power = sum(abs(each) ** norm for each in moved)
    length = math.sqrt(power) if norm == 2 else float(power)
    most = float(declared)
    length = max(length, math.nextafter(most, math.inf)) if power > declared**norm else min(length, most)
    return Move(f"{what} (l{norm})", length, most)


def changes(first: Mapping[Any, int], second: Mapping[Any, int]) -> list[int]:
    """Return by how much each number changed that is in either mapping."""
    return [abs(first.get(key, 0) - second.get(key, 0)) for key in {**first, **second}]
