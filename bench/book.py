"""Books of tables: error against the known optimum, intervals, totals, and the time of many cells.

Errors are drawn, not computed: noise on tables of zeros, the least-squares estimate of it, and its root mean
square. Times are of the processor, so that a busy machine does not change them.
"""

import math
import tempfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import discreet as dp
from bench.book_levels import add_levels
from bench.book_rivals import add_rivals
from bench.harness import Report, Rivals, Row, processor_seconds
from discreet.asking.answers.book import STEPS
from discreet.asking.answers.consistent import agree_exactly, estimate_tables
from discreet.asking.answers.tidy import make_tidy
from discreet.asking.planning import Columns, WeightedReach
from discreet.asking.planning.book_noise import BookNoise, noise_for
from discreet.asking.planning.cell_law import CellLaw
from discreet.asking.planning.marginals import Workload
from discreet.asking.planning.price import Share
from discreet.kernel.randomness import fresh_source

CPS = (50, 100, 7, 4, 2)
ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
LOANS = (101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15)
ORDERS = {"1-way": (1,), "2-way": (2,), "3-way": (3,), "up to 3-way": (0, 1, 2, 3)}
ONE = 1 << 10
HALF = Share(rho=Fraction(1, 2))
RELEASES = 10_000
LEAST_CELLS = 500_000  # whose errors are averaged
ROWS = 10_000_000
COLUMNS = "city, age, month, kind, size"


def run(_: Rivals) -> Report:
    """All of it; the large table is made anew."""
    report = Report("Books: errors in rows, seconds of the processor")
    for name, sizes in (("CPS", CPS), ("Adult", ADULT), ("Loans", LOANS)):
        for order, orders in ORDERS.items():
            add_workload(report, f"{name}, {order}", Workload.of_order(sizes, *orders))
    add_intervals(report)
    add_large(report)
    with tempfile.TemporaryDirectory() as folder:
        add_levels(report, Path(folder))
        add_rivals(report, Path(folder))
    return report


def noise_of(workload: Workload, share: Share) -> BookNoise:
    return noise_for(workload, "sum", share, WeightedReach(ONE, signed=False), ONE)


def draw(noise: BookNoise, times: int = 1) -> Mapping[Columns, Any]:
    """Noise of every measured table, so many times, in rows."""
    source, found = fresh_source(), {}
    for columns, mechanism in noise.mechanisms.items():
        shape = [times, *(noise.workload.sizes[each] for each in columns)]
        zeros = np.zeros(math.prod(shape), dtype=np.int64)
        found[columns] = np.asarray(mechanism.draw(zeros, source)).reshape(shape) / ONE
    return found


