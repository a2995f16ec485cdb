"""The stated laws of discreet's mechanisms, as finite distributions in certified balls.

Mostly written a second time on purpose: an auditor that asked a mechanism for its probabilities would believe
its mistakes. Infinite lattices are cut into finitely many blocks, which is post-processing.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor
from typing import Any, TypeAlias

from flint import arb

from discreet.auditing.claim import BITS
from discreet.auditing.exact import Law
from discreet.errors import InvalidParameter
from discreet.numerics import Arb, ball, working_precision

Tail: TypeAlias = Callable[[int], Arb]  # k -> Pr[noise ≥ k], noise in steps

MOST_BLOCKS = 1200
FAR = 64  # scales of Laplace noise beyond which only e^-64 is left


def laplace_tail(scale: Fraction) -> Tail:
    """Pr[X ≥ k] for Pr[X = k] ∝ e^(-|k|/scale)."""
    q = (-1 / ball(scale)).exp()

    def tail(k: int) -> Arb:
        return q**k / (1 + q) if k >= 1 else 1 - q ** (1 - k) / (1 + q)

    return tail


def gaussian_tail(sigma: Fraction) -> Tail:
    """Pr[X ≥ k] for X = ⌊N(0, sigma²) + 1/2⌋."""
    width = ball(2).sqrt() * ball(sigma)
    return lambda k: (ball(Fraction(2 * k - 1, 2)) / width).erfc() / 2


def discrete_gaussian_tail(sigma: Fraction) -> Tail:
    """Pr[X ≥ k] for Pr[X = k] ∝ e^(-k²/2sigma²); what lies beyond 20 sigma goes into the balls."""
    reach = ceil(20 * sigma) + 20
    weights = [(-ball(Fraction(k * k) / (2 * sigma * sigma))).exp() for k in range(-reach, reach + 1)]
    ratio = (-ball(Fraction(2 * reach + 1) / (2 * sigma * sigma))).exp()  # of the next weight, and falling
    rest = arb(0, 2 * weights[0] * ratio / (1 - ratio))
    total = sum(weights, rest)
    sums = [rest / total]
    for weight in reversed(weights):
        sums.append(sums[-1] + weight / total)
    return lambda k: sums[min(max(reach - k + 1, 0), len(sums) - 1)]


def staircase_tail(epsilon: Fraction, *, stair: int, width: int) -> Tail:
    """Pr[X ≥ k] for Pr[X = ±(j·stair + i)] ∝ e^(-jε) if i < width, else e^(-(j+1)ε)."""
    fall = (-ball(epsilon)).exp()
    whole = (width + fall * (stair - width)) / (1 - fall)  # all stairs on one side, 0 included
    total = 2 * whole - 1

    def above(k: int) -> Arb:
        level, place = divmod(k, stair)
        rest = max(0, width - place) + fall * (stair - max(place, width))
        return fall**level * (rest + fall * whole) / total

    return lambda k: above(k) if k >= 1 else 1 - above(1 - k)


def lattice_law(tail: Tail, *, step: Fraction, spread: Fraction, shift: int) -> Callable[[Any], Law]:
    """Noise on a lattice, in blocks around values from 0 to `shift` steps: a law for each value."""
    reach = ceil(12 * spread) + 2
    stride = max(1, ceil(Fraction(2 * reach + shift, MOST_BLOCKS)))
    ends = list(range(-reach, reach + shift + stride, stride))

    def law(value: Any) -> Law:
        at = floor(Fraction(value) / step + Fraction(1, 2))
        with working_precision(BITS):
            above = [tail(end - at) for end in ends]
            blocks: dict[Hashable, Arb] = {f"below {ends[0] * step}": 1 - above[0]}
            for (low, high), end in zip(pairwise(above), ends, strict=False):
                blocks[f"{end * step}" if stride == 1 else f"from {end * step}"] = low - high
            blocks[f"at least {ends[-1] * step}"] = above[-1]
            return blocks

    return law


def response_law(values: Sequence[Hashable], truth: Callable[[], Arb]) -> Callable[[Any], Law]:
    """Randomised response over a list of values."""

    def law(value: Any) -> Law:
        if value not in values:
            raise InvalidParameter("neighbours must be values of the mechanism.", parameter="neighbours")
        with working_precision(BITS):
            honest = truth()
            lie = (1 - honest) / (len(values) - 1)
            return {other: honest if other == value else lie for other in values}

    return law


def float_law(probabilities: Callable[[Any], Sequence[float]]) -> Callable[[Any], Law]:
    """Probabilities stated as floats, right to about the last digit: balls of 8 units there."""

    def law(data: Any) -> Law:
        return {i: arb(p, p * 2.0**-50 + 1e-300) for i, p in enumerate(probabilities(data))}

    return law


def sparse_law(*, threshold: int, moves: int, noise: Any, count: int, step: Fraction) -> Callable[[Any], Law]:
    """A sparse vector on short inputs: every sequence of answers, summed over the noisy thresholds.

    `noise` has the scales `threshold` and `query` in sensitivities of `moves` steps, and how many `answers`
    are given before the threshold is drawn anew.
    """

    def law(values: Any) -> Law:
        steps = [floor(Fraction(value) / step + Fraction(1, 2)) for value in values]
        with working_precision(BITS):
            query = laplace_tail(moves * noise.query)
            drawn = _threshold_law(moves * noise.threshold)
            table = [[query(threshold + z - at) for z, _ in drawn] for at in steps]
            return {
                answers: _sequence(answers, table, [mass for _, mass in drawn], noise.answers)
                for answers in _sequences(len(steps), count)
            }

    return law


def _threshold_law(scale: Fraction) -> list[tuple[int, Arb]]:
    """The noise on the threshold, cut at FAR scales; the rest is in the balls of the two ends."""
    tail, reach = laplace_tail(scale), ceil(FAR * scale)
    masses = [(z, tail(z) - tail(z + 1)) for z in range(-reach, reach + 1)]
    rest = tail(reach + 1)
    first, last = masses[0], masses[-1]
    masses[0] = (first[0], first[1] + rest / 2 + arb(0, rest / 2))
    masses[-1] = (last[0], last[1] + rest / 2 + arb(0, rest / 2))
    return masses


def _sequences(length: int, count: int) -> Iterator[tuple[bool, ...]]:
    """All answers to `length` questions by a stream that ends with the count-th "above"."""

    def grow(answers: tuple[bool, ...]) -> Iterator[tuple[bool, ...]]:
        if len(answers) == length or sum(answers) == count:
            yield answers
            return
        yield from grow((*answers, False))
        yield from grow((*answers, True))

    return grow(())


def _sequence(answers: Sequence[bool], table: list[list[Arb]], masses: list[Arb], per_round: int) -> Arb:
    """The probability of these answers: a product over rounds, each a sum over its noisy threshold."""
    total, start, given = ball(1), 0, 0
    for place, above in enumerate(answers):
        given += above
        if given == per_round or place == len(answers) - 1:
            total *= _round(answers[start : place + 1], table[start : place + 1], masses)
            start, given = place + 1, 0
    return total


def _round(answers: Sequence[bool], table: list[list[Arb]], masses: list[Arb]) -> Arb:
    products = list(masses)
    for above, column in zip(answers, table, strict=True):
        products = [mass * (p if above else 1 - p) for mass, p in zip(products, column, strict=True)]
    return sum(products[1:], products[0])
