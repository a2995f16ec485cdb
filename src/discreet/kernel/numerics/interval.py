"""Interval, and an estimate with its interval."""

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.errors import InternalError


@dataclass(frozen=True)
class Interval:
    """Two ends between which the truth lies.

    >>> 2.5 in Interval(2, 3), Interval(2, 3).width
    (True, 1)
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:  # also false for NaN
            raise InternalError("an interval must have lower <= upper")

    @property
    def width(self) -> float:
        return self.upper - self.lower

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __iter__(self) -> Iterator[float]:
        return iter((self.lower, self.upper))

    def __str__(self) -> str:
        return f"[{self.lower}, {self.upper}]"


@dataclass(frozen=True)
class Estimate:
    """An estimated quantity, its standard error, and an interval of the stated confidence."""

    value: float
    standard_error: float
    interval: Interval
    confidence: float = 0.95

    def __str__(self) -> str:
        lower, upper = self.interval
        return f"{self.value:.6g} ({self.confidence:.0%} interval {lower:.6g} to {upper:.6g})"
