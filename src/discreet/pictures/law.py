"""The law of a mechanism's noise, as numbers to draw.

Float arithmetic is good enough for the eye; guarantees never come from here.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.mechanisms import DiscreteGaussian, Gaussian, Laplace, Staircase

SYMBOLS = {"sigma": "σ", "scale": "b", "epsilon": "ε"}  # what tells a mechanism's noise, the first it has
Masses = NDArray[np.float64]
MOST_POINTS = 401  # more outputs than this look continuous, and are thinned
SHOWN = 0.98  # of the noise lies inside a picture


@dataclass(frozen=True)
class Law:
    """ln Pr[noise = k·step] for whole k: `log_mass(k)`; `reach` is how far a picture has to go."""

    name: str
    step: float
    reach: float
    sensitivity: float
    log_mass: Callable[[NDArray[Any]], Masses]

    @property
    def looks_discrete(self) -> bool:
        """Whether a reader could see the single outputs."""
        return 2 * self.reach / self.step + 1 <= MOST_POINTS

    def outputs(self, low: float, high: float) -> NDArray[np.float64]:
        """Lattice points from low to high, all of them or evenly thinned, in steps."""
        first, last = math.floor(low / self.step), math.ceil(high / self.step)
        count = min(last - first + 1, MOST_POINTS)
        return np.unique(np.round(np.linspace(first, last, count)))


def noise_laws(mechanisms: Sequence[object]) -> list[Law]:
    """The laws of mechanisms given one by one, or as one list."""
    only = mechanisms[0] if len(mechanisms) == 1 else mechanisms
    listed = only if isinstance(only, Sequence) else [only]
    if not listed:
        raise InvalidParameter("a picture must be that of at least one mechanism.", parameter="mechanisms")
    return [noise_law(mechanism) for mechanism in listed]


def noise_law(mechanism: object) -> Law:
    """The law of the noise that a mechanism adds."""
    for kind, log_mass in LAWS.items():
        if isinstance(mechanism, kind):
            return Law(
                name=label(mechanism),
                step=float(mechanism.step),
                reach=float(mechanism.error(confidence=SHOWN)),
                sensitivity=float(mechanism.sensitivity),
                log_mass=log_mass(mechanism),
            )
    known = ", ".join(kind.__name__ for kind in LAWS)
    raise InvalidParameter(
        f"a picture must be that of a mechanism that adds noise ({known}), got {type(mechanism).__name__}.",
        parameter="mechanism",
    )


def label(mechanism: Any) -> str:
    """A mechanism's kind and width, for a legend."""
    width = next(name for name in SYMBOLS if hasattr(mechanism, name))
    return f"{type(mechanism).__name__}, {SYMBOLS[width]} = {float(getattr(mechanism, width)):.4g}"


def _laplace(mechanism: Laplace) -> Callable[[NDArray[Any]], Masses]:
    rate = float(mechanism.step / mechanism.scale)
    return lambda k: math.log(math.tanh(rate / 2)) - rate * np.abs(k)


def _gaussian(mechanism: Gaussian) -> Callable[[NDArray[Any]], Masses]:
    width = float(mechanism.sigma / mechanism.step) * math.sqrt(2)

    def log_cell(k: float) -> float:
        near, far = (abs(k) - 0.5) / width, (abs(k) + 0.5) / width
        mass = 0.5 * (math.erfc(near) - math.erfc(far))  # by symmetry in the tail where nothing cancels
        return math.log(mass) if mass > 0 else -math.inf

    return lambda k: np.array([log_cell(float(item)) for item in k])


def _discrete_gaussian(mechanism: DiscreteGaussian) -> Callable[[NDArray[Any]], Masses]:
    width = float(mechanism.sigma / mechanism.step)
    # Beyond width 4 the sum of exp(−k²/2σ²) is σ√2π as far as floats can tell (Poisson summation).
    total = width * math.sqrt(2 * math.pi)
    if width < 4:
        total = float(sum(math.exp(-(k**2) / (2 * width**2)) for k in range(-160, 161)))
    return lambda k: -(np.asarray(k, dtype=float) ** 2) / (2 * width**2) - math.log(total)


def _staircase(mechanism: Staircase) -> Callable[[NDArray[Any]], Masses]:
    epsilon = float(mechanism.epsilon) / (mechanism.dimension or 1)
    stairs, width = math.ceil(mechanism.sensitivity / mechanism.step), mechanism.width
    block = width + (stairs - width) * math.exp(-epsilon)
    total = 2 * block / -math.expm1(-epsilon) - 1  # both sides, zero counted once

    def log_mass(k: NDArray[Any]) -> Masses:
        stair, place = np.divmod(np.abs(k), stairs)
        return np.asarray(-epsilon * (stair + (place >= width)) - math.log(total), dtype=np.float64)

    return log_mass


LAWS: dict[type[Any], Callable[[Any], Callable[[NDArray[Any]], Masses]]] = {
    Laplace: _laplace,
    Gaussian: _gaussian,
    DiscreteGaussian: _discrete_gaussian,
    Staircase: _staircase,
}
