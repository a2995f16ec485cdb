"""A limit for what one person adds, chosen privately from the rungs of a public ladder."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Literal, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, compute_permute_and_flip, compute_softmax, show
from discreet.kernel.losses import PrivacyLoss, Relation, bounded_range, check_relation, pure
from discreet.kernel.mechanisms.mechanism import Case, Frozen, Pair
from discreet.kernel.numerics import Real, exact, exact_epsilon, exact_positive, exact_whole
from discreet.kernel.randomness import Source, choice, fresh_source, permute_and_flip

Method: TypeAlias = Literal["permute-and-flip", "exponential"]

ONE = 2**20  # parts of a person that a mass is counted in
SLOPE = Fraction(5, 4)  # k rungs above all the data are chosen with probability about e^(-5k/4)


@dataclass(frozen=True, init=False, repr=False)
class Ladder(Frozen):
    """Choose rung j with the score u(j) = -max(q(j) - level, 0) - slope·j/ε, by permute-and-flip.

    q(j) = Σ min(max(n - t(j), 0), t(j)) / t(j) over people, where n is all that a person adds: how many
    people's worth the next octave above rung t(j) would still add. Each person's part is rounded down to
    2^-20 before the sum, so that `masses` are whole numbers of such parts.

    Privacy: a person's part of every q(j) grows with n alone and is in [0, 1], so that adding, removing or
    replacing one moves all scores one way, by at most 1: ε-DP at half the usual noise, under both relations;
    the method "exponential" is of bounded range ε (docs/theory/limits.md).
    Accuracy: a rung that leaves `level` people's worth is as good as one that leaves none.

    >>> Ladder(epsilon=1, rungs=3, level=2).scores([9 * 2**20, 3 * 2**20, 0])[0] / 2**20
    -7.0
    """

    epsilon: Fraction
    rungs: int
    level: Fraction
    slope: Fraction
    method: Method
    relation: Relation

    def __init__(
        self,
        *,
        epsilon: Real,
        rungs: Real,
        level: Real,
        slope: Real = SLOPE,
        method: Method = "permute-and-flip",
        relation: Relation = "add/remove",
    ) -> None:
        if method not in ("permute-and-flip", "exponential"):
            raise InvalidParameter(
                f'method must be "permute-and-flip" or "exponential", got {str(method)[:60]}.',
                parameter="method",
            )
        if exact(level, name="level") < 0:
            raise InvalidParameter(f"level must be >= 0, got {level}.", parameter="level")
        self._fix(
            epsilon=exact_epsilon(epsilon),
            rungs=exact_whole(rungs, name="rungs", least=1),
            level=exact(level, name="level"),
            slope=exact_positive(slope, name="slope"),
            method=method,
            relation=check_relation(relation),
        )

    @property
    def loss(self) -> PrivacyLoss:
        """Return the loss of any ε-DP mechanism; of one of bounded range ε for the exponential mechanism."""
        family = pure if self.method == "permute-and-flip" else bounded_range
        return family(epsilon=self.epsilon, relation=self.relation)

    @property
    def _factor(self) -> Fraction:
        """Return what multiplies a score, in parts: all scores move one way, so ε and not ε/2."""
        return self.epsilon / ONE

    def scores(self, masses: Sequence[int]) -> list[int]:
        """Return the score of every rung, in parts."""
        if len(masses) != self.rungs:
            raise InvalidParameter(
                f"masses must hold one whole number for each of the {self.rungs} rungs, got {len(masses)}.",
                parameter="masses",
            )
        level, slope = floor(self.level * ONE), ceil(self.slope * ONE / self.epsilon)
        return [-max(int(mass) - level, 0) - slope * rung for rung, mass in enumerate(masses)]

    def choose(self, masses: Sequence[int]) -> int:
        """Choose a rung, by its place."""
        return self.draw(masses, fresh_source())

    def draw(self, masses: Sequence[int], source: Source) -> int:
        """Choose a rung with randomness from `source`."""
        flip = permute_and_flip if self.method == "permute-and-flip" else choice
        return flip(source, self.scores(masses), self._factor)

    def sample(self, masses: Sequence[int], n: int) -> list[int]:
        """Choose n times."""
        return [self.choose(masses) for _ in range(n)]

    def law(self, masses: Sequence[int]) -> FiniteLaw:
        """Return the probability of every rung."""
        compute = compute_permute_and_flip if self.method == "permute-and-flip" else compute_softmax
        return compute(self.scores(masses), self._factor)

    def neighbours(self) -> Sequence[Pair]:
        """Return masses of a few people, and with one more who is above the first rungs, or above all."""
        base = [2 * ONE] + [0] * (self.rungs - 1)
        last = self.rungs - 1
        return [
            (base, [mass + ONE * (place < above) for place, mass in enumerate(base)])
            for above in dict.fromkeys((1, (last + 1) // 2 or 1, last + 1))
        ]

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        return (
            f"A limit chosen from {self.rungs} rungs by {self.method} selection with epsilon "
            f"{show(self.epsilon)}, level {show(self.level)}, slope {show(self.slope)} ({self.relation})."
        )

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        near: Pair = ([3 * ONE, 2 * ONE, ONE // 2, 0], [4 * ONE, 2 * ONE + ONE // 2, ONE // 2, 0])
        ladder = {"epsilon": 1, "rungs": 4, "level": 1, "slope": Fraction(1, 4)}
        return (
            Case(ladder, near),
            Case({**ladder, "method": "exponential", "relation": "replace"}, near),
        )
