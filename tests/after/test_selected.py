"""What is selected from an answer: computed on released rows alone, free, the same every time."""

import datetime
import itertools
from fractions import Fraction

import pandas
import pytest

import discreet as dp
from discreet.asking.after import Failed, Table, prepare, run, split
from discreet.asking.after.level import find_names
from discreet.asking.after.noise import Noisy
from discreet.asking.planning import plan_asked
from discreet.asking.planning.planner import read_whole
from discreet.asking.queries import Call, Literal, read_sql
from discreet.errors import UnsupportedQuery
from discreet.kernel.numerics import Interval
from queries.bank import BANK
from queries.test_read import AFTER

CITIES = ["Ottawa", "Toronto", "Québec"]
COUNTED = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"


@pytest.fixture
def curator(tmp_path):
    frame = pandas.DataFrame(
        {
            "person": range(600),
            "city": [CITIES[index % 3] for index in range(600)],
            "age": [index % 90 for index in range(600)],
        }
    )
    opened = dp.Curator.open(frame, name="people", unit="person", budget=10, keys={"city": CITIES},
                             bounds={"age": (0, 100)}, ledger=tmp_path / "people.ledger")  # fmt: skip
    with opened:
        yield opened


def apply(text, columns, rows, error=2.0):
    """The rows that an outer query selects from a table whose last column is noisy, by ± the error."""
    query = split(read_sql(text), BANK).around
    after = prepare(query, columns)
    last = len(columns) - 1
    cells = [
        [None if place < last else Noisy(frozenset({(row, place)}),
                                         lambda level, n=values[place]: Interval(n - error, n + error))
         for place in range(len(columns))]
        for row, values in enumerate(rows)
    ]  # fmt: skip
    return after.apply(columns, Table(rows, cells), Fraction(95, 100))


COLUMNS = (("city", "text"), ("n", "integer"))
ROWS = [("Ottawa", 10), ("Toronto", 30), ("Québec", 60)]
FROM = "FROM (SELECT city, COUNT(*) AS n FROM accounts GROUP BY city) AS t"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n * 100 / SUM(n) OVER () AS x", [10.0, 30.0, 60.0]),
        ("RANK() OVER (ORDER BY n DESC) AS x", [3, 2, 1]),
        ("n - LAG(n) OVER (ORDER BY city) AS x", [None, -30, 50]),
        ("LEAD(n, 1, 0) OVER (ORDER BY n) AS x", [30, 60, 0]),
        ("SUM(n) OVER (ORDER BY n) AS x", [10, 40, 100]),
        ("SUM(n) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS x", [10, 40, 90]),
        ("n / 0 AS x", [None] * 3),
        ("LN(n - 30) AS x", [None, None, pytest.approx(3.4011973816621555)]),
        ("SQRT(n - 30) AS x", [None, 0.0, pytest.approx(5.477225575051661)]),
        ("POWER(0 - n, 0.5) AS x", [None] * 3),
        ("ROUND(n / 7, 1) AS x", [1.4, 4.3, 8.6]),
        ("n // 7 AS x", [1, 4, 8]),
        ("CASE WHEN n > 20 THEN 'many' ELSE LOWER(city) END AS x", ["ottawa", "many", "many"]),
        ("city || '!' AS x", ["Ottawa!", "Toronto!", "Québec!"]),
        (
            "(SELECT SUM(n) FROM (SELECT city, COUNT(*) AS n FROM accounts GROUP BY city) AS u) AS x",
            [100] * 3,
        ),
        ("COALESCE(NULLIF(n, 10), 0) AS x", [0, 30, 60]),
        ("NTILE(2) OVER (ORDER BY n) AS x", [1, 1, 2]),
    ],
)
def test_every_row_has_what_sql_says(text, expected):
    selected = apply(f"SELECT {text} {FROM} ORDER BY n", COLUMNS, ROWS)
    assert [row["x"] for row in selected.rows] == expected


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("n + 1 AS x", (9.0, 13.0)),
        ("0 - n AS x", (-12.0, -8.0)),
        ("-n AS x", (-12.0, -8.0)),
        ("(n / 3)::numeric(10, 1) AS x", (pytest.approx(2.7), 4.0)),
        ("n::real AS x", (8.0, 12.0)),
        ("n * 2 AS x", (16.0, 24.0)),
        ("FLOOR(n / 3) AS x", (2.0, 4.0)),
        ("SUM(n) OVER () AS x", (94.0, 106.0)),
        ("AVG(n) OVER () AS x", (pytest.approx(94 / 3), pytest.approx(106 / 3))),
        ("100 * n / SUM(n) OVER () AS x", (pytest.approx(800 / 106), pytest.approx(1200 / 94))),
        ("LEAST(n, 9) AS x", (8.0, 9.0)),
        ("CASE WHEN city = 'Ottawa' THEN n END AS x", (8.0, 12.0)),
        ("n / COUNT(*) OVER () AS x", (pytest.approx(8 / 3), 4.0)),
        ("LEAD(n) OVER (ORDER BY city) AS x", (58.0, 62.0)),
        ("100 / NULLIF(n, 0) AS x", (pytest.approx(100 / 12), pytest.approx(100 / 8))),
        ("CASE WHEN n > 5 THEN n + 1 END AS x", (9.0, 13.0)),
    ],
)
def test_intervals_follow_the_arithmetic(text, ends):
    selected = apply(f"SELECT city, {text} {FROM} ORDER BY city LIMIT 1", COLUMNS, ROWS)
    assert tuple(selected.intervals[0]["x"]) == ends
    assert selected.marked == ()


