"""The distribution of a bounded number, by square waves: report a place in a window at the truth's bin."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.asking.local.report import WORD, BoundedNumber, read_counts, read_field
from discreet.asking.local.shares import mean_bounds
from discreet.asking.local.sources import Groups, read_reports
from discreet.asking.local.window_number import WindowNumber
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Interval, Real, exact_confidence, exact_probability, exact_whole
from discreet.kernel.randomness import Source

Floats = NDArray[np.float64]
MOST_BINS = 4096
_STEPS = 10_000
_STILL = 0.1  # gain in log-likelihood below which a step would fit noise: the search stops


@dataclass(frozen=True, init=False)
class WaveNumber(WindowNumber):
    """Put the number into one of B equal bins, then report a place y of 0 … B+w-2: each of the w places of
    the window x … x+w-1 with probability e^ε/Z, each other place with 1/Z, Z = w·e^ε + B - 1.

    Privacy: ε-DP for each report: two bins change the probability of a place by at most e^ε.
    Accuracy: shares of the bins by maximum likelihood; bounds on the distribution function that hold for all
    bins together (docs/theory/local.md). The window is that of Li et al. (SIGMOD 2020).

    >>> WaveNumber(bounds=(0, 15), epsilon=1, bins=16).window
    8
    """

    protocol: ClassVar[str] = "wave"

    def __init__(self, *, bounds: tuple[Real, Real], epsilon: Real, bins: Real = 32) -> None:
        BoundedNumber.__init__(self, bounds=bounds, epsilon=epsilon)
        count = exact_whole(bins, name="bins", least=2)
        if count > MOST_BINS:
            raise InvalidParameter(f"bins must be at most {MOST_BINS}, got {count}.", parameter="bins")
        object.__setattr__(self, "levels", count - 1)
        object.__setattr__(self, "window", best_window(self.epsilon, count))

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self.levels + 1

    def _levels(self, truths: Any, source: Source) -> NDArray[np.int64]:
        """The bin of each number."""
        different, back = self._parts(truths)
        bins = [min(math.floor(part * self.bins), self.levels) for part in different]
        return np.array(bins, dtype=np.int64)[back]

    def collect(self, reports: Any, *, column: str = "report") -> "Distribution":
        """Return the distribution behind reports: a list, an array, or a column of a frame, file or table."""
        given = read_reports(reports, column=column)
        places, many = (given.reports, given.counts) if isinstance(given, Groups) else (given, None)
        read = np.array(self._read(places), dtype=np.int64)
        counts = np.bincount(read, weights=many, minlength=self.places).astype(np.int64)
        return Distribution(self, counts)

    def from_tally(self, tally: dict[str, Any]) -> "Distribution":
        """Return the distribution that `Distribution.to_json` wrote."""
        return Distribution(self, read_counts(tally, "counts", self.places))

    def estimate(self, reports: Any, *, confidence: Real = 0.95, liars: Real = 0) -> Any:
        """Return the distribution behind reports; its bounds are asked for at any confidence."""
        exact_confidence(confidence)
        exact_probability(liars, name="liars")
        return self.collect(reports)

    @classmethod
    def from_json(cls, protocol: dict[str, Any]) -> Self:
        """Return the protocol that was stored."""
        plain = BoundedNumber.from_json.__func__(WindowNumber, protocol)  # type: ignore[attr-defined]
        levels = exact_whole(read_field(protocol, "levels"), name="levels", least=1)
        return cls(bounds=plain.bounds, epsilon=plain.epsilon, bins=levels + 1)


def best_window(epsilon: Fraction, bins: int) -> int:
    """Return the width with the most mutual information: 2b of the range, b = (εe^ε - e^ε + 1)/(2e^ε(e^ε - 1
    - ε)); privacy does not depend on it.
    """
    price = min(float(epsilon), 500.0)
    e = math.exp(price)
    share = (price * e - e + 1) / (e * (e - 1 - price)) if price > 1e-3 else 1.0
    return max(1, min(bins, round(share * bins)))


@dataclass(frozen=True, eq=False)
class Distribution:
    """How many reports fell in each place, and the distribution of the numbers behind them."""

    protocol: WaveNumber
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.reports < 1:
            raise InvalidParameter("reports must hold at least one report, got none.", parameter="reports")

    def __add__(self, more: "Distribution") -> "Distribution":
        """Return the distribution of both together; they must be of one protocol."""
        if not isinstance(more, Distribution):
            return NotImplemented
        if more.protocol != self.protocol:
            raise InvalidParameter("reports must be of one protocol.", parameter="reports")
        return Distribution(self.protocol, self.counts + more.counts)

    @property
    def reports(self) -> int:
        """How many reports there are."""
        return int(self.counts.sum())

    @property
    def edges(self) -> Floats:
        """The ends of the bins."""
        low, high = (float(bound) for bound in self.protocol.bounds)
        return np.linspace(low, high, self.protocol.bins + 1)

    @property
    def _outside(self) -> Fraction:
        """The probability of each place outside the window."""
        return (1 - Fraction(self.protocol.threshold, WORD)) / self.protocol.levels

    @property
    def _gain(self) -> Fraction:
        """How much likelier a place in the window is."""
        return Fraction(self.protocol.threshold, WORD) / self.protocol.window - self._outside

    @cached_property
    def shares(self) -> Floats:
        """The share of each bin by maximum likelihood (EM, stopped early): they sum to 1 and are biased."""
        window, bins = self.protocol.window, self.protocol.bins
        outside, gain = float(self._outside), float(self._gain)
        found, last = np.full(bins, 1 / bins), -math.inf
        for _ in range(_STEPS):
            expected = outside + gain * _moving_sum(np.pad(found, window - 1), window)
            ratio = self.counts / expected
            found = found * (outside * ratio.sum() + gain * _moving_sum(ratio, window)) / self.reports
            found /= found.sum()
            likelihood = float(self.counts @ np.log(expected))
            if likelihood - last < _STILL:
                break
            last = likelihood
        return found

    def moved_by(self, liars: Real) -> float:
        """Return how far this share of liars can move the bounds, at most.

        A report is in at most one of the classes of w neighbouring y: m/(n·gain) for m = ⌈share·n⌉ of them.
        """
        share = exact_probability(liars, name="liars")
        return math.ceil(share * self.reports) / self.reports / float(self._gain) * (1 + 1e-12)

    def bounds(self, *, confidence: Real = 0.95, liars: Real = 0) -> tuple[Floats, Floats]:
        """Return bounds on the share of people in bins 0 … x, for each x, that hold for all x together, and
        whatever a share of liars sent.

        Of each residue class of places modulo w a window holds exactly one, at or below y just if x ≤ y: so a
        report is in {y, y-w, y-2w, …} with probability outside·size + gain·[x ≤ y], and what is counted for s
        neighbouring y bounds the mean of F(y) over them. F is not decreasing, so each bound helps its side.
        """
        bins, window, n = self.protocol.bins, self.protocol.window, self.reports
        scales = [2**i for i in range(window.bit_length()) if 2**i <= min(window, bins - 1)]
        tests = sum(2 * (bins - scale) for scale in scales)
        risk = float(1 - exact_confidence(confidence)) / tests
        lower, upper = np.zeros(bins), np.ones(bins)
        outside, gain = float(self._outside), float(self._gain)
        below, above, sizes = self._class_counts()
        moved = self.moved_by(liars)
        for scale in scales:
            starts = np.arange(bins - scale)
            for counts, members, sign in ((below, sizes[0], 1), (above, sizes[1], -1)):
                sums = _moving_sum(counts, scale)[: starts.size]
                expected = outside * _moving_sum(members, scale)[: starts.size]
                low, high = mean_bounds(sums.astype(np.int64), n, risk=risk)
                ends = (
                    ((low - expected) / gain - moved) / scale,
                    ((high - expected) / gain + moved) / scale,
                )
                least, most = ends if sign == 1 else (1 - ends[1], 1 - ends[0])
                np.maximum.at(lower, starts + scale - 1, least)
                np.minimum.at(upper, starts, most)
        lower = np.clip(np.maximum.accumulate(lower) - 1e-9, 0, 1)
        upper = np.minimum.accumulate(upper[::-1])[::-1]
        lower[-1] = 1.0  # nobody is beyond the last bin
        return lower, np.clip(upper + 1e-9, 0, 1)

    def _class_counts(self) -> tuple[Floats, Floats, tuple[Floats, Floats]]:
        """For each y: reports in {y, y-w, …} and in {y+w, y+2w, …}, and how many places these are."""
        bins, window, places = self.protocol.bins, self.protocol.window, self.protocol.places
        below, above = self.counts.astype(np.float64), self.counts.astype(np.float64)
        for y in range(window, places):
            below[y] += below[y - window]
        for y in range(places - window - 1, -1, -1):
            above[y] += above[y + window]
        at = np.arange(bins, dtype=np.int64)
        beyond: Floats = np.where(at + window < places, above[np.minimum(at + window, places - 1)], 0.0)
        sizes = (at // window + 1).astype(np.float64), ((places - 1 - at) // window).astype(np.float64)
        return below[:bins], beyond, sizes

    def quantile(self, share: Real, *, confidence: Real = 0.95, liars: Real = 0) -> tuple[float, Interval]:
        """Return the number below which this share of people lies, and an interval for it.

        The intervals of all quantiles hold together, and whatever a share of liars sent.
        """
        wanted = float(exact_probability(share, name="share"))
        lower, upper = self.bounds(confidence=confidence, liars=liars)
        first = int(np.argmax(upper >= wanted))
        last = int(np.argmax(lower >= wanted))
        ends = Interval(float(self.edges[first]), float(self.edges[last + 1]))
        steps = np.concatenate([[0.0], np.cumsum(self.shares)])
        found = float(np.interp(wanted, steps, self.edges))
        return min(max(found, ends.lower), ends.upper), ends

    def to_json(self) -> dict[str, Any]:
        """Return the counts, which are all that an estimate needs."""
        return {"counts": self.counts.tolist()}

    def __repr__(self) -> str:
        return f"Distribution(bins={self.protocol.bins}, reports={self.reports})"


def _moving_sum(values: Floats, width: int) -> Floats:
    """Sums of `width` neighbours."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    sums: Floats = total[width:] - total[:-width]
    return sums
