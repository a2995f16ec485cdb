"""A private quantile: the exponential mechanism over every point of a public lattice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.laws import FiniteLaw, compute_permute_and_flip, compute_softmax, show
from discreet.kernel.losses import PrivacyLoss, Relation, bounded_range, check_relation, pure
from discreet.kernel.mechanisms.inputs import as_numbers, exact_bounds
from discreet.kernel.mechanisms.lattice import choose_step
from discreet.kernel.mechanisms.mechanism import Case, Frozen, Pair
from discreet.kernel.mechanisms.selection import tail_gap
from discreet.kernel.numerics import (
    Real,
    exact_epsilon,
    exact_probability,
    exact_whole,
    largest_power_of_two,
)
from discreet.kernel.randomness import Source, fresh_source, permute_and_flip, uniform_below, weighted_choice

_FINENESS = 1 << 20  # steps between the bounds, unless a step is declared
_MOST_POINTS = 1 << 61
_MOST_LISTED = 2000  # points whose probabilities are listed
_MOST_COINS = 1 << 22  # points that permute-and-flip throws coins for, one each

Method: TypeAlias = Literal["exponential", "permute-and-flip"]


@dataclass(frozen=True, init=False, repr=False)
class Quantile(Frozen):
    """Choose c among the multiples of `step` within `bounds`, with probability ∝ exp(ε·u(c)/2Δ).

    u(D, c) = -|(1-q)·#{x < c} - q·#{x > c}|, Δ = max(q, 1-q)·max_rows under add/remove, max_rows under
    replace. The least and the greatest value (q = 0, q = 1) have Δ = max_rows/2.

    `max_rows` is how many of the values may be one unit's. All points between two neighbouring values
    score alike, so one gap is chosen by its exact weight and then
    a point in it: the law over all points, at the price of a sort. Values outside the bounds lie below or
    above all points.

    Privacy: ε-DP and bounded range ε, as any exponential mechanism (Smith, STOC 2011). At the ends a unit
    moves all scores within a range of max_rows (docs/theory/selection.md). The method "permute-and-flip"
    errs less, and is charged as any ε-DP mechanism.
    Accuracy: `rank_error`.

    >>> Quantile(epsilon=1, quantile=0.5, bounds=(0, 100), step=1).points
    101
    """

    epsilon: Fraction
    quantile: Fraction
    bounds: tuple[Fraction, Fraction]
    step: Fraction
    max_rows: int
    method: Method
    relation: Relation

    def __init__(
        self,
        *,
        epsilon: Real,
        quantile: Real = Fraction(1, 2),
        bounds: tuple[Real, Real],
        step: Real | None = None,
        max_rows: Real = 1,
        method: Method = "exponential",
        relation: Relation = "add/remove",
    ) -> None:
        low, high = exact_bounds(bounds)
        fine = largest_power_of_two((high - low) / _FINENESS)
        grid = choose_step(fine if step is None else step, scale=high - low, sensitivity=high - low)
        self._fix(
            epsilon=exact_epsilon(epsilon),
            quantile=exact_probability(quantile, name="quantile"),
            bounds=(low, high),
            step=grid,
            max_rows=exact_whole(max_rows, name="max_rows", least=1),
            method=method,
            relation=check_relation(relation),
        )
        if method not in ("exponential", "permute-and-flip"):
            raise InvalidParameter(
                f'method must be "exponential" or "permute-and-flip", got {str(method)[:60]}.',
                parameter="method",
            )
        if method == "permute-and-flip" and self.points > _MOST_COINS:
            raise InvalidParameter(
                f"step must leave at most 2^22 points for permute-and-flip, got {show(grid)}.",
                parameter="step",
            )
        if not 1 <= self.points <= _MOST_POINTS or max(map(abs, self._ends)) >= _MOST_POINTS:
            raise InvalidParameter(
                f"step must leave between 1 and 2^61 points within the bounds, got {show(grid)}.",
                parameter="step",
            )

    @property
    def _ends(self) -> tuple[int, int]:
        """Return the first and last point, in steps."""
        low, high = self.bounds
        return math.ceil(low / self.step), math.floor(high / self.step)

    @property
    def points(self) -> int:
        """Return how many values may be released."""
        first, last = self._ends
        return last - first + 1

    @property
    def _weights(self) -> tuple[int, int]:
        """Return q and 1-q as whole numbers a and b in proportion: scores are then whole too."""
        return self.quantile.numerator, self.quantile.denominator - self.quantile.numerator

    @property
    def _factor(self) -> Fraction:
        below, above = self._weights
        if not (below and above):  # one count decides: all scores move within a range of max_rows
            return self.epsilon / self.max_rows
        sensitivity = below + above if self.relation != "add/remove" else max(below, above)
        return self.epsilon / (2 * sensitivity * self.max_rows)

    @property
    def loss(self) -> PrivacyLoss:
        """Return the loss of a mechanism of bounded range ε; of any ε-DP mechanism for permute-and-flip."""
        family = bounded_range if self.method == "exponential" else pure
        return family(epsilon=self.epsilon, relation=self.relation)

    def release(self, values: Any) -> int | float:
        """Return a point of the lattice near the quantile: an int on a step of 1 or more, else a float."""
        return self.draw(values, fresh_source())

    def draw(self, values: Any, source: Source) -> int | float:
        """Release with randomness from `source`."""
        return self._point(self._choose(source, *self._gaps(*self._in_steps(values))))

    def draw_tally(self, steps: NDArray[np.int64], counts: NDArray[np.int64], source: Source) -> int:
        """Draw a point, in steps, from how many values are on each step (ascending): the law of `release`."""
        return self._choose(source, *self._gaps_of_tally(steps, counts))

    def _point(self, steps: int) -> int | float:
        return int(steps * self.step) if self.step >= 1 else float(steps * self.step)

    def sample(self, values: Any, n: int) -> list[int | float]:
        """Release n times."""
        return [self.release(values) for _ in range(n)]

    def law(self, values: Any) -> FiniteLaw | None:
        """Return the probability of every point; None where there are many."""
        if self.points > _MOST_LISTED:
            return None
        _, sizes, scores = self._gaps(*self._in_steps(values))
        compute = compute_softmax if self.method == "exponential" else compute_permute_and_flip
        law = compute(np.repeat(scores, sizes), self._factor)
        return {self._point(self._ends[0] + i): law[i] for i in range(self.points)}

    def neighbours(self) -> Sequence[Pair]:
        """Return few values at the bounds and in the middle, one of which is added or replaced."""
        low, high = (float(end) for end in self.bounds)
        middle = (low + high) / 2
        if self.relation == "add/remove":
            return [([], [low]), ([middle] * 2, [middle] * 2 + [high]), ([low, high], [low, high, high])]
        return [([low], [high]), ([middle, low], [middle, high])]

    def _choose(
        self, source: Source, starts: NDArray[np.int64], sizes: NDArray[np.int64], scores: NDArray[Any]
    ) -> int:
        if self.method == "permute-and-flip":  # every point has a coin of its own
            return self._ends[0] + permute_and_flip(source, np.repeat(scores, sizes), self._factor)
        gap = weighted_choice(source, scores, self._factor, sizes)
        return int(starts[gap]) + uniform_below(source, int(sizes[gap]))

    def _gaps(
        self, floors: NDArray[np.int64], ceilings: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Return runs of points with one score: first point, number of points, score times the denominator of
        q.

        Values are given by their ⌊x/step⌋ and ⌈x/step⌉, each sorted.
        """
        first, last = self._ends
        cuts = np.concatenate([[first], floors + 1, ceilings, ceilings + 1])
        starts = np.unique(cuts[(cuts >= first) & (cuts <= last)])
        sizes = np.diff(np.append(starts, last + 1))
        less = np.searchsorted(floors, starts, side="left")  # x < c exactly when ⌊x⌋ < c
        more = floors.size - np.searchsorted(ceilings, starts, side="right")
        return starts, sizes, self._scores(less, more, floors.size)

    def _gaps_of_tally(
        self, steps: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
        """Return the same runs, from distinct steps in order: each step is a run, and so is what lies
        between."""
        first, last = self._ends
        inside = slice(*np.searchsorted(steps, [first, last + 1]))
        seen = np.append(0, np.cumsum(counts))
        total, seen = int(seen[-1]), seen[inside.start : inside.stop + 1]
        cuts = np.empty(2 * seen.size - 1, dtype=np.int64)
        cuts[0], cuts[1::2], cuts[2::2] = first, steps[inside], steps[inside] + 1
        sizes = np.diff(cuts, append=last + 1)
        less, more = np.repeat(seen, 2)[:-1], total - np.repeat(seen, 2)[1:]
        some = sizes > 0
        return cuts[some], sizes[some], self._scores(less[some], more[some], total)

    def _scores(self, less: NDArray[np.int64], more: NDArray[np.int64], total: int) -> NDArray[Any]:
        below, above = self._weights
        kind = np.int64 if max(below, above) * (total + 1) < 1 << 62 else object
        scores: NDArray[Any] = -np.abs(above * less.astype(kind) - below * more.astype(kind))
        return scores

    def _in_steps(self, values: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """⌊x/step⌋ and ⌈x/step⌉ of every value, exactly and sorted; beyond the ends it does not matter
        where.
        """
        array = as_numbers(values)
        first, last = self._ends
        exponent = self.step.numerator.bit_length() - self.step.denominator.bit_length()
        if array.dtype.kind == "f":
            with np.errstate(over="ignore", under="ignore"):
                scaled = np.ldexp(array, -exponent)
            if (np.ldexp(scaled, exponent) == array).all():  # no bits fell off either end
                scaled = np.clip(scaled, first - 1, last + 1)
                return np.sort(np.floor(scaled).astype(np.int64)), np.sort(np.ceil(scaled).astype(np.int64))
        ends = Fraction(first - 1), Fraction(last + 1)
        exact_steps = [min(max(Fraction(value) / self.step, ends[0]), ends[1]) for value in array.tolist()]
        exact_steps.sort()
        floors = np.array([math.floor(value) for value in exact_steps], dtype=np.int64)
        return floors, np.array([math.ceil(value) for value in exact_steps], dtype=np.int64)

    def rank_error(self, *, confidence: Real = 0.95) -> float:
        """Return how many ranks from the quantile the answer may be, at this confidence, where values are
        distinct and some point is the quantile itself; rounded up."""
        below, above = self._weights
        gap = tail_gap(mass=Fraction(self.points), factor=self._factor, confidence=confidence)
        return gap / (below + above)

    def describe(self) -> str:
        """Return one sentence for a receipt."""
        low, high = self.bounds
        return (
            f"Quantile {show(self.quantile)} by {self.method} selection with epsilon {show(self.epsilon)} "
            f"over multiples of {show(self.step)} in [{show(low)}, {show(high)}] ({self.relation})."
        )

    @classmethod
    def examples(cls) -> tuple[Case, ...]:
        """Return cases for the conformance tests."""
        median: dict[str, Any] = {"epsilon": 2, "bounds": (0, 4), "step": 1}
        upper = {**median, "quantile": Fraction(3, 4), "relation": "replace"}
        return (
            Case({**median, "method": "permute-and-flip"}, ((1, 1, 3), (1, 1, 3, 4))),
            Case(median, ((1, 1, 3), (1, 1, 3, 4))),
            Case(upper, ((0.5, 1, 3), (4, 1, 3))),
        )
