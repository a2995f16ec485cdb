"""Staircase noise: its loss on neighbours is ε, 0 or −ε, and nothing else."""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses.family import Direction, Family, register
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.losses.pure import Pure
from discreet.kernel.losses.relation import Relation
from discreet.kernel.numerics import Arb, Real, ball, exact_epsilon, exact_positive, exact_whole


@register
@dataclass(frozen=True)
class Staircase(Family):
    """Staircase noise with d = stairs to one sensitivity, the inner one r = width wide.

    Privacy: a move by s <= d passes at most one stair, and every outcome of loss ε at s has it at d too, so d
    steps are the worst: one number p = Pr[L = ε] is the curve, δ(x) = p·(1 − e^(x−ε)) for 0 <= x <= ε
    (docs/theory/losses.md).
    """

    epsilon: Fraction
    stairs: int
    width: int

    name = "staircase"

    def __post_init__(self) -> None:
        exact_positive(self.epsilon, name="epsilon")
        exact_whole(self.stairs, name="stairs", least=1)
        if not 1 <= self.width <= self.stairs:
            raise InvalidParameter(
                f"width must be from 1 to stairs, got {self.width} of {self.stairs}.", parameter="width"
            )

    def witness(self, direction: Direction) -> Pair:
        loss = ball(self.epsilon)
        up, still = self._weights(loss)
        down = up * (-loss).exp()
        total = up + down + still
        atoms = [(loss, up / total), (-loss, down / total)]
        if still.is_zero():  # randomised response
            return Atoms(atoms, lattice=(self.epsilon, 2 * self.epsilon))
        return Atoms([*atoms, (arb(0), still / total)], lattice=(self.epsilon, self.epsilon))

    def _weights(self, loss: Arb) -> tuple[Arb, Arb]:
        """Numbers in proportion to Pr[L = ε] and Pr[L = 0]; that of −ε is e^(−ε) times the first."""
        spare = self.stairs + 1 - 2 * self.width
        if spare >= 0:
            return (2 * self.width - 1) * loss.exp() + spare, spare * -(-loss).expm1()
        return self.stairs * loss.exp(), -spare * loss.expm1()

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return self.epsilon

    def for_group(self, size: int) -> Family:
        return self if size == 1 else Pure(self.epsilon * size)


def staircase(*, epsilon: Real, stairs: Real, width: Real, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of staircase noise; sensitivity (stairs) and inner stair (width) are counted in steps.

    >>> staircase(epsilon=1, stairs=8, width=3).epsilon(delta=0)
    1.0
    """
    whole, inner = exact_whole(stairs, name="stairs", least=1), exact_whole(width, name="width", least=1)
    return PrivacyLoss.of(Staircase(exact_epsilon(epsilon), whole, inner), relation)
