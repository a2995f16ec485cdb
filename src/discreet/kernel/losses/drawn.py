"""Batches of one size, drawn without replacement: Gaussians on a uniform subset, under replace.

With q = batch/of and δ₀ the curve of the Gaussians under replace, δ(ε) <= q·δ₀(ln(1 + (e^ε − 1)/q)) where
ε >= 0 (Balle, Barthe and Gaboardi 2018). Neighbours may change places: the curve holds in both directions, so
δ(−ε) = 1 − e^(−ε)(1 − δ(ε)) (Zhu, Dong and Wang 2022). docs/theory/losses.md, "Batches of one size".
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from flint import arb, ctx

from discreet.errors import InvalidParameter
from discreet.kernel.losses.continuous import gaussian_delta
from discreet.kernel.losses.curve import NOTHING, below_the_dots, connect_the_dots, dots, sampled_ends
from discreet.kernel.losses.family import (
    Curve,
    Direction,
    Family,
    Term,
    parse_value,
    read_terms,
    register,
    show_terms,
)
from discreet.kernel.losses.group import Group
from discreet.kernel.losses.moments import mu_squared_of
from discreet.kernel.losses.pair import Pair
from discreet.kernel.losses.work import remembered
from discreet.kernel.numerics import Arb, ball, exact_whole

DOTS = 1280


@register
@dataclass(frozen=True)
class Drawn(Family):
    """Gaussians, all on one batch of so many people out of so many, under replace; both directions are alike.

    Privacy: the curve above. Below, one person among others at one end, who joins them from the other end:
    for one batch that is the curve itself where ε >= 0.
    """

    terms: tuple[Term, ...]
    batch: int
    of: int

    name = "drawn"

    def __post_init__(self) -> None:
        exact_whole(self.batch, name="batch", least=1)
        exact_whole(self.of, name="of", least=1)
        if self.batch > self.of:
            raise InvalidParameter(
                f"batch must be at most of, {self.of}, got {self.batch}.", parameter="batch"
            )
        if mu_squared_of(self.terms) is None:
            raise InvalidParameter("only Gaussian losses are known on batches of one size.", parameter="loss")

    @property
    def rate(self) -> Fraction:
        """The probability that a person is in the batch."""
        return Fraction(self.batch, self.of)

    @property
    def exact(self) -> bool:
        return False

    @property
    def has_dots(self) -> bool:
        return True

    def square(self) -> Fraction:
        """μ² of the Gaussians."""
        known = mu_squared_of(self.terms)
        assert known is not None
        return known

    def one_use(self, direction: Direction) -> Curve | None:
        return lambda epsilon: (self.delta_attained(epsilon), self.delta_above(epsilon))

    def delta_above(self, epsilon: Arb) -> Arb:
        """δ(ε) is at most this, at any real ε."""
        if not epsilon >= 0:
            return 1 - epsilon.exp() * (1 - self.delta_above(-epsilon))
        return self.delta_attained(epsilon)

    def delta_attained(self, epsilon: Arb) -> Arb:
        """What (1 − q)N(0) + qN(μ) against N(0) attains."""

        def whole(inner: Arb) -> tuple[Arb, Arb]:
            return (gaussian_delta(ball(self.square()), inner),) * 2

        return sampled_ends(whole, ball(self.rate), epsilon, direction=0)[0]

    def witness(self, direction: Direction) -> Pair:
        return pairs(self, ctx.prec, NOTHING)[1]

    def dominating(self, direction: Direction) -> Pair | None:
        return pairs(self, ctx.prec, NOTHING)[0]

    def dotted(self, direction: Direction, least: int, coarser: int = 0) -> tuple[Pair, Pair] | None:
        return pairs(self, ctx.prec, least)

    def failure(self, direction: Direction) -> Arb:
        return arb(0)

    def largest(self, direction: Direction) -> Arb | None:
        return None

    def zcdp_rho(self) -> Arb | None:
        return ball(self.square()) / 2  # a mixture over batches never diverges more than its worst part

    def log_moment(self, theta: Arb, direction: Direction) -> Arb | None:
        return ball(self.square()) / 2 * theta * (theta + 1)

    def for_group(self, size: int) -> Family:
        return self if size == 1 else Group(self, size)

    def to_json(self) -> dict[str, Any]:
        terms = [term.to_json() for term in self.terms]
        return {"family": self.name, "terms": terms, "batch": self.batch, "of": self.of}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        sizes = [parse_value(data[name], name=name) for name in ("batch", "of")]
        return cls(read_terms(data["terms"]), *sizes)

    def __str__(self) -> str:
        return f"drawn({show_terms(self.terms)}, batch={self.batch}, of={self.of})"


@remembered(64)
def pairs(family: Drawn, bits: int, least: int) -> tuple[Pair, Pair]:
    """A pair above the curve, and one below what the witness attains, through dots on both sides of 0."""

    def curve(epsilon: Arb, way: Direction) -> tuple[Arb, Arb]:
        return (family.delta_above(epsilon),) * 2

    chosen = dots(curve, 0, DOTS, family.rate, least=least, finer=1, mirrored=True)
    above = connect_the_dots([(x, family.delta_above(x)) for x in chosen], chosen.lattice)
    attained = [(x, *(family.delta_attained(x),) * 2) for x in chosen]
    return above, below_the_dots(attained, chosen.lattice)
