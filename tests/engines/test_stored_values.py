"""No stored value makes a question fail: what cannot be read is refused when the data is opened."""

import datetime
import math
import shutil

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.asking.engines import DuckDBEngine, MemoryEngine, SparkEngine, describe_policy
from discreet.asking.engines.duckdb.registration import Registrar
from discreet.asking.planning import plan_exact
from discreet.asking.policy import from_arguments
from discreet.asking.queries import read_question
from discreet.errors import EngineFailure, InvalidParameter, PolicyViolation

CANARY = "xyzzy-canary-4711"
GOOD = 10**12


def policy(source=None, **options):
    given = {"unit": "person", "budget": {"epsilon": 1, "delta": 1e-6}, "max_groups": 2, "max_rows": 5}
    return from_arguments(sources={"t": source}, id="t", **(given | options))


def ask(engine, text="SELECT COUNT(v) AS n FROM t"):
    (plans,) = plan_exact(read_question(text, engine.policy), salt=1)
    return engine.run(plans.plans[0])


def raw_text(values):
    return pa.array(values, pa.binary()).view(pa.string())


def moments(unit):
    return lambda values: pa.array(values, pa.timestamp(unit))


BAD = {
    "text": (raw_text, b"ok", CANARY.encode() + b"\xe9"),
    "half of a surrogate pair": (raw_text, b"ok", b"\xed\xa0\x80"),
    "milliseconds": (moments("ms"), GOOD, 16 * 10**17),
    "seconds": (moments("s"), GOOD // 1000, 2**50),
}


def with_bad(kind):
    make, good, bad = BAD[kind]
    return pa.table({"person": range(1000), "v": make([good] * 999 + [bad]), "w": make([good] * 1000)})


def refused(caught, column):
    error = caught.value
    told = f"{error!r} {error.fields} {error.__cause__!r}"
    assert str(error).startswith((f"Column {column!r} of", f"One of the columns {column!r}, "))
    assert CANARY not in told
    assert error.__suppress_context__ or error.__context__ is None


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False, "row_group_size": 100}], ids=["", "plain"])
@pytest.mark.parametrize("kind", BAD)
def test_parquet_with_a_value_that_cannot_be_read_is_refused_when_opened(kind, options, tmp_path):
    pq.write_table(with_bad(kind), tmp_path / "t.parquet", **options)
    with pytest.raises(PolicyViolation) as caught:
        DuckDBEngine(policy(str(tmp_path / "t.parquet")))
    refused(caught, "v")


def test_without_that_look_a_file_fails_by_value(tmp_path, monkeypatch):
    """Planted: nothing is read at opening. A question then tells whether the bad row passes its filter."""
    pq.write_table(with_bad("text"), tmp_path / "t.parquet", use_dictionary=False, row_group_size=100)
    monkeypatch.setattr(Registrar, "_read_once", lambda *_: None)
    engine = DuckDBEngine(policy(str(tmp_path / "t.parquet")))
    asked = "SELECT COUNT(*) AS n FROM t WHERE v = 'ok' AND person {} 500"
    assert ask(engine, asked.format("<")).totals == ((500,),)
    with pytest.raises(EngineFailure):
        ask(engine, asked.format(">"))
    engine.close()


def test_a_frame_with_a_value_that_cannot_be_read_is_refused():
    for kind in ("text", "half of a surrogate pair"):
        with pytest.raises(PolicyViolation, match="Column 'v'") as caught:
            DuckDBEngine(policy(), {"t": with_bad(kind)})
        assert CANARY not in f"{caught.value!r}"


def test_times_of_a_frame_out_of_range_are_missing():
    for kind in ("milliseconds", "seconds"):
        engine = DuckDBEngine(policy(), {"t": with_bad(kind)})
        assert ask(engine).totals == ((999,),)
        engine.close()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + CANARY.encode() * 9 + b"PAR1"])
