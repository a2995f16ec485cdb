import multiprocessing
import tempfile
import threading
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.asking.engines import DuckDBEngine
from discreet.asking.planning import plan_exact
from discreet.asking.policy import from_arguments, from_toml
from discreet.asking.queries import read_question
from discreet.errors import EngineFailure, InvalidParameter, PolicyViolation

CANARY = "xyzzy-canary-4711"
CSV = "person,city,debt,active\n1,Ottawa,10.5,true\n1,Toronto,,false\n2,Ottawa,NA,\n,Ottawa,1,true\n"


def policy(source, **options):
    given = {
        "unit": "person",
        "budget": {"rho": 1},
        "types": {"active": "boolean"},
        "bounds": {"debt": (0, 100)},
        "keys": {"city": ["Ottawa", "Toronto"]},
        "max_groups": 2,
        "max_rows": 5,
    }
    return from_arguments(sources={"t": source}, id="t", **(given | options))


def plan_of(text, engine):
    return plan_exact(read_question(text, engine.policy), salt=1)[0].plans[0]


def ask(engine, text="SELECT city, COUNT(*) AS n, COUNT(debt) AS d FROM t GROUP BY city"):
    return engine.run(plan_of(text, engine)).totals


@pytest.fixture
def frame():
    return pa.table({
        "person": pa.array([1, 1, 2, None], pa.int64()),
        "city": ["Ottawa", "Toronto", "Ottawa", "Ottawa"],
        "debt": [10.5, None, None, 1.0],
        "active": [True, False, None, True],
    })  # fmt: skip


def test_every_kind_of_source_gives_the_same_table(frame, tmp_path):
    pq.write_table(frame, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text(CSV.replace("NA", ""))
    with duckdb.connect(str(tmp_path / "t.duckdb")) as made:
        made.register("frame", frame)
        made.execute("CREATE TABLE t AS FROM frame")
    held = [frame, frame.to_pandas(types_mapper=pd.ArrowDtype), pl.from_arrow(frame)]
    files = [str(tmp_path / name) for name in ("t.parquet", "t.csv", "t.duckdb", "t.duckdb#t", "*.parquet")]
    for source in (*files, *held):
        engine = DuckDBEngine(policy(None), {"t": source})
        assert ask(engine) == ((2, 1), (1, 0)), type(source)
        engine.close()


def test_globs_read_all_their_files(frame, tmp_path):
    for name in ("a", "b"):
        pq.write_table(frame, tmp_path / f"{name}.parquet")
    engine = DuckDBEngine(policy(str(tmp_path / "*.parquet")))
    assert ask(engine) == ((4, 2), (2, 0))
    engine.close()


def test_csv_columns_are_text_unless_the_policy_says_otherwise(tmp_path):
    (tmp_path / "t.csv").write_text(CSV.replace("NA", "7"))
    engine = DuckDBEngine(policy(str(tmp_path / "t.csv")))
    assert engine.schema() == {"t": {"person": "text", "city": "text", "debt": "number", "active": "boolean"}}
    engine.close()


def test_a_declared_word_is_a_missing_value(tmp_path):
    (tmp_path / "t.csv").write_text(CSV)
    text = """
    [dataset]
    id = "t"
    budget = { rho = 1 }
    [tables.t]
    unit = "person"
    max_rows = 5
    [tables.t.columns]
    debt = { bounds = [0, 100], missing = ["NA"] }
    """
    engine = DuckDBEngine(from_toml(text), {"t": str(tmp_path / "t.csv")})
    assert ask(engine, "SELECT COUNT(debt) AS d, COUNT(*) AS n FROM t") == ((1, 3),)
    engine.close()


@pytest.mark.parametrize(
    "text",
    [
        CSV.replace("10.5", CANARY),  # not a number
        CSV.replace("true", CANARY),  # not a boolean
        CSV + f"{CANARY}\n",  # a line too short
        CSV + f"1,2,3,true,{CANARY}\n",  # a line too long
        f'person,city,debt,active\n1,"{CANARY},1,true\n',  # a quote never closed
        "",
    ],
)
def test_a_csv_that_is_not_strict_is_refused_without_quoting_it(text, tmp_path, capfd):
    (tmp_path / "t.csv").write_text(text.replace("NA", ""))
    with pytest.raises(PolicyViolation) as caught:
        DuckDBEngine(policy(str(tmp_path / "t.csv")))
    shown = f"{caught.value!r} {caught.value.__cause__!r} {caught.value.fields} {capfd.readouterr()}"
    assert CANARY not in shown
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_numbers_in_csv_follow_the_written_grammar(tmp_path):
    for word in ("0x10", "1_000", "inf", "nan", " 1", "1,5"):
        (tmp_path / "t.csv").write_text(f'person,debt\n1,"{word}"\n')
        with pytest.raises(PolicyViolation):
            DuckDBEngine(policy(str(tmp_path / "t.csv"), types={}, keys={}))


@pytest.mark.parametrize("source", ["none.csv", "t.xlsx", None, 3, object()])
def test_a_source_that_is_none_is_refused(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.xlsx").write_text("x")
    with pytest.raises(InvalidParameter):
        DuckDBEngine(policy(None), {"t": source})


def test_a_declared_column_that_is_stored_otherwise_is_refused(frame):
    for changes in (
        {"types": {"debt": "integer"}, "bounds": {}},
        {"types": {"none": "text"}},
        {"unit": "nobody"},
    ):
        with pytest.raises((PolicyViolation, InvalidParameter)):
            DuckDBEngine(policy(None, **changes), {"t": frame})


def test_a_unit_stored_as_doubles_is_refused(frame):
    merged = frame.set_column(0, "person", pa.array([1.0, 2.0, 3.0, None]))
    with pytest.raises(InvalidParameter, match="integer or text"):
        DuckDBEngine(policy(None), {"t": merged})


def test_a_public_key_that_is_not_unique_is_refused(frame):
    cities = pa.table({"city": ["Ottawa", "Ottawa"]})
    given = policy(None, public={"cities": ("city", None)})
    with pytest.raises(PolicyViolation, match="differ"):
        DuckDBEngine(given, {"t": frame, "cities": cities})


def test_later_changes_of_a_frame_change_no_answer():
    frame = pd.DataFrame({"person": [1, 2], "city": ["Ottawa"] * 2, "debt": [1.0, 2.0], "active": [True] * 2})
    engine = DuckDBEngine(policy(None), {"t": frame})
    frame.loc[:, "city"] = "Toronto"
    assert ask(engine) == ((2, 2), (0, 0))
    engine.close()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM read_csv('/etc/hostname')",
        "COPY (SELECT 1) TO '/tmp/discreet-should-not-exist'",
        "ATTACH '/tmp/discreet-should-not-exist.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '10GB'",
        "SET lock_configuration = false",
        "SELECT * FROM glob('/etc/*')",
    ],
)
def test_the_connection_is_locked_down(statement, frame):
    engine = DuckDBEngine(policy(None), {"t": frame})
    with pytest.raises(duckdb.Error):
        engine._connection.cursor().execute(statement).fetchall()
    engine.close()


