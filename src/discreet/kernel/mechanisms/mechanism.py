"""The protocol that every mechanism keeps, what the shared checks need of it, and worst-case neighbours.

Tested by: tests/conformance/test_mechanisms.py, tests/auditing/test_neighbours.py
"""

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from discreet.kernel.laws import FiniteLaw, plain
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.numerics import Real, exact, exact_positive, exact_whole
from discreet.kernel.randomness import Source

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


class Frozen:
    """A mechanism whose fields are set once, when it is made."""

    def _fix(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)


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
