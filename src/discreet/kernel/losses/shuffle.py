"""Amplification by shuffling: reports of a local randomiser, sent by many people and mixed.

A person hides among clones: with probability e^(−ε₀), another's report is as good as a fair draw of one of
the two laws that the person's own report is drawn from. docs/theory/shuffling.md has the proof.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses.approximate import ApproxDP
from discreet.kernel.losses.solvers import invert_from_scratch
from discreet.kernel.numerics import (
    Arb,
    Real,
    ball,
    exact_delta,
    exact_epsilon,
    exact_whole,
    round_up,
    working_precision,
)

BITS = 192
TAIL = Fraction(1, 2**20)  # the share of δ that goes to numbers of clones left out, on each side


def shuffled(*, epsilon: Real, people: int, delta: Real) -> ApproxDP:
    """What is left of an ε₀-DP local randomiser's loss after a shuffler forgot who sent which report.

    With C ~ Bin(n−1, e^(−ε₀)), A ~ Bin(C, ½), B ~ Bern(e^ε₀/(e^ε₀+1)):
    δ(ε) is that of (A + B, C − A + 1 − B) against (A + 1 − B, C − A + B).

    Privacy: under "replace", for one report each of one randomiser that all people run, or of that of their
    place in a random line (Feldman, McMillan and Talwar 2021, Section 3). Rounded up; never above ε₀.

    >>> shuffled(epsilon=1, people=1000, delta=1e-6).epsilon < 0.4
    True
    """
    local, count, limit = _read(epsilon, people, delta)
    with working_precision(BITS):
        clones = Clones(local, count, limit * TAIL)
        ceiling = round_up(local)
        found = invert_from_scratch(clones.bounds, ball(limit), ceiling=ceiling)
    return ApproxDP(min(Fraction(found.upper), local), limit, "replace")


def shuffled_closed_form(*, epsilon: Real, people: int, delta: Real) -> ApproxDP:
    """The same by formula: ln(1 + (e^ε₀−1)/(e^ε₀+1)·(8√(e^ε₀·ln(4/δ)/n) + 8e^ε₀/n)), for many people.

    Privacy: Feldman, McMillan and Talwar 2021, Theorem 3.1, proved for ε₀ <= ln(n/(16·ln(2/δ))); refused
    elsewhere. The sharper formula of their 2023 paper has an erratum, and is not offered.

    >>> float(shuffled_closed_form(epsilon=2, people=10**6, delta=1e-8).epsilon) < 0.0713
    True
    """
    local, count, limit = _read(epsilon, people, delta)
    with working_precision(BITS):
        grown, failure = ball(local).exp(), ball(limit)
        if not grown <= count / (16 * (2 / failure).log()):
            raise InvalidParameter(
                f"people must be at least 16·e^epsilon·ln(2/delta) for the closed form, got {count}. "
                "Ask shuffled(...) instead.",
                parameter="people",
            )
        spread = 8 * (grown * (4 / failure).log() / count).sqrt() + 8 * grown / count
        mixed = ((grown - 1) / (grown + 1) * spread).log1p()
    return ApproxDP(min(Fraction(round_up(mixed)), local), limit, "replace")


def _read(epsilon: Real, people: int, delta: Real) -> tuple[Fraction, int, Fraction]:
    limit = exact_delta(delta)
    if limit == 0:
        raise InvalidParameter(
            "delta must be > 0, got 0. Without it, shuffling leaves epsilon as it is.", parameter="delta"
        )
    return exact_epsilon(epsilon), exact_whole(people, name="people", least=1), limit


@dataclass(frozen=True)
class Clones:
    """The pair of counts for each number of clones c, weighed with c's probability.

    For each c the likelihood ratio grows with x = A + B, so that δ_c is the event x >= m, m the least whole
    number above τ(c+1): δ_c = (p − e^ε(1−p))·Pr[A = m−1] − (e^ε − 1)·Pr[A >= m].
    """

    local: Fraction
    people: int
    tail: Fraction

    def bounds(self, epsilon: Arb) -> tuple[Arb, Arb]:
        """Balls below and above δ(ε)."""
        if epsilon >= ball(self.local):
            return arb(0), arb(0)
        low, high, left_out = self._range()
        total = arb(0)
        for weight, one in zip(self._weights(low, high), self._curves(low, high, epsilon), strict=True):
            total += weight * one
        return total, total + left_out

    def _range(self) -> tuple[int, int, Arb]:
        """Numbers of clones worth summing, and a bound on the probability of all others (Chernoff's)."""
        others, share = self.people - 1, (-ball(self.local)).exp()
        mean, rate = others * float(share), math.log(1 / float(self.tail))
        reach = math.sqrt(2 * rate * mean) + rate
        low, high = max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), others)
        left_out = arb(0)
        for first in ([low - 1] if low > 0 else []) + ([high + 1] if high < others else []):
            part = ball(Fraction(first, others))
            apart = part * (part / share).log() + (1 - part) * ((1 - part) / (1 - share)).log()
            left_out += (-others * apart).exp()
        return low, high, left_out

    def _weights(self, low: int, high: int) -> Iterator[Arb]:
        """Pr[C = c] for c = low ... high, each from the one before."""
        others, share = self.people - 1, (-ball(self.local)).exp()
        weight = _binomial(others, low) * share**low * (1 - share) ** (others - low)
        odds = share / (1 - share)
        for c in range(low, high + 1):
            yield weight
            weight = weight * odds * (others - c) / (c + 1)

    def _curves(self, low: int, high: int, epsilon: Arb) -> Iterator[Arb]:
        """δ_c for c = low ... high; Pr[A = m−1] and Pr[A >= m] are carried along by Pascal's rule."""
        grown, truth = epsilon.exp(), 1 / (1 + (-ball(self.local)).exp())
        gain, cost = truth - grown * (1 - truth), grown - 1
        turn = (grown * truth - (1 - truth)) / ((2 * truth - 1) * (1 + grown))
        m = _next_whole(turn * (low + 1))
        at, above = _fair(low, m)
        for c in range(low, high + 1):
            value = gain * at - cost * above
            before = at * (m - 1) / (c - m + 2)  # Pr[A = m−2]: where the ball of τ(c+1) holds a whole number
            yield value.max(gain * before - cost * (above + at)).max(arb(0))
            at, above = at * (c + 1) / (2 * (c + 2 - m)), above + at / 2
            if _next_whole(turn * (c + 2)) > m:
                at = at * (c + 2 - m) / m
                above, m = above - at, m + 1


def _next_whole(value: Arb) -> int:
    """The least whole number above all of a ball."""
    return int(value.upper().floor().unique_fmpz()) + 1


def _binomial(n: int, k: int) -> Arb:
    """n over k."""
    return (arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma()).exp()


def _fair(c: int, m: int) -> tuple[Arb, Arb]:
    """Pr[A = m−1] and Pr[A >= m] for A ~ Bin(c, ½)."""
    first = _binomial(c, m - 1) / arb(2) ** c
    total, term = arb(0), first
    for j in range(m, c + 1):
        term = term * (c - j + 1) / j
        total += term
        ratio = Fraction(c - j, j + 1)  # of the next term to this one; later ratios are less
        if ratio < 1 and term < first * arb(2) ** (-BITS):
            rest = term * ball(ratio / (1 - ratio))
            return first, total + rest.union(arb(0))
    return first, total
