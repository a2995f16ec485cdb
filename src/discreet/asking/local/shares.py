"""What the collector has: how many reports support each value, and the shares of people behind them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.asking.local.sources import Groups
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import (
    Estimate,
    Interval,
    Real,
    exact_confidence,
    exact_probability,
    exact_whole,
)

Floats = NDArray[np.float64]
_HALVINGS = 60
_LEAST_RISK = 1e-290  # below it nothing is claimed but that a share of reports lies in [0, 1]
_STILL = 0.5  # gain in log-likelihood below which the search for the likeliest shares ends
_BLUR = 1e-9  # by which two likelihoods, sums of millions of logarithms, may differ for rounding alone
_MOST_STEPS = 500  # of that search; 20 have been enough
_SLACK = 1e-12  # over the rounding of what is computed in floats


class _Known(Protocol):
    """What shares need to know of a protocol."""

    @property
    def own(self) -> Fraction: ...
    @property
    def other(self) -> Fraction: ...
    @property
    def values(self) -> Sequence[Any]: ...
    @property
    def domain(self) -> Any: ...
    @property
    def overlap(self) -> Fraction: ...
    @property
    def likelihood_ratio(self) -> Fraction: ...
    def _expect(self, seen: Groups, shares: Floats) -> Floats: ...
    def _gather(self, seen: Groups, ratios: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Shares:
    """The estimated share of every value, in the order of the values.

    `raw` is unbiased and may be negative; `consistent` is its projection on shares that are not negative and
    sum to 1 (Norm-Sub), `likeliest` the maximum of the likelihood among those: both are smaller in error
    and biased. Errors and intervals are always those of `raw`.
    Accuracy: an interval holds the share among those who reported with at least its confidence, for one value
    or with simultaneous=True for all of them together.
    """

    protocol: _Known
    supports: NDArray[np.int64]
    reports: int
    seen: Groups | None = None  # the reports themselves, which only `likeliest` needs

    def __post_init__(self) -> None:
        if self.reports < 1:
            raise InvalidParameter("reports must hold at least one report, got none.", parameter="reports")

    def __len__(self) -> int:
        return int(self.supports.size)

    def __add__(self, more: "Shares") -> "Shares":
        """Return the shares of both together; they must be of one protocol."""
        if not isinstance(more, Shares):
            return NotImplemented
        if more.protocol != self.protocol:
            raise InvalidParameter("reports must be of one protocol.", parameter="reports")
        seen = self.seen + more.seen if self.seen and more.seen else None
        return Shares(self.protocol, self.supports + more.supports, self.reports + more.reports, seen)

    @property
    def _slope(self) -> float:
        return float(self.protocol.own - self.protocol.other)

    def _invert(self, supported: Floats) -> Floats:
        """The shares behind shares of supporting reports: (c/n - other)/(own - other)."""
        found: Floats = (supported - float(self.protocol.other)) / self._slope
        return found

    @cached_property
    def raw(self) -> Floats:
        """The unbiased estimates."""
        return self._invert(self.supports / self.reports)

    @cached_property
    def standard_errors(self) -> Floats:
        """√(c/n·(1 - c/n)/n)/(own - other) for each value."""
        share = self.supports / self.reports
        errors: Floats = np.sqrt(share * (1 - share) / self.reports) / self._slope
        return errors

    @cached_property
    def consistent(self) -> Floats:
        """The nearest shares that are not negative and sum to 1. Biased: for showing, not for inference.

        Where the values are hashed or some were left out, the sum need not be 1 and `raw` is the estimate.
        """
        return norm_sub(self.raw)

    @cached_property
    def likeliest(self) -> Floats:
        """The shares, not negative and with sum 1, that make these reports likeliest. Biased, like
        `consistent`. It needs the reports themselves: a tally does not hold them.

        A report has the likelihood 1 + (λ - 1)·S, S the share of people whose value it supports and λ how
        many times likelier it is for them. The search starts at `consistent` and ends where no other shares
        can gain more than 0.5 in the logarithm, for any number of values.
        """
        if self.seen is None:
            raise InvalidParameter(
                "reports must be collected, not read from a tally, for the likeliest shares.",
                parameter="reports",
            )
        return climb(_Likelihood(self.protocol, self.seen.merged()), self.consistent)

    def intervals(
        self, *, confidence: Real = 0.95, simultaneous: bool = False, liars: Real = 0
    ) -> tuple[Floats, Floats]:
        """Return the lower and upper ends for all values.

        With simultaneous=True all hold together (the risk is divided among the values). With a share of liars
        they hold for the answers that all would have given honestly, whatever the liars send.
        """
        risk = 1 - exact_confidence(confidence)
        lower, upper = mean_bounds(
            self.supports, self.reports, risk=float(risk) / (len(self) if simultaneous else 1)
        )
        moved = self.moved_by(liars)
        return self._invert(lower) - moved, self._invert(upper) + moved

    def moved_by(self, liars: Real) -> float:
        """Return how far this share of liars can move any of the numbers, at most.

        Each report that is replaced changes a count by at most 1: m/(n·(own - other)) for m = ⌈share·n⌉.
        """
        share = exact_probability(liars, name="liars")
        return math.ceil(share * self.reports) / self.reports / self._slope * (1 + _SLACK)

    def estimate(self, value: Any, *, confidence: Real = 0.95, liars: Real = 0) -> Estimate:
        """Return the share of one value."""
        place = int(self.protocol.domain.places([value])[0])
        one = Shares(self.protocol, self.supports[[place]], self.reports)
        return next(iter(one._each([value], confidence, liars).values()))

    def estimates(self, *, confidence: Real = 0.95, liars: Real = 0) -> dict[Any, Estimate]:
        """Return the share of every value, by value."""
        return self._each(self.protocol.values, confidence, liars)

    def top(self, count: Real, *, confidence: Real = 0.95, liars: Real = 0) -> dict[Any, Estimate]:
        """Return the values with the largest estimates, whose intervals hold for all values together."""
        places = np.argsort(-self.raw, kind="stable")[: exact_whole(count, name="count", least=1)]
        risk = (1 - exact_confidence(confidence)) / len(self)
        few = Shares(self.protocol, self.supports[places], self.reports)
        found = few._each([self.protocol.values[place] for place in places.tolist()], 1 - risk, liars)
        return {
            value: Estimate(share.value, share.standard_error, share.interval, float(confidence))
            for value, share in found.items()
        }

    def _each(self, values: Sequence[Any], confidence: Real, liars: Real) -> dict[Any, Estimate]:
        lower, upper = self.intervals(confidence=confidence, liars=liars)
        level = float(confidence)
        columns = (self.raw, self.standard_errors, lower, upper)
        return {
            value: Estimate(share, error, Interval(low, high), level)
            for value, share, error, low, high in zip(values, *(c.tolist() for c in columns), strict=True)
        }

    def to_json(self) -> dict[str, Any]:
        """Return the counts, which are all that an estimate needs."""
        return {"reports": self.reports, "supports": self.supports.tolist()}

    def __repr__(self) -> str:
        return f"Shares(values={len(self)}, reports={self.reports})"


def norm_sub(raw: Floats) -> Floats:
    """Return the Euclidean projection on the simplex: max(0, x - τ) with the τ that makes the sum 1.

    >>> norm_sub(np.array([0.8, 0.5, -0.3])).round(3).tolist()
    [0.65, 0.35, 0.0]
    """
    # From the largest, so that the 1 is not lost beside estimates of 10^18, which a tiny ε has.
    return project(raw - raw.max(), np.ones_like(raw))


def project(wanted: Floats, weights: Floats) -> Floats:
    """Return the point of the simplex with the least Σ weight·(x - wanted)²: max(0, wanted - τ/weight)."""
    reached = wanted * weights
    falling = np.argsort(-reached)
    excess = (np.cumsum(wanted[falling]) - 1) / np.cumsum(1 / weights[falling])
    last = int(np.flatnonzero(reached[falling] > excess)[-1])
    result: Floats = np.maximum(wanted - excess[last] / weights, 0)
    return result


class _Likelihood:
    """The logarithm of how likely the reports are, Σ N·log(1 + (λ - 1)·S), as a function of the shares."""

    def __init__(self, protocol: _Known, seen: Groups) -> None:
        self._protocol, self._seen = protocol, seen
        self._gain = float(protocol.likelihood_ratio - 1)
        self.reports = float(seen.counts.sum())

    def expect(self, shares: Floats) -> Floats:
        """1 + (λ - 1)·S for each report."""
        expected: Floats = 1 + self._gain * self._protocol._expect(self._seen, shares)
        return expected

    def value(self, expected: Floats) -> float:
        """The logarithm."""
        return float(self._seen.counts @ np.log(expected))

    def slopes(self, expected: Floats) -> Floats:
        """Its slope in each share. Their mean, weighted by the shares, is the number of reports."""
        ratios = self._seen.counts / expected
        found: Floats = ratios.sum() + self._gain * self._protocol._gather(self._seen, ratios)
        return found

    def curvature(self, expected: Floats) -> Floats:
        """Its curvature in each share, less what all pairs of values have in common."""
        squares = self._protocol._gather(self._seen, self._seen.counts / expected**2)
        alone: Floats = self._gain**2 * float(1 - self._protocol.overlap) * squares
        return np.maximum(alone, max(float(alone.mean()) / 10, 1e-300))


def climb(likelihood: _Likelihood, start: Floats) -> Floats:
    """Return shares from which no others gain more than 0.5: projected Newton steps, accelerated.

    All pairs of values are alike, so the curvature is nearly that of each share alone, and a step to the top
    of that parabola on the simplex is nearly a Newton step. Steps are carried on (Nesterov 1983) until one
    leads down, and shortened where the parabola was too flat.
    """
    found, at, carried, shorter = start, start, 1.0, 1.0
    expected = likelihood.expect(start)
    best = here = likelihood.value(expected)
    bend = likelihood.curvature(expected)
    for _ in range(_MOST_STEPS):
        slopes = likelihood.slopes(expected) - likelihood.reports
        while True:
            after = project(at + slopes / (shorter * bend), bend)
            move = after - at
            expected = likelihood.expect(after)
            level = likelihood.value(expected)
            promised = float(slopes @ move - shorter / 2 * (move @ (bend * move)))
            if level >= here + promised - _BLUR * (1 + abs(here)):
                break
            shorter *= 1.5
        # The logarithm is concave: it gains at most the largest slope less their mean.
        if float(likelihood.slopes(expected).max()) - likelihood.reports < _STILL:
            return after
        if level < best:
            carried, shorter, at, here = 1.0, 1.0, after, level
            bend = likelihood.curvature(expected)
        else:
            following = (1 + math.sqrt(1 + 4 * carried**2)) / 2
            at = np.maximum(after + (carried - 1) / following * (after - found), 0)
            at /= at.sum()
            carried, expected = following, likelihood.expect(at)
            here = likelihood.value(expected)
        found, best = after, level
    return found


def mean_bounds(counts: NDArray[np.int64], trials: int, *, risk: float) -> tuple[Floats, Floats]:
    """Return both ends of the mean probability of `trials` independent trials, for each number of successes.

    Pr[Bin(n, p) ≤ c] ≤ Φ(-√(2n·KL((c+1)/n, p))) for p ≥ (c+1)/n (Zubkov and Serov 2013), so the p at which
    that is risk/2 is an upper end, at or above Clopper and Pearson's. It lies a whole success beyond c, where
    the binomial tail is the largest among trials of one mean (Hoeffding 1956, Theorem 4).
    """
    if risk < _LEAST_RISK:
        return np.zeros(counts.shape), np.ones(counts.shape)
    z = -NormalDist().inv_cdf(risk / 2) * (1 + 1e-9)
    distance = z * z / (2 * trials)
    different, back = np.unique(counts, return_inverse=True)
    above = _upper(np.minimum(different + 1, trials) / trials, distance)
    below = 1 - _upper(np.minimum(trials - different + 1, trials) / trials, distance)
    return below[back], above[back]


def _upper(share: Floats, distance: float) -> Floats:
    """The largest p ≥ share with KL(share, p) ≤ distance, by halving; the end beyond it is returned."""
    low, high = share.copy(), np.ones_like(share)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        near = _divergence(share, middle) <= distance
        low, high = np.where(near, middle, low), np.where(near, high, middle)
    return np.minimum(high + _SLACK, 1.0)


def _divergence(share: Floats, p: Floats) -> Floats:
    """KL(share, p) between two coins."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(share > 0, share * np.log(share / p), 0.0)
        rest = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0.0)
    total: Floats = np.nan_to_num(one + rest, nan=np.inf)
    return total
