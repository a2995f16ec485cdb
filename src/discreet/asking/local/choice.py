"""One of several public values, by subset selection: report a small set that is likely to hold the truth."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.asking.local.domain import Domain
from discreet.asking.local.frequency import Frequencies
from discreet.asking.local.sources import Groups
from discreet.errors import InvalidParameter
from discreet.kernel.numerics import Real, exact_whole
from discreet.kernel.randomness import Source, uniform_below

MOST_ROOM = 1 << 18  # cells of the table in which a batch is shuffled: it stays in the processor's cache


@dataclass(frozen=True, init=False)
class Choice(Frequencies):
    """Report `size` of the k values: every set that holds the truth is e^ε times as likely as one that does
    not.

    size = 1 is randomised response, best for few values or a large ε; else about k/(e^ε + 1).

    Privacy: ε-DP for each report (Ye and Barg, IEEE Trans. Inf. Theory 2018; Wang et al. 2016), exactly
    sampled.
    Accuracy: unbiased shares; of all ε-DP reports, subset selection has the least variance up to lower-order
    terms.

    >>> Choice(values=range(100), epsilon=1).size
    27
    """

    protocol: ClassVar[str] = "choice"

    size: int

    def __init__(
        self,
        *,
        values: Sequence[Hashable] | None = None,
        domain: Domain | None = None,
        epsilon: Real,
        size: int | None = None,
    ) -> None:
        super().__init__(domain=domain or Domain.of(values=values), epsilon=epsilon)
        if size is not None and not 1 <= exact_whole(size, name="size", least=1) < self.domain.size:
            raise InvalidParameter("size must be below the number of values.", parameter="size")
        object.__setattr__(self, "size", size or best_size(self.domain.size, self.epsilon))

    @property
    def odds(self) -> Fraction:
        """(k - s)/s."""
        return Fraction(self.domain.size - self.size, self.size)

    @property
    def overlap(self) -> Fraction:
        """(s - 1)/(k - 1)."""
        return Fraction(self.size - 1, self.domain.size - 1)

    @property
    def overlap_outside(self) -> Fraction:
        """s/(k - 1)."""
        return Fraction(self.size, self.domain.size - 1)

    @property
    def bits(self) -> float:
        """log2 of the number of sets."""
        k, s = self.domain.size, self.size
        return (math.lgamma(k + 1) - math.lgamma(s + 1) - math.lgamma(k - s + 1)) / math.log(2)

    def channel(self) -> list[list[Fraction]]:
        """Return the exact probability of each set (in lexicographic order) for each value."""
        k, s = self.domain.size, self.size
        inside = self.own / math.comb(k - 1, s - 1)
        outside = (1 - self.own) / math.comb(k - 1, s)
        return [[inside if x in held else outside for held in combinations(range(k), s)] for x in range(k)]

    # --- the client ----------------------------------------------------------------------------------------

    def _draw(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Sorted places: the truth where a word says so, and others by the first steps of a shuffle."""
        room = max(1, MOST_ROOM // self.size)
        if codes.size > room:
            parts = [self._draw(codes[i : i + room], source) for i in range(0, codes.size, room)]
            return np.concatenate(parts)
        truthful = self._supports_truth(source, codes.size)
        others = _shuffle_first(self.domain.size - 1, self.size, codes.size, source)
        others += others >= codes[:, None]
        others[truthful, -1] = codes[truthful]
        others.sort(axis=1)
        return others

    def _name(self, drawn: NDArray[np.int64]) -> NDArray[Any]:
        drawn = drawn.reshape(-1, self.size)
        return self.domain.table(drawn[:, 0] if self.size == 1 else drawn)

    # --- the collector -------------------------------------------------------------------------------------

    def _count(self, reports: Any) -> tuple[NDArray[np.int64], Groups]:
        if isinstance(reports, Groups):
            codes, weights = self._read(reports.reports), reports.counts
        else:
            codes = self._read(reports)
            weights = np.ones(len(codes), dtype=np.int64)
        supports = np.zeros(self.domain.size, dtype=np.int64)
        for column in codes.T:
            np.add.at(supports, column, weights)
        return supports, Groups(codes, weights)

    def _expect(self, seen: Groups, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        held: NDArray[np.float64] = shares[seen.reports].sum(axis=1)
        return held

    def _gather(self, seen: Groups, ratios: NDArray[np.float64]) -> NDArray[np.float64]:
        places, each = seen.reports.reshape(-1), np.repeat(ratios, self.size)
        sums: NDArray[np.float64] = np.bincount(places, weights=each, minlength=self.domain.size)  # type: ignore[assignment]
        return sums

    def _seen_by_tally(self, supports: NDArray[np.int64]) -> Groups | None:
        """A report that holds one value is what it supports."""
        return Groups(np.arange(self.domain.size)[:, None], supports) if self.size == 1 else None

    def _read(self, reports: Any) -> NDArray[np.int64]:
        """The places in each report; another number of them, or unknown ones, are not of this protocol."""
        held: Any = reports
        if self.size > 1 and not (isinstance(reports, np.ndarray) and reports.ndim == 2):
            alike = all(isinstance(report, list | tuple | np.ndarray) for report in reports)
            whole = alike and all(len(report) == self.size for report in reports)
            held = [value for report in reports for value in report] if whole else [None]
        try:
            codes = self.domain.named(held).reshape(-1, self.size)
        except (InvalidParameter, ValueError):
            codes = np.zeros((1, 0), dtype=np.int64)
        ordered = np.sort(codes, axis=1)
        if codes.shape[1] != self.size or (ordered[:, 1:] == ordered[:, :-1]).any():
            raise InvalidParameter(
                f"a report must hold {self.size} of the declared values.", parameter="reports"
            )
        return codes

    def _describe_report(self) -> str:
        return f"Each report holds {self.size} of {self.domain.size} values"

    def _shape(self) -> dict[str, int]:
        return {"size": self.size}

    @classmethod
    def _of(cls, domain: Domain, epsilon: Fraction, protocol: dict[str, Any]) -> "Choice":
        return cls(domain=domain, epsilon=epsilon, size=protocol.get("size"))


def best_size(values: int, epsilon: Fraction) -> int:
    """Return the size with the least variance for a rare value; privacy does not depend on it."""
    price = min(float(epsilon), 300.0)
    e = math.exp(price)

    def variance(size: int) -> float:
        total = size * e + values - size
        own = size * e / total
        other = (own * (size - 1) + (1 - own) * size) / (values - 1)
        slope = size / total * (values - size) / (values - 1) * math.expm1(price)  # own - other
        return other * (1 - other) / slope**2

    centre = int(values / (e + 1))
    sizes = {min(max(size, 1), values - 1) for size in range(centre - 1, centre + 3)}
    return min(sorted(sizes), key=variance)


def _shuffle_first(total: int, wanted: int, rows: int, source: Source) -> NDArray[np.int64]:
    """Return in each row a uniform sequence of `wanted` different numbers below `total`: Fisher and Yates.

    Only the cards that were moved are kept: the card at j is j itself, or the one that the last swap with j
    put there.
    """
    drawn = np.empty((wanted, rows), dtype=np.int64)
    swapped, moved = (
        np.empty_like(drawn),
        np.empty_like(drawn),
    )  # with which place, and what came to lie there
    for i in range(wanted):
        swapped[i] = i + uniform_below(source, total - i, rows)
        drawn[i], moved[i] = swapped[i], i
        for before in range(i):
            np.copyto(drawn[i], moved[before], where=swapped[before] == swapped[i])
            np.copyto(moved[i], moved[before], where=swapped[before] == i)
    return np.ascontiguousarray(drawn.T)
