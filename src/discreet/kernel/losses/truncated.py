"""Discrete Laplace noise that is cut off: it stays within a public distance, and may tell all at its ends."""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.kernel.losses.family import Direction, Family, Relation, register
from discreet.kernel.losses.lattice import steps_pair
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.pair import Pair
from discreet.kernel.numerics import Arb, Real, ball, exact_positive, exact_whole


@register
@dataclass(frozen=True)
class TruncatedLaplace(Family):
    """Pr[k] ∝ q^|k| for |k| <= most, q = e^(−1/scale); all counted in steps of the lattice.

    δ(ε) = max over v of Pr[X <= v] − e^ε·Pr[X <= v − sensitivity]

    Privacy: the law is log-concave, so such events tell most, and the largest shift costs most
    (docs/theory/losses.md). The sensitivity·outermost values of one side tell all.
    """

    scale: Fraction
    sensitivity: int
    most: int

    name = "truncated_laplace"

    def __post_init__(self) -> None:
        exact_positive(self.scale, name="scale")
        exact_whole(self.sensitivity, name="sensitivity", least=1)
        exact_whole(self.most, name="most", least=0)

    @property
    def _shared(self) -> int:
        """How many values both laws show."""
        return max(2 * self.most + 1 - self.sensitivity, 0)

    def _power(self, exponent: int) -> Arb:
        return (-ball(exponent / self.scale)).exp()

    def _missing(self, exponent: int) -> Arb:
        """1 − q^exponent."""
        return -(-ball(exponent / self.scale)).expm1()

    def _weight(self) -> Arb:
        """(1 − q)·Σ q^|k|."""
        return self._missing(1) + 2 * self._power(1) * self._missing(self.most)

    def witness(self, direction: Direction) -> Pair:
        failure, beyond = self.failure(direction), self.sensitivity - self.most
        if beyond <= 0:  # at both ends are all the values from which the shift leads on outwards
            ends = self._missing(1 - beyond)
            return steps_pair(
                1 / self.scale, self.sensitivity, ends=ends, total=self._weight(), failure=failure
            )
        total = self._weight() / self._power(beyond)
        steps = max(self._shared - 1, 0)
        return steps_pair(1 / self.scale, steps, ends=self._missing(1), total=total, failure=failure)

    def failure(self, direction: Direction) -> Arb:
        """Pr[X > most − sensitivity]."""
        if not self._shared:
            return arb(1)
        first = self.most - self.sensitivity + 1
        if first > 0:
            return self._power(first) * self._missing(self.sensitivity) / self._weight()
        return 1 - self._power(1 - first) * self._missing(self._shared) / self._weight()

    def rational_failure(self, direction: Direction) -> Fraction | None:
        return None if self._shared else Fraction(1)

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return min(self.sensitivity, max(self._shared - 1, 0)) / self.scale

    def for_group(self, size: int) -> Family:
        return TruncatedLaplace(self.scale, self.sensitivity * size, self.most)


def truncated_laplace(
    *, scale: Real, most: Real, sensitivity: Real = 1, relation: Relation = "add/remove"
) -> PrivacyLoss:
    """The loss of discrete Laplace noise cut off at ±most; all numbers are counted in steps of the lattice.

    >>> loss = truncated_laplace(scale=2, most=9, sensitivity=3)
    >>> loss.epsilon(delta=0), 0.01 < loss.delta(epsilon=1.5) < 0.02
    (inf, True)
    """
    family = TruncatedLaplace(
        exact_positive(scale, name="scale"),
        exact_whole(sensitivity, name="sensitivity", least=1),
        exact_whole(most, name="most", least=0),
    )
    return PrivacyLoss.of(family, relation)
