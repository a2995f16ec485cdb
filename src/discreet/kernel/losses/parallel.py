"""Parallel composition: each person is in one part, fixed in advance, and each part has a loss of its own."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Self

from flint import arb, ctx

from discreet.errors import InvalidParameter
from discreet.kernel.losses import questions
from discreet.kernel.losses.curve import below_the_dots, connect_the_dots, dots
from discreet.kernel.losses.extremes import as_ball, failure_of, largest_of
from discreet.kernel.losses.family import (
    DIRECTIONS,
    Curve,
    Direction,
    Family,
    Term,
    Terms,
    read_terms,
    register,
    show_terms,
)
from discreet.kernel.losses.group import Group
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.moments import mu_squared_of, plain_moment_of, rho_of, terms_log_moment
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.losses.work import remembered
from discreet.kernel.numerics import Arb

DOTS = 192


@register
@dataclass(frozen=True)
class Parallel(Family):
    """Several losses on disjoint people, each of whom meets one of them: the supremum of their curves.

    δ(ε) = max over the parts of δᵢ(ε), in each direction

    Privacy: docs/theory/parallel.md, under add/remove, also where a later part was chosen after an earlier
    one answered. Repeated, a person may be in another part each time: the supremum is composed, at dots.
    """

    parts: tuple[Terms, ...]

    name = "parallel"
    symmetric = False

    @property
    def exact(self) -> bool:
        return False

    def alternatives(self) -> tuple[Terms, ...]:
        return self.parts

    def witness(self, direction: Direction) -> Pair:
        return _pairs(self, direction, ctx.prec)[1]

    def dominating(self, direction: Direction) -> Pair | None:
        return _pairs(self, direction, ctx.prec)[0]

    def one_use(self, direction: Direction) -> Curve | None:
        """Both ends of the greatest δ at each ε."""
        curves = [questions.DeltaCurve(part, direction) for part in self.parts]

        def greatest(epsilon: Arb) -> tuple[Arb, Arb]:
            ends = [curve(epsilon) for curve in curves]
            return _greatest([low for low, _ in ends]), _greatest([high for _, high in ends])

        return greatest

    def plain_log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        known = [plain_moment_of(part, direction, theta) for part in self.parts]
        return None if None in known else _greatest([one for one in known if one is not None])

    def log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        known = [terms_log_moment(part, direction, theta) for part in self.parts]
        return None if None in known else _greatest([one for one in known if one is not None])

    def highest_theta(self) -> Fraction | None:
        ends = [term.family.highest_theta() for part in self.parts for term in part]
        return min((end for end in ends if end is not None), default=None)

    def failure(self, direction: Direction) -> Arb:
        return _greatest([as_ball(failure_of(part, direction)) for part in self.parts])

    def largest(self, direction: Direction) -> Arb | None:
        known = [largest_of(part, direction) for part in self.parts]
        return None if None in known else _greatest([as_ball(one) for one in known if one is not None])

    def rational_largest(self, direction: Direction) -> Fraction | None:
        known = [largest_of(part, direction) for part in self.parts]
        rational = [one for one in known if isinstance(one, Fraction)]
        return max(rational) if len(rational) == len(known) else None

    def rational_failure(self, direction: Direction) -> Fraction | None:
        known = [failure_of(part, direction) for part in self.parts]
        rational = [one for one in known if isinstance(one, Fraction)]
        return max(rational) if len(rational) == len(known) else None

    def zcdp_rho(self) -> Arb | None:
        known = [rho_of(part) for part in self.parts]
        return None if None in known else _greatest([one for one in known if one is not None])

    def for_group(self, size: int) -> Family:
        return Group(self, size)

    def to_json(self) -> dict[str, Any]:
        parts = [[term.to_json() for term in part] for part in self.parts]
        return {"family": self.name, "parts": parts}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        if not isinstance(data["parts"], list) or len(data["parts"]) < 2:
            raise InvalidParameter("the parts of a stored loss must be two or more lists.", parameter="parts")
        return cls(_in_order(read_terms(part) for part in data["parts"]))

    def __str__(self) -> str:
        return f"parallel({', '.join(show_terms(part) for part in self.parts)})"


def parallel(parts: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """The loss of a release where each person is in one of several parts, and each part has its own loss.

    The parts must be fixed in advance, a person's part by nothing but that person, under add/remove. Who is
    replaced may leave one part and enter another, so that both change: other relations are refused.

    Privacy: the greatest of the parts' curves (McSherry 2009, Theorem 4, for pure DP;
    docs/theory/parallel.md).

    >>> from discreet.kernel.losses import laplace
    >>> parallel([laplace(scale=1), laplace(scale=2)])
    laplace(scale=1, sensitivity=1)
    """
    known = list(parts)
    if not known or not all(isinstance(part, PrivacyLoss) for part in known):
        raise InvalidParameter("parts must be one or more losses.", parameter="parts")
    for part in known:
        if part.relation != "add/remove":
            raise InvalidParameter(
                f"parallel losses must be under add/remove, got {part.relation}. Add them up instead: who is "
                "replaced may leave one part and enter another.",
                parameter="relation",
            )
    kept = _uncovered(_in_order({part.terms for part in known}))
    return PrivacyLoss(kept[0]) if len(kept) == 1 else PrivacyLoss.of(Parallel(kept), "add/remove")


def _in_order(parts: Iterable[Terms]) -> tuple[Terms, ...]:
    return tuple(sorted(parts, key=show_terms))


def _uncovered(parts: tuple[Terms, ...]) -> tuple[Terms, ...]:
    """The parts that no other part is known to cover; of parts that cover each other, the first."""
    kept: list[Terms] = []
    for part in parts:
        if not any(_covers(other, part) for other in kept):
            kept = [other for other in kept if not _covers(part, other)] + [part]
    return tuple(kept)


def _covers(big: Terms, small: Terms) -> bool:
    """Whether each term of the smaller part has one of the bigger that covers it, or both are Gaussian."""
    squares = mu_squared_of(big), mu_squared_of(small)
    if squares[0] is not None and squares[1] is not None:
        return squares[1] <= squares[0]
    left = Counter({term.family: term.count for term in big})
    for term in small:
        match = next((f for f, n in left.items() if n >= term.count and f.covers(term.family)), None)
        if match is None:
            return False
        left[match] -= term.count
    return True


def _greatest(values: list[Arb]) -> Arb:
    top = values[0]
    for value in values[1:]:
        top = top.max(value)
    return top


@remembered(256)
def _pairs(family: Parallel, direction: Direction, bits: int) -> tuple[Pair, Pair]:
    """A pair above the supremum of the parts' curves, and one of the part that is greatest on the whole."""
    grid, lattice = _corners(family, direction), None
    if not grid:
        ways = [questions.DeltaCurve((Term(family),), way) for way in DIRECTIONS]
        chosen = dots(lambda epsilon, way: ways[way](epsilon), direction, DOTS, Fraction(1))
        grid, lattice = list(chosen), chosen.lattice
    asked = [questions.DeltaCurve(part, direction) for part in family.parts]
    curves = [[one(x) for x in grid] for one in asked]
    tops = [_greatest([high for _, high in column]) for column in zip(*curves, strict=True)]
    above = connect_the_dots(list(zip(grid, tops, strict=True)), lattice)
    sizes = [float(sum((low for low, _ in curve), arb(0))) for curve in curves]
    best = sizes.index(max(sizes))
    part = family.parts[best]
    if lattice is None or (len(part) == 1 and part[0].count == 1):
        return above, part[0].family.witness(direction)
    return above, below_the_dots([(x, *ends) for x, ends in zip(grid, curves[best], strict=True)], lattice)


def _corners(family: Parallel, direction: Direction) -> list[Arb]:
    """The losses in order, where every part is one finite law: between them its curve is straight in e^ε."""
    losses: list[Arb] = []
    for part in family.parts:
        pair = part[0].family.dominating(direction) if len(part) == 1 and part[0].count == 1 else None
        if not isinstance(pair, Atoms):
            return []
        losses += [loss for loss, _ in pair.atoms]
    ordered = sorted(losses, key=float)
    return ordered[:1] + [b for a, b in pairwise(ordered) if a < b]
