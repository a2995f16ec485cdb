"""How much noise the sparse vector technique needs, and what it costs.

Tested by: tests/mechanisms/test_sparse.py
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss, Relation, pure
from discreet.kernel.numerics import Arb, ball, least_passing, round_up, working_precision

Split: TypeAlias = Literal["textbook", "optimal"]

TOLERANCE = Fraction(1, 2**12)  # of a calibrated noise: a little more than needed
MOST_SHARES = 2**60  # of an epsilon: one answer of a stream then costs what a price may be at least


@dataclass(frozen=True)
class SparseNoise:
    """Laplace noise of the threshold and of each query, as multiples of the sensitivity.

    The threshold's noise is drawn anew in each of `rounds` rounds; a round ends with its `answers`-th
    "above". Each "above" may come with a number that costs `value_epsilon`.
    """

    threshold: Fraction
    query: Fraction
    rounds: int
    answers: int = 1
    value_epsilon: Fraction = Fraction(0)

    @property
    def round_epsilon(self) -> Fraction:
        """Return what a round costs: 1/threshold + answers·(2/query + value_epsilon).

        Proof: docs/theory/sparse-vector.md. Shift the threshold's noise by one sensitivity, the noise of each
        "above" by two; every "below" then stays below.
        """
        return 1 / self.threshold + self.answers * (2 / self.query + self.value_epsilon)

    def loss(self, relation: Relation) -> PrivacyLoss:
        """Return the rounds together: each is pure, and they may be chosen adaptively."""
        return self.rounds * pure(epsilon=self.round_epsilon, relation=relation)


def textbook_noise(*, epsilon: Fraction, delta: Fraction, count: int, failures: int = 1) -> SparseNoise:
    """Lap(σ) on the threshold, Lap(2σ) on queries: σ = 2c/ε, or √(32·c·ln(failures/δ))/ε, rounded up."""
    sigma = textbook_sigma(epsilon=epsilon, delta=delta, count=count, failures=failures)
    return SparseNoise(threshold=sigma, query=2 * sigma, rounds=count)


def textbook_sigma(*, epsilon: Fraction, delta: Fraction, count: int, failures: int) -> Fraction:
    """Return σ(ε) of Dwork and Roth 2014, Algorithms 2 and 3, for sensitivity 1."""
    if delta == 0:
        return Fraction(2 * count) / epsilon
    with working_precision(128):
        root: Arb = (32 * count * ball(failures / delta).log()).sqrt()
        return Fraction(round_up(root)) / epsilon


def optimal_noise(
    *, epsilon: Fraction, delta: Fraction, count: int, share: Fraction = Fraction(0)
) -> SparseNoise:
    """Return the least noise we can prove: thresholds kept for all c answers, or composed exactly where δ > 0
    helps.

    Splitting a round's ε as 1 : (2a)^(2/3) between threshold and a answers minimises the variance of their
    difference (Lyu, Su and Li, VLDB 2017, Section 4.2). `share` of ε goes to released values.
    """
    kept = _split_round(epsilon, answers=count, share=share)
    if delta == 0 or count == 1:
        return kept
    each = composed_epsilon(epsilon, delta, count)
    composed = replace(_split_round(each, answers=1, share=share), rounds=count)
    return min(kept, composed, key=lambda noise: noise.threshold**2 + noise.query**2)


def _split_round(epsilon: Fraction, *, answers: int, share: Fraction) -> SparseNoise:
    if answers > epsilon * MOST_SHARES:
        raise InvalidParameter(
            "count must be at most 2^60 times epsilon. Ask for fewer answers above the threshold.",
            parameter="count",
        )
    ratio = Fraction(math.ceil(1000 * (2 * answers) ** (2 / 3)), 1000)
    compared = (1 - share) * epsilon
    first = compared / (1 + ratio)
    return SparseNoise(
        threshold=1 / first,
        query=2 * answers / (compared - first),
        rounds=1,
        answers=answers,
        value_epsilon=share * epsilon / answers,
    )


@lru_cache(maxsize=256)
def composed_epsilon(epsilon: Fraction, delta: Fraction, count: int) -> Fraction:
    """Return the most that each of `count` pure rounds may cost for (ε, δ)-DP together, by exact
    composition."""
    scale = least_passing(
        lambda scale: (count * pure(epsilon=1 / scale)).delta(epsilon=epsilon) <= delta,
        start=count / epsilon,
        tolerance=TOLERANCE,
    )
    return 1 / scale


def check_total(noise: SparseNoise, *, epsilon: Fraction, delta: Fraction) -> None:
    """Refuse textbook noise whose exact loss exceeds what was asked for."""
    if noise.rounds * noise.round_epsilon <= epsilon:
        return
    if noise.loss("add/remove").delta(epsilon=epsilon) > delta:
        raise InvalidParameter(
            f"epsilon must be small enough for the textbook noise, got {epsilon}: its exact loss is larger. "
            'Take split="optimal" or delta=0.',
            parameter="epsilon",
        )