@pytest.mark.parametrize(
    "text",
    [
        "RANK() OVER (ORDER BY n) AS x",
        "CASE WHEN n > 20 THEN 1 ELSE 0 END AS x",
        "VARIANCE(n) OVER () AS x",
        "SUM(n) OVER (ORDER BY n) AS x",
        "n > 20 AS x",
        "1 / (n - 9) AS x",
        "LEAST(NULLIF(n, 10), 9) AS x",
        "COALESCE(NULLIF(n, 10), 9) AS x",
    ],
)
def test_what_no_interval_follows_is_marked(text):
    selected = apply(f"SELECT city, {text} {FROM} ORDER BY city", COLUMNS, ROWS)
    assert selected.marked == ("x",)


def test_a_ratio_that_is_kept_from_dividing_by_zero_has_an_interval(curator):
    """What analysts write for a mean: the denominator's interval is that of the count."""
    text = (
        "SELECT city, SUM(age) / NULLIF(COUNT(*), 0) AS mean, LEAST(NULLIF(COUNT(*), 0), 9) AS less "
        "FROM people GROUP BY city"
    )
    answer = curator.ask(text, epsilon=3)
    for row, ends in zip(answer.rows, answer.intervals, strict=True):
        assert ends["mean"].lower < row["mean"] < ends["mean"].upper
    assert all(row["less"] is None for row in answer.intervals)


def test_the_parts_of_a_sum_hold_together():
    """A sum of k noisy numbers takes each at 1 - (1 - c)/k."""
    asked = []

    def at(level):
        asked.append(level)
        return Interval(0.0, 1.0)

    query = split(read_sql(f"SELECT SUM(n) AS s {FROM}"), BANK).around
    cells = [[None, Noisy(frozenset({(row, 1)}), at)] for row in range(3)]
    prepare(query, COLUMNS).apply(COLUMNS, Table(ROWS, cells), Fraction(95, 100))
    assert set(asked) == {1 - Fraction(5, 100) / 3}


