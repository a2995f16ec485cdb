"""The stated laws of selections and local reports, as finite distributions in certified balls."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import ceil, comb, floor
from typing import Any

from flint import arb

from discreet.auditing.claim import BITS
from discreet.auditing.exact import Law
from discreet.auditing.laws import FAR, laplace_tail
from discreet.numerics import Arb, ball, working_precision


def peeling_law(factor: Fraction, count: int) -> Callable[[Any], Law]:
    """`count` exponential mechanisms in turn, each among those that are left: Pr ∝ e^(factor·score)."""

    def law(scores: Any) -> Law:
        with working_precision(BITS):
            weights = [(ball(factor * Fraction(score))).exp() for score in scores]
            return {
                chosen if count > 1 else chosen[0]: _in_turn(weights, chosen)
                for chosen in permutations(range(len(weights)), count)
            }

    return law


def _in_turn(weights: Sequence[Arb], chosen: Sequence[int]) -> Arb:
    left, probability = sum(weights, ball(0)), ball(1)
    for index in chosen:
        probability *= weights[index] / left
        left -= weights[index]
    return probability


def noisy_max_law(scale: Fraction, step: Fraction) -> Callable[[Any], Law]:
    """The largest of scores with Laplace noise of `scale` steps, ties broken evenly."""

    def law(scores: Any) -> Law:
        places = [floor(Fraction(score) / step + Fraction(1, 2)) for score in scores]
        reach = ceil(FAR * scale)
        with working_precision(BITS):
            tail = laplace_tail(scale)
            rest = arb(0, len(places) * 2 * tail(reach))  # some noise is further out
            found = [rest for _ in places]
            for value in range(min(places) - reach, max(places) + reach + 1):
                at = [tail(value - place) - tail(value - place + 1) for place in places]
                below = [1 - tail(value - place) for place in places]
                found = [old + at[i] * _ahead(i, at, below) for i, old in enumerate(found)]
            return dict(enumerate(found))

    return law


def _ahead(index: int, at: Sequence[Arb], below: Sequence[Arb]) -> Arb:
    """The chance to be chosen at this value: all others lie below, or tie and lose the toss."""
    others = [i for i in range(len(at)) if i != index]
    total = ball(0)
    for tied in range(len(others) + 1):
        for ties in combinations(others, tied):
            term = ball(1)
            for i in others:
                term *= at[i] if i in ties else below[i]
            total += term / (tied + 1)
    return total


def counted_keys_law(scale: Fraction, most: int) -> Callable[[Any], Law]:
    """A count with noise Pr[x] ∝ e^(-|x|/scale), |x| ≤ most; None where that is not above `most`."""

    def law(count: Any) -> Law:
        with working_precision(BITS):
            weights = {count + x: (-ball(abs(x) / scale)).exp() for x in range(-most, most + 1)}
            total = sum(weights.values(), ball(0))
            hidden = sum((weight for value, weight in weights.items() if value <= most), ball(0))
            shown = {value: weight / total for value, weight in weights.items() if value > most}
            return {None: hidden / total, **shown}

    return law


def quantile_law(mechanism: Any) -> Callable[[Any], Law]:
    """Pr[c] ∝ exp(ε·u(c)/2Δ), u(c) = -|(1-q)·#{x < c} - q·#{x > c}|, summed point by point."""
    low, high = (end / mechanism.step for end in mechanism.bounds)
    points = [step * mechanism.step for step in range(ceil(low), floor(high) + 1)]
    q: Fraction = mechanism.quantile
    reach = 1 if mechanism.relation != "add/remove" else max(q, 1 - q)
    factor = mechanism.epsilon / (2 * reach * mechanism.max_rows)

    def score(values: Sequence[Fraction], point: Fraction) -> Fraction:
        less, more = sum(x < point for x in values), sum(x > point for x in values)
        return -abs((1 - q) * less - q * more)

    def law(values: Any) -> Law:
        exact_values = [Fraction(value) for value in values]
        with working_precision(BITS):
            weights = [(ball(factor * score(exact_values, point))).exp() for point in points]
            total = sum(weights, ball(0))
            return {f"{point}": weight / total for point, weight in zip(points, weights, strict=True)}

    return law


def valued_law(answers: Callable[[Any], Law], noise: Callable[[Any], Law]) -> Callable[[Any], Law]:
    """A sparse vector that gives, for each "above", the value with fresh noise."""

    def law(values: Any) -> Law:
        with working_precision(BITS):
            found: dict[Hashable, Arb] = {}
            for given, probability in answers(values).items():
                assert isinstance(given, tuple)
                shown = [noise(values[place]) for place, above in enumerate(given) if above]
                for blocks in product(*(each.items() for each in shown)):
                    chance = probability
                    for _, each in blocks:
                        chance *= each
                    found[given, tuple(name for name, _ in blocks)] = chance
            return found

    return law


def subset_law(values: Sequence[Hashable], epsilon: Fraction, size: int) -> Callable[[Any], Law]:
    """A report of `size` values: sets that hold the truth are e^ε times as likely as the others."""

    def law(truth: Any) -> Law:
        with working_precision(BITS):
            likely = ball(epsilon).exp()
            sets = comb(len(values) - 1, size - 1) * likely + comb(len(values) - 1, size)
            return {
                f"{chosen}": (likely if truth in chosen else ball(1)) / sets
                for chosen in combinations(values, size)
            }

    return law


def window_law(mechanism: Any) -> Callable[[Any], Law]:
    """A report of one place: those of the level's window are e^ε times as likely as the others."""
    low, high = mechanism.bounds

    def law(truth: Any) -> Law:
        exact_level = (Fraction(truth) - low) / (high - low) * mechanism.levels
        whole = floor(exact_level)
        with working_precision(BITS):
            likely = ball(mechanism.epsilon).exp()
            total = mechanism.window * likely + mechanism.levels
            up = ball(exact_level - whole)
            return {
                place: sum(
                    (part * (likely if place in window else ball(1)) / total)
                    for part, window in _windows(whole, up, mechanism.window)
                )
                for place in range(mechanism.places)
            }

    return law


def _windows(level: int, up: Arb, width: int) -> Iterator[tuple[Arb, range]]:
    """The window of a level, or of the next one, where the number was rounded up."""
    yield 1 - up, range(level, level + width)
    yield up, range(level + 1, level + 1 + width)
