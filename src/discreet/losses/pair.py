"""A dominating pair: two laws P, Q whose hockey-stick divergence bounds a mechanism's, for every epsilon.

With L = ln(dP/dQ) under P, the privacy loss random variable, δ(ε) = E[(1 − e^(ε−L))₊].
Pairs compose: products of dominating pairs dominate the adaptive composition of the mechanisms
(Zhu, Dong and Wang 2022, Theorem 10).

Everything here is computed in Arb balls at the working precision, so each number encloses the truth.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from flint import acb, arb

from discreet.numerics import Arb, ball

Acb: TypeAlias = Any  # flint.acb, which ships no types


class Pair(ABC):
    """The law of one privacy loss: its transform, its curve, its largest value."""

    cost: int = 1  # of one value of the transform, in values of the Laplace's

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

    def decay(self, theta: Arb, frequency: Arb) -> Arb:
        """A bound on |moment(θ + it)| for every t with frequency <= |t| <= half the period."""
        return abs(self.moment(acb(theta)))

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

    def density(self, loss: Arb) -> Arb:
        """The density of L beside its atoms."""
        return arb(0)

    def tail(self, loss: Arb) -> Arb | None:
        """Pr[L > loss], where it is closed."""
        return None

    def log_moment(self, theta: Arb) -> Arb:
        """ln E[e^(θL); L < ∞] = θ·D_(1+θ)(P‖Q) for θ > 0."""
        return self.moment(acb(theta)).real.log()


def powers(base: Acb, count: int) -> list[Acb]:
    """base^j for j = 0 ... count, by products of halves.

    Halving keeps the products log₂(count) deep: a chain of rotations would blow up rectangular balls.
    """
    found = [acb(1), base]
    for j in range(2, count + 1):
        found.append(found[j // 2] * found[j - j // 2])
    return found[: count + 1]


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
        total = acb(0)
        for loss, mass in self.atoms:
            total += (z * loss).exp() * mass
        return total

    def moments(self, theta: Arb, spacing: Arb, count: int) -> list[Acb]:
        totals = [acb(0)] * (count + 1)
        for loss, mass in self.atoms:
            value = acb((theta * loss).exp() * mass)
            for j, turn in enumerate(turns(spacing * loss, count)):
                totals[j] += value * turn
        return totals

    def lattice(self) -> tuple[Fraction, Fraction] | None:
        return self._lattice

    def period(self) -> Arb | None:
        return None if self._lattice is None else 2 * arb.pi() / ball(self._lattice[1])

    def delta(self, epsilon: Arb) -> Arb:
        total = self._failure
        for loss, mass in self.atoms:
            total += mass * clip_at_zero(-(epsilon - loss).expm1())
        return total

    def point_masses(self) -> list[tuple[Arb, Arb]]:
        return list(self.atoms)

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
