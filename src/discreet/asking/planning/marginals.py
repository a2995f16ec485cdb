"""Many tables of counts, measured together: which ones get noise, and what share of the price each.

A book is a set of tables W over the same weighted rows, each the counts by some columns. N_S is the number of
cells by the columns S. The space of all tables is an orthogonal sum of residuals, one for each set B of
columns: what the table by B says and no smaller one does. Noise of precision t_A (one over its variance) on
every cell of the table by A tells of residual B ⊆ A with precision t_A/N_{A∖B}, since it is added up over the
columns A∖B. So all measured tables together tell of residual B with

    q_B = Σ_{A ⊇ B} t_A / N_{A∖B},

independently for different B, and least squares gives a cell of table W the variance

    Σ_{B ⊆ W} 1/q_B · Π_{i∈B} (1 - 1/n_i) · 1/N_{W∖B}²     (ResidualPlanner, arXiv 2305.08175, Thm 3).

Privacy: only whole tables get noise, each by its own Gaussian mechanism on whole numbers, so nothing here is
part of a guarantee: whatever the shares, each draw is held against its own promise. A unit whose rows weigh
at most τ together moves each table by at most τ in l2 norm: the norm is convex, so it is largest on the l1
ball of radius τ at a corner, which is one cell; under replace, in the differences of two points of that ball
with no part below 0, at τ(e_i - e_j), where it is √2·τ. The loss is therefore exactly μ² = Δ²·Σ t_A
(under replace a grand total, one number that is never below 0, moves by τ alone, which is not made use of).
In residuals it is the same number: Σ_B q_B·Π_{i∈B}(1 - 1/n_i) = Σ_A t_A·Π_{i∈A}(1 - 1/n_i + 1/n_i) = Σ_A t_A.
So nothing is lost by measuring whole tables but this: ResidualPlanner takes any q_B ≥ 0, this one those of
t_A ≥ 0. Noise projected on residuals, which reaches all q, has no lattice of whole numbers.

Accuracy: `Design.excess` is a proved bound on the distance from the least sum of variances of all whole
tables, `Design.beyond` on that from the least of all Gaussian noise on residuals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidParameter, UnsupportedQuery

Columns: TypeAlias = tuple[int, ...]  # positions of columns, ascending
Floats: TypeAlias = NDArray[np.float64]
Aim: TypeAlias = Literal["sum", "maximum"]

MOST_SETS = 4096  # that the tables of a book and their totals may have
_ROUNDS = 6000
_OUTER, _INNER = 400, 40  # of the search for the least maximum
_NEAR = 1e-4  # of the least sum of variances, relative
_LEAST = 1e-4  # a share below this of the largest is not worth a table
_UNITS = 1 << 40  # in which shares are counted
_MOST_STEPS = 3 * 10**8  # of a search: pairs of sets that its rounds look at


@dataclass(frozen=True)
class Workload:
    """The tables of a book: sizes of all columns, and a weight for each set of columns that is a table.

    >>> Workload((2, 3), {(0, 1): Fraction(1)}).sets
    ((), (0,), (1,), (0, 1))
    """

    sizes: tuple[int, ...]
    tables: Mapping[Columns, Fraction]

    def __post_init__(self) -> None:
        if not self.tables or any(size < 1 for size in self.sizes):
            raise InvalidParameter("a book must have a table, and every column a label.", parameter="tables")
        for table, weight in self.tables.items():
            known = tuple(sorted(set(table))) == table and all(0 <= each < len(self.sizes) for each in table)
            if not known or weight <= 0:
                raise InvalidParameter(
                    "a table must be of known columns, each once and in order, with a weight above 0.",
                    parameter="tables",
                )

    @classmethod
    def of_order(cls, sizes: Sequence[int], *orders: int) -> "Workload":
        """Return all tables by so many columns, each cell of the same weight.

        >>> len(Workload.of_order([2] * 14, 2).tables)
        91
        """
        chosen = [each for order in orders for each in combinations(range(len(sizes)), order)]
        return cls(tuple(sizes), dict.fromkeys(chosen, Fraction(1)))

    @cached_property
    def sets(self) -> tuple[Columns, ...]:
        """All tables and their totals, small ones first: where there is a residual."""
        found: set[Columns] = set()
        for table in self.tables:
            if 2 ** len(table) > MOST_SETS:
                too_many_sets()
            found.update(part for size in range(len(table) + 1) for part in combinations(table, size))
            if len(found) > MOST_SETS:
                too_many_sets()
        return tuple(sorted(found, key=lambda each: (len(each), each)))

    def cells(self, columns: Columns) -> int:
        """Return how many cells the table by these columns has."""
        return math.prod(self.sizes[each] for each in columns)

    @cached_property
    def within(self) -> Floats:
        """1/N_{A∖B} in row B and column A where B ⊆ A, else 0: precision of residuals from that of tables."""
        holds = np.zeros((len(self.sets), len(self.sizes)), dtype=np.float32)
        for place, columns in enumerate(self.sets):
            holds[place, list(columns)] = 1
        cells = np.array([float(self.cells(columns)) for columns in self.sets])
        inside = holds @ (1 - holds).T == 0
        return np.where(inside, cells[:, None] / cells[None, :], 0.0)

    @cached_property
    def parts(self) -> Floats:
        """Π_{i∈B} (1 - 1/n_i): how much of a cell is in residual B."""
        return np.array(
            [math.prod(1 - 1 / self.sizes[each] for each in columns) for columns in self.sets], dtype=float
        )

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Where the tables of the book are among the sets."""
        return np.array([self.sets.index(columns) for columns in self.tables], dtype=np.intp)

    @cached_property
    def spread(self) -> Floats:
        """How much of 1/q_B is in the variance of a cell of each table: a row for each table."""
        found: Floats = (self.within[:, self.places] ** 2).T * self.parts
        return found

    @cached_property
    def weights(self) -> Floats:
        """The weight of a table's cells, all of them together."""
        return np.array(
            [float(weight) * self.cells(columns) for columns, weight in self.tables.items()], dtype=float
        )

    def design(self, aim: Aim = "sum") -> "Design":
        """Return the tables to measure, and their shares: `design`."""
        return design(self, aim)

    def planned(self, shares: Mapping[Columns, Fraction], excess: float) -> "Design":
        """Return the design of these shares."""
        return Design(self, shares, excess)

    def enough(self, measured: Floats) -> bool:
        """Return whether tables of these precisions tell of all that is asked."""
        return bool((self.within @ measured > 0).all())

    def rounded(self, shares: Floats) -> dict[Columns, Fraction]:
        """Return the shares as exact rationals that add up to 1, without those that are not worth a table."""
        kept = np.where(shares >= _LEAST * shares.max(), shares, 0.0)
        if not self.enough(kept):
            kept = shares
        counts = [round(share * _UNITS / kept.sum()) for share in kept.tolist()]
        whole = sum(counts)
        named = zip(self.sets, counts, strict=True)
        return {columns: Fraction(count, whole) for columns, count in named if count}

    def least_sum(self) -> float:
        """Return the least weighted sum of variances of all Gaussian noise on residuals, where Σ t_A = 1:
        (Σ_B √(v_B p_B))², by the inequality of Cauchy and Schwarz."""
        wanted = self.weights @ self.spread
        return float(np.sqrt(wanted * self.parts).sum() ** 2)


