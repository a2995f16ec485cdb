"""The protocol that every mechanism keeps, what the shared checks need of it, and worst-case neighbours.

Tested by: tests/auditing/test_neighbours.py, tests/conformance/test_mechanisms.py,
tests/mechanisms/test_additive.py
"""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, InvalidParameter
from discreet.kernel.laws import FiniteLaw, LatticeLaw, plain, show
from discreet.kernel.losses import PrivacyLoss, Relation, check_relation
from discreet.kernel.mechanisms.inputs import to_steps
from discreet.kernel.mechanisms.lattice import WIDE, Lattice, as_given, flatten, several
from discreet.kernel.numerics import (
    Interval,
    Real,
    Shown,
    exact,
    exact_confidence,
    exact_positive,
    exact_whole,
    facts_html,
    readable_up,
    round_down,
    round_up,
)
from discreet.kernel.randomness import Source, fresh_source

Pair: TypeAlias = tuple[Any, Any]  # two neighbouring inputs


class Case(NamedTuple):
    """Parameters of a mechanism, and two neighbouring inputs that it must protect."""

    parameters: dict[str, Any]
    neighbours: Pair


@runtime_checkable
class Mechanism(Protocol):
    """A randomised function of the data whose privacy loss is known.

    Whatever keeps this protocol can be audited (`dp.audit`), and the conformance tests run on it once it has
    its line in the registry. What `data` is, each mechanism says: a number, scores, counts of keys.
    """

    @property
    def loss(self) -> PrivacyLoss:
        """Return what one release costs."""

    def draw(self, data: Any, source: Source, /) -> Any:
        """Release once, with randomness from `source`: for the kernel and for tests."""

    def sample(self, data: Any, n: int, /) -> Any:
        """Release n times, independently, by the methods that users call."""

    def law(self, data: Any, /) -> FiniteLaw | None:
        """Return the probability of every outcome of `draw`, or None where that is no short list."""

    def neighbours(self) -> Sequence[Pair]:
        """Return neighbouring inputs that are worst cases, for audits."""

    def describe(self) -> str:
        """Return a sentence that states the law, for a receipt."""

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests, small enough to enumerate."""


class Frozen(Shown):
    """A mechanism whose fields are set once, when it is made."""

    def _fix(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def _repr_html_(self) -> str:
        return law_html(self)


def law_html(mechanism: Any) -> str:
    """Show a mechanism in a notebook: its law, what a release costs, and how far it errs."""
    facts = {"law": mechanism.describe(), "costs": repr(mechanism.loss)}
    if hasattr(mechanism, "error") and (error := _error_of(mechanism)) is not None:
        facts["error"] = f"at most {error}, with 95% confidence"
    return facts_html(repr(mechanism), facts)


def _error_of(mechanism: Any) -> str | None:
    try:
        return readable_up(mechanism.error())
    except (DiscreetError, TypeError):
        return None


def as_outcome(released: Any) -> Hashable:
    """Return a release as a key of its law: lists and arrays become tuples.

    >>> as_outcome(np.array([True, False])), as_outcome([1, None]), as_outcome(3)
    ((True, False), (1, None), 3)
    """
    if isinstance(released, np.ndarray):
        released = released.tolist()
    outcome: Hashable = tuple(released) if isinstance(released, list) else released
    return outcome


# Neighbouring query answers that break faulty mechanisms: the patterns of Ding et al. (CCS 2018).

Kind: TypeAlias = Literal["general", "monotone"]


def numbers(*, sensitivity: Real = 1, bounds: tuple[Real, Real] | None = None) -> list[Pair]:
    """Return pairs of answers one sensitivity apart: at 0, at the bounds, at magnitudes far from 0.

    >>> numbers(sensitivity=1, bounds=(0, 10))
    [(0, 1), (9, 10), (4, 5)]
    """
    width = exact_positive(sensitivity, name="sensitivity")
    if bounds is None:
        starts = [Fraction(0), -width, Fraction(2**20), Fraction(2**40)]
    else:
        lower, upper = (exact(end, name="bounds") for end in bounds)
        width = min(width, upper - lower)
        starts = [lower, upper - width, (lower + upper - width) / 2 // width * width]
    pairs = [(plain(start), plain(start + width)) for start in starts]
    return list(dict.fromkeys(pairs))


def vectors(*, dimension: int, sensitivity: int = 1, scores: Kind = "general") -> list[Pair]:
    """Return pairs of lists of counting-query answers, each answer moved by at most `sensitivity`.

    One up, all up, one up and the rest down, halves crossed, a single peak moved. "monotone" scores all move
    the same way.
    """
    k = exact_whole(dimension, name="dimension", least=1)
    s = exact_whole(sensitivity, name="sensitivity", least=1)
    moves = [m for m in _moves(k) if scores == "general" or min(m) >= 0 or max(m) <= 0]
    pairs = [_move([1] * k, move, s) for move in moves]
    pairs.append(_move(list(range(k)), moves[1 % len(moves)], s))
    if scores == "general":
        half = k // 2
        pairs.append(([0] * half + [s] * (k - half), [s] * half + [0] * (k - half)))
    return pairs


def _move(base: list[int], move: list[int], by: int) -> Pair:
    return base, [value + by * m for value, m in zip(base, move, strict=True)]


def _moves(k: int) -> Iterator[list[int]]:
    half = k // 2
    yield [1] + [0] * (k - 1)
    yield [1] * k
    if k > 1:
        yield [0] * (k - 1) + [1]
        yield [1] + [-1] * (k - 1)
        yield [1] * half + [-1] * (k - half)
        yield [1, -1] + [0] * (k - 2)


# What every mechanism that adds noise shares: release, error and interval, from the law of its noise.

Value = TypeVar("Value", int, float, list[Any], NDArray[Any])


class DimensionWarning(UserWarning):
    """Several numbers were rounded, and it was not declared how many of them one unit can change at once."""


_ASSUMED = (
    "dimension was not given, so each unit is assumed to change only one of these numbers. If it can change "
    "more, declare dimension=: rounding then counts for each of them."
)

_NEEDED = (
    "dimension must be given to release several numbers: the loss depends on how many of them one unit can "
    "change at once. Declare dimension=."
)


class Additive(Frozen, ABC):
    """A mechanism that adds noise on the multiples of a public step to what is released.

    A subclass declares its fields, and states its `noise`, its `loss` and its `examples`; everything else is
    derived from the law of the noise.
    """

    sensitivity: Fraction
    step: Fraction
    dimension: int
    relation: Relation
    norm: ClassVar[int] = 1  # that the sensitivity is measured in: 1 adds up distances, 2 is Euclidean
    _assumed: bool = False  # whether `dimension` was left to its default
    _loss_needs_dimension: ClassVar[bool] = False  # whether it decides more than how rounding counts

    def _declare(self, *, sensitivity: Real, dimension: Real | None, relation: str) -> tuple[Fraction, int]:
        """Check and set what every such mechanism declares; return sensitivity and dimension."""
        reach = exact_positive(sensitivity, name="sensitivity")
        numbers = 1 if dimension is None else exact_whole(dimension, name="dimension", least=1)
        known = check_relation(relation)
        self._fix(sensitivity=reach, dimension=numbers, relation=known, _assumed=dimension is None)
        return reach, numbers

    @property
    @abstractmethod
    def noise(self) -> LatticeLaw:
        """Return the law of the noise."""

    def release(self, value: Value) -> Value:
        """Return the value plus noise: int for int, float for float, lists and arrays in their own shape;
        a tuple as a list, a pandas or Polars series as an array.

        The type that is given is public. Arrays of whole numbers come back as int64, cut off at its ends
        (as Python's ints where the noise itself is wider); lists hold whatever there is. NaN and infinity
        are refused by an error, which tells that they are there: clean the data first.
        """
        value = as_given(value)
        if self._assumed and self._loss_needs_dimension and several(value):
            raise InvalidParameter(_NEEDED, parameter="dimension")
        if self._assumed and self._lattice.moves_several(value):
            warnings.warn(_ASSUMED, DimensionWarning, stacklevel=2)
        return self.draw(value, fresh_source())

    def draw(self, value: Value, source: Source) -> Value:
        """Release with randomness from `source`."""
        released: Value = self._lattice.add(value, partial(self.noise.draw, source))
        return released

    def sample(self, value: Any, n: int) -> Any:
        """Release a number n times; at once where the loss does not depend on how many are released."""
        if self._loss_needs_dimension or isinstance(value, list | np.ndarray):
            return [self.release(value) for _ in range(n)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DimensionWarning)
            return self.release(np.full(n, value, dtype=np.int64 if self.step >= 1 else np.float64))

    def law(self, value: Any) -> FiniteLaw | None:
        """Return the law of a released number between 0 and the sensitivity, in blocks of outcomes."""
        if isinstance(value, list | tuple | np.ndarray):
            return None
        moved = math.ceil(self.sensitivity / self.step)
        return self.noise.blocks(to_steps(value, self.step), first=0, last=moved)

    def neighbours(self) -> Sequence[Pair]:
        """Return numbers one sensitivity apart, near 0 and far from it."""
        return numbers(sensitivity=self.sensitivity)

    @cached_property
    def variance(self) -> float:
        """Return the variance of the noise."""
        return self.noise.variance

    def describe(self) -> str:
        """Return a sentence that states the law."""
        return f"{self.noise.describe()}, for a sensitivity of {show(self.sensitivity)}"

    @cached_property
    def _lattice(self) -> Lattice:
        return Lattice(self.step, wide=self.noise.length >= WIDE)

    def error(self, *, confidence: Real = 0.95, dimension: Real = 1) -> float:
        """Return how far from the truth any of `dimension` released numbers may be, at this confidence.

        Rounding a value to the lattice counts (half a step, nothing for whole numbers on step 1).
        """
        level = exact_confidence(confidence, bits=100)
        steps = self.noise.reach(level, exact_whole(dimension, name="dimension", least=1))
        rounding = Fraction(1, 2) if self._lattice.moves else 0
        return round_up((steps + rounding) * self.step if rounding else steps)

    def interval(self, value: Any, *, confidence: Real = 0.95) -> Any:
        """Return where the truth is, given what was released: an Interval, for lists and arrays one for each.

        The intervals of a list or array hold all at once with this confidence.
        """
        if isinstance(value, list | np.ndarray):
            numbers = list(value.reshape(-1) if isinstance(value, np.ndarray) else flatten(value))
            reach = Fraction(self.error(confidence=confidence, dimension=max(1, len(numbers))))
            return [self._around(number, reach) for number in numbers]
        return self._around(value, Fraction(self.error(confidence=confidence)))

    def _around(self, value: Any, reach: Fraction) -> Interval:
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole and not (isinstance(value, float | np.floating) and math.isfinite(value)):
            raise InvalidParameter(
                "value must be a finite number, as all that is released is.", parameter="value"
            )
        center = Fraction(int(value)) if whole else Fraction(float(value))
        if whole and self.step < 1:
            reach += Fraction(1, 2)  # a whole number was rounded once more, from the lattice
        return Interval(round_down(center - reach), round_up(center + reach))


def additive_noise(mechanism: object) -> LatticeLaw | None:
    """Return the law of the noise that a mechanism adds, or None for one that adds none."""
    return mechanism.noise if isinstance(mechanism, Additive) else None
