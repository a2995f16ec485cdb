"""Permute-and-flip: like the exponential mechanism, and never worse.

Tested by: tests/mechanisms/test_selection.py, tests/conformance/test_mechanisms.py
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.kernel.laws import FiniteLaw, compute_permute_and_flip
from discreet.kernel.losses import PrivacyLoss, pure
from discreet.kernel.mechanisms.mechanism import Case
from discreet.kernel.mechanisms.selection import Candidate, Selection, check_counts, check_pairing, tail_gap
from discreet.kernel.numerics import Real
from discreet.kernel.randomness import Source, fresh_source, permute_and_flip
from discreet.kernel.randomness.selection import Scores


@dataclass(frozen=True, init=False, repr=False)
class PermuteAndFlip(Selection):
    """Take candidates in random order; keep r with probability p(r) = exp(ε·(u(D, r) - max u) / 2Δ), else go
    on.

    Pr[r] = p(r)·∫₀¹ Π_{s≠r} (1 - t·p(s)) dt.

    Privacy: ε-DP (McKenna and Sheldon, NeurIPS 2020); charged as any ε-DP mechanism, because its
    range is not bounded: at ε = 2 its Rényi divergence of order 2 exceeds that of ε²/8-zCDP.
    Accuracy: its expected error is at most the exponential mechanism's (same).

    >>> PermuteAndFlip(epsilon=1, sensitivity=1).probabilities([5, 5])
    (0.5, 0.5)
    """

    @property
    def loss(self) -> PrivacyLoss:
        """Return the loss of any ε-DP mechanism."""
        return pure(epsilon=self.epsilon, relation=self.relation)

    def choose(self, candidates: Sequence[Candidate], scores: Scores) -> Candidate:
        """Choose one of the candidates."""
        check_pairing(candidates, scores)
        return candidates[self.draw(scores, fresh_source())]

    def draw(self, scores: Scores, source: Source) -> int:
        """Choose by index, with randomness from `source`."""
        return permute_and_flip(source, scores, self.factor)

    def probabilities(self, scores: Scores) -> tuple[float, ...]:
        """Return the probability of each candidate, right to the last digits; time grows as the square."""
        law = self.law(scores)
        return tuple(float(law[i].mid()) for i in range(len(scores)))

    def law(self, scores: Scores) -> FiniteLaw:
        """Return the probability of each index."""
        return compute_permute_and_flip(scores, self.factor)

    def utility_bound(self, *, candidates: Real, optimal: Real = 1, confidence: Real = 0.95) -> float:
        """Return how far below the best score the choice may be, at this confidence; rounded up.

        Accuracy: with m best candidates Pr[r] ≤ p(r)·∫₀¹ (1-t)^m dt = p(r)/(m+1), summed over the others.

        >>> bound = PermuteAndFlip(epsilon=2, sensitivity=1).utility_bound(candidates=100, confidence=0.95)
        >>> round(bound, 3)  # ln 50 + ln 20
        6.908
        """
        total, best = check_counts(candidates, optimal)
        return tail_gap(mass=Fraction(total, best + 1), factor=self.factor, confidence=confidence)

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        return self._describe("Permute-and-flip")

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        monotone = {"epsilon": 2, "sensitivity": Fraction(1, 2), "scores": "monotone"}
        return (
            Case({"epsilon": 1, "sensitivity": 1}, ((3, 2, 0), (2, 3, 1))),
            Case(monotone, ((1.5, 1.0, 0.0), (1.0, 1.0, 0.0))),
        )
