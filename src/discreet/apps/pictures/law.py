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
from discreet.kernel.mechanisms import additive_noise, list_additive

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


def noise_law(mechanism: Any) -> Law:
    """Return the law of the noise that a mechanism adds."""
    noise = additive_noise(mechanism)
    if noise is None:
        known = ", ".join(kind.__name__ for kind in list_additive())
        raise InvalidParameter(
            f"a picture must be that of a mechanism that adds noise ({known}), "
            f"got {type(mechanism).__name__}.",
            parameter="mechanism",
        )
    return Law(
        name=f"{type(mechanism).__name__}, {noise.symbol}",
        step=float(noise.step),
        reach=float(mechanism.error(confidence=SHOWN)),
        sensitivity=float(mechanism.sensitivity),
        log_mass=noise.log_masses,
    )