def test_a_registered_file_is_read_and_its_neighbours_are_not(frame, tmp_path):
    pq.write_table(frame, tmp_path / "t.parquet")
    pq.write_table(frame, tmp_path / "other.parquet")
    engine = DuckDBEngine(policy(str(tmp_path / "t.parquet")))
    assert ask(engine) == ((2, 1), (1, 0))
    with pytest.raises(duckdb.Error):
        engine._connection.cursor().execute(f"FROM '{tmp_path}/other.parquet'").fetchall()
    engine.close()


def test_engine_errors_are_one_constant(frame, monkeypatch, capfd):
    engine = DuckDBEngine(policy(None), {"t": frame})
    plan = plan_of("SELECT COUNT(*) AS n FROM t", engine)
    fault = f"SELECT CAST('{CANARY}' AS INTEGER)"
    monkeypatch.setattr("discreet.asking.engines.sql.bounding.exp.Select.sql", lambda self, dialect: fault)
    with pytest.raises(EngineFailure) as caught:
        engine.run(plan)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert CANARY not in f"{caught.value!r} {caught.value.fields} {capfd.readouterr()}"
    engine.close()


def test_a_timeout_is_the_same_constant():
    people = pa.table({"person": range(400_000), "city": ["Ottawa"] * 400_000, "debt": [1.0] * 400_000,
                       "active": [True] * 400_000})  # fmt: skip
    engine = DuckDBEngine(policy(None), {"t": people}, timeout_s=1e-6)
    plan = plan_of("SELECT city, SUM(debt) AS n FROM t GROUP BY city", engine)
    with pytest.raises(EngineFailure, match="could not run the plan"):
        engine.run(plan)
    engine.close()


def test_the_spill_folder_is_private_and_removed(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    engine = DuckDBEngine(policy(None), {"t": frame})
    (made,) = tmp_path.iterdir()
    assert made.stat().st_mode & 0o077 == 0
    engine.close()
    assert not made.exists()


def test_an_engine_that_fails_to_open_leaves_no_folder(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(PolicyViolation):
        DuckDBEngine(policy(None, types={"none": "text"}), {"t": frame})
    assert list(tmp_path.iterdir()) == []


def test_a_question_larger_than_memory_spills_and_finishes():
    rows = 600_000
    table = pa.table({"person": range(rows), "city": [f"c{i % 9999}" for i in range(rows)],
                      "debt": [1.0] * rows, "active": [True] * rows})  # fmt: skip
    engine = DuckDBEngine(policy(None, keys={}), {"t": table}, memory_limit="120MB", threads=1)
    assert ask(engine, "SELECT COUNT(*) AS n FROM t") == ((rows,),)
    engine.close()


def test_threads_may_ask_at_once(frame):
    engine = DuckDBEngine(policy(None), {"t": frame})
    plan = plan_of("SELECT city, COUNT(*) AS n FROM t GROUP BY city", engine)
    found = []
    threads = [threading.Thread(target=lambda: found.append(engine.run(plan).totals)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [((2,), (1,))] * 8
    engine.close()


def _in_child(engine, plan, queue):
    queue.put(engine.run(plan).totals)


def test_a_fork_opens_its_own_connection(frame):
    engine = DuckDBEngine(policy(None), {"t": frame}, threads=1)
    plan = plan_of("SELECT city, COUNT(*) AS n FROM t GROUP BY city", engine)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(engine, plan, queue))
    child.start()
    assert queue.get(timeout=60) == ((2,), (1,))
    child.join()
    assert engine.run(plan).totals == ((2,), (1,))
    engine.close()


@pytest.mark.parametrize("kind", [pa.uint64(), pa.int8(), pa.decimal128(20, 0)])
def test_other_whole_numbers_are_read_exactly(kind, frame):
    ids = frame.set_column(0, "person", pa.array([1, 1, 2, None], kind))
    engine = DuckDBEngine(policy(None), {"t": ids})
    assert engine.schema()["t"]["person"] == "integer"
    assert ask(engine) == ((2, 1), (1, 0))
    engine.close()


def test_columns_of_other_types_are_left_out(frame):
    odd = frame.append_column("parts", pa.array([[1], [2], [3], []]))
    engine = DuckDBEngine(policy(None), {"t": odd})
    assert "parts" not in engine.schema()["t"]
    engine.close()
