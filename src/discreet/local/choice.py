"""One of several public values, by subset selection: report a small set that is likely to hold the truth."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.errors import InvalidParameter
from discreet.local.report import AGAIN, Comparison, listed, read_field, read_fraction
from discreet.losses import PrivacyLoss, pure, randomized_response
from discreet.mechanisms import Laplace
from discreet.mechanisms.labels import Labels, check_values
from discreet.mechanisms.support import Support
from discreet.numerics import (
    Arb,
    Estimate,
    Real,
    ball,
    certified_floor,
    exact_confidence,
    exact_epsilon,
    exact_whole,
    working_precision,
)
from discreet.randomness import Source, bernoulli_real, fresh_source


@dataclass(frozen=True, init=False)
class Choice:
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

    values: tuple[Hashable, ...]
    epsilon: Fraction
    size: int

    def __init__(self, *, values: Sequence[Hashable], epsilon: Real) -> None:
        object.__setattr__(self, "values", check_values(values))
        if not all(isinstance(value, str | int | bool) for value in self.values):
            raise InvalidParameter(
                "values must be text or whole numbers, so that reports are JSON.", parameter="values"
            )
        object.__setattr__(self, "epsilon", exact_epsilon(epsilon))
        object.__setattr__(self, "size", self._best_size())

    def _best_size(self) -> int:
        """The size with the least variance for a rare value; privacy does not depend on it."""
        with working_precision(128):
            centre = int(float((len(self.values) / (ball(self.epsilon).exp() + 1)).mid()))
            sizes = {min(max(size, 1), len(self.values) - 1) for size in range(centre - 1, centre + 3)}
            return min(sorted(sizes), key=lambda size: self._support(size).variance(Fraction(0), 1))

    def _holding(self, size: int) -> Arb:
        """The probability that a report holds the truth: s·e^ε/(s·e^ε + k - s)."""
        return 1 / (1 + ball(Fraction(len(self.values) - size, size)) * (-ball(self.epsilon)).exp())

    def _support(self, size: int) -> Support:
        own, others = self._holding(size), len(self.values) - 1
        return Support(own=own, other=(own * (size - 1) + (1 - own) * size) / others)

    @cached_property
    def support(self) -> Support:
        """How often a report holds a value, from those whose truth it is and from all others."""
        with working_precision(128):
            return self._support(self.size)

    @property
    def loss(self) -> PrivacyLoss:
        """What one report costs its sender."""
        if self.size == 1:
            return randomized_response(epsilon=self.epsilon, values=len(self.values), relation="local")
        return pure(epsilon=self.epsilon, relation="local")

    # --- the client ----------------------------------------------------------------------------------------

    def randomize(self, value: Any) -> Any:
        """The report of one person, or a list for a list of people. Each call costs epsilon again."""
        people = listed(value)
        reports = self._randomize([value] if people is None else people, fresh_source())
        return reports[0] if people is None else reports

    def _randomize(self, truths: list[Any], source: Source) -> list[Any]:
        codes = self._labels.places(truths)
        holds = bernoulli_real(
            source, lambda bits: certified_floor(lambda: self._holding(self.size) * 2**bits), len(codes)
        )
        return [self._report(code, bool(hold), source) for code, hold in zip(codes, holds, strict=True)]

    def _report(self, code: int, holds: bool, source: Source) -> Any:
        wanted = self.size - 1 if holds else self.size
        others = _random_subset(len(self.values) - 1, wanted, source)
        chosen = sorted([*(other + (other >= code) for other in others), *([code] if holds else [])])
        return self.values[chosen[0]] if self.size == 1 else [self.values[i] for i in chosen]

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.values)

    # --- the collector -------------------------------------------------------------------------------------

    def estimate(self, reports: Any, *, confidence: Real = 0.95) -> dict[Any, Estimate]:
        """The share of every value among those who reported: unbiased, with error and interval."""
        received = listed(reports)
        if received is None:
            raise InvalidParameter("reports must be a list.", parameter="reports")
        counts = Counter(code for report in received for code in self._read(report))
        level = exact_confidence(confidence)
        return {
            value: self.support.estimate(count=counts[code], reports=len(received), confidence=level)
            for code, value in enumerate(self.values)
        }

    def _read(self, report: Any) -> set[int]:
        """The values of a report; another number of them, or unknown ones, are not of this protocol."""
        held = [report] if self.size == 1 else report if isinstance(report, list) else []
        try:
            codes = set(self._labels.places(held))
        except InvalidParameter:
            codes = set()
        if len(codes) != self.size or len(held) != self.size:
            raise InvalidParameter(
                f"a report must hold {self.size} of the declared values.", parameter="reports"
            )
        return codes

    def compare(self, *, people: Real) -> Comparison:
        """The standard error of a rare value's share, against a curator's Laplace noise."""
        n = exact_whole(people, name="people", least=1)
        central = Laplace(epsilon=self.epsilon, sensitivity=2, relation="replace").variance ** 0.5 / n
        with working_precision(128):
            return Comparison(local=self.support.variance(Fraction(0), n) ** 0.5, central=central)

    def describe(self) -> str:
        """One sentence for those who are asked."""
        return (
            f"Each report holds {self.size} of {len(self.values)} values and is "
            f"{self.epsilon}-differentially private by itself. {AGAIN}"
        )

    def to_json(self) -> dict[str, Any]:
        """The public protocol, exactly."""
        return {
            "protocol": self.protocol,
            "version": 1,
            "epsilon": str(self.epsilon),
            "values": list(self.values),
        }

    @classmethod
    def from_json(cls, protocol: dict[str, Any]) -> "Choice":
        """The protocol that was stored."""
        return cls(values=read_field(protocol, "values"), epsilon=read_fraction(protocol, "epsilon"))


def _random_subset(total: int, wanted: int, source: Source) -> list[int]:
    """A uniform subset: where the smallest of distinct random words lie."""
    if wanted in (0, total):
        return list(range(wanted))
    while True:
        words = source.words(total)
        chosen = np.argpartition(words, wanted)[:wanted]
        edge = words[chosen].max()
        if np.count_nonzero(words <= edge) == wanted:  # no tie across the edge
            return [int(i) for i in chosen]
