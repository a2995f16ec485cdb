"""What is Spark's own: sources, sessions, its arithmetic, one unit with half the rows. See test_agreement.py
for what all engines share, and test_spark_failures.py for what is lost and killed."""

import contextlib
import datetime
import logging
import random
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.asking.engines import DuckDBEngine, SparkEngine, open_engine
from discreet.asking.engines.spark.dialect import SparkDialect
from discreet.asking.engines.spark.session import open_beside, quiet
from discreet.asking.engines.sql import column, named, whole
from discreet.asking.planning import plan_exact
from discreet.asking.queries import read_question
from discreet.errors import EngineFailure, InvalidParameter, PolicyViolation
from engines.test_duckdb import CANARY, policy

BY_CITY = "SELECT city, COUNT(*) AS n, COUNT(debt) AS d FROM t GROUP BY city"


FRAME = pa.table({
    "person": pa.array([1, 1, 2, None], pa.int64()),
    "city": ["Ottawa", "Toronto", "Ottawa", "Ottawa"],
    "debt": [10.5, None, None, 1.0],
    "active": [True, False, None, True],
})  # fmt: skip


@pytest.fixture
def opened(spark_session):
    made = []

    def open_on(source, **options):
        given = {"session": spark_session, "hashing": options.pop("hashing", "fast")}
        given |= {name: options.pop(name) for name in ("timeout_s",) if name in options}
        made.append(SparkEngine(policy(None, **options), {"t": source}, **given))
        return made[-1]

    yield open_on
    for engine in made:
        engine.close()


def plan_of(text, engine):
    return plan_exact(read_question(text, engine.policy), salt=1)[0].plans[0]


def ask(engine, text=BY_CITY):
    return engine.run(plan_of(text, engine)).totals


def test_every_kind_of_source_gives_the_same_table(opened, spark_session, tmp_path):
    pq.write_table(FRAME, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text(
        "person,city,debt,active\n1,Ottawa,10.5,true\n1,Toronto,,false\n2,Ottawa,,\n"
    )
    there = spark_session.createDataFrame(FRAME)
    there.write.saveAsTable("people")
    held = [FRAME, FRAME.to_pandas(types_mapper=pd.ArrowDtype), pl.from_arrow(FRAME), there]
    for source in (
        str(tmp_path / "t.parquet"),
        str(tmp_path / "t*.parquet"),
        tmp_path / "t.csv",
        "people",
        *held,
    ):
        assert ask(opened(source)) == ((2, 1), (1, 0)), type(source)
    spark_session.sql("DROP TABLE people")


def test_frames_of_the_owner_leave_no_name_behind(opened, spark_session):
    def names():
        return {table.name for table in spark_session.catalog.listTables("global_temp")}

    before = names()
    engine = opened(spark_session.createDataFrame(FRAME))
    assert names() > before  # the frame does have a name while it is open
    engine.close()
    assert names() == before


@pytest.mark.parametrize("source", ["none.parquet", "nobody.nothing", "a b", None, 3])
def test_a_source_that_is_none_is_refused(opened, source):
    with pytest.raises(InvalidParameter):
        opened(source)


def test_a_csv_that_is_not_strict_is_refused_without_quoting_it(opened, tmp_path, capfd):
    (tmp_path / "t.csv").write_text(f"person,city,debt,active\n1,Ottawa,{CANARY},true\n")
    with pytest.raises(PolicyViolation) as caught:
        opened(str(tmp_path / "t.csv"))
    assert CANARY not in f"{caught.value!r} {caught.value.fields} {capfd.readouterr()}"


@pytest.mark.parametrize(
    "name", ["O'Brien", "a\\'b", "${spark.app.name}", "line\nbreak", "'; DROP VIEW t0; --", "%_"]
)
def test_a_text_in_a_question_is_only_ever_compared(opened, name):
    engine = opened(FRAME.set_column(1, "city", [[name, "other", "OTHER", name + " "]]), keys={})
    quoted = name.replace("'", "''")
    assert ask(engine, f"SELECT COUNT(*) AS n FROM t WHERE city = '{quoted}'") == ((1,),)


def test_the_settings_of_the_owners_session_change_no_answer(opened, spark_session):
    moments = pa.array([datetime.datetime(2020, 3, 1, hour) for hour in (1, 1, 23, 5)], pa.timestamp("us"))
    wanted = {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": "Pacific/Auckland",
        "spark.sql.parser.escapedStringLiterals": "true",
    }
    for name, value in wanted.items():
        spark_session.conf.set(name, value)
    try:
        engine = opened(FRAME.append_column("seen", moments))
        assert ask(engine, "SELECT COUNT(*) AS n FROM t WHERE EXTRACT(hour FROM seen) = 1") == ((2,),)
        assert ask(engine, "SELECT COUNT(*) AS n FROM t WHERE DATE_TRUNC('day', seen) = '2020-03-01'") == (
            (3,),
        )
    finally:
        for name in wanted:
            spark_session.conf.unset(name)


def test_a_text_with_a_collation_of_its_own_is_left_out(opened, spark_session):
    there = spark_session.sql("SELECT 1L AS person, 'Ottawa' AS city, 1D AS debt, true AS active, "
                              "'x' COLLATE UNICODE_CI AS nick")  # fmt: skip
    assert "nick" not in opened(there).schema()["t"]


@pytest.mark.parametrize("kind", [pa.int8(), pa.decimal128(20, 0)])
def test_other_whole_numbers_are_read_exactly(opened, kind):
    engine = opened(FRAME.set_column(0, "person", pa.array([1, 1, 2, None], kind)))
    assert engine.schema()["t"]["person"] == "integer"
    assert ask(engine) == ((2, 1), (1, 0))


def test_the_sign_of_a_wide_number_changes_no_digit(opened):
    engine = opened(FRAME.set_column(0, "person", pa.array([2**63 - 1, 3, -(2**63) + 1, None], pa.int64())))
    text = "SELECT COUNT(*) AS n FROM t WHERE ABS(-(person * person)) = person * person"
    assert ask(engine, text) == ((3,),)


def wide_pairs():
    draw = random.Random(5)
    ends = [1, -1, 2, -7, 10**6, -(10**6) - 1, 2**63, -(2**63), 2**63 - 1, 10**38 - 1, 1 - 10**38, 10**32]
    anything = [draw.choice((1, -1)) * draw.randrange(10 ** draw.randrange(1, 39)) for _ in range(150)]
    return [(a, b) for a in (*ends, *anything) for b in draw.sample([*ends, *anything], 6) if b]


def test_wide_quotients_are_exact_to_the_last_digit(spark_session):
    dialect, pairs, session = SparkDialect(), wide_pairs(), open_beside(spark_session).session
    exact = [(Decimal(a), Decimal(b)) for a, b in pairs]
    session.createDataFrame(exact, "a decimal(38,0), b decimal(38,0)").createOrReplaceTempView("pairs")
    quotient = dialect.quotient(column("a"), column("b"))
    found = session.sql(f"SELECT a, b, {dialect.write(quotient)} AS q FROM pairs").collect()
    assert len(found) == len(pairs)
    for a, b, q in found:
        assert int(q) == abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1), (a, b)


