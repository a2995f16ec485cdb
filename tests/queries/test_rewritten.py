"""What is read as something else means what its name means elsewhere: compared with DuckDB and numpy."""

import datetime
import random

import duckdb
import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.asking.queries import evaluate
from discreet.asking.queries.resolve_source import scan
from discreet.asking.queries.sql import read_sql
from discreet.asking.queries.types import Scope, assign_types
from discreet.errors import UnsupportedQuery
from queries.bank import BANK

UNITS, CLOCK = ("day", "week", "month", "quarter", "year"), ("second", "minute", "hour")
EXPRESSIONS = [
    "STRFTIME(opened, '%Y-%m')", "STRFTIME(seen, '%d.%m.%y %H:%M:%S')", "STRFTIME(opened, '%A, %B %d')",
    "STRFTIME(seen, '%a %b %%')", "STRFTIME(seen, '%Y-%m-%d')", "DAYNAME(opened)", "MONTHNAME(seen)",
    *(f"DATE_DIFF('{unit}', opened, DATE '2020-02-29')" for unit in UNITS),
    *(f"DATE_DIFF('{unit}', seen, TIMESTAMP '2020-02-29 12:30:31')" for unit in (*UNITS, *CLOCK)),
    "IF(age > 40, code, 'x')", "NULLIF(age, 42)", "LEAST(age, children, 30)", "GREATEST(age, NULL, children)",
    "code IS DISTINCT FROM city", "age IS NOT DISTINCT FROM children", "active IS TRUE",
    "active IS NOT FALSE", "LEFT(code, 2)", "code || '-' || city", "CONCAT(code, '-', age)",
    "TRIM(code)", "LTRIM(code)", "RTRIM(code)",
    "REPLACE(code, 'a', 'bb')", "SPLIT_PART(code, ' ', 2)", "STARTS_WITH(code, 'a')", "CONTAINS(code, 'b')",
    "code ILIKE 'A%'", "POWER(age, 3)", "CAST(active AS INTEGER)",
    "opened + INTERVAL 5 DAY > DATE '2020-03-01'",
    "seen - INTERVAL 2 WEEK <= TIMESTAMP '2020-03-01 00:00:00'", "ROUND(debt, 2)", "ROUND(debt, -1)",
]  # fmt: skip


def drawn(count=300):
    draw = random.Random(9)
    texts = [None, "", "a b c", "  a ", "Ab", "b b", " ", "aXa"]
    start = datetime.datetime(2018, 11, 30, 23, 59, 58)
    for _ in range(count):
        moment = start + datetime.timedelta(seconds=draw.randrange(90_000_000))
        yield {
            "age": draw.choice([None, 42, draw.randrange(90)]),
            "children": draw.choice([None, draw.randrange(90)]),
            "debt": draw.choice([None, draw.randrange(100_000) / 8]),
            "active": draw.choice([None, True, False]),
            "code": draw.choice(texts),
            "city": draw.choice(texts),
            "opened": draw.choice([None, moment.date()]),
            "seen": draw.choice([None, moment]),
        }


@pytest.fixture(scope="module")
def table():
    kinds = {"age": "BIGINT", "children": "BIGINT", "debt": "DOUBLE", "active": "BOOLEAN", "code": "VARCHAR",
             "city": "VARCHAR", "opened": "DATE", "seen": "TIMESTAMP"}  # fmt: skip
    rows = list(drawn())
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE accounts ({', '.join(f'{k} {v}' for k, v in kinds.items())})")
        connection.executemany(
            f"INSERT INTO accounts VALUES ({', '.join('?' * 8)})", [[*row.values()] for row in rows]
        )
        yield connection, rows


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_it_means_what_duckdb_means(table, text):
    connection, rows = table
    scope = Scope(scan(BANK.table("accounts"), "accounts").fields)
    expression = assign_types(read_sql(f"SELECT {text} AS e FROM accounts").outputs[0].expression, scope)
    found = [evaluate(expression, lambda name, row=row: row[name.name]) for row in rows]
    wanted = [value for (value,) in connection.execute(f"SELECT {text} FROM accounts").fetchall()]
    assert any(value is not None for value in wanted)
    assert found == pytest.approx(wanted) if text.startswith("ROUND") else found == wanted


