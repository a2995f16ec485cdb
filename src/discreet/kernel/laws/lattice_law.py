"""What every distribution on a lattice states once, and what follows from the statement.

Tested by: tests/laws/test_lattice_laws.py
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.kernel.losses import PrivacyLoss, Relation
from discreet.kernel.numerics import Arb, ball, least_whole, working_precision
from discreet.kernel.randomness import Source

FiniteLaw: TypeAlias = Mapping[Hashable, Arb]  # outcome -> a ball that holds its probability

LAW_BITS = 160  # of the probabilities in a finite law
MOST_BLOCKS = 1200
_ERROR_BITS = 256
_PICTURE_BITS = 192  # a mass is a difference of tails: neighbours differ in their last bits
_FAR = 12  # lengths beyond which the outcomes of noise are put together


class LatticeLaw(ABC):
    """A symmetric distribution of noise on the multiples of `step`; k counts steps.

    A subclass states `upper`, `draw`, `variance`, `loss` and a sentence. Masses, tails, quantiles, finite
    laws and the floats of pictures are derived here. Balls have the caller's working precision.
    """

    step: Fraction

    @property
    @abstractmethod
    def length(self) -> Fraction:
        """Return a length over which the noise falls off by a factor of e, or more."""

    @property
    @abstractmethod
    def symbol(self) -> str:
        """Return the parameter that tells how wide the noise is, for a legend: "σ = 3"."""

    @abstractmethod
    def upper(self, k: int) -> Arb:
        """Return Pr[noise >= k steps] for k >= 1."""

    @abstractmethod
    def draw(self, source: Source, size: int | None = None) -> Any:
        """Draw noise in steps: one exact int, or an array of `size` independent draws."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Return the variance of the noise."""

    @abstractmethod
    def loss(self, distance: Fraction, relation: Relation) -> PrivacyLoss:
        """Return the loss of a release whose exact value moves by at most `distance`, a multiple of step."""

    @abstractmethod
    def describe(self) -> str:
        """Return the law as a phrase for a receipt."""

    @property
    def is_countable(self) -> bool:
        """Return whether tails cost little enough to list them."""
        return True

    def tail(self, k: int) -> Arb:
        """Return Pr[noise >= k steps] for any k, by symmetry."""
        return self.upper(k) if k >= 1 else 1 - self.upper(1 - k)

    def mass(self, k: int) -> Arb:
        """Return Pr[noise = k steps]."""
        return self.tail(abs(k)) - self.upper(abs(k) + 1)

    def quantile(self, confidence: Arb) -> int:
        """Return the least number of steps that the noise exceeds with probability certainly at most
        1 - confidence."""

        def suffices(steps: int) -> bool:
            return bool(2 * self.upper(steps + 1) <= 1 - confidence)

        failing, passing = -1, 1
        while not suffices(passing):
            failing, passing = passing, 2 * passing
        return least_whole(suffices, failing=failing, passing=passing)

    def reach(self, confidence: Fraction, dimension: int = 1) -> int:
        """Return the steps that none of `dimension` independent draws exceeds, at this confidence."""
        return _reach(self, confidence, dimension)

    def log_masses(self, steps: NDArray[Any]) -> NDArray[np.float64]:
        """Return ln Pr[noise = k steps] as floats, for pictures."""
        with working_precision(_PICTURE_BITS):
            masses = [self.mass(int(k)) for k in steps]
            return np.array([float(mass.log()) if mass > 0 else -math.inf for mass in masses])

    def blocks(self, at: int, *, first: int, last: int) -> FiniteLaw | None:
        """Return the law of `at` steps plus noise, in the same blocks for every `at` from first to last.

        Far outcomes are put together, and on a fine lattice neighbouring ones: that is post-processing, so a
        loss that is shown on blocks is one of the noise. None for other places, and where tails are dear.
        """
        if not first <= at <= last or not self.is_countable:
            return None
        reach = math.ceil(_FAR * self.length / self.step) + 2
        stride = max(1, math.ceil(Fraction(2 * reach + last - first, MOST_BLOCKS)))
        ends = list(range(first - reach, last + reach + stride, stride))
        with working_precision(LAW_BITS):
            above = [self.tail(end - at) for end in ends]
            found: dict[Hashable, Arb] = {f"below {ends[0] * self.step}": 1 - above[0]}
            for (low, high), end in zip(pairwise(above), ends, strict=False):
                start = plain(end * self.step)
                found[start if stride == 1 else f"from {start}"] = low - high
            found[f"at least {ends[-1] * self.step}"] = above[-1]
            return found


@lru_cache(maxsize=1024)  # every row of an answer asks for it
def _reach(law: LatticeLaw, confidence: Fraction, dimension: int) -> int:
    with working_precision(_ERROR_BITS):
        each = (ball(confidence).log() / dimension).exp()  # independent coordinates, all inside
        return law.quantile(each)


def show(value: Fraction) -> str:
    """Return a parameter as a reader wants it: whole, short decimal, or fraction.

    >>> show(Fraction(10_000)), show(Fraction(1, 8)), show(Fraction(1, 3))
    ('10,000', '0.125', '1/3')
    """
    if value.denominator == 1 or Fraction(repr(float(value))) != value:
        shown = f"{value.numerator:,}" if value.denominator == 1 else str(value)
        return shown if len(shown) <= (32 if value.denominator == 1 else 12) else f"{float(value):.6g}"
    return repr(float(value))


def plain(value: Fraction) -> int | float:
    """Return a number as it is released: an int where it is whole, else the float.

    >>> plain(Fraction(3)), plain(Fraction(1, 4))
    (3, 0.25)
    """
    return value.numerator if value.denominator == 1 else float(value)


def join_laws(*laws: FiniteLaw) -> FiniteLaw:
    """Return the law of independent outcomes together, as tuples."""
    with working_precision(LAW_BITS):
        return {
            tuple(outcome for outcome, _ in each): math.prod((p for _, p in each), start=ball(1))
            for each in product(*(law.items() for law in laws))
        }
