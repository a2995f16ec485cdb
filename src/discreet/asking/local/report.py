"""What both halves of every protocol share, and what protocols for a bounded number share."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.asking.local.sources import Groups, read_reports
from discreet.errors import InvalidParameter
from discreet.kernel.mechanisms import Laplace
from discreet.kernel.mechanisms.inputs import exact_bounds
from discreet.kernel.numerics import (
    Estimate,
    Interval,
    Real,
    ball,
    certified_floor,
    exact,
    exact_epsilon,
    exact_probability,
    exact_whole,
)

WORD = 1 << 64
AGAIN = "A second report of the same person costs epsilon once more."


@dataclass(frozen=True)
class Comparison:
    """Standard errors of one number from so many people: local privacy against a trusted curator's noise."""

    local: float
    central: float

    @property
    def ratio(self) -> float:
        """How many times larger the local error is: about √n times as large."""
        return self.local / self.central


def listed(value: Any) -> list[Any] | None:
    """The records of several people as a list, or None for one record."""
    if isinstance(value, np.ndarray):
        return list(value.reshape(-1).tolist())
    return list(value) if isinstance(value, list | tuple) else None


def read_field(protocol: dict[str, Any], name: str) -> Any:
    """A field of a stored protocol."""
    if name not in protocol:
        raise InvalidParameter(
            f"a protocol must have the field {name}. Use the JSON that the collector published.",
            parameter=name,
        )
    return protocol[name]


def read_counts(stored: dict[str, Any], name: str, size: int) -> NDArray[np.int64]:
    """Counts that were stored as a list of this length."""
    counts = read_field(stored, name)
    whole = isinstance(counts, list) and all(type(count) is int and 0 <= count < 1 << 62 for count in counts)
    if not whole or len(counts) != size:
        raise InvalidParameter(f"{name} must be {size} whole numbers.", parameter=name)
    return np.array(counts, dtype=np.int64)


def read_fraction(protocol: dict[str, Any], name: str) -> Fraction:
    """A number that was stored exactly, as text."""
    return parse_fraction(read_field(protocol, name), name)


def parse_fraction(text: Any, name: str) -> Fraction:
    """An exact number from "1/3", "0.5" or 2."""
    try:
        return exact(Fraction(str(text)), name=name)
    except (ValueError, ZeroDivisionError):
        raise InvalidParameter(f"{name} must be a number.", parameter=name) from None


def word_threshold(odds: Fraction, epsilon: Fraction) -> int:
    """⌊2^64/(1 + odds·e^-ε)⌋, where there are `odds` other reports for each that the truth makes likelier.

    A random word below it makes a likely report: rounded down, so the ratio of probabilities is at most e^ε.

    >>> word_threshold(Fraction(1), Fraction(1)) / 2**64  # e/(e + 1)
    0.7310585786300049
    """
    return certified_floor(lambda: WORD / (1 + ball(odds) * (-ball(epsilon)).exp()))


def miss(confidence: Real) -> float:
    """ln(2/(1 - confidence)), for a two-sided tail bound."""
    missed = 1 - exact(confidence, name="confidence")
    if not 0 < missed < 1:
        raise InvalidParameter(
            f"confidence must lie between 0 and 1, got {confidence}.", parameter="confidence"
        )
    return math.log(2 / missed)


def widen(estimate: Estimate, by: float) -> Estimate:
    """The same estimate with an interval that is longer at both ends."""
    lower, upper = estimate.interval
    ends = Interval(lower - by, upper + by)
    return Estimate(estimate.value, estimate.standard_error, ends, estimate.confidence)


def mean_estimate(centre: float, spread: float, reach: float, count: int, confidence: Real) -> Estimate:
    """A mean of `count` independent reports with its standard error and the half-width of its interval."""
    return Estimate(
        centre, spread / math.sqrt(count), Interval(centre - reach, centre + reach), float(confidence)
    )


@dataclass(frozen=True, eq=False)
class Mean:
    """What the collector of numbers has: how many reports, and the sums of them and of their squares."""

    protocol: "BoundedNumber"
    reports: int
    total: int  # in steps of a report, exactly
    squares: int

    def __post_init__(self) -> None:
        if self.reports < 1:
            raise InvalidParameter("reports must hold at least one report, got none.", parameter="reports")

    def __add__(self, more: "Mean") -> "Mean":
        """Return both together; they must be of one protocol."""
        if not isinstance(more, Mean):
            return NotImplemented
        if more.protocol != self.protocol:
            raise InvalidParameter("reports must be of one protocol.", parameter="reports")
        sums = (self.total + more.total, self.squares + more.squares)
        return Mean(self.protocol, self.reports + more.reports, *sums)

    @property
    def centre(self) -> Fraction:
        """The mean report, in steps."""
        return Fraction(self.total, self.reports)

    @property
    def spread(self) -> float:
        """The standard deviation of the reports, in steps."""
        return math.sqrt(Fraction(self.squares, self.reports) - self.centre**2)

    def estimate(self, *, confidence: Real = 0.95, liars: Real = 0) -> Estimate:
        """Return the mean among those who reported; with a share of liars, whatever those sent."""
        moved = self.moved_by(liars)
        return widen(self.protocol._estimate_mean(self, confidence), moved)

    def moved_by(self, liars: Real) -> float:
        """Return how far this share of liars can move the mean, at most: each by a whole report."""
        share = exact_probability(liars, name="liars")
        liars_among = math.ceil(share * self.reports)
        return (
            self.protocol._reach_of_one() * liars_among / self.reports * (1 + 1e-12) if liars_among else 0.0
        )

    def to_json(self) -> dict[str, Any]:
        """Return the sums, which are all that an estimate needs."""
        return {"reports": self.reports, "total": self.total, "squares": self.squares}

    def __repr__(self) -> str:
        return f"Mean(reports={self.reports})"