def test_joint_sums_give_what_numpy_gives(tmp_path):
    draw = np.random.default_rng(1)
    x = draw.uniform(20, 60, 4000)
    y = 1000 + 3 * x + draw.normal(0, 20, 4000)
    frame = pandas.DataFrame({"id": range(4000), "x": x, "y": y})
    frame.loc[:99, "x"] = None
    bounds = {"x": (0, 100), "y": (800, 1400)}
    asked = ("CORR(x, y) AS corr, COVAR_POP(x, y) AS pop, COVAR_SAMP(x, y) AS samp, "
             "REGR_SLOPE(y, x) AS slope, REGR_INTERCEPT(y, x) AS start, VAR_POP(y) AS var, "
             "STDDEV_POP(y) AS dev")  # fmt: skip
    with dp.Curator.open(frame, name="t", unit="id", budget=10_000, bounds=bounds,
                         ledger=tmp_path / "t.ledger") as curator:  # fmt: skip
        (row,) = curator.ask(f"SELECT {asked} FROM t", epsilon=10_000).rows
    xs, ys = frame["x"].to_numpy()[100:], y[100:]
    slope, start = np.polyfit(xs, ys, 1)
    assert row["corr"] == pytest.approx(np.corrcoef(xs, ys)[0, 1], abs=1e-3)
    assert row["pop"] == pytest.approx(np.cov(xs, ys, bias=True)[0, 1], rel=1e-3)
    assert row["samp"] == pytest.approx(np.cov(xs, ys)[0, 1], rel=1e-3)
    assert row["slope"] == pytest.approx(slope, rel=1e-3)
    assert row["start"] == pytest.approx(start, rel=1e-3)
    assert row["var"] == pytest.approx(np.var(y), rel=1e-3)
    assert row["dev"] == pytest.approx(np.std(y), rel=1e-3)


def test_nobody_has_no_correlation(tmp_path):
    frame = pandas.DataFrame({"id": [1], "x": [1.0], "y": [2.0]})
    with dp.Curator.open(frame, name="t", unit="id", budget=10_000, bounds={"x": (0, 4), "y": (0, 4)},
                         ledger=tmp_path / "t.ledger") as curator:  # fmt: skip
        (row,) = curator.ask("SELECT CORR(x, y) AS r, VAR_POP(x) AS v FROM t", epsilon=1000).rows
    assert row["r"] is None
    assert row["v"] >= 0


def test_the_first_and_last_day_are_days_of_the_data(tmp_path):
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=index % 300) for index in range(3000)]
    frame = pandas.DataFrame({"id": range(3000), "d": days})
    bounds = {"d": ("2019-01-01", "2021-12-31")}
    with dp.Curator.open(frame, name="t", unit="id", budget=1000, types={"d": "date"}, bounds=bounds,
                         ledger=tmp_path / "t.ledger") as curator:  # fmt: skip
        (row,) = curator.ask("SELECT MIN(d) AS a, MAX(d) AS b, MEDIAN(d) AS c FROM t", epsilon=100).rows
    assert datetime.date(2019, 1, 1) <= row["a"] <= min(days) + datetime.timedelta(days=2)
    assert datetime.date(2021, 12, 31) >= row["b"] >= max(days) - datetime.timedelta(days=2)
    assert abs((row["c"] - datetime.date(2020, 5, 30)).days) <= 5


