"""What a composed curve is at least, without a contour: by its top atom, and by what P and Q share."""

from collections.abc import Sequence

from flint import acb, arb

from discreet.kernel.losses.contour import Part, log_moment
from discreet.kernel.numerics import Arb, power, state_down

SHARES = (0.02, 0.1, 0.2, 0.3, 0.4, 0.49)  # below 1/2: for ε >= 0 the best share of a symmetric law is


def epsilon_floor(parts: Sequence[Part], delta: Arb) -> float:
    """δ(ε) >= p·(1 − e^(ε−T)) with p = Pr[L = T] of the largest loss T, so ε(δ) >= T + ln(1 − δ/p).

    Near the largest loss the top atom is all there is, and no tilt tells a contour where to go.
    """
    top, mass = arb(0), arb(1)
    for pair, count in parts:
        atom = pair.top_atom()
        if atom is None:
            return 0.0
        top += count * atom[0]
        mass *= power(atom[1], count)
    left = 1 - delta / mass if mass > delta else arb(0)
    return max(state_down(top + left.log()), 0.0) if left > 0 else 0.0


def delta_floor(parts: Sequence[Part], epsilon: Arb) -> Arb:
    """δ(ε) of the finite losses is Pr[L < ∞] − E[min(1, e^(ε−L))], and min(1, e^y) <= e^(sy), 0 <= s <= 1.

    So at least Pr[L < ∞] − e^(sε + K(−s)): nearly everything, where ε is far below the losses.
    """
    at = float(epsilon.mid())

    def rough(share: float) -> float:
        return share * at + sum(count * pair.about_log_moment(-share) for pair, count in parts)

    share = arb(min(SHARES, key=rough))
    shared = (share * epsilon + log_moment(parts, -share)).exp()
    left = finite_mass(parts) - shared
    return left.max(arb(0)) if left.is_finite() else arb(0)


def finite_mass(parts: Sequence[Part]) -> Arb:
    """Pr[L < ∞]; less than 1 − Pr[L = ∞] where a law below another left some of its mass out."""
    mass = arb(1)
    for pair, count in parts:
        mass *= power(pair.moment(acb(0)).real, count)
    return mass
