"""Bounded range: the exponential mechanism. On neighbours the loss spans at most ε, wherever that lies."""

from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from discreet.kernel.losses.family import Curve, Direction, Family, Relation, register, scaled
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.nodes import Acb, Grid, Nodes
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.numerics import Arb, Real, ball, exact_epsilon, exact_positive, power


class BoundedRangePair(Pair):
    """The pair whose curve is the supremum over t of the two-point curves with losses t and t − ε₀.

    δ(ε) = (1 − e^((ε−ε₀)/2))²/(1 − e^(−ε₀)), reached at t = (ε + ε₀)/2; its loss has density
    ½e^((l−ε₀)/2)/(1 − e^(−ε₀)) on [−ε₀, ε₀].
    """

    def __init__(self, epsilon: Fraction) -> None:
        self.epsilon = ball(epsilon)
        self._norm = -(-self.epsilon).expm1()
        self._scale = (-self.epsilon / 2).exp() / self._norm

    def largest(self) -> Arb | None:
        return self.epsilon

    def moment(self, z: Acb) -> Acb:
        w = z + arb(0.5)
        return self._scale * (w * self.epsilon).sinh() / w

    def nodes(self, grid: Grid) -> Nodes:
        half = grid.theta + arb(0.5)
        if half * self.epsilon < arb(2) ** -12:  # both turns would cancel
            return super().nodes(grid)
        fallen = (-2 * half * self.epsilon).exp()
        share = half / (1 - fallen)
        turning = Nodes.powers(acb(0, grid.spacing * self.epsilon), grid.last)
        both = turning.scaled(share) - turning.conjugate().scaled(share * fallen)
        return both * grid.inverse(0.5)

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        cosh = ((theta + arb(0.5)) * self.epsilon).cosh()
        return (self._scale * cosh / frequency).min(super().decay(theta, frequency))

    def delta(self, epsilon: Arb) -> Arb:
        if epsilon < -self.epsilon:
            return -epsilon.expm1()
        return power(((epsilon.min(self.epsilon) - self.epsilon) / 2).expm1(), 2) / self._norm


def two_point_pair(epsilon: Arb, top: Arb) -> Pair:
    """Losses t and t − ε₀: Q gives the first (e^(−t) − e^(−ε₀))/(1 − e^(−ε₀))."""
    high = -(top - epsilon).expm1() / -(-epsilon).expm1()
    return Atoms([(top, high), (top - epsilon, 1 - high)])


@register
@dataclass(frozen=True)
class BoundedRange(Family):
    """Every mechanism whose loss on neighbours spans at most ε; the exponential mechanism is one.

    Privacy: dominated by the supremum over t of two-point pairs (Dong, Durfee and Rogers 2020, Lemma 3.3 and
    Corollary 3.1); ρ = ε/(1−e^(−ε)) − 1 − ln(ε/(1−e^(−ε))) (Harrison and Manurangsi 2025).
    Both hold adaptively, and a sum answers with the lesser.
    """

    epsilon: Fraction

    name = "bounded_range"

    def __post_init__(self) -> None:
        exact_positive(self.epsilon, name="epsilon")

    @property
    def exact(self) -> bool:
        return False

    def dominating(self, direction: Direction) -> Pair | None:
        return BoundedRangePair(self.epsilon)

    def witness(self, direction: Direction) -> Pair:
        span = ball(self.epsilon)
        top = span + (-(-span).expm1() / span).log()  # the t with the largest mean loss
        return two_point_pair(span, top)

    def one_use(self, direction: Direction) -> Curve | None:
        pair = BoundedRangePair(self.epsilon)
        return lambda epsilon: (pair.delta(epsilon),) * 2  # some t attains each point of the curve

    def zcdp_rho(self) -> Arb | None:
        ratio = ball(self.epsilon) / -(-ball(self.epsilon)).expm1()
        return ratio - 1 - ratio.log()

    def log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        rho = self.zcdp_rho()
        assert rho is not None
        return BoundedRangePair(self.epsilon).log_moment(theta).min(rho * theta * (theta + 1))

    def attained_largest(self, direction: Direction) -> Arb | None:
        return ball(self.epsilon)  # some t comes as near to ε as one likes

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return self.epsilon

    def for_group(self, size: int) -> Family:
        return BoundedRange(scaled(self.epsilon, size))


def bounded_range(*, epsilon: Real, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of an exponential mechanism, or of any other whose loss spans at most epsilon.

    >>> bounded_range(epsilon=0.5).epsilon(delta=0)
    0.5
    """
    return PrivacyLoss.of(BoundedRange(exact_epsilon(epsilon)), relation)