LABELS = "(VALUES ('a b c', 'many', 3), ('Ab', 'few', 1), ('b b', 'many', -2)) AS v(code, label, weight)"


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
@pytest.mark.parametrize("shown", ["v.label", "v.weight", "V.Code", "UPPER(v.label) || accounts.city"])
@pytest.mark.parametrize("on", ["ON accounts.code = v.code", "ON v.code = TRIM(accounts.code)"])
def test_labels_written_as_values_are_joined_as_duckdb_joins_them(table, kind, shown, on):
    connection, rows = table
    clauses = f"FROM accounts {kind} {LABELS} {on} WHERE v.weight IS NULL OR v.weight > -2"
    query = read_sql(f"SELECT {shown} AS e {clauses}")
    scope = Scope(scan(BANK.table("accounts"), "accounts").fields)
    value, where = (assign_types(each, scope) for each in (query.outputs[0].expression, query.where))
    kept = [row for row in rows if evaluate(where, lambda name, row=row: row[name.name]) is True]
    found = [evaluate(value, lambda name, row=row: row[name.name]) for row in kept]
    wanted = [each for (each,) in connection.execute(f"SELECT {shown} {clauses}").fetchall()]
    assert len(wanted) > 10
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


@pytest.mark.parametrize(
    ("values", "on", "said"),
    [
        ("('a', 1), ('a', 2)) AS v(k, x)", "t.code = v.k", "must differ"),
        ("(1, 1), (1.0, 2)) AS v(k, x)", "t.age = v.k", "must differ"),
        ("('a', 1), (NULL, 2)) AS v(k, x)", "t.code = v.k", "must differ"),
        ("('a', 1), ('b', 2)) AS v(k, x)", "t.age > v.x", "columns are equal"),
        ("('a', 1), ('b', 2)) AS v(k, x)", "t.code = v.k OR t.age = v.x", "columns are equal"),
        ("('a', 1), ('b')) AS v(k, x)", "t.code = v.k", "name for each"),
        ("('a', t.age)) AS v(k, x)", "t.code = v.k", "written out"),
        ("('a', 1)) AS v(k, y)", "t.code = v.k", "not among those"),
    ],
)
def test_values_that_would_double_a_row_or_mean_something_else_are_refused(values, on, said):
    with pytest.raises(UnsupportedQuery, match=said):
        read_sql(f"SELECT SUM(v.x) AS s FROM accounts t JOIN (VALUES {values} ON {on}")


def test_a_name_that_may_be_of_values_or_of_the_table_is_refused():
    joined = f"FROM accounts t JOIN {LABELS} ON t.code = v.code"
    for text in (
        f"SELECT label, COUNT(*) AS n {joined} GROUP BY label",
        f"SELECT COUNT(city) AS n FROM (SELECT * {joined})",
    ):
        with pytest.raises(UnsupportedQuery, match=r"Name|must name"):
            read_sql(text)


def test_a_list_of_quantiles_is_a_column_for_each():
    several = "QUANTILE(debt, 0.1) AS p_10, QUANTILE(debt, 0.5) AS p_50, QUANTILE(debt, 0.995) AS p_99_5"
    for text in ("QUANTILE(debt, [0.1, 0.5, 0.995]) AS p", "QUANTILE_CONT(debt, [.1, 0.50, 0.995]) AS p",
                 "PERCENTILE_CONT([0.1, 0.5, 0.995]) WITHIN GROUP (ORDER BY debt) AS p"):  # fmt: skip
        assert read_sql(f"SELECT {text} FROM accounts") == read_sql(f"SELECT {several} FROM accounts")
    for wrong in ("[0.1, 2]", "['a']", "[age]", "[-0.1]"):
        with pytest.raises(UnsupportedQuery, match="between 0 and 1"):
            read_sql(f"SELECT QUANTILE(debt, {wrong}) AS p FROM accounts")


def test_lists_that_name_one_another_do_not_double_without_end():
    joins = "".join(
        f" JOIN (VALUES ('a', 'b'), ('b', 'a')) AS v{n}(k, x) ON {f'v{n - 1}.x' if n else 't.code'} = v{n}.k"
        for n in range(60)
    )
    with pytest.raises(UnsupportedQuery, match="VALUES must be shorter"):
        read_sql(f"SELECT COUNT(*) AS n FROM accounts t{joins}")