@dataclass(frozen=True)
class Design:
    """Which tables are measured, each with its share of the price; the shares add up to 1."""

    workload: Workload
    shares: Mapping[Columns, Fraction]
    excess: float  # of the least sum of variances (or the least maximum) of all whole tables, at most

    def __post_init__(self) -> None:
        if sum(self.shares.values()) != 1 or min(self.shares.values()) <= 0:
            raise InvalidParameter("shares must be above 0 and add up to 1.", parameter="shares")
        if not self.workload.enough(self.measured):
            raise InvalidParameter(
                "every table of a book must be measured, or be a total of one.", parameter="shares"
            )

    @cached_property
    def measured(self) -> Floats:
        """The share of every set, 0 where it is not measured."""
        return np.array([float(self.shares.get(columns, 0)) for columns in self.workload.sets])

    @cached_property
    def precisions(self) -> Floats:
        """q_B of every set, where all precisions of measured tables add up to 1."""
        found: Floats = self.workload.within @ self.measured
        return found

    @property
    def variances(self) -> dict[Columns, float]:
        """The variance of one cell of each table of the book, where all precisions add up to 1."""
        found = self.workload.spread @ (1 / self.precisions)
        return dict(zip(self.workload.tables, found.tolist(), strict=True))

    def variance(self, columns: Columns) -> float | Floats:
        """Return the variance of one cell of a table or of a total of one."""
        place = self.workload.sets.index(columns)
        return float((self.workload.within[:, place] ** 2 * self.workload.parts / self.precisions).sum())

    @property
    def total(self) -> float:
        """The weighted sum of the variances of all cells of the book."""
        return float(self.workload.weights @ np.array(list(self.variances.values())))

    @property
    def beyond(self) -> float:
        """The root mean square error over the least of all Gaussian noise on residuals."""
        return math.sqrt(self.total / self.workload.least_sum())