def test_a_damaged_file_is_refused_in_one_sentence(content, tmp_path):
    for name in ("t.parquet", "t.duckdb"):
        (tmp_path / name).write_bytes(content or b"x")
        given = policy(str(tmp_path / name))
        looks = [DuckDBEngine, *([describe_policy] if name == "t.parquet" else [])]
        for look in looks:
            with pytest.raises(PolicyViolation, match="can be read") as caught:
                look(given)
            assert CANARY not in f"{caught.value!r}"
            assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_a_csv_whose_header_cannot_be_read_is_refused(name, tmp_path):
    (tmp_path / name).write_bytes(CANARY.encode() + b"\xe9,v\n1,2\n")
    for look in (DuckDBEngine, describe_policy):
        with pytest.raises(PolicyViolation, match="names of its columns") as caught:
            look(policy(str(tmp_path / name)))
        assert CANARY not in f"{caught.value!r}"
        assert caught.value.__context__ is None


STORED = {
    "HUGEINT": ("-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"),
    "UHUGEINT": ("340282366920938463463374607431768211455", "0"),
    "UBIGINT": ("18446744073709551615", "0"),
    "DECIMAL(38,0)": ("9" * 38, "-" + "9" * 38),
    "DECIMAL(38,38)": ("0." + "9" * 38, "-0." + "9" * 38),
    "FLOAT": ("nan", "inf", "-inf", "3.4e38", "1e-45"),
    "DOUBLE": ("nan", "inf", "-inf", "1.7976931348623157e308", "5e-324", "-0.0"),
    "DATE": ("infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)", "0001-01-01", "9999-12-31"),
    "TIMESTAMP": ("infinity", "-infinity", "294247-01-10 04:00:54.775806", "290309-12-22 (BC)"),
    "TIMESTAMP_S": ("infinity", "-infinity", "294247-01-10 04:00:54", "290309-12-22 (BC)"),
    "TIMESTAMP_MS": ("infinity", "-infinity", "294247-01-10 04:00:54", "290309-12-22 (BC)"),
    "TIMESTAMP_NS": ("infinity", "-infinity", "2262-04-11 23:47:16.854775806"),
    "VARCHAR": ("", "\0", "a\0b", "x" * 100_000, "\U0010ffff"),
    "UUID": ("ffffffff-ffff-ffff-ffff-ffffffffffff",),
    "ENUM('a', 'b,0)')": ("b,0)",),
    "BOOLEAN": ("true",),
}
LEFT_OUT = {
    "BLOB": "\\xff",
    "INTERVAL": "1 day",
    "TIME": "23:59:59",
    "TIMESTAMPTZ": "infinity",
    "BIT": "1",
    "INTEGER[]": "[1, NULL]",
    "STRUCT(a DECIMAL(3,0))": "{'a': 1}",
    "MAP(VARCHAR, INTEGER)": "{x=1}",
}


def stored(path, kind, values):
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE t(person BIGINT, v {kind})")
        for value in (None, *values):
            made.execute(f"INSERT INTO t VALUES (1, CAST(?::VARCHAR AS {kind}))", [value])
    return policy(str(path), max_groups=99)


@pytest.mark.parametrize("kind", STORED)
def test_every_value_of_every_stored_type_is_read_or_missing(kind, tmp_path):
    given = stored(tmp_path / "t.duckdb", kind, STORED[kind])
    engine = DuckDBEngine(given)
    found = ask(engine, "SELECT v, COUNT(*) AS n FROM t GROUP BY v")
    rows = min(1 + len(STORED[kind]), 5)
    assert found.totals
    assert ask(engine, "SELECT COUNT(*) AS n FROM t WHERE v = v OR v IS NULL").totals[0][0] == rows
    engine.close()
    assert MemoryEngine(given).policy == engine.policy


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_columns_of_types_without_questions_are_left_out(kind, tmp_path):
    engine = DuckDBEngine(stored(tmp_path / "t.duckdb", kind, [LEFT_OUT[kind]]))
    assert list(engine.schema()["t"]) == ["person"]
    engine.close()


