"""How long the exact half of a question takes, beside DuckDB's own GROUP BY person, group on the same file.

The task: 1,000,000 people, 101 groups, COUNT(*) and SUM by group, at most 5 groups a person and 3 rows a
group.

    python bench/questions.py            10^6 rows
    python bench/questions.py 10000000   10^7 rows
"""

import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from discreet.engines import DuckDBEngine
from discreet.planning import plan_exact
from discreet.queries import read_question
from discreet.tables import from_arguments

GROUPS, PEOPLE = 101, 1_000_000
KEYS = [f"g{number:03d}" for number in range(GROUPS)]


def make_file(path: Path, rows: int) -> None:
    """Rows spread evenly over people and groups, amounts between 0 and 100."""
    duckdb.execute(
        f"""COPY (SELECT (hash(i) % {PEOPLE})::BIGINT AS person,
                         'g' || lpad((hash(i * 7 + 1) % {GROUPS})::VARCHAR, 3, '0') AS grp,
                         ((hash(i * 13 + 5) % 1000000) / 10000.0)::DOUBLE AS amount
                  FROM range({rows}) AS t(i)) TO '{path}'"""
    )


def best(times: int, action: object) -> float:
    """The median of a few runs, in seconds."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        action()  # type: ignore[operator]
        spent.append(time.perf_counter() - start)
    return statistics.median(spent)


def run_question(engine: DuckDBEngine, text: str) -> None:
    """Read, plan and run one question, all of it."""
    for plans in plan_exact(read_question(text, engine.policy), salt=7):
        for plan in plans.plans:
            engine.run(plan)


def main(rows: int) -> None:
    """Print one line for each question."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        make_file(path, rows)
        policy = from_arguments(
            sources={"t": str(path)},
            id="bench",
            unit="person",
            budget={"rho": 1},
            bounds={"amount": (0, 100)},
            keys={"grp": KEYS},
            max_groups=5,
            max_rows=3,
        )
        engine = DuckDBEngine(policy, threads=2)
        plain = duckdb.connect()
        plain.execute("SET threads = 2")
        grouped = (
            f"SELECT count(*) FROM (SELECT person, grp, count(*), sum(amount) FROM '{path}' GROUP BY ALL)"
        )
        questions = {
            "count and sum by group": "SELECT grp, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY grp",
            "count by group": "SELECT grp, COUNT(*) AS n FROM t GROUP BY grp",
            "count of people by group": "SELECT grp, COUNT(DISTINCT person) AS n FROM t GROUP BY grp",
            "median": "SELECT MEDIAN(amount) AS m FROM t",
        }
        for name, text in questions.items():
            # Interleaved, so that other work on the machine slows both alike.
            base = best(3, lambda: plain.execute(grouped).fetchall())
            ours = best(3, lambda text=text: run_question(engine, text))
            shown = f"{ours:6.2f} s  GROUP BY {base:5.2f} s  ratio {ours / base:5.2f}"
            print(f"{rows:>10,} rows  {name:26s} {shown}")
        engine.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of the process {peak:.2f} GB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