def rounds_within(workload: Workload, most: int) -> int:
    """Return how many rounds a search may have: fewer where each looks at more pairs of sets.

    >>> rounds_within(Workload.of_order([50, 100, 7], 2), 6000)
    6000
    """
    return max(20, min(most, _MOST_STEPS // len(workload.sets) ** 2))


def design(workload: Workload, aim: Aim = "sum") -> Design:
    """Return the tables to measure, and their shares, for the least weighted sum of variances, or for the
    least largest variance (where weights divide it: a table of weight 2 may err half as much).

    Sum: f(t) = Σ_B v_B/q_B(t) is convex. Shares are multiplied by √g_A, with g_A = Σ_{B⊆A} v_B/(q_B² N_{A∖B})
    (Silvey, Titterington and Torsney 1978), which never makes f larger. Since f is convex and of degree -1,
    f(s) ≥ f(t)·(2 - max g/f(t)) for all shares s, which proves how far the result is from the least.
    Maximum: the same under weights of the tables that grow where the variance is large; any weights that add
    up to 1 prove a lower bound.

    >>> plan = design(Workload.of_order([50, 100, 7, 4, 2], 2))
    >>> len(plan.shares) <= 10, plan.excess < 0.001, 1 <= plan.beyond < 1.1
    (True, True, True)
    """
    if aim not in ("sum", "maximum"):
        raise InvalidParameter(f"aim must be sum or maximum, got {str(aim)[:60]}.", parameter="aim")
    if aim == "sum":
        shares, lower = _least_sum(
            workload, workload.weights @ workload.spread, None, rounds_within(workload, _ROUNDS)
        )
        found = workload.planned(workload.rounded(shares), 0.0)
        return _with_excess(found, found.total / lower - 1)
    return _least_maximum(workload)


def _least_sum(workload: Workload, wanted: Floats, start: Floats | None, rounds: int) -> tuple[Floats, float]:
    """Return shares, and what no shares are below."""
    within, shares = workload.within, start
    if shares is None:
        shares = np.zeros(len(workload.sets))
        shares[workload.places] = 1 / len(workload.places)
        shares = 0.9 * shares + 0.1 / shares.size

    def judge(given: Floats) -> tuple[float, Floats]:
        precisions = within @ given
        inverse = wanted / precisions
        return float(inverse.sum()), (inverse / precisions) @ within

    return descend(judge, shares, rounds, _NEAR)


def descend(
    judge: Callable[[Floats], tuple[float, Floats]], shares: Floats, rounds: int, near: float
) -> tuple[Floats, float]:
    """Return shares that make a convex function of degree -1 small, and what no shares are below.

    `judge` says its value, and how fast it falls with each share.
    """
    best = 0.0
    for _ in range(rounds):
        value, slopes = judge(shares)
        best = max(best, value * (2 - float(slopes.max()) / value))
        if value - best <= near * best:
            break
        shares = shares * np.sqrt(slopes)
        shares /= shares.sum()
    return shares, best


def _least_maximum(workload: Workload) -> Design:
    scale = workload.weights / np.array([workload.cells(columns) for columns in workload.tables])
    weights = np.full(len(workload.tables), 1 / len(workload.tables))
    shares: Floats | None = None
    lower, best = 0.0, (math.inf, np.zeros(0))
    for _ in range(rounds_within(workload, _OUTER * _INNER) // _INNER + 1):
        shares, below = _least_sum(workload, (weights * scale) @ workload.spread, shares, _INNER)
        lower = max(lower, below)
        errors = scale * (workload.spread @ (1 / (workload.within @ shares)))
        if errors.max() < best[0]:
            best = float(errors.max()), shares
        if best[0] <= (1 + 10 * _NEAR) * lower:
            break
        weights = weights * errors / errors.max()
        weights /= weights.sum()
    found = workload.planned(workload.rounded(best[1]), 0.0)
    largest = max(scale * np.array(list(found.variances.values())))
    return _with_excess(found, float(largest) / lower - 1)


def _with_excess(found: Design, excess: float) -> Design:
    return Design(found.workload, found.shares, max(0.0, excess))


def too_many_sets() -> None:
    """Refuse a book of too many tables and totals."""
    raise UnsupportedQuery(
        f"a book must have at most {MOST_SETS:,} tables and totals. Ask for fewer columns at once.",
        reason="book",
    )
