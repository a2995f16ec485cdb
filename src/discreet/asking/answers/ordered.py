"""Ranges, cumulative shares and quantiles, read from a book's table by one column whose labels have an order.

All of it is post-processing, and free: sums of cells that are released, each with the interval of its own
law. Rows without a declared label are in none of it.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.asking.planning import Floats, Whole
from discreet.asking.policy import Value
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact

MOST_LABELS = 2_000  # whose sums are compared with each other


class Range(NamedTuple):
    """A number with the ends of its interval."""

    value: float
    lower: float
    upper: float


class Quantile(NamedTuple):
    """A label with the first and the last one of its interval."""

    label: Value
    lower: Value
    upper: Value


@dataclass(frozen=True, eq=False)
class Ordered:
    """The counts of a column's declared labels, in their order. `covariance` is that of their estimates."""

    name: str
    labels: tuple[Value, ...]
    counts: Floats
    covariance: Floats
    normal: float  # how many standard deviations an interval reaches
    confidence: float

    @cached_property
    def cumulative(self) -> Floats:
        """How many rows have a label or one before it."""
        return np.cumsum(self.counts)

    @cached_property
    def _together(self) -> Floats:
        """The covariance of the cumulative counts."""
        found: Floats = np.cumsum(np.cumsum(self.covariance, axis=0), axis=1)
        return found

    @property
    def reach(self) -> Floats:
        """How far each cumulative count may be from the truth."""
        return self.normal * np.sqrt(np.diag(self._together))

    def between(self, first: Value, last: Value) -> Range:
        """Return how many rows have a label from the first to the last one."""
        low, high = self._place(first), self._place(last)
        if low > high:
            raise InvalidParameter(
                f"a range of {self.name[:60]} must begin with the label that comes first.", parameter="first"
            )
        value = float(self.counts[low : high + 1].sum())
        reach = self.normal * math.sqrt(float(self.covariance[low : high + 1, low : high + 1].sum()))
        return Range(value, value - reach, value + reach)

    @property
    def shares(self) -> tuple[Range, ...]:
        """The cumulative share of each label, of the rows with a declared one.

        The interval holds every share s for which C - s·N may be 0, N being all rows (Fieller 1954); it is
        all from 0 to 1 where N may be 0 itself.
        """
        whole, own = self.cumulative[-1], np.diag(self._together)
        across, square = self._together[:, -1], self.normal**2
        low, high = np.zeros(own.size), np.ones(own.size)
        above = whole**2 - square * own[-1]
        if whole > 0 and above > 0:
            middle = self.cumulative * whole - square * across
            root = np.sqrt(np.maximum(0, middle**2 - above * (self.cumulative**2 - square * own)))
            low, high = (np.clip((middle + sign * root) / above, 0, 1) for sign in (-1, 1))
        shares = np.clip(self.cumulative / whole, 0, 1) if whole > 0 else np.full(own.size, 0.5)
        return tuple(map(Range, shares.tolist(), low.tolist(), high.tolist()))

    def quantile(self, share: Real) -> Quantile:
        """Return the first label up to which this share of the rows lies, and the labels between which the
        true one is with the confidence.

        Label k is left out below where C_k - share·N is surely below 0, and all labels after the last one
        where it may be: each end errs at one label only, the true one or that before it.

        >>> table = Ordered("age", (1, 2, 3), np.array([5.0, 3.0, 2.0]), np.eye(3) / 100, 1.96, 0.95)
        >>> table.quantile(0.5), table.quantile(0.7).label
        (Quantile(label=1, lower=1, upper=2), 2)
        """
        part = float(exact(share, name="share"))
        if not 0 <= part <= 1:
            raise InvalidParameter("share must be from 0 to 1.", parameter="share")
        over = self.cumulative - part * self.cumulative[-1]
        own, across = np.diag(self._together), self._together[:, -1]
        reach = self.normal * np.sqrt(np.maximum(0, own - 2 * part * across + part**2 * own[-1]))
        last = over.size - 1
        found = _first(over >= 0, last)
        low = _first(over + reach >= 0, last)
        unsure = np.flatnonzero(over - reach < 0)
        high = min(last, int(unsure[-1]) + 1) if unsure.size else 0
        return Quantile(*(self.labels[each] for each in (found, min(low, found), max(high, found))))

    def _place(self, label: Value) -> int:
        if label not in self.labels:
            raise InvalidParameter(f"{self.name[:60]} must have that label.", parameter="label")
        return self.labels.index(label)

    def __len__(self) -> int:
        return len(self.labels)


def _first(holds: "np.ndarray[tuple[int], np.dtype[np.bool_]]", last: int) -> int:
    places = np.flatnonzero(holds)
    return int(places[0]) if places.size else last


def in_order(labels: tuple[Value, ...]) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """Return the positions of labels in their order: as they are declared, but ascending for numbers and
    dates."""
    if all(isinstance(each, str) or each is None for each in labels):
        return np.arange(len(labels))
    places: list[int] = sorted(range(len(labels)), key=lambda place: labels[place])  # type: ignore[arg-type,return-value]
    return np.array(places)


def read_ordered(
    name: str,
    labels: tuple[Value, ...],
    steps: Whole,
    covariance: Floats,
    *,
    one: int,
    normal: float,
    confidence: float,
) -> Ordered:
    """Return the declared labels of a table in their order, with what is known of them."""
    order = in_order(labels)
    return Ordered(
        name,
        tuple(labels[each] for each in order),
        steps[order] / one,
        covariance[np.ix_(order, order)],
        normal,
        confidence,
    )
