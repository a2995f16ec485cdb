"""Groups under a Gaussian on a Poisson sample: mixtures of Gaussians, one for each number of people sampled.

If a of the people are in the first data set alone and b in the second alone, P = Σᵢ Bin(a, q)(i)·N(−iμ, 1)
against Q = Σⱼ Bin(b, q)(j)·N(jμ, 1) dominates (Ganesh 2024 for b = 0; Schuchardt et al. 2024).
docs/theory/losses.md, "Groups in a sample".
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from discreet.errors import InternalError, InvalidParameter
from discreet.kernel.losses.curve import NOTHING, below_the_dots, connect_the_dots, dots
from discreet.kernel.losses.family import DIRECTIONS, Curve, Direction, Family, Relation, register
from discreet.kernel.losses.group import Group
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.pair import Pair
from discreet.kernel.losses.work import remembered, spend
from discreet.kernel.numerics import Arb, Real, ball, exact_positive, exact_probability, exact_whole

Ends = tuple[Arb, Arb]
DOTS = 1280  # of up to FEW people; each dot is dearer with more, and there are more ways to part them
FEW = 3
MOST_PEOPLE = 32  # every way to part them is tried: beyond, the chain of neighbours has to do


class Mixture:
    """The curve of a people who leave and b who come, each in the sample with probability `rate`."""

    def __init__(self, mu_squared: Fraction, rate: Fraction, leave: int, come: int) -> None:
        self.mu = ball(mu_squared).sqrt()
        self.leave, self.come = (_binomial(people, rate) for people in (leave, come))
        squares = ball(mu_squared) / 2
        # p(v) = Σ leave[i]·x^i and q(v) = Σ come[j]·x^−j with x = e^(−μv), both as multiples of N(v)
        self._p, self._q = (
            [mass * (-squares * i * i).exp() for i, mass in enumerate(law)] for law in (self.leave, self.come)
        )
        self._mu = float(self.mu)
        self._logs = [[float(value.log()) for value in side] for side in (self._p, self._q)]

    def ends(self, epsilon: Arb) -> Ends:
        """Balls below and above δ(ε) = sup over v of Pr_P[V < v] − e^ε·Pr_Q[V < v]; p/q falls with v."""
        spend(8 * (len(self._p) + len(self._q)))
        grown = epsilon.exp()
        if (
            len(self._p) == 1 and not grown * self._q[0] < 1
        ):  # p = 1, q > q₀: no more than 1 − e^ε·q₀ anywhere
            return arb(0), (1 - grown * self._q[0]).max(arb(0))
        if len(self._q) == 1 and not grown > self._p[0]:  # q = 1, p > p₀: all of P is above the line
            least = 1 - grown
            return (least if grown <= self._p[0] else arb(0)), least + (grown - self._p[0]).max(arb(0))
        root = self._root(float(epsilon.mid()))
        gap = 2.0**-40 * max(1.0, abs(root))
        for _ in range(4):
            low, high = arb(root - gap), arb(root + gap)
            if self._excess(low, grown) > 0 > self._excess(high, grown):
                below = self._above_line(low, grown)
                # between both ends nothing but (hi − lo)·p(lo)·N is left, as p falls
                nearest = arb(max(min(abs(root - gap), abs(root + gap)), 0.0) if abs(root) > gap else 0.0)
                rest = (high - low) * self._sum(self._p, low, -1) * (-(nearest**2) / 2).exp()
                return below.max(arb(0)), (below + rest).max(arb(0)).min(arb(1))
            gap *= 2.0**10
        return arb(0), arb(1)

    def _root(self, epsilon: float) -> float:
        """About the v with p = e^ε·q: by Newton's steps, kept between two ends, as ln p − ln q falls."""
        low, high, v = -(2.0**40), 2.0**40, 0.0
        for _ in range(200):
            (first, left), (second, right) = self._log(0, -v), self._log(1, v)
            excess, slope = first - second - epsilon, self._mu * (left + right)
            low, high = (v, high) if excess > 0 else (low, v)
            after = v + excess / slope if slope > 0 else math.inf
            if abs(after - v) <= 1e-14 * max(1.0, abs(v)):
                return after
            v = after if low < after < high else (max(low, -1e3) + min(high, 1e3)) / 2
        return v

    def _log(self, side: int, v: float) -> tuple[float, float]:
        """The logarithm of p (side 0, at −v) or q, and the mean number of people there."""
        exponents = [log + i * self._mu * v for i, log in enumerate(self._logs[side])]
        top = max(exponents)
        parts = [math.exp(one - top) for one in exponents]
        return top + math.log(sum(parts)), sum(i * part for i, part in enumerate(parts)) / sum(parts)

    def _excess(self, v: Arb, grown: Arb) -> Arb:
        return self._sum(self._p, v, -1) - grown * self._sum(self._q, v, 1)

    def _sum(self, side: list[Arb], v: Arb, sign: int) -> Arb:
        x, total = (sign * self.mu * v).exp(), arb(0)
        for value in reversed(side):
            total = total * x + value
        return total

    def _above_line(self, v: Arb, grown: Arb) -> Arb:
        """Pr_P[V < v] − e^ε·Pr_Q[V < v]."""
        first = sum((mass * _below(v + i * self.mu) for i, mass in enumerate(self.leave)), arb(0))
        second = sum((mass * _below(v - j * self.mu) for j, mass in enumerate(self.come)), arb(0))
        return first - grown * second