def add_workload(report: Report, name: str, workload: Workload) -> None:
    planned = processor_seconds(lambda: noise_of(Workload(workload.sizes, workload.tables), HALF), rounds=1)
    noise = noise_of(workload, HALF)
    cells = sum(map(workload.cells, workload.tables))
    times = max(1, LEAST_CELLS // cells)
    drawn, squares = draw(noise, times), 0.0
    for turn in range(times):
        tables = estimate_tables(noise.design, {each: table[turn] for each, table in drawn.items()})
        squares += sum(float((tables[each] ** 2).sum()) for each in workload.tables) / times
    optimum = math.sqrt(workload.least_sum() / cells)
    known = math.sqrt(sum(noise.variance(each) * workload.cells(each) for each in workload.tables) / cells)
    what = f"{name}: {len(workload.tables)} tables, {cells:,} cells"
    report.add(
        Row(f"{what}, error drawn", math.sqrt(squares / cells), "optimum", optimum, unit="rows"),
        Row(f"{what}, error of the law", known, "optimum", optimum, limit=1.2, unit="rows"),
        Row(f"{what}, planned", planned, limit=1.0),
    )


def add_intervals(report: Report) -> None:
    """Coverage of each table over all releases, and totals that are not sums."""
    pairs, cube = Workload.of_order((4, 9, 3), 2), Workload.of_order((6, 10, 4), 0, 1, 2, 3)
    for name, workload, share in (
        ("pairs of 4 x 9 x 3, Gaussian", pairs, HALF),
        ("cube of 6 x 10 x 4, Gaussian", cube, HALF),
        ("pairs of 4 x 9 x 3, Laplace", pairs, Share(epsilon=Fraction(1))),
    ):
        noise = noise_of(workload, share)
        reach = {each: CellLaw.of(noise, each).reach(Fraction(19, 20)) for each in workload.sets}
        drawn, held = draw(noise, RELEASES), dict.fromkeys(workload.sets, 0.0)
        unequal = untidy = 0
        for turn in range(RELEASES):
            tables = estimate_tables(noise.design, {each: table[turn] for each, table in drawn.items()})
            agreed = agree_exactly(tables, STEPS)
            unequal += apart(agreed)
            if turn % 100 == 0:
                cells = math.prod(workload.sizes)
                raised = {each: table + cells / table.size for each, table in tables.items()}
                untidy += apart(make_tidy(raised, list(workload.tables)))
            for columns, table in agreed.items():
                held[columns] += float((np.abs(table / STEPS) <= reach[columns]).mean())
        shares = {columns: total / RELEASES for columns, total in held.items()}
        levels = {size: np.mean([share for each, share in shares.items() if len(each) == size])
                  for size in {len(each) for each in shares}}  # fmt: skip
        for what, found in (("table", shares), ("level", levels)):
            far = max(abs(float(share) - 0.95) for share in found.values())
            report.add(
                Row(f"{name}: coverage of a {what}, farthest from 0.95", far, limit=0.01, unit="share")
            )
        report.add(Row(f"{name}: totals that are no sums", unequal, limit=0.5, unit="cells"))
        report.add(Row(f"{name}: the same, tidy", untidy, limit=0.5, unit="cells"))


def apart(tables: Mapping[Columns, Any]) -> int:
    """How many totals differ from the sums of their parts."""
    found = 0
    for columns, table in tables.items():
        for axis, _ in enumerate(columns):
            found += int((table.sum(axis=axis) != tables[columns[:axis] + columns[axis + 1 :]]).sum())
    return found


def add_large(report: Report) -> None:
    """A million cells from a DuckDB file of ten million rows, and all pairs of fourteen columns."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "visits.duckdb"
        with duckdb.connect(str(path)) as made:
            made.execute(
                "CREATE TABLE visits AS SELECT 'c' || (hash(i) % 50) AS city, "
                "(hash(i + 1) % 20)::INT AS age, 'm' || (hash(i * 3) % 12) AS month, "
                "'k' || (hash(i * 7) % 8) AS kind, "
                f"(hash(i * 11) % 6)::INT AS size FROM range({ROWS}) t(i)"
            )

        def group() -> None:
            with duckdb.connect(str(path), read_only=True) as plain:
                plain.execute(
                    "SELECT city, age, month, kind, size, COUNT(*) FROM visits GROUP BY ALL"
                ).fetchnumpy()

        theirs = processor_seconds(group)
        keys: dict[str, list[Any]] = {
            name: [f"{name[0]}{i}" for i in range(size)]
            for name, size in (("city", 50), ("month", 12), ("kind", 8))
        }
        keys |= {"age": list(range(20)), "size": list(range(6))}
        with dp.Curator.open(path, name="visits", unit=dp.each_row, budget={"rho": 10}, keys=keys,
                             ledger=Path(folder) / "x.ledger") as curator:  # fmt: skip
            cube = f"SELECT {COLUMNS}, COUNT(*) AS n FROM visits GROUP BY CUBE ({COLUMNS})"
            took = processor_seconds(lambda: curator.book([cube], rho=1).tables, rounds=1)
            cells = sum(map(len, curator.book([cube], rho=1).tables))
        what = f"{cells:,} cells of {ROWS:,} rows, from DuckDB"
        report.add(
            Row(what, took, "one GROUP BY of the finest table", theirs),
            Row(f"{what}, at most", took, limit=15),
        )
        stored = (Path(folder) / "x.ledger").stat().st_size / cells
        report.add(Row("bytes a cell in the ledger", stored, limit=8, unit="bytes"))
        report.add(Row("all 91 pairs of 14 columns, 48,842 rows", pairs_of_adult(Path(folder)), limit=15))


def pairs_of_adult(folder: Path) -> float:
    """Seconds of the processor; the rows are invented, the sizes Adult's."""
    import pandas

    random = np.random.default_rng(1)
    frame = pandas.DataFrame({f"c{i}": random.integers(0, size, 48_842) for i, size in enumerate(ADULT)})
    keys = {f"c{i}": list(range(size - 1)) for i, size in enumerate(ADULT)}  # the last label is the rest
    with dp.Curator.open(frame, name="adult", unit=dp.each_row, budget={"rho": 10}, keys=keys,
                         ledger=folder / "adult.ledger") as curator:  # fmt: skip
        pairs = [(f"c{i}", f"c{j}") for j in range(14) for i in range(j)]
        return processor_seconds(lambda: curator.book(pairs, rho=0.5).tables, rounds=1)