def test_any_other_selection_from_the_same_answer_is_free(curator):
    first = curator.ask(COUNTED, epsilon=1)
    spent = curator.remaining.epsilon
    for text in (
        "SELECT city, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM people GROUP BY city",
        "SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM people GROUP BY city",
        f"SELECT MAX(n) AS most, MIN(n) AS least FROM ({COUNTED}) AS t",
        f"WITH t AS ({COUNTED}) SELECT city, n / (SELECT SUM(n) FROM t) AS part FROM t",
        f"SELECT city, n FROM ({COUNTED}) AS t ORDER BY n DESC LIMIT 1 OFFSET 1",
    ):
        answer = curator.ask(text, epsilon=1)
        if "AS count" not in answer.plan.text:
            assert not answer.charged, text
    assert curator.remaining.epsilon >= spent - 1  # the share was asked without a name for its count
    assert curator.ask(f"SELECT SUM(n) AS s FROM ({COUNTED}) AS t", epsilon=1).rows[0]["s"] == sum(
        row["n"] for row in first.rows
    )


def test_the_same_answer_gives_the_same_rows(curator):
    row = "ROW_NUMBER() OVER (ORDER BY n // 1000) AS i"
    text = f"SELECT city, n, {row} FROM ({COUNTED}) AS t ORDER BY n // 1000"
    first = curator.ask(text, epsilon=1)
    assert all(curator.ask(text, epsilon=1).rows == first.rows for _ in range(5))
    assert [row["i"] for row in first.rows] == [1, 2, 3]


def test_a_failure_after_the_noise_shows_the_answer_and_is_not_counted(curator):
    huge = "*".join(["(n * n + 1000000000)"] * 6)
    answer = curator.ask(f"SELECT {huge} AS x FROM ({COUNTED}) AS t", epsilon=1)
    assert answer.failure is not None
    assert answer.columns == ("city", "n")
    assert len(answer.rows) == 3
    assert "n" in answer.rows[0]
    assert answer.failure in str(answer)
    assert answer.to_json()["failure"] == answer.failure
    assert curator.ledger.failures("owner") == 0
    assert not curator.ask(f"SELECT n AS x FROM ({COUNTED}) AS t", epsilon=1).charged


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, RecursionError, UnsupportedQuery])
def test_whatever_goes_wrong_after_the_noise_shows_the_answer(curator, monkeypatch, error):
    first = curator.ask(COUNTED, epsilon=1)
    original = run._Runner.run

    def broken(self, query):
        if self._released.table.rows:
            raise error("x")
        return original(self, query)

    monkeypatch.setattr(run._Runner, "run", broken)
    answer = curator.ask(f"SELECT n + 1 AS m FROM ({COUNTED}) AS t", epsilon=1)
    assert answer.failure is not None
    assert answer.rows == first.rows
    assert not answer.charged
    assert curator.ledger.failures("owner") == 0


def test_what_takes_too_long_fails_alone(monkeypatch):
    monkeypatch.setattr(run, "SECONDS", 0.0)
    monkeypatch.setattr(run, "_Runner", Sleeping)
    after = run.After(split(read_sql(f"SELECT n {FROM}"), BANK).around, (("n", "integer"),))
    with pytest.raises(Failed):
        after.apply(COLUMNS, Table(ROWS, [[None, None]] * 3), Fraction(95, 100))


def test_a_union_that_is_too_long_fails_alone(curator, monkeypatch):
    monkeypatch.setattr(run, "MOST_ROWS", 5)
    answer = curator.ask(f"{COUNTED} UNION ALL {COUNTED}", epsilon=1)
    assert answer.failure is not None
    assert len(answer.rows) == 3


def test_the_parts_of_a_union_keep_their_conditions(curator):
    parts = " UNION ALL ".join(
        f"SELECT COUNT(*) AS n FROM people WHERE city = '{city}'" for city in CITIES[:2]
    )
    answer = curator.ask(f"{parts} UNION ALL SELECT COUNT(*) AS n FROM people WHERE age < 9", epsilon=9)
    counts = [row["n"] for row in answer.rows]
    assert counts == pytest.approx([200, 200, 63], abs=100)  # unfiltered they were 400 at least


