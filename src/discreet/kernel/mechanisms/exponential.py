"""The exponential mechanism: a candidate, chosen with probability that grows exponentially with its score.

Tested by: tests/mechanisms/test_selection.py, tests/conformance/test_mechanisms.py
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, compute_softmax
from discreet.kernel.losses import PrivacyLoss, bounded_range
from discreet.kernel.mechanisms.mechanism import Case
from discreet.kernel.mechanisms.selection import Candidate, Selection, check_counts, check_pairing, tail_gap
from discreet.kernel.numerics import Real, exact_positive
from discreet.kernel.randomness import Source, choice, fresh_source, weighted_choice
from discreet.kernel.randomness.selection import Scores

LONGEST_WEIGHT = 900  # bits: with the bits of the sampler, still a float


@dataclass(frozen=True, init=False, repr=False)
class Exponential(Selection):
    """Choose candidate r with probability ∝ w(r)·exp(ε·u(D, r) / 2Δ); exp(ε·u / Δ) for monotone scores.

    Privacy: ε-DP (McSherry and Talwar, FOCS 2007, Theorem 6) and of bounded range ε (Durfee and Rogers,
    NeurIPS 2019), for any public base measure w. A float among the scores stands for its binary value.
    Accuracy: `utility_bound`.

    >>> Exponential(epsilon=1, sensitivity=1).probabilities([5, 5])
    (0.5, 0.5)
    """

    @property
    def loss(self) -> PrivacyLoss:
        """Return the loss of a mechanism of bounded range ε."""
        return bounded_range(epsilon=self.epsilon, relation=self.relation)

    def choose(
        self, candidates: Sequence[Candidate], scores: Scores, *, weights: Sequence[Real] | None = None
    ) -> Candidate:
        """Choose one of the candidates; `weights` is a public base measure, equal for all unless given."""
        check_pairing(candidates, scores)
        return candidates[self.draw(scores, fresh_source(), weights)]

    def draw(self, scores: Scores, source: Source, weights: Sequence[Real] | None = None) -> int:
        """Choose by index, with randomness from `source`."""
        if weights is None:
            return choice(source, scores, self.factor)
        return weighted_choice(source, scores, self.factor, whole_weights(weights, len(scores)))

    def probabilities(self, scores: Scores, *, weights: Sequence[Real] | None = None) -> tuple[float, ...]:
        """Return the probability of each candidate, right to the last digits of a float."""
        law = self.law(scores, weights)
        return tuple(float(law[i].mid()) for i in range(len(scores)))

    def law(self, scores: Scores, weights: Sequence[Real] | None = None) -> FiniteLaw:
        """Return the probability of each index."""
        sizes = None if weights is None else whole_weights(weights, len(scores))
        return compute_softmax(scores, self.factor, sizes)

    def utility_bound(self, *, candidates: Real, optimal: Real = 1, confidence: Real = 0.95) -> float:
        """Return how far below the best score the choice may be: (2Δ/ε)·(ln(|R|/|R_OPT|) + t) with e^-t = 1 -
        confidence.

        Accuracy: Dwork and Roth 2014, Theorem 3.11; half as much for monotone scores; rounded up.

        >>> bound = Exponential(epsilon=2, sensitivity=1).utility_bound(candidates=100, confidence=0.95)
        >>> round(bound, 3)  # ln 100 + ln 20
        7.601
        """
        total, best = check_counts(candidates, optimal)
        return tail_gap(mass=Fraction(total, best), factor=self.factor, confidence=confidence)

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        return self._describe("Exponential mechanism")

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        return (
            Case({"epsilon": 1, "sensitivity": 1}, ((3, 2, 0), (2, 3, 1))),
            Case({"epsilon": Fraction(1, 2), "sensitivity": 1, "scores": "monotone"}, ((3, 2, 0), (4, 2, 1))),
        )


def whole_weights(weights: Sequence[Real], count: int) -> list[int]:
    """Return a base measure as whole numbers in the same proportions.

    >>> whole_weights([0.5, 0.25, 1], 3)
    [2, 1, 4]
    """
    exact_weights = [exact_positive(weight, name="weights") for weight in weights]
    if len(exact_weights) != count:
        raise InvalidParameter(
            f"weights must hold one number for each of the {count} candidates, got {len(exact_weights)}.",
            parameter="weights",
        )
    common = math.lcm(*(weight.denominator for weight in exact_weights))
    whole = [int(weight * common) for weight in exact_weights]
    if max(whole).bit_length() > LONGEST_WEIGHT:
        raise InvalidParameter(
            f"weights must differ by a factor of less than 2^{LONGEST_WEIGHT} in a common unit. Round them.",
            parameter="weights",
        )
    return whole
