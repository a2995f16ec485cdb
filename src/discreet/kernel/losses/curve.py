"""Pairs from a curve that is known at dots: one above it, and one below.

δ is convex in u = e^ε. So the lower convex hull of points on or above it lies on or above it everywhere, and
is itself the curve of a pair with losses at the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022).
Both err by the square of the dots' distance, and have their losses on a lattice, which composes fast.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from flint import arb

from discreet.kernel.losses.family import Direction
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.numerics import Arb, ball, round_up

LEAST = 2.0**-60  # where nothing is lost there are dots all the same
NOTHING = 100  # bits: a δ below 2^−100 is next to nothing

Point = tuple[Arb, Arb]
Lattice = tuple[Fraction, Fraction]
Line = tuple[Arb, Arb]  # its values at both ends of a cell
Dot = tuple[Arb, Arb, Arb]  # u, δ, ε


def connect_the_dots(points: Sequence[Point], lattice: Lattice | None = None) -> Pair:
    """The least pair on these losses whose curve is on or above (ε, δ) for each point, ε increasing.

    What the last δ leaves is put at infinity; the curve's start, u = 0 and δ = 1, is a dot without P's mass.
    """
    dots, least = [], arb(1)
    for epsilon, delta in points:
        least = least.min(delta.upper())  # the curve falls
        dots.append((epsilon.exp(), least, epsilon))
    hull = _lower_hull([(arb(0), arb(1), arb(0)), *dots])
    atoms = [(dot[2], mass.max(arb(0))) for dot, mass in _masses(hull)]
    return Atoms(atoms, failure=hull[-1][1], unseen=1 + _slopes(hull)[0], lattice=lattice)


def _masses(hull: Sequence[Dot]) -> list[tuple[Dot, Arb]]:
    """Each dot after the first with P's mass there: u times how much less steep the hull is after it."""
    bends = pairwise(_slopes(hull))
    return [(dot, dot[0] * (after - steep)) for dot, (steep, after) in zip(hull[1:], bends, strict=True)]


def _slopes(hull: Sequence[Dot]) -> list[Arb]:
    """Of each chord, and 0 beyond the last dot."""
    return [_slope(left, right) for left, right in pairwise(hull)] + [arb(0)]


def _slope(left: Dot, right: Dot) -> Arb:
    return (right[1] - left[1]) / (right[0] - left[0])


def _lower_hull(dots: list[Dot]) -> list[Dot]:
    hull: list[Dot] = []
    for dot in dots:
        while len(hull) >= 2 and not _slope(hull[-2], hull[-1]) < _slope(hull[-1], dot):
            hull.pop()
        hull.append(dot)
    return hull


def sampled_ends(
    curve: Callable[[Arb], tuple[Arb, Arb]], rate: Arb, epsilon: Arb, *, direction: Direction
) -> tuple[Arb, Arb]:
    """Both ends of δ of one use on a Poisson sample, from those of the curve δ₀ without sampling.

    Remove: q·δ₀(ln(1 + (e^ε − 1)/q)). Add: c·δ₀(ln(q·e^ε/c)) with c = 1 − (1 − q)e^ε.
    """
    if direction == 0:
        inner = 1 + epsilon.expm1() / rate
        if not inner > 0:
            return -epsilon.expm1(), -epsilon.expm1()
        low, high = curve(inner.log())
        return rate * low, rate * high
    left = 1 - (1 - rate) * epsilon.exp()
    if left > 0:
        low, high = curve((rate * epsilon.exp() / left).log())
        return left * low, left * high
    return arb(0), left.max(arb(0))  # a ball around 0 where the sign is open: the curve lies below `left`


def below_the_dots(points: Sequence[tuple[Arb, Arb, Arb]], lattice: Lattice) -> Pair:
    """A pair with losses at the dots and its curve below one known by (ε, lower δ, upper δ) at each.

    In a cell, the chords of both its neighbours, drawn on into it, lie below a convex curve, and so does
    their mean. At each dot the lesser of its two cells' lines is taken: no chord is then above its line.
    """
    dots = [(epsilon.exp(), low.lower().max(arb(0)), high.upper()) for epsilon, low, high in points]
    lines = [_line_below(dots, i) for i in range(len(dots) - 1)]
    first = lines[0][0].min(1 - dots[0][0])  # up to the first dot 1 − u is all that is known
    values = [first, *(left[1].min(right[0]) for left, right in pairwise(lines)), lines[-1][1]]
    known = [(u, value.lower(), x) for (u, _, _), value, (x, _, _) in zip(dots, values, points, strict=True)]
    hull = _lower_hull([(arb(0), arb(1), arb(0)), *known])
    masses = {id(dot): mass for dot, mass in _masses(hull)}
    shrink = 1 - arb(2) ** -40  # more than rounding can have added
    atoms = [((masses.get(id(dot), arb(0)) * shrink).lower().max(arb(0)), dot) for dot in known]
    if not _is_below(atoms):
        return Atoms([(points[0][0], arb(0))])
    return Atoms([(dot[2], mass) for mass, dot in atoms if mass > 0], lattice=lattice)


