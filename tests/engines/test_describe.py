"""What a header tells is what an opened engine knows."""

import contextlib

import duckdb
import pytest

from discreet.asking.engines import DuckDBEngine, describe_policy
from discreet.asking.policy import from_arguments

ROWS = "SELECT 1 AS person, 'Ottawa' AS city, 2.5::DOUBLE AS debt, DATE '2026-01-01' AS since, [1] AS list"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_described_policy_is_that_of_the_opened_engine(tmp_path, kind):
    source = tmp_path / f"people.{kind}"
    duckdb.sql(ROWS).write_csv(str(source)) if kind == "csv" else duckdb.sql(ROWS).write_parquet(str(source))
    policy = from_arguments(
        id="people",
        sources={"people": str(source)},
        unit="Person",
        budget={"epsilon": 1},
        bounds={"debt": (0, 10)},
        keys={"city": ["Ottawa"]},
        types={"since": "date"},
    )
    with contextlib.closing(DuckDBEngine(policy)) as engine:
        assert describe_policy(policy) == engine.policy
