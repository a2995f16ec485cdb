"""How many released numbers one unit can change at once, where that changes the price."""

from typing import Any

import numpy as np

from discreet.errors import InvalidParameter
from discreet.numerics import Real, exact_whole


def exact_dimension(dimension: Real | None) -> int | None:
    """A declared dimension, or None: only single numbers are then released."""
    return None if dimension is None else exact_whole(dimension, name="dimension", least=1)


def check_dimension(value: Any, dimension: int | None) -> None:
    """Refuse several numbers at once unless it was declared how many of them a unit can change."""
    if dimension is None and np.size(np.asarray(value, dtype=object)) > 1:
        raise InvalidParameter(
            "dimension must be declared to release several numbers: how many of them one unit can change.",
            parameter="dimension",
        )
