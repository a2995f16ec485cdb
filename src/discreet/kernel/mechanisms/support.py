"""Shares from randomised reports: holders of a value support it with one probability, others with another."""

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Arb, Estimate, Interval, ball, mean_limits, working_precision

BITS = 128


@dataclass(frozen=True)
class Support:
    """A report supports value v with probability `own` from those who hold v, `other` from those who do not.

    Estimate of a share f from c supports in n reports: (c/n - other)/(own - other), unbiased for every f.
    Accuracy: the interval is that of the mean probability of a support, mapped by the same line.
    """

    own: Arb
    other: Arb

    def expected(self, share: Fraction) -> float:
        """Return other + (own - other)·share."""
        with working_precision(BITS):
            return float((self.other + (self.own - self.other) * ball(share)).mid())

    def estimate(self, *, count: int, reports: int, confidence: Fraction) -> Estimate:
        """Return the share of holders behind `count` supports among `reports`."""
        if reports == 0:
            raise InvalidParameter("reports must hold at least one report, got none.", parameter="reports")
        slope = float(self.own - self.other)
        error = math.sqrt(count * (reports - count) / reports**3) / abs(slope)
        limits = mean_limits(successes=count, trials=reports, confidence=confidence)
        ends = sorted(self._invert(Fraction(end)) for end in limits)
        return Estimate(self._invert(Fraction(count, reports)), error, Interval(*ends), float(confidence))

    def _invert(self, supported: Fraction) -> float:
        """Return the share behind a share of supporting reports."""
        with working_precision(BITS):
            return float(((ball(supported) - self.other) / (self.own - self.other)).mid())

    def variance(self, share: Fraction, reports: int) -> float:
        """Return Var of the estimate when this share holds v: own(1-own)f + other(1-other)(1-f) over n·(own-
        other)².

        The people are fixed here; only their coins are random.
        """
        with working_precision(BITS):
            own, other, f = self.own, self.other, ball(share)
            spread = own * (1 - own) * f + other * (1 - other) * (1 - f)
            return float((spread / (reports * (own - other) ** 2)).mid())
