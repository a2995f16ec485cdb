"""The privacy loss random variable, with its atoms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb
from numpy.typing import NDArray

from discreet.apps.pictures.picture import Picture
from discreet.apps.pictures.theme import Json, axis, dots, line, log_axis, scientific, series, stems
from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.losses.pair import Atoms, Pair
from discreet.kernel.numerics import Real, exact_epsilon, working_precision

# The law of the privacy loss random variable of one release, as numbers to draw.
#
# With L = ln(dP/dQ) under P and δ(x) = E[(1 − e^(x−L))₊], Pr[L > x] = δ(x) − δ′(x): the curve holds
# the law.

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


def loss_variable(mechanism: object, *, epsilon: Real | None = None) -> Picture:
    """The law of L = ln(Pr[M(D) = t] / Pr[M(D′) = t]), t ~ M(D), for one release: a mechanism or its loss.

    E[L] is the Kullback–Leibler divergence of M(D) from M(D′). With an epsilon, what lies beyond is marked:
    of each loss l > ε the part 1 − e^(ε−l), which adds up to δ(ε).
    """
    loss = loss_of(mechanism)
    law = loss_law(loss)
    if epsilon is not None:
        return _with_tail(loss, law, float(exact_epsilon(epsilon)))
    mean = (
        f"mean {law.mean:.4g}" if math.isfinite(law.mean) else f"infinite with probability {law.infinite:.3g}"
    )
    return Picture(
        title="The privacy loss as a random variable",
        subtitle=f"L = ln( Pr[M(D) = t] / Pr[M(D′) = t] ), t drawn from M(D); {mean}; {_bound(loss)}",
        traces=law_traces(law),
        axes={"xaxis": axis("privacy loss L (nats)"), **law_axes(law), "showlegend": True},
    )


def _with_tail(loss: PrivacyLoss, law: LossLaw, epsilon: float) -> Picture:
    beyond, delta = loss_tail(loss, [epsilon])[0], loss.delta(epsilon=epsilon)
    line_at = {"type": "line", "x0": epsilon, "x1": epsilon, "yref": "paper", "y0": 0, "y1": 1}
    return Picture(
        title="The privacy loss, and what lies beyond ε",
        subtitle=f"Pr[L > ε] = {scientific(beyond)}; the shaded part of it is δ(ε) = {scientific(delta)}",
        traces=[*law_traces(law), *law_traces(_beyond(law, epsilon), name="counts towards δ", index=1)],
        axes={
            "xaxis": axis("privacy loss L (nats)"),
            **law_axes(law),
            "showlegend": True,
            "shapes": [{**line_at, "line": {"color": "@ink", "width": 1.5, "dash": "dash"}}],
            "annotations": [
                {"text": f"ε = {epsilon:g}", "x": epsilon, "xanchor": "left", "xshift": 6,
                 "yref": "paper", "y": 1, "yanchor": "top", "showarrow": False},
            ],
        },
    )  # fmt: skip


def _beyond(law: LossLaw, epsilon: float) -> LossLaw:
    """Of each loss l > ε, the part 1 − e^(ε−l)."""
    parts = [-math.expm1(min(epsilon - loss, 0.0)) for loss in law.grid]
    density = tuple(height * part for height, part in zip(law.density, parts, strict=True))
    atoms = tuple((loss, -mass * math.expm1(epsilon - loss)) for loss, mass in law.atoms if loss > epsilon)
    return replace(law, density=density, atoms=atoms)


def _bound(loss: PrivacyLoss) -> str:
    largest = loss.epsilon(delta=0)
    return f"at most {largest:.4g}" if math.isfinite(largest) else "without bound"


def law_traces(law: LossLaw, *, name: str = "", index: int = 0) -> list[dict[str, Json]]:
    """A density as an area, atoms on their stalks (on the right axis where there is a density too)."""
    traces = []
    if law.grid:
        area = line(law.grid, law.density, name=name or "density", index=index, fill="tozeroy")
        area["fillcolor"] = f"{series(index)}/{0.6 if name else 0.18}"
        area["line"]["dash"] = "solid"
        traces.append(area)
    if law.atoms:
        places, masses = zip(*law.atoms, strict=True)
        atoms = stems(places, masses, name=name or "atoms", index=index + 1)
        traces.append({**atoms, "yaxis": "y2"} if law.grid else atoms)
    return traces


def law_axes(law: LossLaw) -> dict[str, Json]:
    """One vertical axis for the density, another for the atoms, as there are."""
    atoms = axis("probability of an atom", range=[0, 1.15 * max((mass for _, mass in law.atoms), default=1)])
    if not law.grid:
        return {"yaxis": atoms}
    density = axis("density", range=[0, 1.15 * max(law.density)])
    if not law.atoms:
        return {"yaxis": density}
    return {
        "yaxis": density,
        "yaxis2": {**atoms, "overlaying": "y", "side": "right", "showgrid": False, "tickmode": "auto"},
    }


# Approximate privacy's tail: how likely the loss exceeds ε, and the δ(ε) that it really takes.

LEAST = 1e-9  # what is smaller is not drawn


def tail(mechanism: object, *, epsilon: Real = 1) -> Picture:
    """Pr[L > ε] and δ(ε) = E[(1 − e^(ε−L))₊] of one release, against ε, and at this ε.

    A tail of at most δ implies (ε, δ)-DP; they are not the same, because δ(ε) is never larger than the tail.
    """
    loss = loss_of(mechanism)
    at = float(exact_epsilon(epsilon))
    law = loss_law(loss)
    grid = np.linspace(0, max(1.5 * at, *law.grid[-1:], *(place for place, _ in law.atoms)), 161).tolist()
    tails, deltas = loss_tail(loss, grid), [loss.delta(epsilon=x) for x in grid]
    beyond, exact = loss_tail(loss, [at])[0], loss.delta(epsilon=epsilon)
    return Picture(
        title="What lies beyond ε",
        subtitle=f"at ε = {at:g} the tail is {scientific(beyond)}, and δ = {scientific(exact)} is enough",
        traces=[
            line(grid, [_seen(mass) for mass in tails], name="Pr[L > ε], the tail of the privacy loss"),
            line(grid, [_seen(delta) for delta in deltas], name="δ(ε), exact", index=1),
            dots([at, at], [_seen(beyond), _seen(exact)], name=f"at ε = {at:g}", index=2),
        ],
        axes={"xaxis": axis("ε"), "yaxis": log_axis("probability")},
    )


def _seen(probability: float) -> float:
    return probability if probability >= LEAST else float("nan")
