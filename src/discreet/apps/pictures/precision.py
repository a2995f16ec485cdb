"""How accurate a release is, against what it costs."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import log_axis
from discreet.apps.pictures.traces import line
from discreet.kernel.mechanisms import Gaussian, Laplace
from discreet.kernel.numerics import Real

EPSILONS = tuple(round(10 ** (i / 16 - 2), 5) for i in range(49))  # from 0.01 to 10


class Accurate(Protocol):
    """A mechanism that states its error."""

    def error(self, *, confidence: Real = 0.95, dimension: Real = 1) -> float: ...


Makers = Mapping[str, Callable[[float], Accurate]]

COUNTS: Makers = {
    "Laplace, δ = 0": lambda epsilon: Laplace(epsilon=epsilon, sensitivity=1),
    "Gaussian, δ = 10⁻⁶": lambda epsilon: Gaussian(epsilon=epsilon, delta=1e-6, sensitivity=1),
}


def accuracy(
    makers: Makers = COUNTS,
    *,
    epsilons: Sequence[float] = EPSILONS,
    confidence: float = 0.95,
    dimension: int = 1,
) -> Picture:
    """The error at this confidence against ε, for what each maker makes (default: one count)."""
    curves = []
    for index, (name, make) in enumerate(makers.items()):
        errors = [make(epsilon).error(confidence=confidence, dimension=dimension) for epsilon in epsilons]
        # Whole-number noise can be 0 at this confidence; a logarithmic axis has no place for it.
        curves.append(line(epsilons, [error or math.nan for error in errors], name=name, index=index))
    numbers = "a number lies" if dimension == 1 else f"all {dimension} numbers lie"
    return Picture(
        title="Accuracy against privacy",
        subtitle=f"{numbers} within the error with probability {confidence:g}",
        traces=curves,
        axes={
            "xaxis": log_axis("ε (stronger privacy to the left)"),
            "yaxis": log_axis(f"error at confidence {confidence:g} (units of the query)"),
        },
    )