def _is_below(atoms: Sequence[tuple[Arb, Dot]]) -> bool:
    """Whether Σ mass·(1 − u/uᵢ)₊ is proved to be at most what is allowed at each dot, and 1 at u = 0."""
    total, shared = arb(0), arb(0)
    for mass, (u, allowed, _) in reversed(atoms):
        if not total - u * shared <= allowed:
            return False
        total, shared = total + mass, shared + mass / u
    return bool(total <= 1)


def _line_below(dots: Sequence[tuple[Arb, Arb, Arb]], i: int) -> Line:
    """A line that the curve is above in cell i, nowhere negative: the mean of two, or one, or 0."""
    if i == 0:
        return (1 - dots[0][0], 1 - dots[1][0]) if dots[1][0] <= 1 else (arb(0), arb(0))
    if i == len(dots) - 2:
        return arb(0), arb(0)
    (u0, _, high), (u1, left, _), (u2, right, _), (u3, _, far) = dots[i - 1 : i + 3]
    on = left, left + (left - high) * (u2 - u1) / (u1 - u0)  # from the left: at most as steep as the chord is
    back = right + (right - far) * (u2 - u1) / (u3 - u2), right
    for line in (((on[0] + back[0]) / 2, (on[1] + back[1]) / 2), back):
        if line[0] >= 0 and line[1] >= 0:
            return line
    return arb(0), arb(0)


@dataclass(frozen=True)
class Dots:
    """Places for chords, all on one lattice."""

    lattice: Lattice
    steps: tuple[int, ...]

    def __iter__(self) -> Iterator[Arb]:
        return (ball(self.lattice[0] + self.lattice[1] * step) for step in self.steps)


def dots(
    curve: Callable[[Arb, Direction], tuple[Arb, Arb]],
    direction: Direction,
    count: int,
    rate: Fraction,
    *,
    tops: Sequence[Arb | None] = (None, None),
    least: int = NOTHING,
    finer: int = 0,
    mirrored: bool = False,
) -> Dots:
    """About `count` places, from where the curve leaves 1 − e^ε to where it vanishes.

    That is at the largest loss of each direction, or where less than 2^−least is left before it.

    A sample of this rate has its losses ln(1 − q + q·e^l) densest near 0: evenly spaced l put the dots there.
    The lattice is as fine as they are near 0, or 2^finer times finer (below 0: wider); `mirrored` puts them
    on both sides.
    """
    ends, nothing = [], arb(2) ** -least
    for side in (1 - direction, direction):
        reach = Fraction(1, 256)
        while curve(ball(reach / 8), side)[1] < nothing and reach > Fraction(1, 2**60):
            reach /= 8
        while not curve(ball(reach), side)[1] < nothing and reach < 2**12:
            reach *= Fraction(3, 2)
        top = tops[side]
        ends.append(max(float(reach) if top is None else min(float(reach), round_up(top)), LEAST))
    q, sign = float(rate), 1 - 2 * direction
    inner = math.log1p(math.expm1(min(ends[1 - direction], 500.0)) / q)
    step = Fraction(2) ** (math.ceil(math.log2(2 * inner * q / count)) - finer)
    inside = [inner * (2 * i / count - 1) for i in range(count + 1)]
    inside = [sign * (math.log1p(q * math.expm1(loss)) if q < 1 else loss) for loss in inside]
    inside += [-x for x in inside] if mirrored else []
    places = [ends[1], *(x for x in inside if -ends[0] < x < ends[1])]
    first = math.floor(-ends[0] / step)  # at or below the least loss: a chord from u = 0 is then no higher
    return Dots((Fraction(0), step), tuple(sorted({first, *(math.ceil(x / step) for x in places)})))
