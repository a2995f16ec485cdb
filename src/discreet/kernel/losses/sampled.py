"""Poisson sampling: each person is in the sample with probability `rate`, one sample for the whole loss.

With P, Q the pair of the loss without sampling, the sampled pairs are
  remove: (1−q)Q + qP against Q;   add: P against (1−q)P + qQ,
kept apart to the end (Zhu, Dong and Wang 2022, Theorem 11; Lebeda, Regehr, Kamath and Steinke 2024).
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from flint import arb, ctx

from discreet.kernel.losses import questions
from discreet.kernel.losses.curve import NOTHING, below_the_dots, connect_the_dots, dots, sampled_ends
from discreet.kernel.losses.extremes import as_ball, at_most, attained_of, failure_of, largest_of
from discreet.kernel.losses.family import (
    DIRECTIONS,
    Curve,
    Direction,
    Family,
    Term,
    parse_value,
    read_terms,
    register,
    show,
    show_terms,
)
from discreet.kernel.losses.group import Group
from discreet.kernel.losses.moments import mu_squared_of, plain_moment_of, rho_of
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.losses.sampled_gaussian import SampledGaussianPair
from discreet.kernel.losses.sampled_group import MOST_PEOPLE, Exchanged, Parted
from discreet.kernel.losses.work import remembered
from discreet.kernel.numerics import Arb, ball, exact_probability

DOTS = 320
MANY_DOTS = 1280  # of a curve that is closed
SHARE = 3e-5  # of δ: how well each dot is known, where better is dear


@register
@dataclass(frozen=True)
class Sampled(Family):
    """The terms, all on one and the same Poisson sample, under add/remove.

    Privacy: exactly for Gaussians and for one finite law; otherwise through its curve, at finitely many dots.
    """

    terms: tuple[Term, ...]
    rate: Fraction

    name = "sampled"
    symmetric = False

    def __post_init__(self) -> None:
        exact_probability(self.rate, name="rate")

    @property
    def exact(self) -> bool:
        return self._mu_squared() is not None or (self._is_one_law() and self.terms[0].family.exact)

    def _mu_squared(self) -> Fraction | None:
        return mu_squared_of(self.terms)

    def _is_one_law(self) -> bool:
        one = len(self.terms) == 1 and self.terms[0].count == 1
        return one and isinstance(self.terms[0].family.dominating(0), Atoms)

    def witness(self, direction: Direction) -> Pair:
        return self._gaussian(direction) or pairs(self, direction, ctx.prec)[1]

    def dominating(self, direction: Direction) -> Pair | None:
        return self._gaussian(direction) or pairs(self, direction, ctx.prec)[0]

    @property
    def has_dots(self) -> bool:
        return True

    def dotted(self, direction: Direction, least: int, coarser: int = 0) -> tuple[Pair, Pair] | None:
        return pairs(self, direction, ctx.prec, least, coarser)

    def _gaussian(self, direction: Direction) -> Pair | None:
        square = self._mu_squared()
        return None if square is None else SampledGaussianPair(square, self.rate, direction)

    def one_use(self, direction: Direction) -> Curve | None:
        """Both ends of δ of one use, from the terms' own curve."""
        inner, rate = questions.DeltaCurve(self.terms, direction), ball(self.rate)
        return lambda epsilon: sampled_ends(inner, rate, epsilon, direction=direction)

    def plain_log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        """ln(1 − q + q·e^K): E[e^(θL)] is convex in the rate, 1 at rate 0 and e^K at rate 1."""
        rate = ball(self.rate)
        if direction == 1 and not at_most(failure_of(self.terms, direction), Fraction(0)):
            return -theta * (1 - rate).log()
        inner = plain_moment_of(self.terms, direction, theta)
        return None if inner is None else (1 + rate * inner.expm1()).log()

    def highest_theta(self) -> Fraction | None:
        ends = [term.family.highest_theta() for term in self.terms]
        return min((end for end in ends if end is not None), default=None)

    def zcdp_rho(self) -> Arb | None:
        return rho_of(self.terms)  # E[w^s] is convex in the rate, so sampling never raises a Rényi divergence

    def largest(self, direction: Direction) -> Arb | None:
        """ln(1 − q + q·e^T) to remove, −ln(1 − q + q·e^(−T)) to add, for the terms' largest loss T."""
        top = largest_of(self.terms, direction)
        if direction == 0:
            return None if top is None else (1 + ball(self.rate) * as_ball(top).expm1()).log()
        bounded = top is not None and at_most(failure_of(self.terms, direction), Fraction(0))
        return -(1 + ball(self.rate) * ((-as_ball(top)).expm1() if bounded and top is not None else -1)).log()

    def attained_largest(self, direction: Direction) -> Arb | None:
        top = attained_of(self.terms, direction)
        if direction == 0:
            return None if top is None else (1 + ball(self.rate) * top.expm1()).log()
        return -(1 + ball(self.rate) * (-1 if top is None else (-top).expm1())).log()

    def failure(self, direction: Direction) -> Arb:
        return arb(0) if direction else ball(self.rate) * as_ball(failure_of(self.terms, direction))

    def rational_failure(self, direction: Direction) -> Fraction | None:
        if direction == 1:  # who is not in the sample shows what is shown without that person
            return Fraction(0)
        inner = failure_of(self.terms, direction)
        return self.rate * inner if isinstance(inner, Fraction) else None

    def parted_group(self, size: int) -> tuple[Family, ...]:
        square = self._mu_squared()
        if square is None or size > MOST_PEOPLE:
            return ()
        return tuple(Parted(square, self.rate, size - come, come) for come in range(size // 2 + 1))

    def for_group(self, size: int) -> Family:
        return Group(self, size)

    def under_replace(self) -> Family:
        square = self._mu_squared()
        return self.for_group(2) if square is None else Exchanged(square, self.rate, 1)

    def parameters(self) -> dict[str, Any]:
        return {"terms": self.terms, "rate": self.rate}

    def to_json(self) -> dict[str, Any]:
        return {
            "family": self.name,
            "terms": [term.to_json() for term in self.terms],
            "rate": str(self.rate),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        return cls(read_terms(data["terms"]), parse_value(data["rate"], name="rate"))

    def __str__(self) -> str:
        return f"sampled({show_terms(self.terms)}, rate={show(self.rate)})"


@remembered(256)
def pairs(
    family: Sampled, direction: Direction, bits: int, least: int = NOTHING, coarser: int = 0
) -> tuple[Pair, Pair]:
    """The dominating pair and the witness, at this precision, with losses up to where 2^−least is left."""
    if family._is_one_law():
        base = family.terms[0].family
        laws = (base.dominating(direction), base.witness(direction))
        high, low = (_mix(law, ball(family.rate), direction) for law in laws if isinstance(law, Atoms))
        return high, low
    rate = ball(family.rate)
    curves = [questions.DeltaCurve(family.terms, way, share=SHARE) for way in DIRECTIONS]

    def curve(epsilon: Arb, way: Direction) -> tuple[Arb, Arb]:
        return sampled_ends(curves[way], rate, epsilon, direction=way)

    tops = [family.largest(way) for way in DIRECTIONS]
    closed = family._mu_squared() is not None or (len(family.terms) == 1 and family.terms[0].count == 1)
    count = (MANY_DOTS if closed else DOTS) << max(-coarser, 0)
    chosen = dots(curve, direction, count, family.rate, tops=tops, least=least, finer=min(-coarser, 0))
    points = [(x, *curve(x, direction)) for x in chosen]
    above = connect_the_dots([(x, high) for x, _, high in points], chosen.lattice)
    return above, below_the_dots(points, chosen.lattice)


def _mix(law: Atoms, rate: Arb, direction: Direction) -> Atoms:
    """The sampled pair of a finite law, atom by atom."""
    if direction == 1:  # P against (1−q)P + qQ: the loss is −ln(1 − q + q·e^(−l)), also where Q had nothing
        atoms = [(-(1 + rate * (-loss).expm1()).log(), mass) for loss, mass in law.atoms]
        edge = [] if law.failure().is_zero() else [(-(1 - rate).log(), law.failure())]
        return Atoms(atoms + edge)
    atoms = []
    for loss, mass in law.atoms:  # (1−q)Q + qP against Q: the loss is ln(1 − q + q·e^l)
        mixed = (1 - rate) * mass * (-loss).exp() + rate * mass
        atoms.append(((1 + rate * loss.expm1()).log(), mixed))
    edge = [] if law.unseen.is_zero() else [((1 - rate).log(), (1 - rate) * law.unseen)]
    return Atoms(atoms + edge, failure=rate * law.failure())
