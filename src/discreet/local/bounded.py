"""A number between declared bounds, privatised by its owner."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar, Self

import numpy as np

from discreet.errors import InvalidParameter
from discreet.local.report import Comparison, parse_fraction, read_field, read_fraction
from discreet.mechanisms import Laplace
from discreet.mechanisms.inputs import exact_bounds
from discreet.numerics import Real, exact_epsilon, exact_whole


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
