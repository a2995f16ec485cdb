"""Values at the nodes of a contour: in floating point with a proved error (`Nodes`), or in balls (`Balls`).

Both hold the truth. Floats are a hundred times faster, and good to about 10^−15 for each use composed.
Of floating point nothing is trusted but +, −, ×, ÷ and √ of IEEE 754, and numbers that Arb rounded: no
library's exp or cosine. docs/theory/certified-composition.md has the bound of each operation.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Protocol, TypeAlias

import numpy as np
from flint import acb, acb_mat, arb

from discreet.kernel.losses.work import spend
from discreet.kernel.numerics import Arb

Acb: TypeAlias = Any  # flint.acb, which ships no types
Array: TypeAlias = Any  # of complex numbers or of floats

UNIT = 2.0**-53
PRODUCT = 3 * UNIT  # the error of a complex product, as a share of its size
ROOT = 2.0**-510  # a value below is taken for 0, which is within TINY
TINY = 2.0**-500  # more than underflow can lose, anywhere
SLACK = 1 + 2.0**-20  # covers the rounding of the bounds themselves
SMALL = 0.25  # sizes for which a series is used
BLOCK = 256  # nodes that one row of turns serves
RENEWED = 4  # squarings of a factor before Arb gives it afresh
MANY = 1 << 17  # nodes for which a factor from Arb each time costs little beside them
ADDED = 64  # masses that are added up in one go
TILE = (16, 32)  # rows and columns of a sum of products that one core makes by itself


class Values(Protocol):
    """One complex number for each node."""

    def __mul__(self, other: Any) -> "Values": ...

    def power(self, count: int) -> "Values":
        """Each to the power of a whole number >= 1."""

    def inverse(self) -> "Values":
        """1/v."""

    def one_minus(self) -> "Values":
        """1 − v."""

    def both_sides(self, angle: Arb) -> Arb:
        """Σ over j = −J ... J of v_j·e^(ij·angle), for values that are conjugate on both sides."""

    def about_both_sides(self, angle: float) -> float:
        """About the same: for a search, and in no proof."""

    def scaled(self, factor: Arb) -> "Values":
        """v times a real number >= 0."""


@dataclass(frozen=True)
class Nodes:
    """Floating-point values, and how far each may be from the truth. Sizes are at most about 1."""

    values: Array
    error: Array

    @classmethod
    def of(cls, balls: Sequence[Acb]) -> "Nodes":
        """The balls, rounded."""
        pairs = [rounded(value) for value in balls]
        return cls(np.array([value for value, _ in pairs]), np.array([error for _, error in pairs]))

    @classmethod
    def line(cls, theta: Arb, spacing: Arb, last: int) -> "Nodes":
        """θ + ij·spacing for j = 0 ... last."""
        (start, wrong), (step, off) = rounded(acb(theta)), rounded(acb(spacing))
        steps = np.arange(last + 1)
        values = start.real + 1j * (steps * step.real)
        return cls(values, (wrong + off * steps + UNIT * _sizes(values)) * SLACK)

    @classmethod
    def powers(cls, exponent: Acb, last: int) -> "Nodes":
        """e^(j·exponent) for j = 0 ... last."""
        rows, share = geometric([exponent], last)
        return cls(rows[0], share * _sizes(rows[0]) + TINY)

    @classmethod
    def bell(cls, rate: Arb, last: int) -> "Nodes":
        """e^(−rate·j²) for j = 0 ... last, filled by doubling: −r(j+m)² = −rj² − rm² − 2rmj."""
        values, share = np.ones(1), 0.0
        while len(values) <= last and rate * len(values) ** 2 < 1000:  # beyond, all are below TINY
            filled = len(values)
            rows, wrong = geometric([acb(-2 * rate * filled)], filled - 1)
            factor = (-rate * filled**2).exp()
            share += wrong + 2 * PRODUCT + (3 * UNIT if factor.rel_accuracy_bits() >= 56 else np.inf)
            values = np.concatenate([values, values * rows[0].real * float(factor)])
        found = np.zeros(last + 1)
        found[: len(values)] = values[: last + 1]
        return cls(found, (share * SLACK) * _sizes(found) + TINY)

    def conjugate(self) -> "Nodes":
        """v̄."""
        return Nodes(self.values.conjugate(), self.error)

    def __add__(self, other: "Nodes") -> "Nodes":
        return self._joined(self.values + other.values, other)

    def __sub__(self, other: "Nodes") -> "Nodes":
        return self._joined(self.values - other.values, other)

    def _joined(self, values: Array, other: "Nodes") -> "Nodes":
        return Nodes(values, (self.error + other.error + UNIT * _sizes(values)) * SLACK)

    def __mul__(self, other: "Nodes") -> "Nodes":
        values = self.values * other.values
        mine, theirs = _sizes(self.values), _sizes(other.values)
        error = mine * other.error + (theirs + other.error) * self.error + PRODUCT * mine * theirs
        return Nodes(values, error * SLACK + TINY)

    def power(self, count: int) -> "Nodes":
        """v^k; the products of repeated squaring count k·PRODUCT in all."""
        if count == 1:
            return self
        sizes = _sizes(self.values)
        share = count * (self.error + 1.01 * PRODUCT * sizes)
        error = share * _raise(sizes + self.error, count - 1)
        return Nodes(_raise(self.values, count), error * SLACK + TINY)

    def inverse(self) -> "Nodes":
        """v̄/|v|²; the error must be below the size."""
        squares = self.values.real**2 + self.values.imag**2
        sizes = np.sqrt(squares) / SLACK
        left = np.maximum(sizes - self.error, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # nothing is known of 1/v where v may be 0
            values = self.values.conjugate() / squares
            wrong = self.error / (sizes * left) + 6 * UNIT / sizes
        return Nodes(values, wrong * SLACK + TINY)

    def small_series(self) -> "Nodes":
        """1/(1 − e^(−v)) = ½ + 1/v + (½coth(v/2) − 1/v) for sizes below SMALL, so that nothing cancels."""
        flat = Nodes(np.full(len(self.values), 0.5), np.zeros(len(self.values)))
        return flat + self.inverse() + self.half_coth()

    def half_coth(self) -> "Nodes":
        """½coth(v/2) − 1/v = v/12 − v³/720 + v⁵/30240 − ..., for sizes below SMALL = ¼."""
        square, sizes = self.values * self.values, _sizes(self.values)
        inner = 1 / 30240 - square * (1 / 1209600 - square / 47900160)
        values = self.values * (1 / 12 - square * (1 / 720 - square * inner))
        # the slope is below 1/8; each step loses at most 4u of 1/12; the next term is 691v¹¹/1307674368000
        return Nodes(values, self.error / 8 + 4 * UNIT * sizes + 1e-9 * sizes**11 + TINY)

    def one_minus(self) -> "Nodes":
        values = 1 - self.values
        return Nodes(values, (self.error + UNIT * _sizes(values)) * SLACK)

    def scaled(self, factor: Arb) -> "Nodes":
        share, off = rounded(acb(factor))
        values = share.real * self.values
        error = (share.real + off) * self.error + (off + UNIT * share.real) * _sizes(self.values)
        return Nodes(values, error * SLACK + TINY)

    def both_sides(self, angle: Arb) -> Arb:
        length = len(self.values)
        block, outer, across = length, np.ones((1, 1)), 0.0
        if length >= 4 * BLOCK:
            block = BLOCK
            outer, across = geometric([acb(0, angle * block)], length // block)
        inner, within = geometric([acb(0, angle)], block - 1)
        total = 2 * self._turned(inner[0], outer[0]) - float(self.values[0].real)
        # a turn has size 1, so as a float at most 1/(1 − share); each value meets two of them
        share = max(within, across)
        turning = 2 * share * (1 + 4 * share) + PRODUCT + TINY if share < 0.1 else math.inf
        added = length if block == length else block + length // block + 17
        sums = (2 * added + 16) * UNIT  # of adding up in any order: all, or each block and then the blocks
        off, sizes = self._totals
        return arb(total, 2 * (off + sizes * (turning + sums)) * SLACK + TINY)

    def _turned(self, inner: Array, outer: Array) -> float:
        """The real part of Σ v_j·inner_(j mod B)·outer_(j div B), B = len(inner), or of Σ v_j·inner_j."""
        spend(len(self.values) / 400)
        if len(inner) == len(self.values):
            return float(np.einsum("j,j->", self.values, inner).real)
        whole = len(self.values) // BLOCK * BLOCK
        sums = np.einsum("ij,j->i", self.values[:whole].reshape(-1, BLOCK), inner)  # on one core, unlike @
        rest = np.einsum("j,j->", self.values[whole:], inner[: len(self.values) - whole])
        return float((np.einsum("i,i->", sums, outer[:-1]) + rest * outer[-1]).real)

    @cached_property
    def _totals(self) -> tuple[float, float]:
        """The sums of all errors and of all sizes."""
        return float(np.sum(self.error)) * SLACK, float(np.sum(_sizes(self.values))) * SLACK

    def about_both_sides(self, angle: float) -> float:
        block = len(self.values) if len(self.values) < 4 * BLOCK else BLOCK
        inner = np.exp(1j * angle * np.arange(block))
        outer = np.exp(1j * angle * BLOCK * np.arange(len(self.values) // BLOCK + 1))
        return 2 * self._turned(inner, outer) - float(self.values[0].real)


class Grid:
    """The nodes z_j = θ + ij·spacing, j = 0 ... last, of a contour in floating point."""

    def __init__(self, theta: Arb, spacing: Arb, last: int) -> None:
        self.theta, self.spacing, self.last = theta, spacing, last
        self._inverses: dict[float, Nodes] = {}

    def inverse(self, shift: float) -> Nodes:
        """1/(z_j + shift), worked out once for all laws."""
        if shift not in self._inverses:
            line = Nodes.line(self.theta + arb(shift), self.spacing, self.last)
            self._inverses[shift] = line.inverse()
        return self._inverses[shift]


@dataclass(frozen=True)
class Balls:
    """Values in Arb balls, at the working precision."""

    values: list[Acb]

    @classmethod
    def line(cls, theta: Arb, spacing: Arb, last: int) -> "Balls":
        """θ + ij·spacing for j = 0 ... last."""
        return cls([acb(theta, spacing * j) for j in range(last + 1)])

    @classmethod
    def powers(cls, exponent: Acb, last: int) -> "Balls":
        """e^(j·exponent) for j = 0 ... last."""
        return cls(powers(exponent.exp(), last))

    def __mul__(self, other: "Balls") -> "Balls":
        return Balls([a * b for a, b in zip(self.values, other.values, strict=True)])

    def power(self, count: int) -> "Balls":
        return Balls([value**count for value in self.values])

    def inverse(self) -> "Balls":
        return Balls([1 / value for value in self.values])

    def one_minus(self) -> "Balls":
        return Balls([1 - value for value in self.values])

    def scaled(self, factor: Arb) -> "Balls":
        return Balls([factor * value for value in self.values])

    def both_sides(self, angle: Arb) -> Arb:
        turns = Balls.powers(acb(0, angle), len(self.values) - 1)
        return 2 * sum((self * turns).values, acb(0)).real - self.values[0].real

    def about_both_sides(self, angle: float) -> float:
        return float(self.both_sides(arb(angle)))


Arithmetic: TypeAlias = type[Nodes] | type[Balls]


def powers(base: Acb, last: int) -> list[Acb]:
    """base^j for j = 0 ... last, by products of halves.

    Halving keeps the products log₂(last) deep: a chain of rotations would blow up rectangular balls.
    """
    found = [acb(1), base]
    for j in range(2, last + 1):
        found.append(found[j // 2] * found[j - j // 2])
    return found[: last + 1]


def rounded(value: Acb) -> tuple[complex, float]:
    """The middle of a ball as a complex float, and a bound on its distance from the truth."""
    middle = complex(value)
    radius = float(value.real.rad()) + float(value.imag.rad())
    return middle, (2 * UNIT * (abs(middle.real) + abs(middle.imag)) + radius) * SLACK + TINY


def geometric(exponents: Sequence[Acb], last: int, renewed: int = RENEWED) -> tuple[Array, float]:
    """Rows e^(j·exponent), j = 0 ... last, and their error as a share of their size.

    The exponents' real parts are <= 0. Filled by doubling: a value is a product of log₂(last) factors.
    """
    spend(len(exponents) * (2 + (last + 1) / 100 + (last.bit_length() if renewed == 1 else 0)))
    rows = np.empty((len(exponents), last + 1), dtype=complex)
    rows[:, 0] = 1
    filled, share, doublings = 1, 0.0, 0
    factor, wrong = np.empty(0), 0.0
    while filled <= last:
        if doublings % renewed == 0:
            balls = [(exponent * filled).exp() for exponent in exponents]
            narrow = all(value.rel_accuracy_bits() >= 56 for value in balls)
            factor, wrong = np.array([complex(value) for value in balls]), 3 * UNIT if narrow else np.inf
        else:
            factor, wrong = factor * factor, 2 * wrong + PRODUCT
        more = min(filled, last + 1 - filled)
        fresh = rows[:, filled : filled + more]
        np.multiply(rows[:, :more], factor[:, None], out=fresh)
        if np.any(
            np.abs(factor.real) + np.abs(factor.imag) < ROOT
        ):  # numbers below the least normal are slow
            fresh[np.abs(fresh.real) + np.abs(fresh.imag) < ROOT] = 0
        share += wrong + PRODUCT
        filled, doublings = 2 * filled, doublings + 1
    return rows, share * SLACK


def weigh(masses: Sequence[complex], exponents: Sequence[Acb], last: int) -> tuple[Array, float]:
    """Σ mass·e^(j·exponent), j = 0 ... last, and the share of error, of turns and of adding up.

    With j = aB + b each turn is e^(aB·exponent)·e^(b·exponent), so the sums are products of matrices, of
    `ADDED` masses each: a sum of n terms then errs by the roundings of ADDED + n/ADDED additions.
    """
    spend(len(exponents) * (last + 1) / 5000)
    block = 1 << ((last + 1).bit_length() + 1) // 2
    renewed = 1 if last >= MANY else RENEWED
    within, inner = geometric(exponents, min(block, last + 1) - 1, renewed)
    across, outer = geometric([exponent * block for exponent in exponents], last // block, renewed)
    weighed = (across * np.array(masses)[:, None]).T
    sums = np.zeros((weighed.shape[0], within.shape[1]), dtype=complex)
    for start in range(0, len(masses), ADDED):
        _add_product(sums, weighed[:, start : start + ADDED], within[start : start + ADDED])
    adding = (2 * ADDED + math.ceil(len(masses) / ADDED) + 8) * UNIT
    return sums.reshape(-1)[: last + 1], (inner + outer + 2 * PRODUCT + adding) * SLACK


def _add_product(sums: Array, left: Array, right: Array) -> None:
    """Add left·right, in tiles so small that no library wakes other cores for them: they wait for each other
    on a busy machine, and cost more processor time than they save.
    """
    rows, columns = TILE
    for top, side in product(range(0, sums.shape[0], rows), range(0, sums.shape[1], columns)):
        tile = left[top : top + rows] @ right[:, side : side + columns]
        sums[top : top + rows, side : side + columns] += tile


def weigh_balls(masses: Sequence[Acb], exponents: Sequence[Acb], last: int) -> list[Acb]:
    """The same sums in balls."""
    spend(len(exponents) * (last + 1) / 20)
    block = 1 << ((last + 1).bit_length() + 1) // 2
    within = [powers(exponent.exp(), block - 1) for exponent in exponents]
    across = [powers((exponent * block).exp(), last // block) for exponent in exponents]
    outer = [
        [mass * row[a] for mass, row in zip(masses, across, strict=True)] for a in range(last // block + 1)
    ]
    sums = acb_mat(outer) * acb_mat(within)
    return sums.entries()[: last + 1]  # type: ignore[no-any-return]


def _sizes(values: Array) -> Array:
    """Bounds on |v|, from above."""
    return np.sqrt(values.real**2 + values.imag**2) * SLACK + TINY


def _raise(values: Array, count: int) -> Array:
    """values^count, by repeated squaring; an error beyond all floats is infinite, and proves nothing."""
    result, base = None, values
    with np.errstate(over="ignore", invalid="ignore"):
        while True:
            if count & 1:
                result = base if result is None else result * base
            count >>= 1
            if not count:
                return result
            base = base * base
