"""The laws of choices among candidates: exponential weights, permute-and-flip, noisy maximum."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from flint import arb, arb_poly

from discreet.kernel.laws.lattice_law import LAW_BITS, FiniteLaw, LatticeLaw
from discreet.kernel.numerics import Arb, ball, working_precision
from discreet.kernel.randomness.scores import Scores, gaps_of

FAR = 64  # lengths of noise beyond which only e^-64 is left


def _keep(scores: Scores, factor: Fraction) -> list[Arb]:
    """Return exp(factor · (score - best)) for every score."""
    gaps = gaps_of(scores, factor)
    return [(-ball(gaps.exact(i))).exp() for i in range(gaps.size)]


def compute_softmax(scores: Scores, factor: Fraction, weights: Sequence[int] | None = None) -> FiniteLaw:
    """Return Pr[i] ∝ weights[i] · exp(factor · scores[i])."""
    with working_precision(LAW_BITS):
        masses = _keep(scores, factor)
        if weights is not None:
            masses = [weight * mass for weight, mass in zip(weights, masses, strict=True)]
        total = sum(masses, ball(0))
        return {i: mass / total for i, mass in enumerate(masses)}


def compute_permute_and_flip(scores: Scores, factor: Fraction) -> FiniteLaw:
    """Return p(r)·∫₀¹ Π_{s≠r} (1 - t·p(s)) dt for every r, p(r) = exp(factor · (scores[r] - best)).

    There are bits enough for the alternating sums; time grows as the square of the candidates.
    """
    with working_precision(LAW_BITS + 3 * len(scores)):
        keep = _keep(scores, factor)
        flips = [arb_poly([1, -p]) for p in keep]
        return {i: p * _multiply(flips[:i] + flips[i + 1 :]).integral()(arb(1)) for i, p in enumerate(keep)}


def _multiply(factors: list[Any]) -> Any:
    if len(factors) <= 1:
        return factors[0] if factors else arb_poly([1])
    half = len(factors) // 2
    return _multiply(factors[:half]) * _multiply(factors[half:])


def compute_peeling(scores: Scores, factor: Fraction, count: int) -> FiniteLaw:
    """Return the law of `count` exponential choices in turn, each among those that are left."""
    with working_precision(LAW_BITS):
        weights = _keep(scores, factor)
        return {
            chosen: _choose_in_turn(weights, chosen) for chosen in permutations(range(len(weights)), count)
        }


def _choose_in_turn(weights: Sequence[Arb], chosen: Sequence[int]) -> Arb:
    left, probability = sum(weights, ball(0)), ball(1)
    for index in chosen:
        probability *= weights[index] / left
        left -= weights[index]
    return probability


def compute_noisy_max(steps: Sequence[int], noise: LatticeLaw) -> FiniteLaw:
    """Return the law of the largest of whole numbers with noise on each, ties broken evenly."""
    reach = math.ceil(FAR * noise.length / noise.step)
    with working_precision(LAW_BITS):
        rest = arb(0, len(steps) * 2 * noise.upper(reach))  # some noise is further out
        found = [rest for _ in steps]
        tails = {k: noise.tail(k) for k in range(-reach - _span(steps), reach + _span(steps) + 2)}
        for value in range(min(steps) - reach, max(steps) + reach + 1):
            at = [tails[value - place] - tails[value - place + 1] for place in steps]
            below = [1 - tails[value - place] for place in steps]
            found = [old + at[i] * _win(i, at, below) for i, old in enumerate(found)]
        return dict(enumerate(found))


def _span(steps: Sequence[int]) -> int:
    return max(steps) - min(steps)


def _win(index: int, at: Sequence[Arb], below: Sequence[Arb]) -> Arb:
    """Return the chance to be chosen at this value: all others are below, or tie and lose the toss."""
    others = [i for i in range(len(at)) if i != index]
    total = ball(0)
    for tied in range(len(others) + 1):
        for ties in combinations(others, tied):
            term = ball(1)
            for i in others:
                term *= at[i] if i in ties else below[i]
            total += term / (tied + 1)
    return total
