"""Key selection: which group labels may be shown at all, when the labels themselves come from the data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.losses import PrivacyLoss, Relation, approximate, check_relation
from discreet.mechanisms.additive import show
from discreet.mechanisms.example import Example
from discreet.numerics import (
    Arb,
    Real,
    ball,
    certified_floor,
    exact_delta,
    exact_epsilon,
    exact_whole,
    working_precision,
)
from discreet.randomness import Source, bernoulli_real, fresh_source

Key = TypeVar("Key")


@dataclass(frozen=True, init=False)
class KeySelection:
    """Keep a key that n persons hold with probability π(n), the greatest that (ε, δ)-DP allows.

    π(0) = 0, π(n) = min(e^ε·π(n-1) + δ, 1 - e^-ε·(1 - π(n-1) - δ), 1).

    A person may hold up to `max_groups` keys: each key is then decided with ε/max_groups and δ/max_groups;
    with half of that under replace, where a person leaves so many keys and enters as many others.
    With a `threshold` t, a key of fewer than t persons is never kept: π(n - t + 1).

    Privacy: (ε, δ)-DP: each key's decision when its count moves by one (Desfontaines, Voss, Gipson and
    Mandayam, PoPETs 2022, where π is also shown to be the best possible), all of a person's keys composed.
    Counts are of persons, not rows.
    Accuracy: `always` is the least number of persons whose key is surely kept.

    >>> selection = KeySelection(epsilon=1, delta=1e-6)
    >>> selection.probability(1), selection.always
    (1e-06, 28)
    """

    epsilon: Fraction
    delta: Fraction
    max_groups: int
    threshold: int

    relation: Relation

    def __init__(
        self,
        *,
        epsilon: Real,
        delta: Real,
        max_groups: Real = 1,
        threshold: Real = 1,
        relation: Relation = "add/remove",
    ) -> None:
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "delta", check_delta(delta))
        object.__setattr__(self, "max_groups", exact_whole(max_groups, name="max_groups", least=1))
        object.__setattr__(self, "threshold", exact_whole(threshold, name="threshold", least=1))
        object.__setattr__(self, "relation", check_relation(relation))

    @property
    def loss(self) -> PrivacyLoss:
        """The decisions about all keys of one person together."""
        return self._moved * approximate(epsilon=self._epsilon, delta=self._delta, relation=self.relation)

    @property
    def _moved(self) -> int:
        return keys_moved(self.max_groups, self.relation)

    @property
    def _epsilon(self) -> Fraction:
        return self.epsilon / self._moved

    @property
    def _delta(self) -> Fraction:
        return self.delta / self._moved

    @cached_property
    def always(self) -> int:
        """The least number of persons whose key is surely kept."""
        _, last = turning_points(self._epsilon, self._delta)
        return last + self.threshold

    def probability(self, persons: Real) -> float:
        """The probability that a key of so many persons is kept, to the nearest float."""
        n = exact_whole(persons, name="persons") - self.threshold + 1
        if n <= 0 or n >= self.always - self.threshold + 1:
            return float(n > 0)
        with working_precision(128 + n.bit_length()):
            return float(keeping(self._epsilon, self._delta, n).mid())

    def select(self, persons: Mapping[Key, int]) -> list[Key]:
        """The keys that may be shown. Sort them by something public before showing them."""
        keys = list(persons)
        kept = self._select(np.array([_count(persons[key]) for key in keys], dtype=np.int64), fresh_source())
        return [key for key, keep in zip(keys, kept.tolist(), strict=True) if keep]

    def _select(self, persons: NDArray[np.int64], source: Source) -> NDArray[np.bool_]:
        """Which of the counts' keys are kept; every key gets a coin of its own."""
        kept = persons >= self.always
        unsure = (persons >= self.threshold) & ~kept
        for n in np.unique(persons[unsure]).tolist():
            at = np.flatnonzero(persons == n)
            shifted = n - self.threshold + 1
            kept[at] = bernoulli_real(source, self._digits(shifted), at.size).astype(bool)
        return kept

    def _digits(self, persons: int) -> Callable[[int], int]:
        return lambda bits: _digits(self._epsilon, self._delta, persons, bits)

    def describe(self) -> str:
        """One sentence for a receipt."""
        least = f", of at least {self.threshold} persons" if self.threshold > 1 else ""
        return (
            f"Keys selected with epsilon {show(self.epsilon)} and delta {show(self.delta)}, "
            f"up to {self.max_groups} per person{least} ({self.relation})."
        )

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Cases for the shared checks."""
        loose = cls(epsilon=1, delta=Fraction(1, 10))
        tight = cls(epsilon=Fraction(1, 2), delta=Fraction(1, 20), threshold=3)

        def draw_with(selection: "KeySelection") -> Any:
            return lambda persons, source: bool(selection._select(np.array([persons]), source)[0])

        swapped = cls(epsilon=1, delta=Fraction(1, 10), relation="replace")

        def draw_both(selection: "KeySelection") -> Any:
            return lambda persons, source: tuple(selection._select(np.array(persons), source).tolist())

        return (
            Example(loose, (2, 3), draw_with(loose)),
            Example(tight, (7, 6), draw_with(tight)),
            Example(swapped, ((2, 3), (3, 2)), draw_both(swapped)),
        )


def check_delta(delta: Real) -> Fraction:
    """A delta that pays for private keys."""
    failure = exact_delta(delta)
    if failure == 0:
        raise InvalidParameter(
            "delta must be > 0 to select keys, got 0. Declare the keys: public keys cost nothing.",
            parameter="delta",
        )
    return failure


def keys_moved(max_groups: int, relation: Relation) -> int:
    """How many keys' counts one person moves: a replaced one leaves some and enters as many others."""
    return max_groups * (1 if relation == "add/remove" else 2)