def test_a_damaged_page_is_found_when_opened(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"person": range(1000), "v": [f"v{each}" for each in range(1000)]}), path)
    place = pq.read_metadata(path).row_group(0).column(1).data_page_offset
    content = bytearray(path.read_bytes())
    content[place : place + 40] = b"\xff" * 40
    path.write_bytes(bytes(content))
    with pytest.raises(PolicyViolation):
        DuckDBEngine(policy(str(path)))


def plain(count=1000):
    return pa.table({"person": range(count), "v": pa.array([GOOD] * count, pa.timestamp("ms"))})


def test_a_file_that_was_replaced_is_refused_before_anything_is_charged(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(plain(), path)
    terms = {"name": "t", "unit": "person", "budget": {"epsilon": 1}, "ledger": str(tmp_path / "ledger")}
    with dp.Curator.open(str(path), **terms) as curator:
        curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=0.25)
        pq.write_table(with_bad("milliseconds"), tmp_path / "other.parquet")
        shutil.move(tmp_path / "other.parquet", path)
        for ask_again in (
            lambda: curator.ask("SELECT COUNT(v) AS n FROM t", epsilon=0.25),
            lambda: curator.watch(threshold=1, epsilon=0.25),
        ):
            with pytest.raises(PolicyViolation, match="has changed"):
                ask_again()
        assert curator.remaining.epsilon == 0.75


