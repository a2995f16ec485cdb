"""The law of the noise in one cell of a book's table: its variance, and how far it reaches at a confidence.

Least squares adds up measured cells, so the noise of a cell is Σ_A Σ_a c_A(P)·z_a over the measured tables A
and their cells a. The coefficient depends only on P, the columns of A∩W in which a has the cell's label:

    c_A(P) = Σ_{B ⊆ A∩W} t_A/(N_{A∖B}·q_B·N_{W∖B}) · Π_{i∈B∩P} (1 - 1/n_i) · Π_{i∈B∖P} (-1/n_i),

and Π_{i∈(A∩W)∖P} (n_i - 1) · N_{A∖W} cells of A have it. Gaussian noise adds up to Gaussian noise. Laplace
noise of scales s_k, m_k times each, has the characteristic function φ(t) = Π_k (1 + s_k²t²)^(-m_k), and

    P(|sum| ≤ x) = 2/π · ∫₀^∞ φ(t)·sin(xt)/t dt     (Gil-Pelaez 1951, for a symmetric law).
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from discreet.asking.planning.book_noise import BookNoise
from discreet.asking.planning.marginals import Columns, Floats, Workload

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_SMALL = 1e-12  # of φ: where the integral ends
_WIDTH, _MOST, _CHUNK = 0.25, 4096, 64  # of its panels, in 1/standard deviation; how many; at once
_FINE = Fraction(1, 10**6)  # outside an interval: what the integral still tells
_SAFE = 1 + 1e-9  # for the last digits of sums
_DIGITS = 2.0**40  # of a scale


class Term(NamedTuple):
    """Cells of one measured table that have the same coefficient."""

    table: Columns
    coefficient: float
    times: int


def terms_of(noise: BookNoise, columns: Columns) -> Iterator[Term]:
    """Yield what the estimate of a cell of a table is the sum of."""
    plan = noise.design
    workload, known = plan.workload, dict[Columns, tuple[Floats, Floats]]()
    precision = dict(zip(workload.sets, plan.precisions.tolist(), strict=True))
    for table, share in plan.shares.items():
        both = tuple(each for each in table if each in columns)
        if both not in known:
            known[both] = _inside(workload, precision, both)
        alone = workload.cells(table) // workload.cells(both)
        part = float(share) / (workload.cells(table) * workload.cells(columns))
        coefficients, times = known[both]
        for coefficient, each in zip((part * coefficients).tolist(), times.tolist(), strict=True):
            if each:
                yield Term(table, coefficient, int(each) * alone)


def _inside(workload: Workload, precision: Mapping[Columns, float], both: Columns) -> tuple[Floats, Floats]:
    """Return c_A(P)·N_A·N_W/t_A for every P ⊆ A∩W, and how many cells by A∩W have it.

    A sum over B of products over the columns is taken column by column: f₀ - f₁/n without the label, and
    f₀ + f₁·(1 - 1/n) with it, where f₁ is the part with the column in B.
    """
    subsets = [
        tuple(each for each, held in zip(both, chosen, strict=True) if held)
        for chosen in product((False, True), repeat=len(both))
    ]
    sums = np.array([workload.cells(part) ** 2 / precision[part] for part in subsets])
    sums, times = sums.reshape((2,) * len(both)), np.ones((2,) * len(both))
    for axis, each in enumerate(both):
        size, shape = workload.sizes[each], [2 if place == axis else 1 for place in range(len(both))]
        without, held = np.take(sums, 0, axis), np.take(sums, 1, axis)
        sums = np.stack([without - held / size, without + held * (1 - 1 / size)], axis)
        times = times * np.array([size - 1, 1]).reshape(shape)
    return sums.reshape(-1), times.reshape(-1)


@dataclass(frozen=True, eq=False)
class CellLaw:
    """The noise in any one cell of a table: `scales` and how often each occurs; none where it is Gaussian."""

    variance: float
    scales: Floats
    counts: Floats

    @classmethod
    def of(cls, noise: BookNoise, columns: Columns) -> "CellLaw":
        """Return the law of a cell of a table of the book, or of a total."""
        variance = float(noise.variance(columns))
        if not noise.laplace:
            return cls(variance, np.zeros(0), np.zeros(0))
        unit = {table: math.sqrt(each / 2) for table, each in noise.variances.items()}
        found = [(abs(each.coefficient) * unit[each.table], each.times) for each in terms_of(noise, columns)]
        scales, counts = (np.array(each, dtype=float) for each in zip(*found, strict=True))
        digits, powers = np.frexp(scales)  # equal ones are one, whatever their last digits, rounded up, are
        scales, place = np.unique(np.ldexp(np.ceil(digits * _DIGITS) / _DIGITS, powers), return_inverse=True)
        return cls(variance, scales, np.bincount(place, weights=counts).astype(float))

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