def test_a_function_without_a_form_is_refused():
    """The list of functions is closed: what the tree may one day have is no statement by itself."""
    level = find_names(split(read_sql(f"SELECT n AS x {FROM}"), BANK).around, COLUMNS, "t")
    unknown = Call("read_text", (Literal("/etc/passwd"),))
    with pytest.raises(UnsupportedQuery, match="READ_TEXT is not offered after the noise"):
        run.Writer(level).write(unknown)


class Sleeping(run._Runner):
    def run(self, query):
        self._connection.execute(
            "SELECT COUNT(*) FROM range(100000) a, range(100000) b, range(1000) c"
        ).fetchall()
        return super().run(query)


WAYS_OUT = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "COPY (SELECT 1) TO '/tmp/after.csv'",
    "ATTACH '/tmp/after.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET threads = 8",
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "SELECT getenv('HOME')",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM glob('/*')",
    "EXPORT DATABASE '/tmp/after'",
    "CREATE SECRET s (TYPE s3)",
    "SELECT * FROM frame",
]


@pytest.mark.parametrize("statement", WAYS_OUT)
def test_the_engine_after_the_noise_has_no_way_out(statement):
    import duckdb

    frame = pandas.DataFrame({"a": [1]})  # noqa: F841  it must not be found by name
    with duckdb.connect(":memory:", config=run.CONFIG) as connection, pytest.raises(duckdb.Error):
        connection.execute(statement).fetchall()


def test_an_engine_that_is_not_locked_would_have_one(tmp_path):
    import duckdb

    (tmp_path / "secret.csv").write_text("a\n1\n")
    open_config = {name: value for name, value in run.CONFIG.items() if name == "threads"}
    with duckdb.connect(":memory:", config=open_config) as connection:
        assert connection.execute(f"SELECT a FROM read_csv('{tmp_path}/secret.csv')").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT n FROM (SELECT COUNT(*) AS n FROM accounts) AS t, (SELECT COUNT(*) AS n FROM accounts) AS u",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM accounts) AS t CROSS JOIN generate_series(1, 1000000000)",
        "WITH RECURSIVE t AS (SELECT COUNT(*) AS n FROM accounts UNION ALL SELECT n FROM t) SELECT n FROM t",
        "SELECT read_text('/etc/passwd') AS x FROM (SELECT COUNT(*) AS n FROM accounts) AS t",
        "SELECT lpad('x', 1000000000, 'y') AS x FROM (SELECT COUNT(*) AS n FROM accounts) AS t",
        "SELECT nextval('s') AS x FROM (SELECT COUNT(*) AS n FROM accounts) AS t",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM accounts) AS t, duckdb_settings()",
        "SELECT current_setting('threads') AS x FROM (SELECT COUNT(*) AS n FROM accounts) AS t",
        "SELECT error('x') AS x FROM (SELECT COUNT(*) AS n FROM accounts) AS t",
        "SELECT t FROM (SELECT COUNT(*) AS n FROM accounts) AS t",
        'SELECT "t0".n FROM (SELECT COUNT(*) AS n FROM accounts) AS t',
        'SELECT n FROM "#released"',
        "SELECT " + "REPLACE(" * 10 + "city" + ", 'a', 'aaaaaaaaaaaaaaaaaaaaaaaaaaa')" * 10 + f" AS x {FROM}",
        "SELECT " + " || ".join(["city"] * 100) + f" AS x {FROM}",
        f"SELECT SUM(n) OVER (ROWS BETWEEN n PRECEDING AND CURRENT ROW) AS x {FROM}",
        f"SELECT (SELECT n {FROM}) + 1 AS x, COUNT(*) OVER () AS y {FROM} LIMIT 1.5",
        "PRAGMA database_list",
        "SELECT 1; ATTACH 'x'",
    ],
)
def test_text_after_the_noise_reaches_nothing(text):
    with pytest.raises(UnsupportedQuery):
        plan_asked(text, BANK, epsilon=1)


