"""The protocol that every mechanism keeps, and what the shared checks need of it."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from discreet.kernel.laws import FiniteLaw
from discreet.kernel.losses import PrivacyLoss
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
        """Return the law in words, for a receipt."""

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
