"""An odometer: how much privacy was lost so far, for charges chosen adaptively and no limit set."""

from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.kernel.accounting.rule import check_charge
from discreet.kernel.accounting.units import ONE, Total, from_units, units_up
from discreet.kernel.losses import ApproxDP, Notion, PrivacyLoss, check_relation
from discreet.kernel.losses.bounds import epsilon_at_most
from discreet.kernel.numerics import Arb, Real, ball, certified_floor, exact_delta, exact_positive


class Odometer:
    """A bound on the loss of all charges so far that holds at every moment at once.

    ε(V) = min(Σ εᵢ, √(2(V + g)·ln(√((V + g)/g)/δ')) + V/2)    with V = Σ εᵢ²

    Privacy: but for probability δ' + Σ δᵢ the privacy loss never exceeds the reading, whenever one looks
    (Whitehouse, Ramdas, Rogers and Wu 2023; proof in docs/theory/accounts.md). Any g > 0 is valid; it is
    chosen for V near `around`.

    >>> from discreet.kernel.losses import PureDP
    >>> odometer = Odometer(delta=1e-6, around=1)
    >>> for _ in range(10000): odometer.charge(PureDP(0.01))
    >>> 6 < odometer.reading.epsilon < 7
    True
    """

    def __init__(self, *, delta: Real, around: Real = 1, relation: str = "add/remove") -> None:
        self._slack, self._relation = exact_delta(delta), relation
        if self._slack == 0:
            raise InvalidParameter("delta must be > 0 for an odometer.", parameter="delta")
        self._spread = _best_spread(exact_positive(around, name="around"), self._slack)
        self._total = Total()

    def charge(self, loss: PrivacyLoss | Notion) -> None:
        """Count one more release."""
        if check_charge(loss).relation != self._relation:
            raise InvalidParameter(f"a charge must have the odometer's relation, {self._relation}.")
        if isinstance(loss, PrivacyLoss):
            epsilon, delta = epsilon_at_most(loss), Fraction(0)
        else:
            epsilon, delta = loss.as_epsilon_and_delta() or (None, Fraction(0))
        if epsilon is None:
            raise InvalidParameter("an odometer must be charged by epsilon, and delta where there is one.")
        self._total = self._total.plus(Total(units_up(epsilon), units_up(epsilon**2), units_up(delta)))

    @property
    def reading(self) -> ApproxDP:
        """What holds for all charges so far, rounded up."""
        by_squares = certified_floor(lambda: ONE * self._mixture_bound()) + 1
        epsilon = from_units(min(self._total.main, by_squares))
        delta = self._slack + from_units(self._total.delta)
        return ApproxDP(1, 0, check_relation(self._relation)).computed(epsilon, delta)

    def _mixture_bound(self) -> Arb:
        squares, spread = ball(from_units(self._total.square)), ball(self._spread)
        wide = squares + spread
        return (2 * wide * ((wide / spread).log() / 2 - ball(self._slack).log())).sqrt() + squares / 2


def _best_spread(around: Fraction, slack: Fraction) -> Fraction:
    """g ≈ V/(2·ln(1/δ') + ln(1 + 2·ln(1/δ'))), nearly the best for V = around; any g > 0 is valid."""

    def rough() -> Arb:
        twice = -2 * ball(slack).log()
        return twice + (1 + twice).log()

    return around / (certified_floor(rough) + 1)
