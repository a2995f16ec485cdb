"""What an attacker gains from a release: the trade-off of errors, and the odds that follow from it.

An attacker asks of one person: in the data, or not? With α the probability of a false alarm and β that of a
miss, a loss allows exactly β >= f(α) = sup over ε of 1 − δ(ε) − e^ε·α, ε of either sign, where
δ(−ε) = 1 − e^(−ε)(1 − δ(ε)) for the worse of both directions (Dong, Roth and Su 2022, Proposition 6).
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from flint import arb

from discreet.errors import InvalidParameter
from discreet.kernel.losses.loss import PrivacyLoss
from discreet.kernel.losses.questions import ALLOWED, WIDE, curves_of, delta_interval
from discreet.kernel.losses.work import TooMuch, limited
from discreet.kernel.numerics import (
    Arb,
    Interval,
    Real,
    ball,
    exact_probability,
    exact_whole,
    round_down,
    round_up,
    working_precision,
)

BITS = 128
STEPS = 60  # of the search for the best ε
SPREADS = (3e-4, 3e-3, 0.03, 0.3)  # distances of the ε beside the best that prove the upper end
FARTHEST = 1000.0  # no attacker needs an ε beyond
GOLDEN = (math.sqrt(5) - 1) / 2


def trade_off(loss: PrivacyLoss, alpha: Real) -> Interval:
    """Two ends around f(α), the least probability of a miss at this probability of a false alarm."""
    share = exact_probability(alpha, name="alpha")
    if share == 1 or not loss.terms:
        return Interval(round_down(1 - share), round_up(1 - share))
    with working_precision(BITS), limited(ALLOWED):
        return _TradeOff(loss, share).ends()


class _TradeOff:
    """v(γ) = 1 − δ(ln γ) − γα is concave in γ = e^ε: any ε proves a lower end, three of them an upper one."""

    def __init__(self, loss: PrivacyLoss, alpha: Fraction) -> None:
        self.loss, self.alpha = loss, ball(alpha)
        self._curves = curves_of(loss.terms)
        self._known: dict[float, tuple[Arb, Arb]] = {}

    def ends(self) -> Interval:
        best = self._best()
        lower, upper = self.value(best)[0], 1 - self.alpha
        top = self.loss.epsilon(delta=0)
        for corner in (top, -top) if top < FARTHEST else ():  # where a law of few outcomes bends
            lower = lower.max(self.value(corner)[0])
        for spread in SPREADS:
            points = [best + spread * step for step in (-2, -1, 0, 1, 2)]
            upper = upper.min(self._above(points))
        low = max(round_down(lower), 0.0)
        return Interval(low, max(low, min(1.0, round_up(upper))))

    def _best(self) -> float:
        """About the best ε, by golden section."""
        left, right = -FARTHEST, FARTHEST
        while right > 1 and self._delta(right / 2)[1] < 1e-30:
            left, right = left / 2, right / 2
        a, b = right - GOLDEN * (right - left), left + GOLDEN * (right - left)
        for _ in range(STEPS):
            if right - left < 1e-4:
                break
            if self._about(a) > self._about(b):
                right, b = b, a
                a = right - GOLDEN * (right - left)
            else:
                left, a = a, b
                b = left + GOLDEN * (right - left)
        return (left + right) / 2

    def _about(self, epsilon: float) -> float:
        return float(self._at(epsilon, self._delta(abs(epsilon)))[0].mid())

    def value(self, epsilon: float) -> tuple[Arb, Arb]:
        """Balls below and above v(e^ε)."""
        if epsilon not in self._known:
            low, high = self._delta(abs(epsilon))
            if not high - low <= WIDE * high:  # every other way too, and nothing of it is remembered
                found = delta_interval.__wrapped__(self.loss.terms, Fraction(abs(epsilon)))
                low, high = low.max(arb(found.lower)), high.min(arb(found.upper))
            self._known[epsilon] = self._at(epsilon, (low, high))
        return self._known[epsilon]

    def _at(self, epsilon: float, delta: tuple[Arb, Arb]) -> tuple[Arb, Arb]:
        """Balls below and above v(e^ε), by both ends of δ(|ε|)."""
        (low, high), gamma = delta, arb(epsilon).exp()
        if epsilon >= 0:
            ends = 1 - high - gamma * self.alpha, 1 - low - gamma * self.alpha
        else:
            ends = gamma * (1 - high - self.alpha), gamma * (1 - low - self.alpha)
        return ends

    def _delta(self, epsilon: float) -> tuple[Arb, Arb]:
        """Balls below and above δ(ε), within the work that is left."""
        low, high = arb(0), arb(0)
        for curve in self._curves:
            try:
                ends = curve(arb(epsilon))
            except TooMuch:
                ends = arb(0), arb(1)
            low = low.max(ends[0]) if ends[0].is_finite() else low
            high = high.max(ends[1]) if ends[1].is_finite() else arb(1)
        return low.min(arb(1)), high.min(arb(1))

    def _above(self, points: list[float]) -> Arb:
        """A bound on v everywhere: chords of a concave function, drawn on, lie above it."""
        gammas = [arb(point).exp() for point in points]
        values = [self.value(point) for point in points]
        rises, falls = values[2][0] >= values[1][1], values[2][0] >= values[3][1]
        if not (rises and falls):  # the greatest may lie beyond them
            return arb(1)
        (g0, g1, g2, g3, g4), up = gammas, [high for _, high in values]
        low = [low for low, _ in values]
        left = up[1] + (up[1] - low[0]) / (g1 - g0) * (g2 - g1)  # at g2, from the left
        right = up[3] + (up[3] - low[4]) / (g4 - g3) * (g3 - g2)  # at g2, from the right
        return up[2].max(left).max(right).max(up[1]).max(up[3])


@dataclass(frozen=True)
class Risk:
    """What the best attacker gains from a release, in chances; every number is rounded against the release.

    Privacy: true of any attacker, whatever else is known, about one person whose presence the loss protects.
    """

    loss: PrivacyLoss

    def trade_off(self, alpha: Real) -> Interval:
        """The least chance of a miss at this chance of a false alarm."""
        return self.loss.trade_off(alpha)

    @property
    def advantage(self) -> float:
        """The most by which the chance of a hit exceeds that of a false alarm: δ(0)."""
        return self.loss.delta(epsilon=0)

    def guess(self, prior: Real = Fraction(1, 2)) -> float:
        """The chance that the best guess is right: p + (1 − p)·δ(ln(p/(1 − p))), p the greater prior."""
        share = _proper(prior, "prior")
        likelier = max(share, 1 - share)
        with working_precision(BITS):
            odds = ball(likelier / (1 - likelier)).log()
        delta = Fraction(self.loss.delta(epsilon=Fraction(max(round_down(odds), 0.0))))
        return min(round_up(likelier + (1 - likelier) * delta), 1.0)

    def hit(self, false_alarm: Real) -> float:
        """The most likely hit at this chance of a false alarm."""
        return round_up(1 - Fraction(self.loss.trade_off(false_alarm).lower))

    def posterior(self, false_alarm: Real, *, prior: Real = Fraction(1, 2)) -> float:
        """How sure an accusation can be: the chance that an accused person is in the data."""
        alarm, share = _proper(false_alarm, "false_alarm"), _proper(prior, "prior")
        hit = Fraction(self.hit(alarm))
        return min(round_up(share * hit / (share * hit + (1 - share) * alarm)), self.worst_posterior(prior))

    def worst_posterior(self, prior: Real = Fraction(1, 2)) -> float:
        """The same after the most telling outcome of all; 1 where the loss has no largest value.

        Such an outcome may be as rare as one pleases, so 1 says little by itself: see `posterior`.
        """
        share, epsilon = _proper(prior, "prior"), self.loss.epsilon(delta=0)
        if epsilon == math.inf:
            return 1.0
        with working_precision(BITS):
            odds = ball(share / (1 - share)) * arb(epsilon).exp()
            return min(round_up(odds / (1 + odds)), 1.0)

    def among(self, people: int) -> float:
        """The chance to tell which one of so many, all as likely, is in the data: 1 − f(1/m) at most."""
        return self.hit(Fraction(1, exact_whole(people, name="people", least=2)))

    def __str__(self) -> str:
        worst = self.worst_posterior()
        lines = [
            f"present or absent, guessed right: {_show(self.guess())} (0.5 without the release)",
            f"accused at 1 false alarm in 100, present: {_show(self.posterior(Fraction(1, 100)))} (0.5)",
            f"accused at 1 false alarm in 1000, present: {_show(self.posterior(Fraction(1, 1000)))} (0.5)",
            f"picked out among 100: {_show(self.among(100))} (0.01)",
            f"after the most telling outcome, present: {_show(worst)} (0.5)",
        ]
        if worst == 1:
            lines.append("the loss has no largest value: some outcome tells all, however rare it is")
        return "\n".join(lines)


def _show(chance: float) -> str:
    """Three digits, rounded up."""
    return f"{Decimal(chance).normalize(Context(prec=3, rounding=ROUND_CEILING)):f}"


def risk(loss: PrivacyLoss) -> Risk:
    """Say what a loss lets the best attacker gain, in chances in place of ε.

    >>> from discreet.kernel.losses import pure
    >>> round(risk(pure(epsilon=1)).guess(), 3)
    0.731
    """
    if not isinstance(loss, PrivacyLoss):
        raise InvalidParameter("risk must be given a loss, such as dp.Laplace(...).loss.", parameter="loss")
    return Risk(loss)


def _proper(value: Real, name: str) -> Fraction:
    share = exact_probability(value, name=name)
    if not 0 < share < 1:
        raise InvalidParameter(f"{name} must be above 0 and below 1, got {value}.", parameter=name)
    return share
