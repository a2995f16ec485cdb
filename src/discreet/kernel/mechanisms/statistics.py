"""Counts, sums, means, proportions, histograms, variances and quantiles of arrays, ready to use.

Sensitivities come from declared bounds and the relation, never from the data. Under add/remove the number of
records is private too, so a mean divides by a noisy count; under replace it is public. Every value is clamped
to its bounds, rounded to a lattice, and summed in exact whole numbers.

Tested by: tests/mechanisms/test_price.py, tests/mechanisms/test_statistics.py
"""

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.laws import show
from discreet.kernel.losses import Relation, check_relation
from discreet.kernel.mechanisms.gaussian import Gaussian
from discreet.kernel.mechanisms.inputs import all_to_steps, as_numbers, check_values, exact_bounds, to_steps
from discreet.kernel.mechanisms.laplace import Laplace
from discreet.kernel.mechanisms.mechanism import Additive
from discreet.kernel.mechanisms.quantile import Quantile
from discreet.kernel.numerics import (
    Estimate,
    Interval,
    Real,
    ball,
    exact,
    exact_delta,
    exact_epsilon,
    exact_whole,
    largest_power_of_two,
    round_up,
    working_precision,
)

# The price of a ready-made statistic, and the noise it buys.

FAR_BELOW = 100  # delta should stay below 1/(FAR_BELOW · N)


class DeltaWarning(UserWarning):
    """A delta that would let someone among the population be exposed."""


