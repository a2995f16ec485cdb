"""The staircase mechanism: the least noise for pure differential privacy at one sensitivity."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.losses import PrivacyLoss, Relation, check_relation, pure
from discreet.mechanisms.additive import Additive, show
from discreet.mechanisms.example import Example
from discreet.mechanisms.lattice import SMALLEST_PRICE, choose_step
from discreet.numerics import (
    Arb,
    Real,
    ball,
    certified_floor,
    exact_epsilon,
    exact_positive,
    exact_whole,
)
from discreet.randomness import Source, bernoulli_real, geometric, uniform_below


@dataclass(frozen=True, init=False)
class Staircase(Additive):
    """Pr[noise = ±(j·d + i) steps] ∝ e^(-jε) for i < r, e^(-(j+1)ε) for r ≤ i < d; d steps are one
    sensitivity.

    `width` r is the inner stair; the default has the least variance. With d = 1 this is discrete Laplace
    noise.

    Privacy: ε-DP, because a shift by at most d steps moves by at most one stair (docs/theory/statistics.md;
    Geng and Viswanath, IEEE Trans. Inf. Theory 2016). If one unit changes `dimension` numbers
    at once, each gets ε/dimension: the stairs do not add up over an l1 ball. For several numbers it must be
    given.
    Accuracy: at ε = 6 its variance is about a quarter of Laplace noise's.

    >>> Staircase(epsilon=3, sensitivity=8).width
    3
    """

    epsilon: Fraction
    sensitivity: Fraction
    step: Fraction
    width: int
    dimension: int
    relation: Relation

    _loss_needs_dimension: ClassVar[bool] = True

    def __init__(
        self,
        *,
        epsilon: Real,
        sensitivity: Real,
        step: Real | None = None,
        width: Real | None = None,
        dimension: Real | None = None,
        relation: Relation = "add/remove",
    ) -> None:
        price = exact_epsilon(epsilon)
        reach = exact_positive(sensitivity, name="sensitivity")
        grid = choose_step(step, scale=reach / max(price, SMALLEST_PRICE), sensitivity=reach)
        numbers = 1 if dimension is None else exact_whole(dimension, name="dimension", least=1)
        known = check_relation(relation)
        self._fix(epsilon=price, sensitivity=reach, step=grid, dimension=numbers, relation=known)
        self._fix(_assumed=dimension is None)
        if width is None:
            inner = least_variance_width(float(self._price), self._stairs)
        else:
            inner = min(exact_whole(width, name="width", least=1), self._stairs)
        self._fix(width=inner)

    @property
    def _price(self) -> Fraction:
        """ε of each released number."""
        return self.epsilon / self.dimension

    @property
    def _stairs(self) -> int:
        """d, the sensitivity in steps after rounding."""
        return math.ceil(self.sensitivity / self.step)

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of any ε-DP mechanism."""
        return pure(epsilon=self.epsilon, relation=self.relation)

    @cached_property
    def variance(self) -> float:
        """The variance of the noise."""
        return float(self.step) ** 2 * staircase_variance(float(self._price), self._stairs, self.width)

    @property
    def _length(self) -> Fraction:
        return self.sensitivity * (1 + 1 / self._price)

    def _noise(self, source: Source, size: int | None) -> Any:
        return self._draw_one(source) if size is None else self._draw(source, size)

    def _draw_one(self, source: Source) -> int:
        """`_draw` without arrays."""
        while True:
            inside = self.width == self._stairs or bernoulli_real(source, self._inside)
            first, places = (0, self.width) if inside else (self.width, self._stairs - self.width)
            steps = geometric(source, 1 / self._price) * self._stairs + first + uniform_below(source, places)
            if uniform_below(source, 2) == 0:
                return steps
            if steps:
                return -steps

    def _draw(self, source: Source, size: int) -> NDArray[Any]:
        """Block and place are independent; minus zero is thrown away, so that zero counts once."""
        blocks = geometric(source, 1 / self._price, size)
        if blocks.dtype == object or (size and int(blocks.max()) * self._stairs >= 1 << 62):
            blocks = blocks.astype(object)
        steps = blocks * self._stairs + self._places(source, size)
        minus = uniform_below(source, 2, size).astype(bool)
        again = np.flatnonzero(minus & (steps == 0))
        noise: NDArray[Any] = np.where(minus, -steps, steps)
        if again.size:
            noise[again] = self._draw(source, again.size)
        return noise

    def _places(self, source: Source, size: int) -> NDArray[Any]:
        """The place in a block: below r with the odds r : (d - r)·e^-ε, uniform on either side."""
        inner = uniform_below(source, self.width, size)
        if self.width == self._stairs:
            return inner
        outer = self.width + uniform_below(source, self._stairs - self.width, size)
        inside = bernoulli_real(source, self._inside, size)
        return np.where(inside == 1, inner, outer)

    @property
    def _inside(self) -> Callable[[int], int]:
        return lambda bits: _inside_digits(self._price, self._stairs, self.width, bits)

    def _reach(self, confidence: Arb) -> Arb:
        """The least a with Pr[|noise| > a] certainly at most 1 - confidence, by halving."""
        low, high = -1, 1
        while not self._tail(high + 1) <= 1 - confidence:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._tail(middle + 1) <= 1 - confidence else (middle, high)
        return ball(high)

    def _tail(self, least: int) -> Arb:
        """Pr[|noise| >= least steps] for least >= 1."""
        block, place = divmod(least, self._stairs)
        b, r, d = (-ball(self._price)).exp(), self.width, self._stairs
        whole = r + b * (d - r)  # the weight of a block
        rest = max(0, r - place) + b * (d - max(r, place))
        above = b**block * (rest + whole * b / (1 - b))
        return 2 * above / (2 * whole / (1 - b) - 1)

    def describe(self) -> str:
        """The law in words."""
        return (
            f"staircase noise with epsilon {show(self.epsilon)} on multiples of {show(self.step)}, "
            f"for a sensitivity of {show(self.sensitivity)} in {self.dimension} numbers at once"
        )

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Cases for the shared checks."""
        wide, flat = cls(epsilon=1, sensitivity=4), cls(epsilon=Fraction(1, 2), sensitivity=3, width=3)
        return Example(wide, (0, 4), wide._release), Example(flat, (0, 2), flat._release)


@lru_cache(maxsize=256)
def _inside_digits(epsilon: Fraction, stairs: int, width: int, bits: int) -> int:
    """⌊2^bits · r/(r + (d - r)·e^-ε)⌋."""

    def share() -> Arb:
        outer = (stairs - width) * (-ball(epsilon)).exp()
        return width * 2**bits / (width + outer)

    return certified_floor(share)


def staircase_variance(epsilon: float, stairs: int, width: int) -> float:
    """E[noise²] in steps², from sums over one block and geometric sums over blocks."""
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


def least_variance_width(epsilon: float, stairs: int) -> int:
    """The inner stair with the least variance, by shrinking a bracket; privacy does not depend on it."""
    low, high = 1, stairs
    while high - low > 2:
        third = (high - low) // 3
        left, right = low + third, high - third
        if staircase_variance(epsilon, stairs, left) <= staircase_variance(epsilon, stairs, right):
            high = right
        else:
            low = left
    return min(range(low, high + 1), key=lambda width: staircase_variance(epsilon, stairs, width))
