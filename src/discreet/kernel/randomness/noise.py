"""The noise laws by name, scalar and vectorised."""

from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, overload

from numpy.typing import NDArray

from discreet.kernel.randomness.cells import Cells
from discreet.kernel.randomness.envelope import Shape
from discreet.kernel.randomness.source import Source
from discreet.kernel.randomness.wedge import Places


@lru_cache(maxsize=64)
def cells(shape: Shape, scale: Fraction, sides: Literal[1, 2], places: Places) -> Cells:
    """Return the sampler of a law with its tables; the last 64 are kept."""
    return Cells(shape, scale, sides=sides, places=places)


def _draw(sampler: Cells, source: Source, size: int | None) -> int | NDArray[Any]:
    return sampler.one(source) if size is None else sampler.many(source, size)


@overload
def geometric(source: Source, scale: Fraction, size: None = None) -> int: ...
@overload
def geometric(source: Source, scale: Fraction, size: int) -> NDArray[Any]: ...
def geometric(source: Source, scale: Fraction, size: int | None = None) -> int | NDArray[Any]:
    """Draw k = 0, 1, ... with probability ∝ exp(-k/scale)."""
    return _draw(cells("linear", scale, 1, "whole"), source, size)


@overload
def discrete_laplace(source: Source, scale: Fraction, size: None = None) -> int: ...
@overload
def discrete_laplace(source: Source, scale: Fraction, size: int) -> NDArray[Any]: ...
def discrete_laplace(source: Source, scale: Fraction, size: int | None = None) -> int | NDArray[Any]:
    """Draw a whole number k with probability ∝ exp(-|k|/scale)."""
    return _draw(cells("linear", scale, 2, "whole"), source, size)


@overload
def discrete_gaussian(source: Source, sigma: Fraction, size: None = None) -> int: ...
@overload
def discrete_gaussian(source: Source, sigma: Fraction, size: int) -> NDArray[Any]: ...
def discrete_gaussian(source: Source, sigma: Fraction, size: int | None = None) -> int | NDArray[Any]:
    """Draw a whole number k with probability ∝ exp(-k²/2σ²)."""
    return _draw(cells("quadratic", sigma, 2, "whole"), source, size)


@overload
def rounded_gaussian(source: Source, sigma: Fraction, size: None = None) -> int: ...
@overload
def rounded_gaussian(source: Source, sigma: Fraction, size: int) -> NDArray[Any]: ...
def rounded_gaussian(source: Source, sigma: Fraction, size: int | None = None) -> int | NDArray[Any]:
    """Draw ⌊Y + 1/2⌋ for the continuous Gaussian Y ~ N(0, σ²)."""
    return _draw(cells("quadratic", sigma, 2, "continuous"), source, size)
