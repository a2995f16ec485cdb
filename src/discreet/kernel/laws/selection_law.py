"""Laws of choices: of keys by how many persons hold them, among scores, and of sparse vectors' transcripts.

Tested by: tests/conformance/test_mechanisms.py, tests/mechanisms/test_key_selection.py,
tests/mechanisms/test_sparse.py
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations, permutations, product
from typing import Any

from flint import arb, arb_poly

from discreet.kernel.laws.lattice_law import LAW_BITS, FiniteLaw, LatticeLaw
from discreet.kernel.numerics import Arb, ball, certified_floor, working_precision
from discreet.kernel.randomness.selection import Scores, gaps_of

# The law that keeps or drops a key found in the data, by how many persons hold it.


@dataclass(frozen=True)
class KeepingLaw:
    """Pr[kept] = π(n): π(0) = 0, π(n) = min(e^ε·π(n-1) + δ, 1 - e^-ε·(1 - π(n-1) - δ), 1).

    It is the greatest that (ε, δ)-DP allows when a count moves by one.
    """

    epsilon: Fraction
    delta: Fraction

    @cached_property
    def turning_points(self) -> tuple[int, int]:
        """Return n₁, up to which π grows like e^(nε), and n₂, after which it is 1."""
        return _turning_points(self.epsilon, self.delta)

    def probability(self, n: int) -> Arb:
        """Return π(n) as a ball: the recursion in closed form."""
        first, last = self.turning_points
        if n <= 0 or n > last:
            return ball(int(n > 0))
        if n <= first:
            return _rising(self.epsilon, self.delta, n)
        e, fall = ball(self.epsilon), (-(n - first) * ball(self.epsilon)).exp()
        return (1 - fall) * (1 + ball(self.delta) / e.expm1()) + fall * _rising(
            self.epsilon, self.delta, first
        )

    def table(self, n: int) -> FiniteLaw:
        """Return the law of whether a key of n persons is kept."""
        with working_precision(LAW_BITS + n.bit_length()):
            kept = self.probability(n)
            return {True: kept, False: 1 - kept}

    def digits(self, n: int) -> Callable[[int], int]:
        """Return bits -> ⌊2^bits · π(n)⌋, for an exact coin."""
        return lambda bits: _digits(self, n, bits)


@lru_cache(maxsize=256)
def _turning_points(epsilon: Fraction, delta: Fraction) -> tuple[int, int]:
    """Return n₁ and n₂.

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


@lru_cache(maxsize=4096)
def _digits(law: KeepingLaw, n: int, bits: int) -> int:
    """Return ⌊2^bits · π(n)⌋."""
    if n == 1:
        return (law.delta.numerator << bits) // law.delta.denominator  # π(1) = δ is rational
    return certified_floor(lambda: law.probability(n) * 2**bits)


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


# The law of a sparse vector: every sequence of answers to a short stream.


def compute_transcripts(
    distances: Sequence[int], *, threshold: LatticeLaw, query: LatticeLaw, answers: int, count: int
) -> FiniteLaw:
    """Return Pr of each sequence of answers, summed over the noisy thresholds.

    `distances` are the values less the threshold, in steps. The threshold has noise of its own, drawn anew
    after every `answers` times "above"; the stream ends with the count-th.
    """
    with working_precision(LAW_BITS):
        drawn = _list_masses(threshold)
        table = [[query.tail(z - at) for z, _ in drawn] for at in distances]
        masses = [mass for _, mass in drawn]
        return {
            transcript: _multiply_rounds(transcript, table, masses, answers)
            for transcript in _list_transcripts(len(distances), count)
        }


def add_values(transcripts: FiniteLaw, noisy: Sequence[FiniteLaw | None]) -> FiniteLaw | None:
    """Return the law of a stream that gives, for each "above", the value with fresh noise; None if the law of
    a noisy value is not known."""
    known = [law for law in noisy if law is not None]
    if len(known) < len(noisy):
        return None
    with working_precision(LAW_BITS):
        found: dict[Hashable, Arb] = {}
        for transcript, probability in transcripts.items():
            assert isinstance(transcript, tuple)
            shown = [
                list(law.items()) if above else [(None, ball(1))]
                for above, law in zip(transcript, known, strict=False)
            ]
            for answers in product(*shown):
                chance = probability
                for _, each in answers:
                    chance *= each
                found[tuple(answer for answer, _ in answers)] = chance
        return found


def _list_masses(noise: LatticeLaw) -> list[tuple[int, Arb]]:
    """Return the masses within FAR lengths; the rest is in the balls of the two ends."""
    reach = math.ceil(FAR * noise.length / noise.step)
    masses = [(z, noise.mass(z)) for z in range(-reach, reach + 1)]
    rest = noise.upper(reach + 1)
    for end in (0, -1):
        z, mass = masses[end]
        masses[end] = (z, mass + rest / 2 + arb(0, rest / 2))
    return masses


def _list_transcripts(length: int, count: int) -> Iterator[tuple[bool, ...]]:
    """Yield all answers to `length` questions by a stream that ends with the count-th "above"."""

    def grow(answers: tuple[bool, ...]) -> Iterator[tuple[bool, ...]]:
        if len(answers) == length or sum(answers) == count:
            yield answers
            return
        yield from grow((*answers, False))
        yield from grow((*answers, True))

    return grow(())


def _multiply_rounds(
    answers: Sequence[bool], table: list[list[Arb]], masses: list[Arb], per_round: int
) -> Arb:
    """Return the probability of these answers: a product over rounds, each a sum over its threshold."""
    total, start, seen = ball(1), 0, 0
    for place, above in enumerate(answers):
        seen += above
        if seen == per_round or place == len(answers) - 1:
            total *= _sum_round(answers[start : place + 1], table[start : place + 1], masses)
            start, seen = place + 1, 0
    return total


def _sum_round(answers: Sequence[bool], table: list[list[Arb]], masses: list[Arb]) -> Arb:
    products = list(masses)
    for above, column in zip(answers, table, strict=True):
        products = [mass * (p if above else 1 - p) for mass, p in zip(products, column, strict=True)]
    return sum(products[1:], products[0])