def test_a_try_cast_stays_one_and_a_wide_number_is_a_decimal():
    written = SparkDialect().write(named(SparkDialect().narrow(whole(7, "HUGEINT")), "x"))
    assert written == "TRY_CAST(CAST('7' AS DECIMAL(38, 0)) AS BIGINT) AS `x`"


BIG_ROWS = 100_000
BY_GROUP = "SELECT g, COUNT(*) AS n, SUM(debt) AS s, COUNT(DISTINCT person) AS u FROM t GROUP BY g"
LIMITS = {"keys": {"g": list(range(20))}, "types": {}, "max_groups": 3, "max_rows": 2}


@pytest.fixture(scope="module")
def half(spark_session, tmp_path_factory):
    """Many rows, half of them one person's, in eight files."""
    path = str(tmp_path_factory.mktemp("half") / "t.parquet")
    made = spark_session.range(0, BIG_ROWS, 1, 8).selectExpr(
        "IF(id % 2 = 0, -1, id div 7) AS person", "id % 23 AS g", "CAST(id % 101 AS DOUBLE) AS debt"
    )
    made.write.parquet(path)
    return path


def lines_of(engine, plan):
    """Spark's own plan, line by line."""
    sql = engine._dialect.write(engine._bounding(plan)(plan, engine._relations).build())
    return engine._session.sql(sql)._jdf.queryExecution().executedPlan().toString().splitlines()


def as_on_duckdb(engine, plan, half):
    with_duckdb = DuckDBEngine(policy(None, **LIMITS), {"t": f"{half}/*.parquet"}, hashing="md5")
    with contextlib.closing(with_duckdb):
        return engine.run(plan) == with_duckdb.run(plan)


def test_rows_travel_once_and_are_sorted_twice_where_nobody_has_too_many(opened, half):
    engine = opened(half, hashing="md5", **LIMITS)
    plan = plan_of(BY_GROUP, engine)
    assert as_on_duckdb(engine, plan, half)
    lines = lines_of(engine, plan)
    assert sum("Exchange hashpartitioning(unit" in line for line in lines) == 1
    assert sum(" Sort [" in line for line in lines) == 2  # for ordinals among equal rows, then for the cut