@pytest.mark.parametrize("late", [False, True])
def test_a_file_replaced_after_the_charge_fails_whatever_it_holds(late, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pq.write_table(plain(), path)
    engine = DuckDBEngine(policy(str(path)))
    fetch = engine._fetch

    def replacing(*asked):
        found = fetch(*asked)
        pq.write_table(plain(10), path)
        return found

    if late:
        monkeypatch.setattr(engine, "_fetch", replacing)
    else:
        pq.write_table(plain(10), path)
    with pytest.raises(EngineFailure):
        ask(engine)
    engine.close()


def test_a_file_that_was_read_is_not_read_again(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pq.write_table(plain(), path)
    engine = DuckDBEngine(policy(str(path)))
    monkeypatch.setattr(Registrar, "_reads", lambda *_: pytest.fail("read again"))
    monkeypatch.setattr(engine, "_pid", 0)  # as after a fork
    assert ask(engine).totals == ((1000,),)
    engine.close()


def collated(path, spelling):
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE t(person VARCHAR COLLATE NOCASE, city VARCHAR COLLATE NOCASE)")
        made.execute("INSERT INTO t SELECT 'p' || i, 'ottawa' FROM range(50) r(i)")
        made.execute("INSERT INTO t VALUES (?, ?), (?, ?)", ["x", spelling, "X", "toronto"])
        made.execute("CREATE VIEW w AS SELECT person, city || '' AS city FROM t")


@pytest.mark.parametrize("name", ["t", "w"])
def test_texts_are_compared_by_their_bytes_whatever_their_collation(name, tmp_path):
    collated(tmp_path / "t.duckdb", "OtTaWa")
    engine = DuckDBEngine(policy(f"{tmp_path}/t.duckdb#{name}"))
    found = ask(engine, "SELECT city, COUNT(*) AS n, COUNT(DISTINCT person) AS u FROM t GROUP BY city")
    assert found.groups == (("OtTaWa",), ("ottawa",), ("toronto",))
    assert [total[0] for total in found.totals] == [1, 50, 1]
    chosen = ask(engine, "SELECT COUNT(*) AS n FROM t WHERE city = 'OTTAWA' OR person = 'P1'")
    assert chosen.totals == ((0,),)
    engine.close()


def test_a_view_of_a_duckdb_file_computes_once(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as made:
        made.execute("CREATE TABLE b AS SELECT i AS person, i::VARCHAR AS v FROM range(10) r(i)")
        made.execute("CREATE VIEW t AS SELECT person, v::BIGINT AS v FROM b")
        made.execute(f"INSERT INTO b VALUES (99, '{CANARY}')")
    with pytest.raises(PolicyViolation) as caught:
        DuckDBEngine(policy(str(tmp_path / "t.duckdb")))
    assert CANARY not in f"{caught.value!r}"


ROWS = [{"person": each % 4, "v": float(each), "s": "é"} for each in range(9)]


def sources(tmp_path):
    frame = pa.Table.from_pylist(ROWS)
    pq.write_table(frame, tmp_path / "t.parquet")
    lines = [f"{row['person']},{row['v']},{row['s']}" for row in ROWS]
    (tmp_path / "t.csv").write_text("\n".join(["person,v,s", *lines]) + "\n")
    return {"rows": ROWS, "frame": frame, "pandas": frame.to_pandas(), "parquet": f"{tmp_path}/t.parquet",
            "csv": f"{tmp_path}/t.csv"}  # fmt: skip


def test_the_memory_engine_reads_what_duckdb_reads(tmp_path):
    types = {"person": "integer", "v": "number", "s": "text"}
    for name, source in sources(tmp_path).items():
        terms = {"name": "t", "unit": "person", "budget": {"epsilon": 99}, "bounds": {"v": (0, 10)},
                 "max_groups": 1}  # fmt: skip
        ledger = str(tmp_path / f"{name}.ledger")
        with dp.Curator.open(source, engine="memory", types=types, ledger=ledger, **terms) as curator:
            ((row),) = curator.ask("SELECT COUNT(*) AS n FROM t", epsilon=90).rows
            assert row == {"n": 4}, name  # one row of each person


@pytest.mark.parametrize(
    ("kind", "value"),
    [("integer", CANARY), ("number", CANARY), ("number", 10**400), ("text", 5), ("text", "\ud800"),
     ("boolean", 1), ("date", datetime.datetime(2020, 1, 1)),
     ("timestamp", datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))],
)  # fmt: skip
def test_rows_of_another_type_are_refused_when_opened(kind, value):
    given = policy(types={"person": "integer", "v": kind})
    with pytest.raises(PolicyViolation, match="'v'") as caught:
        MemoryEngine(given, {"t": [{"person": 1, "v": value}]})
    assert CANARY not in f"{caught.value!r}"
    for rows in ([5], [{"person": 1, "v": math.nan}, None]):
        with pytest.raises(InvalidParameter):
            MemoryEngine(given, {"t": rows})


def test_infinite_labels_are_stored_and_told(tmp_path):
    frame = pa.table({"person": range(3000), "x": [math.inf, -math.inf, 1.0] * 1000})
    terms = {"unit": "person", "budget": {"epsilon": 9, "delta": 1e-3}, "ledger": str(tmp_path / "ledger")}
    with dp.Curator.open(frame, name="t", **terms) as curator:
        question = {"question": "SELECT x, COUNT(*) AS n FROM t GROUP BY x", "epsilon": 1, "delta": 1e-6}
        first, again = (curator.ask(**question) for _ in range(2))
    assert [row["x"] for row in first.rows] == [-math.inf, 1.0, math.inf]
    assert first.rows == again.rows
    assert [row["x"] for row in first.to_json()["rows"]] == [None, 1.0, None]


def test_spark_reads_bytes_that_are_no_text_as_missing(spark_session, tmp_path):
    pq.write_table(with_bad("text"), tmp_path / "t.parquet")
    engine = SparkEngine(policy(str(tmp_path / "t.parquet")), session=spark_session)
    assert ask(engine, "SELECT v, COUNT(*) AS n FROM t GROUP BY v").groups == (("ok",), (None,))
    engine.close()


def test_spark_refuses_times_that_it_cannot_read(spark_session, tmp_path):
    pq.write_table(with_bad("milliseconds"), tmp_path / "t.parquet")
    with pytest.raises(PolicyViolation) as caught:
        SparkEngine(policy(str(tmp_path / "t.parquet")), session=spark_session)
    refused(caught, "v")
