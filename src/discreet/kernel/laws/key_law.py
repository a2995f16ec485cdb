"""The law that keeps or drops a key found in the data, by how many persons hold it.

Tested by: tests/mechanisms/test_key_selection.py
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from discreet.kernel.laws.lattice_law import LAW_BITS, FiniteLaw
from discreet.kernel.numerics import Arb, ball, certified_floor, working_precision


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