@dataclass(frozen=True, init=False)
class BoundedNumber(ABC):
    """What both protocols for numbers share."""

    protocol: ClassVar[str]

    bounds: tuple[Fraction, Fraction]
    epsilon: Fraction

    def __init__(self, *, bounds: tuple[Real, Real], epsilon: Real) -> None:
        object.__setattr__(self, "bounds", exact_bounds(bounds))
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))

    @property
    @abstractmethod
    def variance(self) -> float:
        """The largest variance of a single report's estimate."""

    def _clamp(self, truth: Any) -> Fraction:
        """The number between the bounds; a float stands for its binary value."""
        value = truth.item() if isinstance(truth, np.generic) else truth
        if isinstance(value, bool) or not isinstance(value, Rational | float):
            raise InvalidParameter("value must be a number.", parameter="value")
        if not math.isfinite(value):
            raise InvalidParameter("value must be finite.", parameter="value")
        low, high = self.bounds
        return min(max(Fraction(value), low), high)

    @abstractmethod
    def _read(self, reports: Any) -> list[int]:
        """The reports in steps; what this protocol cannot send is refused."""

    def check(self, report: Any) -> None:
        """Refuse what is no report of this protocol."""
        self._read([report])

    @abstractmethod
    def _estimate_mean(self, sums: Mean, confidence: Real) -> Estimate:
        """The mean with its interval."""

    @abstractmethod
    def _reach_of_one(self) -> float:
        """How far a mean of one moves when its report is replaced."""

    def collect(self, reports: Any, *, column: str = "report") -> Any:
        """Return the mean behind reports: a list, an array, or a column of a frame, of a file or of a table.

        A table of DuckDB or Spark is grouped by report where it is; nothing else leaves it.
        """
        given = read_reports(reports, column=column)
        seen, many = (given.reports, given.counts.tolist()) if isinstance(given, Groups) else (given, None)
        steps = self._read(seen)
        many = [1] * len(steps) if many is None else many
        total = sum(step * count for step, count in zip(steps, many, strict=True))
        squares = sum(step * step * count for step, count in zip(steps, many, strict=True))
        return Mean(self, sum(many), total, squares)

    def from_tally(self, tally: dict[str, Any]) -> Any:
        """Return the mean that `Mean.to_json` wrote."""
        names = ("reports", "total", "squares")
        counts, total, squares = (read_field(tally, name) for name in names)
        if not all(type(each) is int for each in (counts, total, squares)) or not 0 < counts < 1 << 62:
            raise InvalidParameter("a tally must hold whole numbers.", parameter="tally")
        if total * total > counts * squares:
            raise InvalidParameter("a tally must hold sums of one list of reports.", parameter="tally")
        return Mean(self, counts, total, squares)

    def estimate(self, reports: Any, *, confidence: Real = 0.95, liars: Real = 0) -> Any:
        """Return the mean among those who reported: unbiased, with error and interval."""
        received = listed(reports)
        if not received:
            raise InvalidParameter("reports must be a list of at least one report.", parameter="reports")
        return self.collect(received).estimate(confidence=confidence, liars=liars)

    def compare(self, *, people: Real) -> Comparison:
        """The standard error of the mean, against Laplace noise on the same table held by a curator."""
        n = exact_whole(people, name="people", least=1)
        low, high = self.bounds
        central = Laplace(epsilon=self.epsilon, sensitivity=(high - low) / n, relation="replace")
        return Comparison(local=(self.variance / n) ** 0.5, central=central.variance**0.5)

    def to_json(self) -> dict[str, Any]:
        """The public protocol, exactly."""
        bounds = [str(bound) for bound in self.bounds]
        return {"protocol": self.protocol, "version": 1, "epsilon": str(self.epsilon), "bounds": bounds}

    @classmethod
    def from_json(cls, protocol: dict[str, Any]) -> Self:
        """The protocol that was stored."""
        bounds = read_field(protocol, "bounds")
        if not isinstance(bounds, list) or len(bounds) != 2:
            raise InvalidParameter("bounds must be two numbers.", parameter="bounds")
        low, high = (parse_fraction(bound, "bounds") for bound in bounds)
        return cls(bounds=(low, high), epsilon=read_fraction(protocol, "epsilon"))
