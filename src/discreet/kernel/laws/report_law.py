"""The laws of randomised reports: one value, a set of values, a place in a window.

Tested by: tests/mechanisms/test_randomized_response.py, tests/auditing/test_mechanisms.py
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from discreet.kernel.laws.lattice_law import LAW_BITS, FiniteLaw
from discreet.kernel.numerics import Arb, ball, working_precision


@dataclass(frozen=True)
class ResponseLaw:
    """The truth with probability θ, every other of `size` values with (1 - θ)/(size - 1).

    θ is the rational `truth`, or e^ε/(e^ε + size - 1).
    """

    size: int
    epsilon: Fraction | None = None
    truth: Fraction | None = None

    @property
    def own(self) -> Arb:
        """Return θ as a ball."""
        if self.truth is not None:
            return ball(self.truth)
        assert self.epsilon is not None
        return 1 / (1 + (self.size - 1) * (-ball(self.epsilon)).exp())

    @property
    def other(self) -> Arb:
        """Return the probability of each value that is not the truth."""
        return (1 - self.own) / (self.size - 1)

    def table(self, values: Sequence[Hashable], truth: Hashable) -> FiniteLaw:
        """Return the law of the report of one who holds `truth`."""
        with working_precision(LAW_BITS):
            own, other = self.own, self.other
            return {value: own if value == truth else other for value in values}


def compute_subsets(values: Sequence[Hashable], epsilon: Fraction, size: int, truth: Hashable) -> FiniteLaw:
    """Return the law of a set of `size` values: those with the truth are e^ε times as likely as others."""
    with working_precision(LAW_BITS):
        likely = ball(epsilon).exp()
        sets = math.comb(len(values) - 1, size - 1) * likely + math.comb(len(values) - 1, size)
        return {
            f"{chosen}": (likely if truth in chosen else ball(1)) / sets
            for chosen in combinations(values, size)
        }


def compute_windows(level: Fraction, *, epsilon: Fraction, levels: int, window: int) -> FiniteLaw:
    """Return the law of a reported place: those in the level's window are e^ε times as likely as others.

    A level between two whole ones is rounded up with the probability of its fraction.
    """
    whole = math.floor(level)
    with working_precision(LAW_BITS):
        likely, up = ball(epsilon).exp(), ball(level - whole)
        total = window * likely + levels
        windows = ((1 - up, range(whole, whole + window)), (up, range(whole + 1, whole + 1 + window)))
        return {
            place: sum(
                (part * (likely if place in inside else ball(1)) / total for part, inside in windows), ball(0)
            )
            for place in range(levels + window)
        }
