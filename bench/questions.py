"""Whole questions through the curator, beside the rivals and DuckDB's own GROUP BY person, group.

The task: 1,000,000 people, 101 groups, counts and sums by group, at most 5 groups a person and 3 rows a
group, on 10^6 and 10^7 rows. Ours is the question as it is asked: planned, charged on disk, run, noised,
stored. Theirs is the question alone, the table loaded before, in a process of their own that has already
answered one. Errors are compared at equal price and bounding, on a table within all limits, so that noise is
all that errs.

    python -m bench questions
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from bench.harness import Report, Rivals, Row, seconds
from bench.releases import released
from discreet import Curator

SIZES = (10**6, 10**7)
GROUPS, PEOPLE, TURNS = 101, 1_000_000, 3
KEYS = [f"g{number:03d}" for number in range(GROUPS)]
LIMIT = 6.0  # times DuckDB's own GROUP BY, on 10^7 rows
MOST_MEMORY = 2.5  # gigabytes
COLD_ROWS, COLD_LIMIT = 10**5, 2.5  # seconds from a cold shell
ERROR_TIMES, ERROR_LIMIT = 20, 1.1  # 2,020 errors each: a ratio of equals stays below 1.1 but once in 1,000
BY_GROUP = "SELECT grp, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY grp"
QUESTIONS = {
    "count and sum by group": BY_GROUP,
    "count by group": "SELECT grp, COUNT(*) AS n FROM t GROUP BY grp",
    "count of people by group": "SELECT grp, COUNT(DISTINCT person) AS n FROM t GROUP BY grp",
    "median": "SELECT MEDIAN(amount) AS m FROM t",
}
CANDIDATES = [number / 10 for number in range(1001)]  # OpenDP's median chooses among these


@dataclass(frozen=True)
class Rival:
    """Who, where they live, and how much slower than them we may be."""

    name: str
    environment: str
    module: str
    packages: tuple[str, ...]
    limit: float = 1.0
    turns: int = TURNS

    def worker(self) -> Rivals:
        """A process of theirs, with all cores."""
        return Rivals(self.environment, packages=self.packages, settings={})


RIVALS = (
    Rival("OpenDP on Polars", "bench-opendp", "tables_opendp", ("opendp", "polars")),
    Rival("SmartNoise SQL", "bench-smartnoise", "tables_smartnoise", ("smartnoise-sql",)),
    Rival("diffprivlib by hand", "bench", "tables_diffprivlib", ("diffprivlib", "pandas")),
    Rival("Qrlew, weaker bounding", "bench-qrlew", "tables_qrlew", ("pyqrlew", "duckdb"), limit=1.3),
    Rival("PipelineDP", "bench-pipelinedp", "tables_pipelinedp", ("pipeline-dp",), turns=1),
)


def make_file(path: Path, rows: int) -> None:
    """Rows spread evenly over people and groups, amounts between 0 and 100."""
    duckdb.execute(
        f"""COPY (SELECT (hash(i) % {PEOPLE})::BIGINT AS person,
                         'g' || lpad((hash(i * 7 + 1) % {GROUPS})::VARCHAR, 3, '0') AS grp,
                         ((hash(i * 13 + 5) % 1000000) / 10000.0)::DOUBLE AS amount
                  FROM range({rows}) AS t(i)) TO '{path}'"""
    )


def make_small_file(path: Path) -> None:
    """2,000 people with 2 rows in each of 3 groups: within the limits. Whole amounts between 0 and 100."""
    duckdb.execute(
        f"""COPY (SELECT p::BIGINT AS person,
                         'g' || lpad(((p * 7 + g * 31) % {GROUPS})::VARCHAR, 3, '0') AS grp,
                         (hash(p * 100 + g * 10 + r) % 101)::BIGINT AS amount
                  FROM range(2000) a(p), range(3) b(g), range(2) c(r)) TO '{path}'"""
    )


def open_curator(path: Path, **options: Any) -> Curator:
    """The task's limits and bounds; the budget is ample. Options: engine, ledger."""
    return Curator.open(
        path,
        name="t",
        unit="person",
        budget={"epsilon": 10_000},
        bounds={"amount": (0, 100)},
        keys={"grp": KEYS},
        max_groups=5,
        max_rows=3,
        **options,
    )


