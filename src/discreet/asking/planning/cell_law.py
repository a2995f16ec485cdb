"""The law of the noise in one cell of a book's table: its variance, and how far it reaches at a confidence.

Least squares adds up measured cells, so the noise of a cell is Σ_A Σ_a c_A(P)·z_a over the measured tables A
and their cells a. The coefficient depends only on P, the columns of A∩W in which a has the cell's label:

    c_A(P) = Σ_{B ⊆ A∩W} t_A/(N_{A∖B}·q_B·N_{W∖B}) · Π_{i∈B∩P} (1 - 1/n_i) · Π_{i∈B∖P} (-1/n_i),

and Π_{i∈(A∩W)∖P} (n_i - 1) · N_{A∖W} cells of A have it. Gaussian noise adds up to Gaussian noise. Laplace
noise of scales s_k, m_k times each, has the characteristic function φ(t) = Π_k (1 + s_k²t²)^(-m_k), and

    P(|sum| ≤ x) = 2/π · ∫₀^∞ φ(t)·sin(xt)/t dt     (Gil-Pelaez 1951, for a symmetric law).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from discreet.asking.planning.book_noise import BookNoise
from discreet.asking.planning.marginals import Columns, Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_SMALL = 1e-12  # of φ: where the integral ends
_WIDTH, _MOST, _CHUNK = 0.25, 4096, 64  # of its panels, in 1/standard deviation; how many; at once
_FINE = Fraction(1, 10**6)  # outside an interval: what the integral still tells
_SAFE = 1 + 1e-9  # for the last digits of sums


class Term(NamedTuple):
    """Cells of one measured table that have the same coefficient."""

    table: Columns
    coefficient: float
    times: int


def terms_of(noise: BookNoise, columns: Columns) -> Iterator[Term]:
    """Yield what the estimate of a cell of a table is the sum of."""
    plan = noise.design
    workload, sizes = plan.workload, plan.workload.sizes
    precision = dict(zip(workload.sets, plan.precisions.tolist(), strict=True))
    for table, share in plan.shares.items():
        both = tuple(each for each in table if each in columns)
        alone = workload.cells(tuple(each for each in table if each not in columns))
        for same in _subsets(both):
            coefficient = 0.0
            for part in _subsets(both):
                away = workload.cells(table) / workload.cells(part)
                spread = workload.cells(columns) / workload.cells(part)
                signs = math.prod((each in same) - 1 / sizes[each] for each in part)
                coefficient += float(share) / (away * precision[part] * spread) * signs
            others = math.prod(sizes[each] - 1 for each in both if each not in same)
            if others:
                yield Term(table, coefficient, others * alone)


def _subsets(columns: Columns) -> Iterator[Columns]:
    for size in range(len(columns) + 1):
        yield from combinations(columns, size)


@dataclass(frozen=True, eq=False)
class CellLaw:
    """The noise in any one cell of a table: `scales` and how often each occurs; none where it is Gaussian."""

    variance: float
    scales: Floats
    counts: Floats

    @classmethod
    def of(cls, noise: BookNoise, columns: Columns) -> "CellLaw":
        """Return the law of a cell of a table of the book, or of a total."""
        variance = noise.variance(columns)
        if not noise.laplace:
            return cls(variance, np.zeros(0), np.zeros(0))
        unit = {table: math.sqrt(each / 2) for table, each in noise.variances.items()}
        found = [(abs(each.coefficient) * unit[each.table], each.times) for each in terms_of(noise, columns)]
        scales, counts = (np.array(each, dtype=float) for each in zip(*found, strict=True))
        return cls(variance, scales, counts)

    def reach(self, confidence: Fraction) -> float:
        """Return the least distance from the truth that an estimate keeps with this confidence, rounded
        up."""
        spread = math.sqrt(self.variance)
        if not self.scales.size:
            return -spread * NormalDist().inv_cdf(float(1 - confidence) / 2) * _SAFE
        if 1 - confidence < _FINE:
            return self._far(float(1 - confidence)) * _SAFE
        low, high = 0.0, spread
        while self.coverage(high) < confidence:
            low, high = high, 2 * high
        while high - low > 1e-6 * high:
            middle = (low + high) / 2
            low, high = (low, middle) if self.coverage(middle) >= confidence else (middle, high)
        return high * _SAFE

    def _far(self, outside: float) -> float:
        """Return a reach by the least of Chernoff's bounds, where the integral is too coarse:
        P(|sum| ≥ x) ≤ 2·exp(-λx)·Π (1 - λ²s²)^(-m)."""
        rates = np.linspace(0, 1 / self.scales.max(), 1002)[1:-1]
        logs = -(self.counts @ np.log1p(-((self.scales[:, None] * rates) ** 2)))
        return float(((math.log(2 / outside) + logs) / rates).min())

    def coverage(self, distance: float) -> float:
        """Return the probability that the noise is at most a distance, never above the truth but for the last
        digits of the integral: what is cut off its end is taken off.

        >>> one = CellLaw(2.0, np.array([1.0]), np.array([1.0]))
        >>> abs(one.coverage(3.0) - (1 - math.exp(-3))) < 1e-6
        True
        """
        at, parts, last = self._grid
        # What follows alternates around ever smaller numbers: less than its first half wave.
        cut = 2 * last / (distance * self._end(at.size))
        return 2 / math.pi * (float(np.sin(distance * at) @ parts) - cut)

    @cached_property
    def _grid(self) -> tuple[Floats, Floats, float]:
        """Where φ(t)/t is known, times the weight of each place in an integral; and φ at the end."""
        width, places, parts = _WIDTH / math.sqrt(self.variance), [], []
        for first in range(0, _MOST, _CHUNK):
            starts = width * np.arange(first, first + _CHUNK)
            at = (starts[:, None] + width * (_NODES + 1) / 2).reshape(-1)
            weights = np.tile(_WEIGHTS * width / 2, _CHUNK)
            places.append(at)
            parts.append(self._characteristic(at) / at * weights)
            last = float(self._characteristic(np.array([width * (first + _CHUNK)]))[0])
            if last < _SMALL:
                break
        return np.concatenate(places), np.concatenate(parts), last

    def _end(self, places: int) -> float:
        return places / _NODES.size * _WIDTH / math.sqrt(self.variance)

    def _characteristic(self, at: Floats) -> Floats:
        logs = np.log1p((self.scales[:, None] * at) ** 2)
        found: Floats = np.exp(-(self.counts @ logs))
        return found
