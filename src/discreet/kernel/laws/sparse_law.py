"""The law of a sparse vector: every sequence of answers to a short stream."""

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import product

from flint import arb

from discreet.kernel.laws.lattice_law import LAW_BITS, FiniteLaw, LatticeLaw
from discreet.kernel.laws.selection_law import FAR
from discreet.kernel.numerics import Arb, ball, working_precision


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
