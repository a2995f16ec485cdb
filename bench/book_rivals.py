"""The pairs of five columns beside OpenDP's contingency tables and Tumult Analytics, at equal price.

50,000 rows, each of them a person; rho 1/2; 10 tables. OpenDP fits one graphical model to all tables
(`Fixed`), Tumult answers a question for each table at an even share. Errors are root mean squares over the
declared cells of several releases; seconds are of the clock, since Spark is not of the worker's process:
from the question to the tables, the data at hand, in a process that has answered before.
"""

import math
from itertools import combinations, count, product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import discreet as dp
from bench.harness import Report, Row, seconds
from bench.questions import Rival
from bench.spark import SETTINGS, TUMULT, places

SIZES = {"age": 16, "job": 12, "region": 7, "school": 4, "sex": 2}
KEYS = {name: [f"{name}{label}" for label in range(size)] for name, size in SIZES.items()}
TABLES = list(combinations(SIZES, 2))
ROWS, RHO = 50_000, 0.5
TIMES = 5  # releases: the error of 2,590 cells is right within 5 %, nearly always
RIVALS = (
    Rival("OpenDP contingency tables", "bench-contingency", "contingency", ("opendp", "mbi", "jax")),
    Rival(TUMULT, "bench-tumult", "tumult", ("tmlt.analytics", "pyspark")),
)


def add_rivals(report: Report, folder: Path) -> None:
    """Error and time beside each."""
    path = folder / "people.parquet"
    make_file(path)
    truth = np.array(exact_cells(path))
    with open_book(path) as curator:
        weights = count(1)
        errors = root_mean_square([released(curator, next(weights)) for _ in range(TIMES)], truth)
        took = seconds(lambda: released(curator, next(weights)), rounds=3)
    for rival in RIVALS:
        given: dict[str, Any] = {"path": str(path), "rho": RHO, "keys": KEYS, "tables": TABLES}
        if rival.name == TUMULT:
            given["settings"] = SETTINGS | places(folder / "tumult")
        with rival.worker() as worker:
            theirs = worker.time(f"{rival.module}:book", **given)
            drawn = worker.draw(f"{rival.module}:books", times=TIMES, **given)
            named = worker.packages()
        assert isinstance(named, dict)
        who = f"{rival.name} ({', '.join(f'{each} {version}' for each, version in named.items())})"
        error = root_mean_square(drawn, truth)
        what = f"{len(TABLES)} pairs of {len(SIZES)} columns, {truth.size} cells, rho {RHO}"
        report.add(
            Row(f"{what}: error", errors, who, error, limit=1.05, unit="rows"),
            Row(f"{what}: clock", took, who, theirs, limit=1.0),
        )


def make_file(path: Path) -> None:
    """Columns that depend on each other, low labels being more frequent."""
    columns = ", ".join(
        f"'{name}' || (hash(i * {place} + i // 7 % 3) % {size} * (hash(i * {place} + 1) % {size}) // {size}) "
        f"AS {name}"
        for place, (name, size) in enumerate(SIZES.items(), start=3)
    )
    duckdb.execute(f"COPY (SELECT {columns} FROM range({ROWS}) t(i)) TO '{path}'")


def exact_cells(path: Path) -> list[int]:
    """The counts of the declared cells, table by table."""
    found = []
    for first, second in TABLES:
        rows = duckdb.execute(f"SELECT {first}, {second}, COUNT(*) FROM '{path}' GROUP BY ALL").fetchall()
        counts = {(one, other): count for one, other, count in rows}
        found += [counts.get(each, 0) for each in product(KEYS[first], KEYS[second])]
    return found


def open_book(path: Path) -> dp.Curator:
    return dp.Curator.open(path, name="people", unit=dp.each_row, budget={"rho": 100}, keys=KEYS,
                           ledger=path.with_suffix(".ledger"))  # fmt: skip


def released(curator: dp.Curator, weight: int) -> list[float]:
    """The declared cells of a new book: another weight makes it another book, of the same shares."""
    book = curator.book(dict.fromkeys(TABLES, weight), rho=RHO)
    assert book.charged
    found: list[float] = []
    for pair in TABLES:
        inside = tuple(slice(0, SIZES[name]) for name in pair)
        found += book[pair].values[inside].reshape(-1).tolist()
    return found


def root_mean_square(drawn: list[Any], truth: Any) -> float:
    return math.sqrt(float(((np.array(drawn) - truth) ** 2).mean()))
