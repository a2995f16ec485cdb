"""Whole questions by Qrlew: it rewrites the SQL, DuckDB runs it. Noise and bounding are its own."""

import duckdb
import sqlalchemy
from pyqrlew import Dataset

DELTA = 1e-6


ROWS = 1000  # of the table that the schema is read from: a person may have no more rows than there are


def _rewritten(epsilon, keys, *, max_groups, max_rows, high, whole_norm):
    """SQL with noise in it, from a schema with a few made-up rows, declared keys and declared bounds."""
    engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.StaticPool)
    kind = "INTEGER" if isinstance(high, int) else "FLOAT"
    with engine.begin() as connection:
        run = connection.execute
        run(sqlalchemy.text(f"CREATE TABLE t (person INTEGER, grp VARCHAR(8), amount {kind})"))
        for person in range(ROWS):
            run(sqlalchemy.text(f"INSERT INTO t VALUES ({person}, '{keys[0]}', 1)"))
    dataset = Dataset.from_database("db", engine, None)
    dataset = dataset.with_possible_values(None, "t", "grp", keys).with_range(None, "t", "amount", 0, high)
    asked = dataset.relation("SELECT grp, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY grp")
    private = asked.rewrite_with_differential_privacy(
        dataset,
        [("t", [], "person")],
        {"epsilon": float(epsilon), "delta": DELTA},
        max_multiplicity=float(max_rows * (max_groups**0.5 if whole_norm else 1)),
        max_multiplicity_share=1.0,
        max_privacy_unit_groups=max_groups,
    )
    return private.relation().to_query()


def count_and_sum(path, epsilon, keys, *, max_groups=5, max_rows=3, high=100.0, whole_norm=False):
    """A person's rows are scaled down to one norm over all groups: that of max_rows in a single group; or,
    with `whole_norm`, that of max_rows in each of max_groups, as the others allow."""
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW t AS SELECT * FROM '{path}'")
    text = _rewritten(
        epsilon, keys, max_groups=max_groups, max_rows=max_rows, high=high, whole_norm=whole_norm
    )

    def work():
        found = {row[0]: row[1:] for row in connection.execute(text).fetchall()}
        return [found.get(key, (0, 0)) for key in keys]

    return work


def whole(work, **parameters):
    """One whole question, to be timed."""
    return globals()[work](**parameters)


def repeated(work, times, **parameters):
    """So many answers to one question."""
    ask = whole(work, **parameters)
    return [ask() for _ in range(times)]