class Crowd(Family):
    """Some people leave and some come, each sampled at this rate, under a Gaussian of this μ² for each."""

    mu_squared_of_one: Fraction
    rate: Fraction
    leave: int
    come: int

    @property
    def exact(self) -> bool:
        return False

    @property
    def has_dots(self) -> bool:
        return True

    def _mixture(self, direction: Direction) -> Mixture:
        people = (self.leave, self.come) if direction == 0 else (self.come, self.leave)
        return Mixture(self.mu_squared_of_one, self.rate, *people)

    def one_use(self, direction: Direction) -> Curve | None:
        return self._mixture(direction).ends

    def witness(self, direction: Direction) -> Pair:
        return dotted_pairs(self, direction, ctx.prec, NOTHING)[1]

    def dominating(self, direction: Direction) -> Pair | None:
        return dotted_pairs(self, direction, ctx.prec, NOTHING)[0]

    def dotted(self, direction: Direction, least: int, coarser: int = 0) -> tuple[Pair, Pair] | None:
        return dotted_pairs(self, direction, ctx.prec, least)

    def failure(self, direction: Direction) -> Arb:
        return arb(0)

    def largest(self, direction: Direction) -> Arb | None:
        """Only who comes can hide: −b·ln(1 − q) where nobody leaves."""
        leave, come = (self.leave, self.come) if direction == 0 else (self.come, self.leave)
        return None if leave else -come * (1 - ball(self.rate)).log()

    def plain_log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        rho = self.zcdp_rho()
        return None if rho is None else rho * theta * (theta + 1)

    def log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        return self.plain_log_moment(theta, direction)

    def zcdp_rho(self) -> Arb | None:
        return ball(self.mu_squared_of_one) / 2 * (self.leave + self.come) ** 2


@dataclass(frozen=True)
class Parted(Crowd):
    """A group of whom some leave and the others come.

    Privacy: its own pair, in each direction. A group is parted in one way for all releases, so each way is
    composed by itself, and the worst taken at the end.
    """

    mu_squared_of_one: Fraction
    rate: Fraction
    leave: int
    come: int

    name = "parted"
    symmetric = False

    def for_group(self, size: int) -> Family:
        raise InternalError("the parts of a group must not be grouped again.")


@register
@dataclass(frozen=True)
class Exchanged(Crowd):
    """Under replace: so many people leave and as many come, each of them sampled by chance.

    Privacy: the pair of a group that is parted so; both directions are alike.
    """

    mu_squared_of_one: Fraction
    rate: Fraction
    people: int

    name = "exchanged"

    def __post_init__(self) -> None:
        exact_positive(self.mu_squared_of_one, name="mu_squared_of_one")
        exact_probability(self.rate, name="rate")
        exact_whole(self.people, name="people", least=1)

    @property
    def leave(self) -> int:  # type: ignore[override]
        return self.people

    @property
    def come(self) -> int:  # type: ignore[override]
        return self.people

    def for_group(self, size: int) -> Family:
        if 2 * self.people * size <= MOST_PEOPLE:
            return Exchanged(self.mu_squared_of_one, self.rate, self.people * size)
        return Group(self, size)


def exchanged(*, mu_squared_of_one: Real, rate: Real, people: Real = 1, relation: Relation) -> PrivacyLoss:
    """The loss of Gaussians on a Poisson sample under replace: what `under_replace` makes of theirs."""
    if relation != "replace":
        raise InvalidParameter("people must be exchanged under replace.", parameter="relation")
    family = Exchanged(
        exact_positive(mu_squared_of_one, name="mu_squared_of_one"),
        exact_probability(rate, name="rate"),
        exact_whole(people, name="people", least=1),
    )
    return PrivacyLoss.of(family, relation)


@remembered(64)
def dotted_pairs(family: Crowd, direction: Direction, bits: int, least: int) -> tuple[Pair, Pair]:
    """Pairs above and below the curve, through its dots."""
    curves = [family._mixture(way).ends for way in DIRECTIONS]
    anyone = 1 - (1 - family.rate) ** (family.leave + family.come)
    chosen = dots(
        lambda epsilon, way: curves[way](epsilon),
        direction,
        DOTS * FEW // max(FEW, family.leave + family.come),
        anyone,
        tops=[family.largest(way) for way in DIRECTIONS],
        least=least,
        finer=1,
        mirrored=bool(family.leave and family.come),
    )
    points = [(x, *curves[direction](x)) for x in chosen]
    above = connect_the_dots([(x, high) for x, _, high in points], chosen.lattice)
    return above, below_the_dots(points, chosen.lattice)


def _binomial(people: int, rate: Fraction) -> list[Arb]:
    q = ball(rate)
    return [math.comb(people, i) * q**i * (1 - q) ** (people - i) for i in range(people + 1)]


def _below(x: Arb) -> Arb:
    """Pr[V < x] of a normal V."""
    return (-x / arb(2).sqrt()).erfc() / 2
