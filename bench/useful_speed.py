"""The exact half of a question with limits, beside DuckDB's own GROUP BY person, group that keeps its sums.

The task: 1,000,000 people, 101 groups, counts and sums by group on 10^7 rows, each under a limit of its own.
Ours is all that the engine computes: the pairs, the ladders of both norms, the people above the limits, and
the weighted totals, in one question. Theirs is `CREATE TEMP TABLE ... GROUP BY person, group`. People are
alike (every one has some ten rows) or not (some have a thousand times the rows of others).

    python -m bench useful_speed
"""

import resource
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb

from bench.harness import Report, Rivals, Row, seconds
from bench.questions import BY_GROUP, GROUPS, PEOPLE, in_turns, make_file, open_curator
from discreet.asking.engines import Engine
from discreet.asking.planning import ExactPlan, Excess, Limit, Sum, plan_exact
from discreet.asking.policy import Policy
from discreet.asking.queries import read_question

ROWS, LIMIT, MOST_MEMORY = 10**7, 3.0, 1.5  # times theirs; gigabytes
RUNGS = tuple(sorted({round(2 ** (half / 2)) for half in range(40)}))


def make_skewed_file(path: Path) -> None:
    """As `make_file`, but the rows of person p are about 1/p of all."""
    duckdb.execute(
        f"""COPY (SELECT ({PEOPLE} ** ((hash(i) % 10000000) / 10000000.0))::BIGINT AS person,
                         'g' || lpad((hash(i * 7 + 1) % {GROUPS})::VARCHAR, 3, '0') AS grp,
                         ((hash(i * 13 + 5) % 1000000) / 10000.0)::DOUBLE AS amount
                  FROM range({ROWS}) AS t(i)) TO '{path}'"""
    )


def stages(policy: Policy) -> Iterator[ExactPlan]:
    """All that a question for counts and sums by group asks of an engine, in its order."""
    ((plans,),) = (plan_exact(read_question(BY_GROUP, policy), salt=0),)
    (plan,) = plans.plans
    limited = []
    for measure in plan.measures:
        step = measure.lattice.width if isinstance(measure, Sum) else 1
        own = replace(plan, measures=(measure,), beside=plan.measures)
        limited.append((own, 16 * step))
        yield replace(own, excess=tuple(Excess(rung * step, rung * step) for rung in RUNGS))
    for own, most in limited:
        yield replace(own, excess=(Excess(most, 1, bits=0), Excess(most, 3 * most)))
        yield replace(own, limit=Limit.of(most))


def run_stages(engine: Engine) -> None:
    """One question."""
    with engine.question() as run:
        for plan in stages(engine.policy):
            run(plan)


def keep_sums(plain: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Theirs."""
    plain.execute(
        "CREATE OR REPLACE TEMP TABLE pairs AS "
        f"SELECT person, grp, count(*) AS n, sum(amount) AS s FROM '{path}' GROUP BY ALL"
    )
    plain.execute("DROP TABLE pairs")


def run(rivals: Rivals) -> Report:
    """Both tables."""
    report = Report("One limit for each person: pairs, ladders, people above, totals, on 2 threads")
    with tempfile.TemporaryDirectory() as name:
        for what, make in (("alike", partial(make_file, rows=ROWS)), ("skewed", make_skewed_file)):
            path = Path(name) / f"{what}.parquet"
            make(path)
            plain = duckdb.connect()
            with open_curator(path) as curator:
                engine = curator.resources.engine()
                theirs, ours = in_turns(
                    lambda plain=plain, path=path: seconds(partial(keep_sums, plain, path)),
                    partial(run_stages, engine),
                )
            plain.close()
            report.add(Row(f"{ROWS:,} rows, people {what}", ours, "DuckDB GROUP BY, kept", theirs, LIMIT))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    report.add(Row("peak memory of our process, theirs included, GB", peak, limit=MOST_MEMORY, unit="GB"))
    return report
