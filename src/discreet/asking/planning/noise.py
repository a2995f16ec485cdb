"""Which noise errs least on exact whole numbers, for a share of the price."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from discreet.asking.planning.reach import BITS, Reach
from discreet.kernel.losses import PrivacyLoss
from discreet.kernel.mechanisms import Gaussian, Laplace
from discreet.kernel.numerics import ball, least_passing, round_up, working_precision

Noise: TypeAlias = Laplace | Gaussian

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
    with working_precision(BITS):
        sigma = Fraction(round_up(ball(reach.distance) / (2 * ball(share.rho)).sqrt()))
    return Gaussian(sigma=sigma, sensitivity=reach.distance, step=1, relation=reach.relation)
