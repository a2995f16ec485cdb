"""Which noise errs least on exact whole numbers, for a share of the price."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.losses import PrivacyLoss, Relation
from discreet.mechanisms import Gaussian, Laplace
from discreet.numerics import ball, least_passing, round_up, working_precision

Noise: TypeAlias = Laplace | Gaussian

_BITS = 128
_NEAR = Fraction(1, 2**20)  # how close a searched number comes to the best one


@dataclass(frozen=True)
class Share:
    """A part of the price: epsilon and delta, or rho."""

    epsilon: Fraction | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None

    def times(self, part: Fraction) -> "Share":
        """That part of the share.

        >>> Share(epsilon=Fraction(1)).times(Fraction(1, 4)).epsilon
        Fraction(1, 4)
        """
        return Share(
            None if self.epsilon is None else self.epsilon * part,
            self.delta * part,
            None if self.rho is None else self.rho * part,
        )


@dataclass(frozen=True)
class Reach:
    """How far one unit moves a vector of whole numbers: `groups` of them at most, each by at most `most`.

    `swap` is the most by which replacing a unit's part moves one number, so most ≤ swap ≤ 2·most. `labels` is
    how many numbers there are, where that is public; a single number has one group and one label.

    Privacy: under replace a unit leaves some groups, enters others and changes its part of c of them; proved
    in docs/theory/bounding.md.
    """

    groups: int
    most: int
    swap: int
    relation: Relation = "add/remove"
    labels: int | None = None

    @property
    def total(self) -> int:
        """The l1 sensitivity.

        >>> Reach(3, 10, 10).total, Reach(3, 10, 10, "replace").total
        (30, 60)
        >>> Reach(3, 10, 10, "replace", labels=4).total, Reach(1, 10, 10, "replace", labels=1).total
        (40, 10)
        """
        if self.relation == "add/remove":
            return self._entered * self.most
        return self._changed * self.swap + 2 * (self._entered - self._changed) * self.most

    @property
    def distance(self) -> Fraction:
        """The l2 sensitivity, rounded up.

        >>> Reach(4, 10, 10).distance, Reach(2, 10, 10, "replace").distance
        (Fraction(20, 1), Fraction(20, 1))
        """
        with working_precision(_BITS):
            return Fraction(round_up(ball(self._squares).sqrt()))

    @property
    def _squares(self) -> int:
        if self.relation == "add/remove":
            return self._entered * self.most**2
        apart = self._changed * self.swap**2 + 2 * (self._entered - self._changed) * self.most**2
        return max(apart, self._entered * self.swap**2)

    @property
    def _entered(self) -> int:
        """How many groups a unit may be in."""
        return self.groups if self.labels is None else min(self.groups, self.labels)

    @property
    def _changed(self) -> int:
        """How many groups a unit must be in before and after, when it is in as many as it may."""
        return 0 if self.labels is None else max(0, 2 * self._entered - self.labels)

    @property
    def moved(self) -> int:
        """How many numbers move.

        >>> Reach(3, 1, 1).moved, Reach(3, 1, 1, "replace").moved, Reach(3, 1, 1, "replace", labels=4).moved
        (3, 6, 4)
        """
        return self._entered if self.relation == "add/remove" else 2 * self._entered - self._changed


def least_noise(reach: Reach, share: Share, *, confidence: Fraction, gaussian: bool = False) -> Noise:
    """Laplace or Gaussian noise on whole numbers, whichever errs less for this share at this confidence.

    Privacy: each candidate is calibrated to the share by its own loss, so either may be taken; the choice
    depends on public numbers alone. `gaussian` leaves no choice, for budgets that only Gaussian noise fits.
    """
    fitting: list[Noise] = [] if gaussian else [_laplace(reach, share)]
    if share.rho is not None or share.delta > 0:
        fitting.append(_gaussian(reach, share))
    return min(fitting, key=lambda noise: noise.error(confidence=confidence))


def largest_epsilon(share: Share, loss_at: Callable[[Fraction], PrivacyLoss]) -> Fraction:
    """The largest epsilon whose loss fits the share: its own, or what its rho allows."""
    if share.epsilon is not None:
        return share.epsilon
    rho = share.rho
    assert rho is not None
    inverse = least_passing(lambda inverse: Fraction(loss_at(1 / inverse).rho) <= rho, tolerance=_NEAR)
    return 1 / inverse


def _laplace(reach: Reach, share: Share) -> Laplace:
    def charged(epsilon: Fraction) -> Laplace:
        return Laplace(epsilon=epsilon, sensitivity=reach.total, step=1, relation=reach.relation)

    return charged(largest_epsilon(share, lambda epsilon: charged(epsilon).loss))


def _gaussian(reach: Reach, share: Share) -> Gaussian:
    if share.rho is None:
        return Gaussian(
            epsilon=share.epsilon,
            delta=share.delta,
            sensitivity=reach.distance,
            step=1,
            relation=reach.relation,
        )
    with working_precision(_BITS):
        sigma = Fraction(round_up(ball(reach.distance) / (2 * ball(share.rho)).sqrt()))
    return Gaussian(sigma=sigma, sensitivity=reach.distance, step=1, relation=reach.relation)
