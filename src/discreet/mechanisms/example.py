"""Cases that every mechanism brings for the shared checks."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from discreet.randomness import Source


@dataclass(frozen=True)
class Example:
    """A mechanism on two neighbouring inputs; `draw(value, source)` releases once, as something hashable."""

    mechanism: Any
    neighbours: tuple[Any, Any]
    draw: Callable[[Any, Source], Hashable]
