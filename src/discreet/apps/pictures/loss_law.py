"""The law of the privacy loss random variable of one release, as numbers to draw.

With L = ln(dP/dQ) under P and δ(x) = E[(1 − e^(x−L))₊], Pr[L > x] = δ(x) − δ′(x): the curve holds the law.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.numerics import working_precision

BITS = 400
NEAR = 2.0**-100  # a distance that no picture shows
SHOWN = 1e-4  # the tail that a picture leaves out
CELLS = 240
FEW = 1e-9  # an atom of less is not drawn


@dataclass(frozen=True)
class LossLaw:
    """Atoms (loss, probability), a density on a grid where there is one, and the probability of infinity."""

    atoms: tuple[tuple[float, float], ...]
    grid: tuple[float, ...]
    density: tuple[float, ...]
    infinite: float
    mean: float


def loss_of(mechanism: object) -> PrivacyLoss:
    """The loss of one release, given itself or as that of a mechanism."""
    loss = getattr(mechanism, "loss", mechanism)
    if not isinstance(loss, PrivacyLoss) or len(loss.terms) != 1 or loss.terms[0].count != 1:
        raise InvalidParameter(
            "a loss variable must be that of one release: a mechanism or its loss. "
            "For several, draw their composition.",
            parameter="mechanism",
        )
    return loss


def loss_law(loss: PrivacyLoss) -> LossLaw:
    """The law of the loss of one release, for the person who is removed."""
    with working_precision(BITS):
        pair = loss.terms[0].family.witness(0)
        mean = pair.mean()
        low, high = _ends(pair)
        atoms = _atoms(pair, low, high)
        grid = np.linspace(low, high, CELLS + 1)
        masses = _cells(pair, grid)
        return LossLaw(
            atoms=tuple(atoms),
            grid=tuple(((grid[1:] + grid[:-1]) / 2).tolist()) if masses.sum() > FEW else (),
            density=tuple((masses / np.diff(grid)).tolist()) if masses.sum() > FEW else (),
            infinite=float(pair.failure().mid()),
            mean=math.inf if mean is None else float(mean.mid()),
        )


def loss_tail(loss: PrivacyLoss, places: Sequence[float]) -> list[float]:
    """Pr[L > x] at each of these places, infinite losses included."""
    with working_precision(BITS):
        pair = loss.terms[0].family.witness(0)
        return [_tail(pair, x) + float(pair.failure().mid()) for x in places]


def _tail(pair: Pair, x: float) -> float:
    """Pr[x < L < ∞]; where it is not closed, −δ′ is taken over a step too short to see."""
    closed = pair.tail(arb(x))
    if closed is not None:
        return float((closed - pair.failure()).mid())
    here, there = pair.delta(arb(x)), pair.delta(arb(x) + arb(NEAR))
    return float((here + (here - there) / arb(NEAR) - pair.failure()).mid())


def _ends(pair: Pair) -> tuple[float, float]:
    """Where the law begins and ends; an unbounded one is cut where little is left."""
    top = pair.largest()
    if top is not None:
        high = float(top.mid())
        return -high, high
    reach = 1.0
    while _tail(pair, reach) > SHOWN / 10:
        reach *= 1.5
    return -reach, reach


def _atoms(pair: Pair, low: float, high: float) -> list[tuple[float, float]]:
    if isinstance(pair, Atoms):
        return sorted((float(loss.mid()), float(mass.mid())) for loss, mass in pair.atoms)
    places = _few_places(pair, low, high) or [low, high]
    apart = 1e-12 * max(1.0, high)
    above = [_tail(pair, place + apart) for place in places]
    below = [_tail(pair, place - apart) for place in places]
    if pair.largest() is not None:
        below[0] = 1 - float(pair.failure().mid())  # no loss lies lower
    found = [(place, before - after) for place, before, after in zip(places, below, above, strict=True)]
    return [(place, mass) for place, mass in found if mass > FEW]


def _few_places(pair: Pair, low: float, high: float) -> list[float]:
    """The losses of a lattice that is coarse enough to be seen."""
    lattice = pair.lattice()
    if lattice is None or (high - low) / float(lattice[1]) > CELLS:
        return []
    offset, step = (float(part) for part in lattice)
    first, last = math.ceil((low - offset) / step - 1e-9), math.floor((high - offset) / step + 1e-9)
    return [offset + step * n for n in range(first, last + 1)]


def _cells(pair: Pair, grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of each cell of the grid, where single losses cannot be seen; the ends apart."""
    low, high = float(grid[0]), float(grid[-1])
    if isinstance(pair, Atoms) or _few_places(pair, low, high):
        return np.zeros(len(grid) - 1)
    apart = 1e-9 * (high - low)
    above = np.array([_tail(pair, x) for x in (low + apart, *grid[1:-1].tolist(), high - apart)])
    return np.asarray(np.maximum(above[:-1] - above[1:], 0.0), dtype=np.float64)