def check_count(count: Any, *, name: str) -> int:
    """A key's count, which the error does not quote."""
    if isinstance(count, bool | np.bool_) or not isinstance(count, int | np.integer) or count < 0:
        raise InvalidParameter(f"{name} must be whole numbers >= 0.", parameter=name)
    return int(count)


def _count(persons: Any) -> int:
    return min(check_count(persons, name="persons"), 2**62)


@lru_cache(maxsize=256)
def turning_points(epsilon: Fraction, delta: Fraction) -> tuple[int, int]:
    """n₁, up to which π grows like e^(nε), and n₂, after which it is 1.

    Neither logarithm is a whole multiple of ε: e^ε is transcendental and would solve an equation with
    rational coefficients. These all vanish at δ = 1/2 alone, where π(1) = 1/2 and π(2) = 1.
    """
    if delta == Fraction(1, 2):
        return 1, 1

    def rising() -> Arb:
        e, d = ball(epsilon).exp(), ball(delta)
        return ((e + 2 * d - 1) / ((e + 1) * d)).log() / ball(epsilon)

    first = max(1, 1 + certified_floor(rising))

    def falling() -> Arb:
        e, d = ball(epsilon), ball(delta)
        return (1 + e.expm1() * (1 - _rising(epsilon, delta, first)) / d).log() / e

    if certified_floor(lambda: _rising(epsilon, delta, first)) >= 1:
        return first, first - 1
    return first, first + certified_floor(falling)


def _rising(epsilon: Fraction, delta: Fraction, n: int) -> Arb:
    e = ball(epsilon)
    return ball(delta) * (n * e).expm1() / e.expm1()


def keeping(epsilon: Fraction, delta: Fraction, n: int) -> Arb:
    """π(n) for 1 <= n <= n₂, as a ball: the recursion in closed form."""
    first, _ = turning_points(epsilon, delta)
    if n <= first:
        return _rising(epsilon, delta, n)
    e, fall = ball(epsilon), (-(n - first) * ball(epsilon)).exp()
    return (1 - fall) * (1 + ball(delta) / e.expm1()) + fall * _rising(epsilon, delta, first)


@lru_cache(maxsize=4096)
def _digits(epsilon: Fraction, delta: Fraction, n: int, bits: int) -> int:
    """⌊2^bits · π(n)⌋."""
    if n == 1:
        return (delta.numerator << bits) // delta.denominator  # π(1) = δ is rational
    return certified_floor(lambda: keeping(epsilon, delta, n) * 2**bits)
