"""Staircase noise: steps of equal probability, each a factor e^-ε below the one before.

Tested by: tests/laws/test_lattice_laws.py
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.kernel.laws.lattice_law import LatticeLaw, show
from discreet.kernel.losses import PrivacyLoss, Relation, pure, staircase
from discreet.kernel.numerics import Arb, ball, certified_floor
from discreet.kernel.randomness import Source, bernoulli_real, geometric, uniform_below


@dataclass(frozen=True)
class StaircaseLaw(LatticeLaw):
    """Pr[noise = ±(j·d + i) steps] ∝ e^(-jε) for i < r, e^(-(j+1)ε) for r <= i < d; d = stairs, r = width."""

    epsilon: Fraction
    stairs: int
    width: int
    step: Fraction = Fraction(1)

    @property
    def length(self) -> Fraction:
        return self.stairs * self.step * (1 + 1 / self.epsilon)

    @property
    def symbol(self) -> str:
        return f"ε = {float(self.epsilon):.4g}"

    def upper(self, k: int) -> Arb:
        block, place = divmod(k, self.stairs)
        b, r, d = (-ball(self.epsilon)).exp(), self.width, self.stairs
        whole = r + b * (d - r)  # the weight of a block
        rest = max(0, r - place) + b * (d - max(r, place))
        above = b**block * (rest + whole * b / (1 - b))
        return above / (2 * whole / (1 - b) - 1)

    def draw(self, source: Source, size: int | None = None) -> Any:
        return self._draw_one(source) if size is None else self._draw_many(source, size)

    def _draw_one(self, source: Source) -> int:
        """Draw as `_draw_many` does, without arrays."""
        while True:
            inside = self.width == self.stairs or bernoulli_real(source, self._inside)
            first, places = (0, self.width) if inside else (self.width, self.stairs - self.width)
            steps = geometric(source, 1 / self.epsilon) * self.stairs + first + uniform_below(source, places)
            if uniform_below(source, 2) == 0:
                return steps
            if steps:
                return -steps

    def _draw_many(self, source: Source, size: int) -> NDArray[Any]:
        """Draw block and place independently; throw minus zero away, so that zero counts once."""
        blocks = geometric(source, 1 / self.epsilon, size)
        if blocks.dtype == object or (size and int(blocks.max()) * self.stairs >= 1 << 62):
            blocks = blocks.astype(object)
        steps = blocks * self.stairs + self._places(source, size)
        minus = uniform_below(source, 2, size).astype(bool)
        again = np.flatnonzero(minus & (steps == 0))
        noise: NDArray[Any] = np.where(minus, -steps, steps)
        if again.size:
            noise[again] = self._draw_many(source, again.size)
        return noise

    def _places(self, source: Source, size: int) -> NDArray[Any]:
        """Draw the place in a block: below r with the odds r : (d - r)·e^-ε, uniform on either side."""
        inner = uniform_below(source, self.width, size)
        if self.width == self.stairs:
            return inner
        outer = self.width + uniform_below(source, self.stairs - self.width, size)
        inside = bernoulli_real(source, self._inside, size)
        return np.where(inside == 1, inner, outer)

    @property
    def _inside(self) -> Callable[[int], int]:
        return lambda bits: _inside_digits(self.epsilon, self.stairs, self.width, bits)

    @cached_property
    def variance(self) -> float:
        """Return E[noise²], from sums over one block and geometric sums over blocks."""
        return float(self.step) ** 2 * _variance(float(self.epsilon), self.stairs, self.width)

    def loss(self, distance: Fraction, relation: Relation) -> PrivacyLoss:
        """Return the exact curve of a shift by at most d steps; of more, ε for each block begun."""
        blocks = math.ceil(distance / (self.stairs * self.step))
        if blocks > 1:
            return pure(epsilon=self.epsilon * blocks, relation=relation)
        return staircase(epsilon=self.epsilon, stairs=self.stairs, width=self.width, relation=relation)

    def describe(self) -> str:
        return f"staircase noise with epsilon {show(self.epsilon)} on multiples of {show(self.step)}"


@lru_cache(maxsize=256)
def _inside_digits(epsilon: Fraction, stairs: int, width: int, bits: int) -> int:
    """Return ⌊2^bits · r/(r + (d - r)·e^-ε)⌋."""

    def share() -> Arb:
        outer = (stairs - width) * (-ball(epsilon)).exp()
        return width * 2**bits / (width + outer)

    return certified_floor(share)


def _variance(epsilon: float, stairs: int, width: int) -> float:
    b = math.exp(-epsilon)
    gap = -math.expm1(-epsilon)
    zeroth = width + b * (stairs - width)
    first = _sum1(width) + b * (_sum1(stairs) - _sum1(width))
    second = _sum2(width) + b * (_sum2(stairs) - _sum2(width))
    total = stairs**2 * zeroth * b * (1 + b) / gap**3 + 2 * stairs * first * b / gap**2 + second / gap
    return 2 * total / (2 * zeroth / gap - 1)


def _sum1(n: int) -> int:
    return n * (n - 1) // 2


def _sum2(n: int) -> int:
    return (n - 1) * n * (2 * n - 1) // 6


def choose_width(epsilon: float, stairs: int) -> int:
    """Return the inner stair with the least variance, by shrinking a bracket; privacy does not depend on
    it."""
    low, high = 1, stairs
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        if _variance(epsilon, stairs, left) <= _variance(epsilon, stairs, right):
            high = right
        else:
            low = left
    return min(range(low, high + 1), key=lambda width: _variance(epsilon, stairs, width))
