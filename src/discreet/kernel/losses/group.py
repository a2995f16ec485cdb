"""Group privacy for a family without a shift to stretch: the chain of neighbours, on the curve itself."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from flint import arb, ctx

from discreet.kernel.losses import questions
from discreet.kernel.losses.curve import connect_the_dots
from discreet.kernel.losses.extremes import as_ball, largest_of
from discreet.kernel.losses.family import (
    DIRECTIONS,
    Curve,
    Direction,
    Family,
    Term,
    Terms,
    parse_value,
    read_family,
    register,
)
from discreet.kernel.losses.pair import Pair
from discreet.kernel.losses.work import remembered
from discreet.kernel.numerics import Arb, ball, exact_whole, round_up

DOTS = 64
LEAST = Fraction(1, 2**20)


@register
@dataclass(frozen=True)
class Group(Family):
    """Groups of `size` people under a family.

    Privacy: δ_g(ε) <= δ(ε/g)·(e^ε − 1)/(e^(ε/g) − 1): (ε, δ)-DP along a chain of g neighbours, for every ε at
    once (Vadhan 2017, Lemma 2.2). Some of a group may come while others go, so each step of the chain counts
    in its worse direction. One person's loss is the lower bound. A Gaussian on a sample has pairs of its own.
    """

    base: Family
    size: int

    name = "group"
    symmetric = False  # the base may differ by direction

    def __post_init__(self) -> None:
        exact_whole(self.size, name="size", least=1)

    @property
    def exact(self) -> bool:
        return False

    def witness(self, direction: Direction) -> Pair:
        return self.base.witness(direction)

    def dominating(self, direction: Direction) -> Pair | None:
        return _connect(self, ctx.prec)

    def parted(self) -> tuple[Family, ...]:
        return self.base.parted_group(self.size)

    def chain(self) -> tuple[Family, int] | None:
        return self.base, self.size

    def one_use(self, direction: Direction) -> Curve | None:
        chain = Chain((Term(self.base),), self.size)
        one = chain.steps[direction]

        def ends(epsilon: Arb) -> tuple[Arb, Arb]:
            low, high = one(epsilon)
            return low, chain.delta(epsilon).max(high)

        return ends

    def plain_log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        rho = self.zcdp_rho()
        return None if rho is None else rho * theta * (theta + 1)

    def largest(self, direction: Direction) -> Arb | None:
        tops = [self.base.largest(way) for way in DIRECTIONS]
        known = [top for top in tops if top is not None]
        return None if len(known) < len(tops) else self.size * known[0].max(known[1])

    def zcdp_rho(self) -> Arb | None:
        rho = self.base.zcdp_rho()
        return None if rho is None else rho * self.size**2

    def failure(self, direction: Direction) -> Arb:
        return arb(0) if self.rational_failure(direction) == 0 else super().failure(direction)

    def rational_failure(self, direction: Direction) -> Fraction | None:
        """What cannot fail outright in one step of the chain cannot in many."""
        return Fraction(0) if all(self.base.rational_failure(way) == 0 for way in DIRECTIONS) else None

    def for_group(self, size: int) -> Family:
        return Group(self.base, self.size * size)

    def __str__(self) -> str:
        return f"group({self.base}, size={self.size})"

    def to_json(self) -> dict[str, Any]:
        return {"family": self.name, "base": self.base.to_json(), "size": self.size}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(read_family(data["base"]), parse_value(data["size"], name="size"))


class Chain:
    """The curve of a chain of neighbours under all terms together; each step in its worse direction."""

    def __init__(self, terms: Terms, size: int) -> None:
        self.size = size
        self.tops = [largest_of(terms, way) for way in DIRECTIONS]
        self.steps = [questions.DeltaCurve(terms, way) for way in DIRECTIONS]

    def delta(self, epsilon: Arb) -> Arb:
        """δ_g(ε) is at most this."""
        if not epsilon > 0:  # δ(−ε) = 1 − e^(−ε)(1 − δ′(ε)), with the other direction's δ′
            mirrored = self.delta(-epsilon) if epsilon < 0 else arb(1)
            return 1 - epsilon.exp() * (1 - mirrored)
        steps = [step(epsilon / self.size)[1] for step in self.steps]
        one = steps[0].max(steps[1])
        return (one * epsilon.expm1() / (epsilon / self.size).expm1()).min(arb(1))

    def ends(self, epsilon: Arb) -> tuple[Arb, Arb]:
        """The bound, as both ends of a curve."""
        return (self.delta(epsilon),) * 2

    def reach(self) -> Fraction | None:
        """Where nothing is left of it, or next to nothing."""
        if None not in self.tops:
            return max(Fraction(round_up(as_ball(top) * self.size)) for top in self.tops if top is not None)
        for doublings in range(40):
            if self.delta(arb(2) ** doublings) < arb(2) ** -120:
                return Fraction(2**doublings)
        return None


@remembered(256)
def _connect(family: Group, bits: int) -> Pair | None:
    """The group's curve through its dots, at this precision."""
    chain = Chain((Term(family.base),), family.size)
    reach = chain.reach()
    if reach is None:
        return None
    reach = max(reach, LEAST)  # rows that are all alike have no loss at all
    step = reach / (DOTS // 2)
    grid = [ball(step * i - reach) for i in range(DOTS + 1)]
    return connect_the_dots([(x, chain.delta(x)) for x in grid], (-reach, step))