def in_turns(
    theirs: Callable[[], float], ours: Callable[[], object], turns: int = TURNS
) -> tuple[float, float]:
    """The least time of each, measured by turns, so that other work on the machine slows both alike."""
    pairs = [(theirs(), seconds(ours)) for _ in range(turns)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def beside_duckdb(path: Path, rows: int, ask: Callable[[str], object]) -> list[Row]:
    """Every question on one file, beside the plain GROUP BY."""
    plain = duckdb.connect()
    grouped = f"SELECT person, grp, count(*), sum(amount) FROM '{path}' GROUP BY ALL"
    found = []
    for name, text in QUESTIONS.items():
        theirs, ours = in_turns(
            lambda: seconds(lambda: plain.execute(f"SELECT count(*) FROM ({grouped})").fetchall()),
            partial(ask, text),
        )
        limit = LIMIT if rows == 10**7 and name != "median" else None
        found.append(Row(f"{rows:,} rows: {name}", ours, "DuckDB GROUP BY", theirs, limit))
    return found


def beside_rivals(path: Path, rows: int, ask: Callable[[str], object]) -> list[Row]:
    """The task, by everyone in turn; and the median, by OpenDP."""
    found = []
    for rival in RIVALS:
        with rival.worker() as worker:
            cases: list[tuple[str, str, dict[str, object]]] = [
                ("count and sum by group", "count_and_sum", {"keys": KEYS})
            ]
            if rival.module == "tables_opendp":
                cases.append(("median", "median", {"candidates": CANDIDATES}))
            for name, case, parameters in cases:
                theirs, ours = in_turns(
                    partial(
                        worker.time,
                        f"{rival.module}:whole",
                        work=case,
                        rehearsals=int(rival.turns > 1),
                        path=str(path),
                        epsilon=1,
                        **parameters,
                    ),
                    partial(ask, QUESTIONS[name]),
                    rival.turns,
                )
                found.append(Row(f"{rows:,} rows: {name}", ours, rival.name, theirs, rival.limit))
            found.append(Row(f"{rows:,} rows: memory of {rival.name}, GB", worker.memory(), unit="GB"))
    return found


def errors(folder: Path) -> list[Row]:
    """The mean absolute error of a group's count and sum, epsilon 1 for both together."""
    path = folder / "small.parquet"
    make_small_file(path)
    truth = np.array(
        duckdb.execute(
            f"SELECT count(*), sum(amount)::BIGINT FROM '{path}' GROUP BY grp ORDER BY grp"
        ).fetchall()
    )
    with open_curator(path) as curator:
        ours = _mean_error(
            [
                [(row["n"], row["s"]) for row in rows]
                for rows in released(curator, BY_GROUP, ERROR_TIMES * 10)
            ],
            truth,
        )
    found = []
    for rival in RIVALS:
        with rival.worker() as worker:
            equal = {"whole_norm": True} if rival.module == "tables_qrlew" else {}
            drawn = worker.draw(
                f"{rival.module}:repeated",
                work="count_and_sum",
                times=ERROR_TIMES,
                path=str(path),
                epsilon=1,
                keys=KEYS,
                high=100,
                **equal,
            )
        theirs = _mean_error(drawn, truth)
        for index, name in enumerate(("count", "sum")):
            what = f"mean error of a group's {name}, epsilon 1"
            found.append(
                Row(what, float(ours[index]), rival.name, float(theirs[index]), ERROR_LIMIT, unit=name)
            )
    return found


def _mean_error(answers: list, truth: np.ndarray) -> np.ndarray:
    return np.abs(np.array(answers, dtype=float) - truth).mean(axis=(0, 1))


def first_answer(folder: Path) -> list[Row]:
    """From a cold shell to the first answer, on tables of 10^5 rows."""
    found = []
    for suffix in ("csv", "parquet"):
        path = folder / f"cold.{suffix}"
        make_file(path, COLD_ROWS)
        text = "SELECT grp, COUNT(*) AS n FROM cold GROUP BY grp"
        command = [str(Path(sys.executable).with_name("discreet")), "ask", str(path), text]
        command += ["--unit", "person", "--epsilon", "0.01", "--max-groups", "1"]
        taken = seconds(partial(subprocess.run, command, check=True, capture_output=True), rounds=TURNS)
        found.append(Row(f"first answer on {COLD_ROWS:,} rows of {suffix}, cold", taken, limit=COLD_LIMIT))
    return found


def run(rivals: Rivals) -> Report:
    """Every question on every size."""
    report = Report("Questions: whole, on 2 threads, beside the rivals and DuckDB's GROUP BY person, group")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report.add(*first_answer(folder))
        for rows in SIZES:
            path, prices = folder / f"t{rows}.parquet", count(1)
            make_file(path, rows)
            with open_curator(path) as curator:
                # A new price each time: a stored answer would be free, and no measure.
                ask = lambda text, curator=curator, prices=prices: curator.ask(text, epsilon=next(prices))  # noqa: E731
                report.add(*beside_duckdb(path, rows, ask))
                report.add(*beside_rivals(path, rows, ask))
        report.add(*errors(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report.add(Row("peak memory of our process, GB", peak, limit=MOST_MEMORY, unit="GB"))
    return report
