"""A pair from a bound on its curve: connect the dots.

δ is convex in u = e^ε. So the lower convex hull of points on or above it lies on or above it everywhere, and
is itself the curve of a pair with losses at the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022).
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from flint import arb

from discreet.losses.family import Direction
from discreet.losses.pair import Atoms, Pair
from discreet.numerics import Arb

Point = tuple[Arb, Arb]


def connect_the_dots(points: Sequence[Point]) -> Pair:
    """The least pair on these losses whose curve is on or above (ε, δ) for each point, ε increasing.

    What the last δ leaves is put at infinity; the curve's start, u = 0 and δ = 1, is a dot without P's mass.
    """
    dots, least = [], arb(1)
    for epsilon, delta in points:
        least = least.min(delta.upper())  # the curve falls
        dots.append((epsilon.exp(), least, epsilon))
    hull = _lower_hull([(arb(0), arb(1), arb(0)), *dots])
    slopes = [_slope(left, right) for left, right in pairwise(hull)] + [arb(0)]
    atoms = [(hull[i][2], hull[i][0] * (slopes[i] - slopes[i - 1]).max(arb(0))) for i in range(1, len(hull))]
    return Atoms(atoms, failure=hull[-1][1], unseen=1 + slopes[0])


def _slope(left: tuple[Arb, Arb, Arb], right: tuple[Arb, Arb, Arb]) -> Arb:
    return (right[1] - left[1]) / (right[0] - left[0])


def _lower_hull(dots: list[tuple[Arb, Arb, Arb]]) -> list[tuple[Arb, Arb, Arb]]:
    hull: list[tuple[Arb, Arb, Arb]] = []
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


def step_down(points: Sequence[tuple[Arb, Arb, Arb]]) -> Pair:
    """A pair below a curve known by (ε, lower δ, upper δ): P's mass, moved down to the next dot.

    Pr[L > x] = δ(x) − δ′(x), and the slope of a convex curve is at least as steep as its next chord.
    """
    tails: list[Arb] = []
    for (here, low, _), (there, _, high) in pairwise(points):
        chord = (low - high).max(arb(0)) / (there - here).expm1()
        tails.append((low + chord).lower())
    tails.append(points[-1][1].lower().max(arb(0)))
    atoms, above = [], arb(0)
    for (epsilon, _, _), tail in zip(reversed(points), reversed(tails), strict=True):
        mass = (tail.min(arb(1)) - above).max(arb(0))
        above += mass
        atoms.append((epsilon, mass))
    return Atoms(atoms)


def dots(curve: Callable[[Arb, Direction], tuple[Arb, Arb]], direction: Direction, count: int) -> list[Arb]:
    """Places for `count` chords, from where the curve leaves 1 − e^ε to where it vanishes."""
    ends = []
    for side in (1 - direction, direction):
        reach = arb(2) ** -8
        while not curve(reach, side)[1] < arb(2) ** -100 and reach < 2**12:
            reach *= arb(1.5)
        ends.append(reach)
    span = ends[0] + ends[1]
    return [(-ends[0] + span * i / count).mid() for i in range(count + 1)]
