"""Whole questions on PostgreSQL, beside PostgreSQL's own GROUP BY person, group on the same server.

The task: 1,000,000 rows of 200,000 people in 101 groups, at most 5 groups a person and 3 rows a group. Ours
is the question as it is asked: planned, charged on disk, bounded in the server, noised, stored.

    python -m bench postgres
"""

import sys
import tempfile
from fractions import Fraction
from itertools import count
from pathlib import Path

import psycopg

from bench.harness import ROOT, Report, Row, seconds
from discreet import Curator

sys.path.insert(0, str(ROOT / "tests"))

from servers.postgres import PostgresServer  # the server of the tests

ROWS, PEOPLE, GROUPS, ROUNDS = 10**6, 200_000, 101, 3
QUESTIONS = {
    "count and sum by group": "SELECT grp, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY grp",
    "count of people by group": "SELECT grp, COUNT(DISTINCT person) AS n FROM t GROUP BY grp",
    "count and sum by keys that only the data knows": "SELECT shop, COUNT(*) AS n, SUM(amount) AS s FROM t "
    "GROUP BY shop",
    "median": "SELECT MEDIAN(amount) AS m FROM t",
}
FILL = f"""CREATE TABLE t AS
SELECT (random() * {PEOPLE - 1})::bigint AS person,
    'g' || lpad((random() * {GROUPS - 1})::int::text, 3, '0') AS grp,
    's' || (random() * 500)::int AS shop, random() * 100 AS amount
FROM generate_series(1, {ROWS})"""
PLAIN = "SELECT sum(n) FROM (SELECT person, {}, count(*) AS n, sum(amount) FROM t GROUP BY 1, 2) AS pairs"


def run(rivals: object = None) -> Report:
    """Each question in turns with the plain grouping."""
    report = Report(f"PostgreSQL: {ROWS:,} rows, a private answer beside its own GROUP BY person, group")
    with PostgresServer(durable=False) as server, tempfile.TemporaryDirectory() as folder:
        address = server.database("bench")
        with psycopg.connect(address, autocommit=True) as plain:
            for statement in (FILL, "VACUUM ANALYZE t", "SET work_mem = '64MB'", "SET jit = off"):
                plain.execute(statement.encode())
            prices = (
                Fraction(1) + Fraction(k, 1000) for k in count()
            )  # a price again would be answered free
            with _open(address, Path(folder) / "t.ledger") as curator:
                for what, text in QUESTIONS.items():
                    grouped = PLAIN.format("shop" if "shop" in text else "grp").encode()
                    pairs = [
                        (
                            seconds(lambda text=text: curator.ask(text, epsilon=next(prices))),  # type: ignore[misc]
                            seconds(lambda grouped=grouped: plain.execute(grouped).fetchall()),  # type: ignore[misc]
                        )
                        for _ in range(ROUNDS)
                    ]
                    ours, theirs = (min(each) for each in zip(*pairs, strict=True))
                    report.add(Row(what, ours, "GROUP BY person, group, not private", theirs))
    return report


def _open(address: str, ledger: Path) -> Curator:
    return Curator.open(
        "t", unit="person", budget={"epsilon": 1000, "delta": 1e-3}, bounds={"amount": (0, 100)},
        keys={"grp": [f"g{number:03d}" for number in range(GROUPS)]}, max_groups=5, max_rows=3,
        engine=address, ledger=ledger,
    )  # fmt: skip
