"""The noise on the tables of a book at a price: which tables get it, and how much.

With rho, or with epsilon and delta, all noise is Gaussian and the shares are those of `marginals.design`:
σ_A² = Δ₂²/(μ²·t_A) with Σ t_A = 1, so that the tables together are μ-Gaussian.

Under pure epsilon all noise is Laplace of scale Δ₁/ε_A on whole tables, with Σ ε_A = ε. Its precision t_A is
proportional to ε_A², so the sum of variances is no convex function of the ε_A, and what is returned is the
best of several searches, with its distance from a lower bound: Σ ε_A² ≤ (Σ ε_A)², so no design of this kind
is better than the least sum of variances of all precisions that add up to ε²/(2·Δ₁²).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.asking.planning.contribution import WeightedReach
from discreet.asking.planning.marginals import (
    Aim,
    Columns,
    Design,
    Floats,
    Workload,
    design,
    rounds_within,
)
from discreet.asking.planning.nested import NestedWorkload
from discreet.asking.planning.price import Share
from discreet.asking.planning.stages import Noise
from discreet.errors import InvalidParameter
from discreet.kernel.mechanisms import Gaussian, Laplace
from discreet.kernel.numerics import ball, round_up, working_precision

_BITS = 128
_ROUNDS = 300
_UNITS = 1 << 40  # in which shares are counted
_LEAST = 1e-4  # a share of epsilon below this of the largest is not worth a table


@dataclass(frozen=True)
class BookNoise:
    """The measured tables, each with its mechanism, and the shares of precision that those have.

    `one` is how many steps of the lattice a whole row is; `excess` a proved bound on how far the sum of
    variances (or the largest variance) is from the least of all noise of this kind on whole tables.
    """

    workload: Workload
    mechanisms: Mapping[Columns, Noise]
    one: int
    excess: float

    @cached_property
    def variances(self) -> dict[Columns, float]:
        """The variance of the noise on one cell of each measured table, in rows."""
        return {each: noise.variance / self.one**2 for each, noise in self.mechanisms.items()}

    @cached_property
    def precision(self) -> float:
        """All precisions added up."""
        return sum(1 / each for each in self.variances.values())

    @cached_property
    def design(self) -> Design:
        """The shares of precision that the mechanisms really have, the last digits of scales included."""
        parts = {each: Fraction(1 / variance) for each, variance in self.variances.items()}
        whole = sum(parts.values())
        shares = {each: part / whole for each, part in parts.items()}
        return self.workload.planned(shares, self.excess)

    @property
    def scales(self) -> dict[Columns, Fraction]:
        """The scale of the noise on each measured table, in steps: what the ledger keeps with it."""
        return {each: _scale_of(noise) for each, noise in self.mechanisms.items()}

    def scaled(self, scales: Mapping[Columns, Fraction]) -> "BookNoise":
        """Return the noise of tables that were measured with these scales, perhaps by another design."""
        like = next(iter(self.mechanisms.values()))
        terms: dict[str, Any] = {"sensitivity": like.sensitivity, "step": 1, "relation": like.relation}
        found: dict[Columns, Noise] = {
            each: Laplace(scale=scale, **terms) if like.norm == 1 else Gaussian(sigma=scale, **terms)
            for each, scale in scales.items()
        }
        return replace(self, mechanisms=found)

    def variance(self, columns: Columns) -> float | Floats:
        """Return the variance of one cell of a table, or of a total, in rows; by the nodes of its level where
        it has one."""
        return self.design.variance(columns) / self.precision

    @property
    def laplace(self) -> bool:
        """Whether the noise is Laplace noise."""
        return any(noise.norm == 1 for noise in self.mechanisms.values())


def _scale_of(noise: Noise) -> Fraction:
    found: Fraction = getattr(noise, "scale" if noise.norm == 1 else "sigma")
    return found


def noise_for(workload: Workload, aim: Aim, share: Share, reach: WeightedReach, one: int) -> BookNoise:
    """Return the noise of least error for a book whose tables one unit moves by this reach."""
    if share.rho is None and share.delta == 0:
        return _laplace(workload, aim, share, reach, one)
    plan = workload.design(aim)
    unit = _unit(share)
    found: dict[Columns, Noise] = {}
    for columns, part in plan.shares.items():
        with working_precision(_BITS):
            sigma = Fraction(round_up(ball(unit) * ball(reach.distance) / ball(part).sqrt()))
        found[columns] = Gaussian(
            sigma=sigma, sensitivity=reach.distance, step=1, dimension=1, relation=reach.relation
        )
    return BookNoise(workload, found, one, plan.excess)


def _unit(share: Share) -> Fraction:
    """Return the sigma for a distance of 1: 1/√(2ρ), or the least for epsilon and delta, rounded up."""
    if share.rho is None:
        return Gaussian(epsilon=share.epsilon, delta=share.delta, sensitivity=1, step=1).sigma
    with working_precision(_BITS):
        return Fraction(round_up(1 / (2 * ball(share.rho)).sqrt()))


def _laplace(workload: Workload, aim: Aim, share: Share, reach: WeightedReach, one: int) -> BookNoise:
    if isinstance(workload, NestedWorkload):
        raise InvalidParameter(
            "a book with levels of a hierarchy must be priced in rho, or in epsilon with a delta: Laplace "
            "noise on trees has no intervals here.",
            parameter="epsilon",
        )
    if aim != "sum":
        raise InvalidParameter(
            'aim must be "sum" without rho and delta: no design of least maximum is known for Laplace noise. '
            "Name a price in rho, or a delta.",
            parameter="aim",
        )
    assert share.epsilon is not None
    parts, excess = laplace_shares(workload)
    found: dict[Columns, Noise] = {
        columns: Laplace(
            epsilon=share.epsilon * part, sensitivity=reach.total, step=1, relation=reach.relation
        )
        for columns, part in parts.items()
    }
    return BookNoise(workload, found, one, excess)


def laplace_shares(workload: Workload) -> tuple[dict[Columns, Fraction], float]:
    """Return shares of epsilon that add up to 1, and how far the sum of variances is from a lower bound.

    f(e) = Σ_B v_B/q_B(e²). Where its slopes are even, e_A·g_A is the same for all measured tables, with
    g_A = Σ_{B⊆A} v_B/(q_B² N_{A∖B}). Each round multiplies e_A by the third root of that, which gives the
    optimum at once where no table tells of another: e_A in proportion to the third root of its weight.

    >>> parts, _ = laplace_shares(Workload((2, 16), {(0,): Fraction(1)}))
    >>> parts == {(0,): 1}
    True
    """
    wanted = workload.weights @ workload.spread
    starts = [_even(workload, finest=finest) for finest in (False, True)]
    starts.append(np.sqrt(_shares_of(workload, design(workload))))
    best = min((_search(workload, wanted, start) for start in starts), key=lambda found: found[0])
    kept = np.where(best[1] >= _LEAST * best[1].max(), best[1], 0.0)
    if not ((workload.within @ kept) > 0).all():
        kept = best[1]
    counts = [round(part * _UNITS / kept.sum()) for part in kept.tolist()]
    whole = sum(counts)
    named = zip(workload.sets, counts, strict=True)
    shares = {columns: Fraction(count, whole) for columns, count in named if count}
    exact = np.array([float(shares.get(each, 0)) ** 2 for each in workload.sets])
    value = float((wanted / (workload.within @ exact)).sum())
    return shares, value / _lower(workload) - 1


def _search(workload: Workload, wanted: Floats, start: Floats) -> tuple[float, Floats]:
    parts = start / start.sum()
    best = math.inf, parts
    for _ in range(rounds_within(workload, _ROUNDS)):
        inverse = wanted / (precisions := workload.within @ parts**2)
        value = float(inverse.sum())
        if value < best[0]:
            best = value, parts
        slopes = parts * ((inverse / precisions) @ workload.within)
        parts = parts * np.cbrt(slopes / slopes.max())
        parts = parts / parts.sum()
    return best


def _even(workload: Workload, *, finest: bool) -> Floats:
    """Return even shares of all tables, or of those that no other one holds, with a little for all sets."""
    tables = list(workload.tables)
    if finest:
        tables = [one for one in tables if not any(set(one) < set(other) for other in tables)]
    found = np.full(len(workload.sets), 1e-3)
    for each in tables:
        found[workload.sets.index(each)] = 1.0
    return found


def _shares_of(workload: Workload, plan: Design) -> Floats:
    return np.array([float(plan.shares.get(columns, Fraction(0))) for columns in workload.sets]) + 1e-6


def _lower(workload: Workload) -> float:
    """Return what no precisions on whole tables that add up to 1 are below."""
    plan = design(workload)
    return plan.total / (1 + plan.excess)
