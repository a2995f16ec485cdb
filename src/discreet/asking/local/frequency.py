"""What all protocols for one of several values share: a report supports some values, the truth more often."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.asking.local.domain import Domain
from discreet.asking.local.report import (
    AGAIN,
    WORD,
    Comparison,
    listed,
    read_counts,
    read_field,
    read_fraction,
    widen,
    word_threshold,
)
from discreet.asking.local.shares import Shares
from discreet.asking.local.sources import Groups, read_reports
from discreet.errors import InvalidParameter
from discreet.kernel.losses import PrivacyLoss, channel
from discreet.kernel.mechanisms import Laplace
from discreet.kernel.mechanisms.randomized_response import Support
from discreet.kernel.numerics import (
    Estimate,
    Real,
    ball,
    exact_confidence,
    exact_epsilon,
    exact_whole,
    working_precision,
)
from discreet.kernel.randomness import Source, fresh_source

MOST_AT_ONCE = 1 << 18  # reports drawn at a time: bounds the memory of a batch


@dataclass(frozen=True, init=False)
class Frequencies(ABC):
    """A report is one of finitely many, each of which supports some of the values.

    The truth is among them with probability threshold/2^64, the largest such number that keeps ε: so the
    channel is rational, a draw compares whole numbers, and a client in any language draws the same.
    """

    protocol: ClassVar[str]

    domain: Domain
    epsilon: Fraction

    def __init__(self, *, domain: Domain, epsilon: Real) -> None:
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))

    @property
    def values(self) -> Sequence[Any]:
        """The public values."""
        return self.domain.values

    # --- what a protocol states ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """How many reports that do not support the truth there are for each that does."""

    @property
    @abstractmethod
    def overlap(self) -> Fraction:
        """The share of another value's reports among those that support the truth."""

    @property
    @abstractmethod
    def overlap_outside(self) -> Fraction:
        """The share of another value's reports among those that do not support the truth."""

    @property
    @abstractmethod
    def bits(self) -> float:
        """The length of a report: log2 of how many there are."""

    @abstractmethod
    def _draw(self, codes: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """One report for each place, as whole numbers."""

    @abstractmethod
    def _name(self, drawn: NDArray[np.int64]) -> NDArray[Any]:
        """What is sent for what was drawn."""

    @abstractmethod
    def _count(self, reports: Any) -> tuple[NDArray[np.int64], Groups]:
        """How many reports support each value, and how often each report was seen."""

    @abstractmethod
    def _expect(self, seen: Groups, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of people whose value is supported, for each report."""

    @abstractmethod
    def _gather(self, seen: Groups, ratios: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over the reports that support it, for each value."""

    def _seen_by_tally(self, supports: NDArray[np.int64]) -> Groups | None:
        """The reports behind supports, where those tell them."""
        return None

    @abstractmethod
    def channel(self) -> list[list[Fraction]]:
        """Return the exact probability of each report (column) for each value (row)."""

    # --- what follows --------------------------------------------------------------------------------------

    @cached_property
    def threshold(self) -> int:
        """⌊2^64/(1 + odds·e^-ε)⌋: a report supports the truth where a random word lies below it."""
        return word_threshold(self.odds, self.epsilon)

    @property
    def own(self) -> Fraction:
        """The probability that a report supports its sender's value."""
        return Fraction(self.threshold, WORD)

    @property
    def other(self) -> Fraction:
        """The probability that a report supports a value that its sender does not hold."""
        return self.own * self.overlap + (1 - self.own) * self.overlap_outside

    @cached_property
    def support(self) -> Support:
        """How often a report supports a value, from those who hold it and from all others."""
        with working_precision(128):
            return Support(own=ball(self.own), other=ball(self.other))

    @property
    def variance(self) -> Fraction:
        """n times the variance of a rare value's estimated share, exactly."""
        return self.other * (1 - self.other) / (self.own - self.other) ** 2

    @property
    def loss(self) -> PrivacyLoss:
        """The exact loss of one report: any two values are told apart by what supports just one of them."""
        here = self.own * (1 - self.overlap)
        there = (1 - self.own) * self.overlap_outside
        rows = [[here, there, 1 - here - there], [there, here, 1 - here - there]]
        return channel(rows, relation="local")

    # --- the client ----------------------------------------------------------------------------------------

    def randomize(self, value: Any) -> Any:
        """Return the report of one person, or a list for a list of people. Each call costs epsilon again."""
        people = listed(value)
        reports = self._randomize([value] if people is None else people, fresh_source())
        return reports[0] if people is None else reports

    def randomize_many(self, values: Any) -> NDArray[Any]:
        """Return the reports of many people as an array. Each call costs epsilon again for each of them."""
        return self._randomize_many(values, fresh_source())

    def _randomize(self, truths: list[Any], source: Source) -> list[Any]:
        named: list[Any] = self._randomize_many(truths, source).tolist()
        return named

    def _randomize_many(self, truths: Any, source: Source) -> NDArray[Any]:
        codes = self.domain.places(truths)
        parts = [
            self._draw(codes[start : start + MOST_AT_ONCE], source)
            for start in range(0, max(codes.size, 1), MOST_AT_ONCE)
        ]
        return self._name(np.concatenate(parts))

    def _supports_truth(self, source: Source, size: int) -> NDArray[np.bool_]:
        below: NDArray[np.bool_] = source.words(size) < np.uint64(self.threshold)
        return below

    # --- the collector -------------------------------------------------------------------------------------

    @abstractmethod
    def _read(self, reports: Any) -> NDArray[np.int64]:
        """The reports as whole numbers; what this protocol cannot send is refused."""

    def check(self, report: Any) -> None:
        """Refuse what is no report of this protocol."""
        self._read([report])

    def collect(self, reports: Any, *, column: str = "report") -> Shares:
        """Return the shares behind reports: a list, an array, a column of a frame, of a file or of a table.

        A table of DuckDB or Spark is grouped by report where it is; nothing else leaves it.
        """
        supports, seen = self._count(read_reports(reports, column=column))
        return Shares(self, supports, int(seen.counts.sum()), seen)

    def from_tally(self, tally: dict[str, Any]) -> Shares:
        """Return the shares that `Shares.to_json` wrote."""
        supports = read_counts(tally, "supports", self.domain.size)
        reports = exact_whole(read_field(tally, "reports"), name="reports", least=1)
        if supports.max() > reports:
            raise InvalidParameter("supports must be at most the reports.", parameter="supports")
        return Shares(self, supports, reports, self._seen_by_tally(supports))

    def estimate(self, reports: Any, *, confidence: Real = 0.95, liars: Real = 0) -> dict[Any, Estimate]:
        """Return the share of every value among those who reported: unbiased, with error and interval.

        With a share of liars the intervals hold whatever they sent.
        """
        if listed(reports) is None:
            raise InvalidParameter("reports must be a list.", parameter="reports")
        level = exact_confidence(confidence)
        found = self.collect(reports)
        moved = found.moved_by(liars)
        if self.domain.size <= CERTIFIED:
            return {
                value: widen(
                    self.support.estimate(count=int(count), reports=found.reports, confidence=level), moved
                )
                for value, count in zip(self.values, found.supports, strict=True)
            }
        return found.estimates(confidence=confidence, liars=liars)

    @property
    def likelihood_ratio(self) -> Fraction:
        """How many times likelier a report is for a value that it supports than for any other."""
        return self.own * self.odds / (1 - self.own)

    def compare(self, *, people: Real) -> Comparison:
        """Return the standard error of a rare value's share, against a curator's Laplace noise."""
        n = exact_whole(people, name="people", least=1)
        central = Laplace(epsilon=self.epsilon, sensitivity=2, relation="replace").variance ** 0.5 / n
        return Comparison(local=float(self.variance / n) ** 0.5, central=central)

    def describe(self) -> str:
        """Return one sentence for those who are asked."""
        return f"{self._describe_report()} and is {self.epsilon}-differentially private by itself. {AGAIN}"

    @abstractmethod
    def _describe_report(self) -> str:
        """What a report is, up to "and"."""

    def to_json(self) -> dict[str, Any]:
        """Return the public protocol, exactly, with all that a client in another language needs."""
        return {
            "protocol": self.protocol,
            "version": 1,
            "epsilon": str(self.epsilon),
            **self.domain.to_json(),
            **self._shape(),
            "threshold": str(self.threshold),
        }

    @abstractmethod
    def _shape(self) -> dict[str, int]:
        """The parameters that were chosen for accuracy."""

    @classmethod
    def from_json(cls, protocol: dict[str, Any]) -> Self:
        """Return the protocol that was stored; its threshold must be the one that keeps epsilon."""
        if "domain" not in protocol:
            read_field(protocol, "values")
        found = cls._of(Domain.from_json(protocol), read_fraction(protocol, "epsilon"), protocol)
        if str(protocol.get("threshold", found.threshold)) != str(found.threshold):
            raise InvalidParameter(
                f"threshold must be {found.threshold} for this epsilon. Make the protocol anew.",
                parameter="threshold",
            )
        return found

    @classmethod
    @abstractmethod
    def _of(cls, domain: Domain, epsilon: Fraction, protocol: dict[str, Any]) -> Self:
        """The protocol of this shape."""


CERTIFIED = 64  # values up to which `estimate` computes Clopper and Pearson's own intervals