def test_one_person_with_too_many_rows_agrees_and_sinks_no_task(opened, half, monkeypatch):
    monkeypatch.setattr("discreet.asking.engines.spark.CROWDED", BIG_ROWS // 2 - 1)
    engine = opened(half, hashing="md5", **LIMITS)
    plan = plan_of(BY_GROUP, engine)
    assert as_on_duckdb(engine, plan, half)
    assert_cut_before_travel(engine, plan)


def test_a_person_with_as_many_rows_as_a_task_may_have_is_not_too_many(opened, half, monkeypatch):
    monkeypatch.setattr("discreet.asking.engines.spark.CROWDED", BIG_ROWS)
    engine = opened(half, **LIMITS)
    with pytest.raises(AssertionError):
        assert_cut_before_travel(engine, plan_of(BY_GROUP, engine))


def assert_cut_before_travel(engine, plan):
    """Under every exchange of rows or groups stands the limit that cuts each person's before they travel; the
    one by which equal rows meet spreads a person's rows by their values."""
    lines = lines_of(engine, plan)
    by_unit = [i for i, line in enumerate(lines) if "Exchange hashpartitioning(unit" in line]
    travels = [i for i in by_unit if ", m" not in lines[i].partition("hashpartitioning")[2]]
    assert len(by_unit) == len(travels) + 1
    assert len(travels) == 2
    for i in travels:
        assert "WindowGroupLimit" in lines[i + 1], lines[i + 1]
        assert "Partial" in lines[i + 1]


def test_the_look_at_the_plan_would_notice_a_limit_that_comes_late(opened, half, monkeypatch):
    monkeypatch.setattr("discreet.asking.engines.spark.CROWDED", 0)
    engine = opened(half, hashing="md5", **LIMITS)
    engine._session.conf.set("spark.sql.optimizer.windowGroupLimitThreshold", "-1")
    with pytest.raises(AssertionError):
        assert_cut_before_travel(engine, plan_of(BY_GROUP, engine))


def test_the_choice_of_rows_depends_on_no_partition_and_no_order(opened, spark_session):
    rows = spark_session.range(3000).selectExpr(
        "id % 50 AS person", "id % 17 AS g", "CAST(id % 13 AS DOUBLE) AS debt"
    )
    tables = [rows.coalesce(1), rows.orderBy("debt").repartition(5), rows.repartition(3, "g")]
    found = []
    for each in tables:
        engine = opened(each, **LIMITS)
        found.append(engine.run(plan_of(BY_GROUP, engine)))
    assert found[0] == found[1] == found[2]


def test_engine_errors_are_one_constant(opened, monkeypatch, capfd):
    engine = opened(FRAME)
    monkeypatch.setattr(SparkDialect, "write", lambda self, tree: f"SELECT CAST('{CANARY}' AS INT)")
    with pytest.raises(EngineFailure) as caught:
        ask(engine)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert CANARY not in f"{caught.value!r} {caught.value.fields} {capfd.readouterr()}"


def test_being_quiet_first_leaves_the_owner_the_errors_of_spark(monkeypatch):
    """A logger that is made first is of PySpark's class: any other one raises at PySpark's own words."""
    monkeypatch.setattr("discreet.asking.engines.spark.session.LOGGERS", ("MadeFirst",))
    with quiet():
        logging.getLogger("MadeFirst").error("a word of Spark's", errorClass="DIVIDE_BY_ZERO", context={})


def test_a_timeout_is_the_same_constant(opened):
    engine = opened(FRAME, timeout_s=1e-6)
    with pytest.raises(EngineFailure, match="could not run the plan"):
        ask(engine)


def test_a_forked_child_fails_closed(opened, monkeypatch):
    engine = opened(FRAME)
    monkeypatch.setattr(engine, "_pid", -1)
    with pytest.raises(EngineFailure, match="could not run the plan"):
        ask(engine)


def test_a_session_and_its_address_are_engines_and_stay_the_owners(spark_session):
    for engine in (spark_session, "local[2]"):
        made = open_engine(engine, policy(None), {"t": FRAME})
        assert ask(made) == ((2, 1), (1, 0))
        made.close()
    assert spark_session.range(3).count() == 3


def test_a_second_spark_in_one_process_is_refused(spark_session):
    with pytest.raises(InvalidParameter, match="already runs"):
        open_engine("local[1]", policy(None), {"t": FRAME})