def warn_about_delta(delta: Fraction, population: Real | None) -> None:
    """Warn if delta is not far below 1/N, N being the declared population.

    A mechanism may publish each record with probability δ and still be (0, δ)-DP: some of N people are then
    exposed with probability 1 - (1 - δ)^N.
    """
    if population is None or delta == 0:
        return
    people = exact_whole(population, name="population", least=1)
    if delta * people * FAR_BELOW > 1:
        warnings.warn(
            f"delta {show(delta)} is not far below 1/{people}, one over the declared population: "
            f"a mechanism with this delta may expose someone. Take at most {1 / (FAR_BELOW * people):.1g}.",
            DeltaWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class Price:
    """Laplace noise for δ = 0, Gaussian noise for δ > 0; `parts` equal shares of one price."""

    epsilon: Fraction
    delta: Fraction
    relation: Relation
    parts: int = 1

    @classmethod
    def of(cls, epsilon: Real, delta: Real, relation: Relation, population: Real | None) -> "Price":
        """Check a price."""
        failure = exact_delta(delta)
        warn_about_delta(failure, population)
        return cls(exact_epsilon(epsilon), failure, check_relation(relation))

    def split(self, parts: int) -> "Price":
        """Return one of so many equal shares."""
        return replace(self, epsilon=self.epsilon / parts, delta=self.delta / parts, parts=parts)

    def mechanism(self, *, l1: int, l2: Fraction) -> Additive:
        """Return noise on whole numbers that one person changes by at most l1 (added up) and l2
        (Euclidean)."""
        if self.delta == 0:
            return Laplace(epsilon=self.epsilon, sensitivity=l1, step=1, relation=self.relation)
        return Gaussian(
            epsilon=self.epsilon, delta=self.delta, sensitivity=l2, step=1, relation=self.relation
        )

    def release(
        self, total: Any, *, sensitivity: int, step: Fraction = Fraction(1), confidence: Real
    ) -> Estimate:
        """Release a whole number of steps, with noise, as a number."""
        noise = self.mechanism(l1=sensitivity, l2=Fraction(sensitivity))
        return self._estimate(noise, noise.release(int(total)), 1, step, confidence)

    def release_cells(self, counts: Any, *, confidence: Real) -> list[Estimate]:
        """Release counts of disjoint cells, each with noise of its own, all intervals holding together."""
        if self.relation == "add/remove":
            noise = self.mechanism(l1=1, l2=Fraction(1))
        else:
            with working_precision(128):
                noise = self.mechanism(l1=2, l2=Fraction(round_up(ball(2).sqrt())))
        released = noise.release([int(cell) for cell in counts])
        return [self._estimate(noise, cell, len(released), Fraction(1), confidence) for cell in released]

    @staticmethod
    def _estimate(noise: Any, released: int, dimension: int, step: Fraction, confidence: Real) -> Estimate:
        scale = float(step)
        reach = noise.error(confidence=confidence, dimension=dimension)
        ends = Interval((released - reach) * scale, (released + reach) * scale)
        value = released if step == 1 else released * scale
        return Estimate(value, noise.variance**0.5 * scale, ends, float(confidence))


_FINENESS = 1 << 20  # steps between the bounds
_FEW_POINTS = 1 << 12  # among more, leaving out those that were tried makes no difference


def count(
    values: Any,
    *,
    epsilon: Real,
    delta: Real = 0,
    relation: Relation = "add/remove",
    population: Real | None = None,
    confidence: Real = 0.95,
) -> Estimate:
    """Return how many of these flags (True or 1 for a person who counts) are set.

    Privacy: one person changes the count by at most 1, under either relation.
    """
    price = Price.of(epsilon, delta, relation, population)
    return price.release(_flags(values).sum(), sensitivity=1, confidence=confidence)


def bounded_sum(
    values: Any,
    *,
    bounds: tuple[Real, Real],
    epsilon: Real,
    delta: Real = 0,
    relation: Relation = "add/remove",
    population: Real | None = None,
    confidence: Real = 0.95,
) -> Estimate:
    """Return the sum of values clamped to [L, U].

    Privacy: sensitivity max(|L|, |U|) under add/remove, U - L under replace.
    """
    price = Price.of(epsilon, delta, relation, population)
    rows = _Rows(values, bounds)
    reach = rows.high - rows.low if relation != "add/remove" else max(abs(rows.low), abs(rows.high))
    return price.release(rows.total(rows.steps), sensitivity=reach, step=rows.step, confidence=confidence)


def mean(
    values: Any,
    *,
    bounds: tuple[Real, Real],
    epsilon: Real,
    delta: Real = 0,
    relation: Relation = "add/remove",
    population: Real | None = None,
    confidence: Real = 0.95,
) -> Estimate:
    """Return the mean of values clamped to [L, U]; the middle of the bounds for no values.

    Privacy: the sum of distances from the middle has sensitivity (U - L)/2 under add/remove, where half of
    the price goes to it and half to the count; under replace the count is public and the sum costs U - L.
    """
    price = Price.of(epsilon, delta, relation, population)
    rows = _Rows(values, bounds)
    size, (first,) = _moments(rows, price, 1, confidence)
    low, high = (float(bound) for bound in rows.bounds)
    ends = _ratio(first.interval, size.interval)
    middle, divisor = float(rows.middle * rows.step), max(size.value, 1.0)
    centre = first.value / divisor
    error = math.hypot(first.standard_error, centre * size.standard_error) / divisor
    inside = Interval(*(min(max(middle + end, low), high) for end in ends))
    return Estimate(min(max(middle + centre, low), high), error, inside, float(confidence))


def proportion(
    values: Any,
    *,
    epsilon: Real,
    delta: Real = 0,
    relation: Relation = "add/remove",
    population: Real | None = None,
    confidence: Real = 0.95,
) -> Estimate:
    """Return the share of flags that are set.

    Privacy: under replace the count n is public, and one person moves the share by at most 1/n.
    """
    return mean(
        _flags(values).astype(np.float64),
        bounds=(0, 1),
        epsilon=epsilon,
        delta=delta,
        relation=relation,
        population=population,
        confidence=confidence,
    )


def variance(
    values: Any,
    *,
    bounds: tuple[Real, Real],
    epsilon: Real,
    delta: Real = 0,
    relation: Relation = "add/remove",
    population: Real | None = None,
    confidence: Real = 0.95,
) -> Estimate:
    """Return the population variance of values clamped to [L, U].

    Privacy: from the count (if it is private), the sum and the sum of squares around the middle, each with an
    equal part of the price.
    """
    price = Price.of(epsilon, delta, relation, population)
    rows = _Rows(values, bounds)
    size, (first, second) = _moments(rows, price, 2, confidence)
    half = float(Fraction(rows.reach**2, 2) * rows.step**2)
    means, squares = _ratio(first.interval, size.interval), _ratio(second.interval, size.interval)
    most = float((rows.bounds[1] - rows.bounds[0]) ** 2 / 4)
    nearest = 0.0 if 0 in means else min(abs(means.lower), abs(means.upper))
    lower = half + squares.lower - max(abs(means.lower), abs(means.upper)) ** 2
    inside = Interval(*(min(max(end, 0.0), most) for end in (lower, half + squares.upper - nearest**2)))
    divisor = max(size.value, 1.0)
    a, b = first.value / divisor, second.value / divisor
    error = math.hypot(
        second.standard_error, 2 * a * first.standard_error, (b - 2 * a * a) * size.standard_error
    )
    return Estimate(min(max(half + b - a * a, 0.0), most), error / divisor, inside, float(confidence))


def histogram(
    values: Any,
    *,
    epsilon: Real,
    keys: Sequence[Hashable] | None = None,
    edges: Sequence[Real] | None = None,
    delta: Real = 0,
    relation: Relation = "add/remove",
    population: Real | None = None,
    confidence: Real = 0.95,
) -> dict[Any, Estimate]:
    """Return the count of every public key, or of every interval [edge, next edge); the last one holds its
    upper edge.

    Values outside are left out. The intervals hold all at once.
    Privacy: a person is in one cell: l1 sensitivity 1 under add/remove, 2 under replace (l2: 1 and √2).
    """
    price = Price.of(epsilon, delta, relation, population)
    if (keys is None) == (edges is None):
        raise InvalidParameter("exactly one of keys and edges must be given.", parameter="keys")
    cells, counts = _by_keys(values, keys) if keys is not None else _by_edges(values, edges or ())
    return dict(zip(cells, price.release_cells(counts, confidence=confidence), strict=True))


def quantile(
    values: Any,
    quantile: Real = Fraction(1, 2),
    *,
    epsilon: Real,
    bounds: tuple[Real, Real],
    step: Real | None = None,
    relation: Relation = "add/remove",
) -> int | float:
    """Return a value near this quantile, of a lattice: see `Quantile`.

    Privacy: ε-DP; by permute-and-flip among few points, where it errs less, else exponential.
    """
    given: dict[str, Any] = {
        "epsilon": epsilon,
        "quantile": quantile,
        "bounds": bounds,
        "step": step,
        "relation": relation,
    }
    mechanism = Quantile(**given)
    if mechanism.points <= _FEW_POINTS:
        mechanism = Quantile(**given, method="permute-and-flip")
    return mechanism.release(values)


def median(
    values: Any,
    *,
    epsilon: Real,
    bounds: tuple[Real, Real],
    step: Real | None = None,
    relation: Relation = "add/remove",
) -> int | float:
    """Return a value near the middle one: the quantile 1/2."""
    return quantile(values, epsilon=epsilon, bounds=bounds, step=step, relation=relation)


class _Rows:
    """Clamped values in whole steps, and their distances from the middle of the bounds."""

    def __init__(self, values: Any, bounds: tuple[Real, Real]) -> None:
        self.bounds = low, high = exact_bounds(bounds)
        # From the declared bounds alone: the type of the data must not decide.
        self.step = largest_power_of_two((high - low) / _FINENESS)
        self.low, self.high = (to_steps(bound, self.step) for bound in (low, high))
        self.middle = (self.low + self.high) // 2
        self.reach = max(self.high - self.middle, self.middle - self.low)
        numbers = as_numbers(values)
        if numbers.dtype != object:
            numbers = np.clip(numbers, float(low), float(high))
        self.steps = np.clip(all_to_steps(numbers, self.step), self.low, self.high)

    @staticmethod
    def total(steps: NDArray[Any]) -> int:
        """Return the exact sum."""
        if steps.dtype == object or (steps.size and steps.size * int(np.abs(steps).max()) >= 1 << 62):
            return sum(steps.tolist())
        return int(steps.sum())


def _moments(rows: _Rows, price: Price, order: int, confidence: Real) -> tuple[Estimate, list[Estimate]]:
    """Return the count, and the sums of distances and of their squares less half their range."""
    public = price.relation != "add/remove"
    if public and rows.steps.size == 0:
        raise InvalidParameter(
            "values must hold at least one record under replace, got none.", parameter="values"
        )
    each = price.split(order + (0 if public else 1))
    level = _each_confidence(confidence, each.parts)
    distances = rows.steps - rows.middle
    moves = 2 if public else 1
    sums = [
        each.release(rows.total(distances), sensitivity=moves * rows.reach, step=rows.step, confidence=level)
    ]
    if order == 2:
        squares = 2 * distances.astype(object) ** 2 - rows.reach**2  # twice the square, less its range: whole
        sums.append(
            each.release(
                rows.total(squares),
                sensitivity=moves * rows.reach**2,
                step=rows.step**2 / 2,
                confidence=level,
            )
        )
    size = float(rows.steps.size)
    if public:
        return Estimate(size, 0.0, Interval(size, size), float(level)), sums
    return each.release(rows.steps.size, sensitivity=1, confidence=level), sums


def _each_confidence(confidence: Real, parts: int) -> Fraction:
    """Return the confidence of each of `parts` intervals that hold together, by a union bound."""
    return 1 - (1 - exact(confidence, name="confidence")) / parts


def _ratio(total: Interval, size: Interval) -> Interval:
    """Return where total/size lies for at least one record; everything is possible if there may be none."""
    if size.lower < 1:
        return Interval(-math.inf, math.inf)
    ends = [a / b for a in total for b in size]
    return Interval(min(ends), max(ends))


def _flags(values: Any) -> NDArray[np.int64]:
    """Return flags as 0 and 1; anything else is refused."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biuf"):
        raise InvalidParameter("values must be a list of flags.", parameter="values")
    if not ((array == 0) | (array == 1)).all():
        raise InvalidParameter(
            "values must be flags, one for each person: True or False, 1 or 0. "
            "Say which people count: dp.count(ages > 40, epsilon=1).",
            parameter="values",
        )
    return array.astype(np.int64)


def _by_keys(values: Any, keys: Sequence[Hashable]) -> tuple[list[Any], NDArray[np.int64]]:
    position = {key: i for i, key in enumerate(check_values(keys))}
    held = values.tolist() if isinstance(values, np.ndarray) else values
    try:
        found = [position[value] for value in held if value in position]
    except TypeError:
        raise InvalidParameter("values must be hashable, as keys are.", parameter="values") from None
    return list(position), np.bincount(np.array(found, dtype=np.int64), minlength=len(position))


def _by_edges(values: Any, edges: Sequence[Real]) -> tuple[list[Any], NDArray[np.int64]]:
    exact_edges = [exact(edge, name="edges") for edge in edges]
    if len(exact_edges) < 2 or any(a >= b for a, b in pairwise(exact_edges)):
        raise InvalidParameter("edges must be at least two, in increasing order.", parameter="edges")
    numbers = as_numbers(values)
    ends = np.array([float(edge) for edge in exact_edges])
    cells = np.searchsorted(ends, numbers, side="right") - 1
    cells[numbers == ends[-1]] = len(ends) - 2
    inside = cells[(cells >= 0) & (cells < len(ends) - 1)]
    labels = list(pairwise(edges))
    return labels, np.bincount(inside, minlength=len(labels))
