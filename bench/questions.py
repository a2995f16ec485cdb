"""Whole questions through the curator, beside DuckDB's own GROUP BY person, group on the same file.

The task: 1,000,000 people, 101 groups, counts and sums by group, at most 5 groups a person and 3 rows a
group, on 10^6 and 10^7 rows. Ours is the question as it is asked: planned, charged on disk, run, noised,
stored.

    python -m bench questions
"""

import resource
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

import duckdb

from bench.harness import Report, Rivals, Row, seconds
from discreet import Curator

SIZES = (10**6, 10**7)
GROUPS, PEOPLE, TURNS = 101, 1_000_000, 3
KEYS = [f"g{number:03d}" for number in range(GROUPS)]
LIMIT = 6.0  # times DuckDB's own GROUP BY, on 10^7 rows
MOST_MEMORY = 2.5  # gigabytes
QUESTIONS = {
    "count and sum by group": "SELECT grp, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY grp",
    "count by group": "SELECT grp, COUNT(*) AS n FROM t GROUP BY grp",
    "count of people by group": "SELECT grp, COUNT(DISTINCT person) AS n FROM t GROUP BY grp",
    "median": "SELECT MEDIAN(amount) AS m FROM t",
}


def make_file(path: Path, rows: int) -> None:
    """Rows spread evenly over people and groups, amounts between 0 and 100."""
    duckdb.execute(
        f"""COPY (SELECT (hash(i) % {PEOPLE})::BIGINT AS person,
                         'g' || lpad((hash(i * 7 + 1) % {GROUPS})::VARCHAR, 3, '0') AS grp,
                         ((hash(i * 13 + 5) % 1000000) / 10000.0)::DOUBLE AS amount
                  FROM range({rows}) AS t(i)) TO '{path}'"""
    )


def open_curator(path: Path) -> Curator:
    """The task's limits and bounds; the budget is ample."""
    return Curator.open(
        path,
        name="t",
        unit="person",
        budget={"epsilon": 10_000},
        bounds={"amount": (0, 100)},
        keys={"grp": KEYS},
        max_groups=5,
        max_rows=3,
    )


def in_turns(theirs: Callable[[], object], ours: Callable[[], object]) -> tuple[float, float]:
    """The least time of each, measured by turns, so that other work on the machine slows both alike."""
    pairs = [(seconds(theirs), seconds(ours)) for _ in range(TURNS)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def ask_all(path: Path, rows: int) -> list[Row]:
    """Every question on one file."""
    plain, prices = duckdb.connect(), count(1)
    grouped = f"SELECT person, grp, count(*), sum(amount) FROM '{path}' GROUP BY ALL"
    found = []
    with open_curator(path) as curator:
        for name, text in QUESTIONS.items():
            theirs, ours = in_turns(
                lambda: plain.execute(f"SELECT count(*) FROM ({grouped})").fetchall(),
                # A new price each time: a stored answer would be free, and no measure.
                lambda text=text: curator.ask(text, epsilon=next(prices)),
            )
            limit = LIMIT if rows == 10**7 and name != "median" else None
            found.append(Row(f"{rows:,} rows: {name}", ours, "DuckDB GROUP BY", theirs, limit))
    return found


def run(rivals: Rivals) -> Report:
    """Every question on every size."""
    report = Report("Questions: whole, on 2 threads, beside DuckDB's own GROUP BY person, group")
    for rows in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.parquet"
            make_file(path, rows)
            report.rows += ask_all(path, rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report.rows.append(Row("peak memory of the process, GB", peak, limit=MOST_MEMORY, unit="GB"))
    return report