@pytest.mark.parametrize("name", ['a"b', "select", "c0", "r", "o0", "rows", "t0", "N N", "Ünïcode", "w0"])
def test_names_never_reach_the_statement(name, monkeypatch):
    seen = []
    original = run._Runner._select

    def select(self, level, source):
        seen.append(run.Writer(level).select("t9", traced=True))
        return original(self, level, source)

    monkeypatch.setattr(run._Runner, "_select", select)
    quoted = '"' + name.replace('"', '""') + '"'
    inner = f"(SELECT COUNT(*) AS {quoted} FROM accounts) AS t"
    text = f"SELECT {quoted} + 1 AS {quoted}, SUM({quoted}) OVER () AS other FROM {inner}"
    read = read_whole(text, BANK)
    assert [each for each, _ in read.after.columns] == [name, "other"]
    assert seen
    assert not any(quoted in each for each in seen)


def test_infinities_and_what_is_no_number():
    rows = [("Ottawa", float("inf")), ("Toronto", float("-inf")), ("Québec", 0.0)]
    columns = (("city", "text"), ("x", "number"))
    inner = "FROM (SELECT city, SUM(debt) AS x FROM accounts GROUP BY city) AS t"
    text = (
        f"SELECT x - x AS a, x * 0 AS b, x AS c, ROUND(x, 1) AS d, EXP(x) AS e, SUM(x) OVER () AS f {inner}"
    )
    selected = apply(text, columns, rows)
    assert [row["a"] for row in selected.rows] == [None, None, 0.0]
    assert [row["c"] for row in selected.rows] == [float("inf"), float("-inf"), 0.0]
    assert [row["f"] for row in selected.rows] == [None] * 3


def test_labels_and_dates_come_through_as_they_are():
    columns = (("d", "date"), ("m", "timestamp"), ("b", "boolean"), ("n", "integer"))
    moment = datetime.datetime(2020, 2, 29, 12, 30, 1, 5)
    rows = [(datetime.date(1, 1, 1), moment, True, 10**30), (None, None, None, -(10**30))]
    text = ("SELECT d, m, b, n FROM (SELECT opened AS d, seen AS m, active AS b, COUNT(*) AS n FROM accounts "
            "GROUP BY ALL) AS t WHERE n <> 0")  # fmt: skip
    selected = apply(text, columns, rows)
    assert [tuple(row.values()) for row in selected.rows] == rows


@pytest.mark.parametrize("text", AFTER)
def test_every_selection_runs_on_rows_of_its_types(text):
    """On more than one row, with missing and large values, nothing but the answer itself comes out."""
    read = read_whole(text, BANK)
    columns = tuple((name, each.type) for name, each in read.question.columns)
    days = [datetime.date(2020, 3, 1), datetime.date(1, 1, 1), None]
    values = {"integer": [3, -1, 10**12], "number": [0.5, float("inf"), None], "text": ["Ottawa", "", None],
              "boolean": [True, False, None], "date": days,
              "timestamp": [datetime.datetime(2020, 3, 1, 5), None, None]}  # fmt: skip
    rows = [
        tuple(values[kind][(index + place) % 3] for place, (_, kind) in enumerate(columns))
        for index in range(6)
    ]
    unit = Interval(0.0, 1.0)
    cells = [[Noisy(frozenset({(row, place)}), lambda level: unit) for place in range(len(columns))]
             for row in range(6)]  # fmt: skip
    first = read.after.apply(columns, Table(rows, cells), Fraction(95, 100))
    again = read.after.apply(columns, Table(rows, cells), Fraction(95, 100))
    assert first == again
    for row in first.rows:
        assert tuple(row) == tuple(name for name, _ in read.after.columns)
    assert all(
        each is None or each.lower <= each.upper
        for each in itertools.chain.from_iterable(row.values() for row in first.intervals)
    )
