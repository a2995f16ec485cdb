"""A dominating pair: two laws P, Q whose hockey-stick divergence bounds a mechanism's, for every epsilon.

With L = ln(dP/dQ) under P, the privacy loss random variable, δ(ε) = E[(1 − e^(ε−L))₊].
Pairs compose: products of dominating pairs dominate the adaptive composition of the mechanisms
(Zhu, Dong and Wang 2022, Theorem 10).

Everything here is computed in Arb balls at the working precision, so each number encloses the truth.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import acb, arb

from discreet.kernel.losses.nodes import (
    SLACK,
    Acb,
    Array,
    Balls,
    Grid,
    Nodes,
    powers,
    rounded,
    weigh,
    weigh_balls,
)
from discreet.kernel.losses.work import spend
from discreet.kernel.numerics import Arb, ball


class Pair(ABC):
    """The law of one privacy loss: its transform, its curve, its largest value."""

    ball_work = 30.0  # units of work for one value of the transform in balls
    cost: int = 1  # of one value of the transform in floating point, in values of the Laplace's

    def failure(self) -> Arb:
        """Pr[L = ∞]: what P can show that Q never does."""
        return arb(0)

    @abstractmethod
    def largest(self) -> Arb | None:
        """The largest finite loss, or None where it is unbounded."""

    @abstractmethod
    def moment(self, z: Acb) -> Acb:
        """E[e^(zL); L < ∞], for Re z > 0; also at real z (a ball or a complex ball)."""

    def moments(self, theta: Arb, spacing: Arb, count: int) -> list[Acb]:
        """moment(θ + ij·spacing) for j = 0 ... count."""
        return [self.moment(acb(theta, spacing * j)) for j in range(count + 1)]

    def nodes(self, grid: Grid) -> Nodes:
        """moment(z_j)/moment(θ) at the nodes of a grid, in floating point; none exceeds 1."""
        return Nodes.of(self.balls(grid).values)

    def balls(self, grid: Grid) -> Balls:
        """The same in balls."""
        spend(self.ball_work * (grid.last + 1))
        whole = self.moment(acb(grid.theta)).real
        return Balls([value / whole for value in self.moments(grid.theta, grid.spacing, grid.last)])

    def node_work(self, theta: float) -> float:
        """The units of work that `nodes` is for each node."""
        return 0.2

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        """A bound on |moment(θ + it)| for every t with frequency <= |t| <= half the period."""
        return abs(self.moment(acb(theta)))

    def about_log_moment(self, theta: float) -> float:
        """About `log_moment`: for choosing a tilt, and in no proof."""
        return float(self.log_moment(arb(theta)).mid())

    def log_moment_above(self, theta: Arb) -> Arb:
        """A bound on `log_moment` from above, where a rough one is cheaper."""
        return self.log_moment(theta)

    def about_decay(self, theta: float, frequency: float) -> float:
        """About ln of `decay`/moment(θ): for choosing the last node, and in no proof."""
        at = arb(theta)
        bound = self.decay(at, arb(frequency)).log() - self.log_moment(at)
        return float(bound.mid())

    def period(self) -> Arb | None:
        """The period 2π/h of |moment| along the imaginary axis, for a loss on a lattice of step h."""
        return None

    def lattice(self) -> tuple[Fraction, Fraction] | None:
        """(offset, step) where every finite loss is offset + step·n and both are rational."""
        return None

    @abstractmethod
    def delta(self, epsilon: Arb) -> Arb:
        """δ(ε), for one use."""

    def mean(self) -> Arb | None:
        """E[L], the Kullback–Leibler divergence; None where it is infinite.

        K(θ) = ln E[e^(θL)] is convex and K(0) = 0, so −K(−h)/h <= K′(0) <= K(h)/h.
        """
        if not self.failure().is_zero():
            return None
        h = arb(2) ** -40
        return (-self.log_moment(-h) / h).union(self.log_moment(h) / h)

    def point_masses(self) -> list[tuple[Arb, Arb]]:
        """(loss, probability) of each atom, where they are listed."""
        return []

    def top_atom(self) -> tuple[Arb, Arb] | None:
        """The largest loss and its probability, where that loss is an atom."""
        return None

    def density(self, loss: Arb) -> Arb:
        """The density of L beside its atoms."""
        return arb(0)

    def tail(self, loss: Arb) -> Arb | None:
        """Pr[L > loss], where it is closed."""
        return None

    def log_moment(self, theta: Arb) -> Arb:
        """ln E[e^(θL); L < ∞] = θ·D_(1+θ)(P‖Q) for θ > 0."""
        return self.moment(acb(theta)).real.log()


def turns(angle: Arb, count: int) -> list[Acb]:
    """e^(ij·angle) for j = 0 ... count."""
    return powers(acb(0, angle).exp(), count)


def clip_at_zero(value: Arb) -> Arb:
    """The ball of max(value, 0)."""
    return value.max(arb(0))


class Atoms(Pair):
    """Finitely many losses: (loss, Pr_P) for each, and the rest of P's mass at infinity."""

    def __init__(
        self,
        atoms: Sequence[tuple[Arb, Arb]],
        *,
        failure: Arb | None = None,
        unseen: Arb | None = None,
        lattice: tuple[Fraction, Fraction] | None = None,
    ) -> None:
        self.atoms = tuple(atoms)
        self._failure = arb(0) if failure is None else failure
        self.unseen = arb(0) if unseen is None else unseen  # what Q shows and P never does
        self._lattice = lattice
        self.cost = max(len(self.atoms) // 2, 1)
        self._floats: Array | None = None

    def failure(self) -> Arb:
        return self._failure

    def largest(self) -> Arb | None:
        if not self.atoms:  # every outcome tells all: of no finite loss, any bound holds
            return arb(0)
        top = self.atoms[0][0]
        for loss, _ in self.atoms[1:]:
            top = top.max(loss)
        return top

    def moment(self, z: Acb) -> Acb:
        spend(2 * len(self.atoms))
        total = acb(0)
        for loss, mass in self.atoms:
            total += (z * loss).exp() * mass
        return total

    def moments(self, theta: Arb, spacing: Arb, count: int) -> list[Acb]:
        masses = [acb((theta * loss).exp() * mass) for loss, mass in self.atoms]
        return weigh_balls(masses, [acb(0, spacing * loss) for loss, _ in self.atoms], count)

    def nodes(self, grid: Grid) -> Nodes:
        masses = [(grid.theta * loss).exp() * mass for loss, mass in self.atoms]
        whole = sum(masses, arb(0))
        shares = [rounded(acb(mass / whole)) for mass in masses]
        turning = [acb(0, grid.spacing * loss) for loss, _ in self.atoms]
        values, wrong = weigh([share for share, _ in shares], turning, grid.last)
        error = (wrong + sum(off for _, off in shares)) * SLACK
        return Nodes(values, np.full(grid.last + 1, error))

    def node_work(self, theta: float) -> float:
        return 0.2 + len(self.atoms) / 5000

    def about_log_moment(self, theta: float) -> float:
        if self._floats is None:
            seen = [(float(loss), float(mass.log())) for loss, mass in self.atoms if mass > 0]
            self._floats = np.array(seen or [(0.0, -math.inf)]).T
        losses, logs = self._floats
        exponents = theta * losses + logs
        top = exponents.max()
        return float(top + np.log(np.sum(np.exp(exponents - top)))) if top > -math.inf else -math.inf

    def about_decay(self, theta: float, frequency: float) -> float:
        return 0.0

    def lattice(self) -> tuple[Fraction, Fraction] | None:
        return self._lattice

    def period(self) -> Arb | None:
        fine = self._lattice is not None and self._lattice[1] > 0  # a law of one loss has no period
        return 2 * arb.pi() / ball(self._lattice[1]) if fine and self._lattice is not None else None

    def delta(self, epsilon: Arb) -> Arb:
        spend(2 * len(self.atoms))
        total = self._failure
        for loss, mass in self.atoms:
            total += mass * clip_at_zero(-(epsilon - loss).expm1())
        return total

    def point_masses(self) -> list[tuple[Arb, Arb]]:
        return list(self.atoms)

    def top_atom(self) -> tuple[Arb, Arb] | None:
        return max(self.atoms, key=lambda atom: float(atom[0]), default=None)

    def tail(self, loss: Arb) -> Arb | None:
        above = [mass for value, mass in self.atoms if not value <= loss]
        return sum(above, self._failure)

    def mean(self) -> Arb | None:
        if not self._failure.is_zero():
            return None
        total = arb(0)
        for loss, mass in self.atoms:
            total += loss * mass
        return total
