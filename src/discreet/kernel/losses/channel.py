"""Finite channels: a row of output probabilities for each input. Randomised response is one."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses.curve import connect_the_dots
from discreet.kernel.losses.family import Direction, Family, Relation, register, show
from discreet.kernel.losses.group import Group
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.losses.pure import Pure
from discreet.kernel.numerics import Real, ball, exact_epsilon, exact_positive, exact_probability, exact_whole

Row = tuple[Fraction, ...]


def _pair_of(first: Row, second: Row) -> Pair:
    """Two rows as a pair: each output has the loss ln(p/q)."""
    masses: dict[Fraction, Fraction] = {}
    failure = Fraction(0)
    for p, q in zip(first, second, strict=True):
        if q == 0:
            failure += p
        elif p:
            masses[p / q] = masses.get(p / q, Fraction(0)) + p
    atoms = [(ball(ratio).log(), ball(mass)) for ratio, mass in sorted(masses.items(), reverse=True)]
    unseen = sum((q for p, q in zip(first, second, strict=True) if p == 0), Fraction(0))
    return Atoms(atoms or [(arb(0), arb(0))], failure=ball(failure), unseen=ball(unseen))


def _rational_delta(first: Row, second: Row, ratio: Fraction) -> Fraction:
    """δ at e^ε = ratio, exactly."""
    return sum((max(p - ratio * q, Fraction(0)) for p, q in zip(first, second, strict=True)), Fraction(0))


@lru_cache(maxsize=256)
def _corners(matrix: tuple[Row, ...]) -> tuple[list[tuple[Fraction, Fraction]], tuple[Row, Row]]:
    """Every likelihood ratio of two rows in order, with the greatest δ there; and the rows of most δ."""
    rows = list(permutations(matrix, 2))
    ratios = sorted({p / q for pair in rows for p, q in zip(*pair, strict=True) if p and q})
    curves = [[_rational_delta(first, second, ratio) for ratio in ratios] for first, second in rows]
    sizes = [sum(curve, Fraction(0)) for curve in curves]
    points = [(ratio, max(column)) for ratio, column in zip(ratios, zip(*curves, strict=True), strict=True)]
    return points, rows[sizes.index(max(sizes))]


@register
@dataclass(frozen=True)
class Channel(Family):
    """A channel by its exact matrix. Two rows in the "given" order are the data with and without a person;
    otherwise any two rows may be neighbours, in "either" order.

    Privacy: the greatest curve over the ordered pairs of rows, all of whose corners are rational.
    """

    matrix: tuple[Row, ...]
    order: str = "either"

    name = "channel"
    symmetric = False

    def __post_init__(self) -> None:
        if len(self.matrix) < 2 or len({len(row) for row in self.matrix}) != 1:
            raise InvalidParameter(
                "matrix must have at least two rows, all of one length.", parameter="matrix"
            )
        if self.order not in ("either", "given") or (self.order == "given" and len(self.matrix) != 2):
            raise InvalidParameter('order must be "either", or "given" for two rows.', parameter="order")
        for row in self.matrix:
            if any(value < 0 for value in row) or sum(row) != 1:
                raise InvalidParameter(
                    "each row of matrix must be probabilities that sum to 1. Give them as exact fractions.",
                    parameter="matrix",
                )

    @property
    def exact(self) -> bool:
        return self.order == "given" or self._is_mirrored()

    def _is_mirrored(self) -> bool:
        """Whether two rows have one and the same curve in both orders."""
        if len(self.matrix) != 2:
            return False
        first, second = self.matrix
        return sorted(zip(first, second, strict=True)) == sorted(zip(second, first, strict=True))

    def witness(self, direction: Direction) -> Pair:
        if self.exact:
            rows = self.matrix if direction == 0 else self.matrix[::-1]
            return _pair_of(rows[0], rows[1])
        return _pair_of(*_corners(self.matrix)[1])

    def dominating(self, direction: Direction) -> Pair | None:
        if self.exact:
            return self.witness(direction)
        points, _ = _corners(self.matrix)
        return connect_the_dots([(ball(ratio).log(), ball(delta)) for ratio, delta in points])

    def rational_failure(self, direction: Direction) -> Fraction | None:
        rows = self.matrix if direction == 0 else self.matrix[::-1]
        pairs = [(rows[0], rows[1])] if self.exact else permutations(self.matrix, 2)
        return max(sum((p for p, q in zip(*pair, strict=True) if q == 0), Fraction(0)) for pair in pairs)

    def for_group(self, size: int) -> Family:
        return Group(self, size)

    def parameters(self) -> dict[str, Any]:
        return (
            {"matrix": self.matrix}
            if self.order == "either"
            else {"matrix": self.matrix, "order": self.order}
        )

    def __str__(self) -> str:
        return f"channel(matrix={show(self.matrix)})"  # the order follows from the rows and the relation


@register
@dataclass(frozen=True)
class RandomizedResponse(Family):
    """k-ary randomised response: the truth with probability e^ε/(e^ε + k − 1), else another value.

    Privacy: δ(ε) = (e^ε₀ − e^ε)/(e^ε₀ + k − 1), exactly; two values are the worst ε-DP mechanism.
    """

    epsilon: Fraction
    values: int

    name = "randomized_response"

    def __post_init__(self) -> None:
        exact_positive(self.epsilon, name="epsilon")
        exact_whole(self.values, name="values", least=2)

    def witness(self, direction: Direction) -> Pair:
        loss = ball(self.epsilon)
        total = loss.exp() + self.values - 1
        atoms = [(loss, loss.exp() / total), (-loss, 1 / total)]
        if self.values == 2:
            return Atoms(atoms, lattice=(self.epsilon, 2 * self.epsilon))
        return Atoms([*atoms, (arb(0), (self.values - 2) / total)], lattice=(self.epsilon, self.epsilon))

    def rational_largest(self, direction: Direction) -> Fraction | None:
        return self.epsilon

    def for_group(self, size: int) -> Family:
        return self if size == 1 else Pure(self.epsilon * size)


def channel(matrix: Sequence[Sequence[Real]], *, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of a finite channel; matrix[i][j] is the probability of output j on input i.

    >>> channel([[0.75, 0.25], [0.25, 0.75]]).epsilon(delta=0)  # ln 3
    1.0986122886681098
    """
    rows = tuple(tuple(exact_probability(value, name="matrix") for value in row) for row in matrix)
    order = "given" if relation == "add/remove" and len(rows) == 2 else "either"
    return PrivacyLoss.of(Channel(rows, order), relation)


def randomized_response(*, epsilon: Real, values: Real = 2, relation: Relation = "add/remove") -> PrivacyLoss:
    """The loss of k-ary randomised response.

    >>> randomized_response(epsilon=1, values=4).epsilon(delta=0)
    1.0
    """
    family = RandomizedResponse(exact_epsilon(epsilon), exact_whole(values, name="values", least=2))
    return PrivacyLoss.of(family, relation)
