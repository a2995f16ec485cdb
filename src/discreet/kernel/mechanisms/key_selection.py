"""Key selection: which group labels may be shown at all, when the labels themselves come from the data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, KeepingLaw, join_laws, show
from discreet.kernel.losses import PrivacyLoss, Relation, approximate, check_relation
from discreet.kernel.mechanisms.mechanism import Case, Frozen, Pair
from discreet.kernel.numerics import Real, exact_delta, exact_epsilon, exact_whole
from discreet.kernel.randomness import Source, bernoulli_real, fresh_source

MOST_PAIRS = 200  # neighbouring counts that are tried

Key = TypeVar("Key")


@dataclass(frozen=True, init=False, repr=False)
class KeySelection(Frozen):
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
        self._fix(
            epsilon=exact_epsilon(epsilon),
            delta=check_delta(delta),
            max_groups=exact_whole(max_groups, name="max_groups", least=1),
            threshold=exact_whole(threshold, name="threshold", least=1),
            relation=check_relation(relation),
        )

    @property
    def loss(self) -> PrivacyLoss:
        """Return the loss of the decisions about all keys of one person together."""
        law = self._law
        return self._moved * approximate(epsilon=law.epsilon, delta=law.delta, relation=self.relation)

    @property
    def _moved(self) -> int:
        return keys_moved(self.max_groups, self.relation)

    @cached_property
    def _law(self) -> KeepingLaw:
        """Return the law that decides one key."""
        return KeepingLaw(self.epsilon / self._moved, self.delta / self._moved)

    @cached_property
    def always(self) -> int:
        """Return the least number of persons whose key is surely kept."""
        _, last = self._law.turning_points
        return last + self.threshold

    def probability(self, persons: Real) -> float:
        """Return the probability that a key of so many persons is kept, to the nearest float."""
        return float(self._one_key(exact_whole(persons, name="persons"))[True].mid())

    def _one_key(self, persons: int) -> FiniteLaw:
        return self._law.table(persons - self.threshold + 1)

    def select(self, persons: Mapping[Key, int]) -> list[Key]:
        """Return the keys that may be shown. Sort them by something public before showing them."""
        keys = list(persons)
        counts = np.array([_count(persons[key]) for key in keys], dtype=np.int64)
        kept = self.draw(counts, fresh_source())
        return [key for key, keep in zip(keys, kept.tolist(), strict=True) if keep]

    def draw(self, persons: Any, source: Source) -> Any:
        """Decide for every count of persons whether its key is kept: an array for several, a bool for one."""
        counts = np.atleast_1d(np.asarray(persons, dtype=np.int64))
        kept = counts >= self.always
        unsure = (counts >= self.threshold) & ~kept
        for n in np.unique(counts[unsure]).tolist():
            at = np.flatnonzero(counts == n)
            digits = self._law.digits(n - self.threshold + 1)
            kept[at] = bernoulli_real(source, digits, at.size).astype(bool)
        return kept if np.ndim(persons) else bool(kept[0])

    def sample(self, persons: Any, n: int) -> Any:
        """Decide n times, at once: every key gets a coin of its own."""
        counts = np.atleast_1d(persons).tolist()
        kept = set(self.select({(i, j): count for i in range(n) for j, count in enumerate(counts)}))
        rows = [tuple((i, j) in kept for j in range(len(counts))) for i in range(n)]
        return rows if np.ndim(persons) else np.array([row[0] for row in rows])

    def law(self, persons: Any) -> FiniteLaw:
        """Return the probability of each decision."""
        return join_laws(*map(self._one_key, persons)) if np.ndim(persons) else self._one_key(persons)

    def neighbours(self) -> Sequence[Pair]:
        """Return numbers of persons that hold one key, one person more in the second."""
        return [(n, n + 1) for n in range(min(self.always + 1, MOST_PAIRS))]

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        least = f", of at least {self.threshold} persons" if self.threshold > 1 else ""
        return (
            f"Keys selected with epsilon {show(self.epsilon)} and delta {show(self.delta)}, "
            f"up to {self.max_groups} per person{least} ({self.relation})."
        )

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        loose = {"epsilon": 1, "delta": Fraction(1, 10)}
        return (
            Case(loose, (2, 3)),
            Case({"epsilon": Fraction(1, 2), "delta": Fraction(1, 20), "threshold": 3}, (7, 6)),
            Case({**loose, "relation": "replace"}, ((2, 3), (3, 2))),
        )


def check_delta(delta: Real) -> Fraction:
    """Check a delta that pays for private keys."""
    failure = exact_delta(delta)
    if failure == 0:
        raise InvalidParameter(
            "delta must be > 0 to select keys, got 0. Declare the keys: public keys cost nothing.",
            parameter="delta",
        )
    return failure


def keys_moved(max_groups: int, relation: Relation) -> int:
    """Return how many keys' counts one person moves: a replaced one leaves some and enters as many others."""
    return max_groups * (1 if relation == "add/remove" else 2)


def check_count(count: Any, *, name: str) -> int:
    """Check a key's count, which the error does not quote."""
    if isinstance(count, bool | np.bool_) or not isinstance(count, int | np.integer) or count < 0:
        raise InvalidParameter(f"{name} must be whole numbers >= 0.", parameter=name)
    return int(count)


def _count(persons: Any) -> int:
    return min(check_count(persons, name="persons"), 2**62)
