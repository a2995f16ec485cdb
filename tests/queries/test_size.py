"""Questions that double with every line are refused in milliseconds, whichever way they are asked."""

import time

import pytest

import discreet as dp
from discreet.asking.planning import plan_asked
from discreet.asking.queries import Literal, Select, nodes, read_sql
from discreet.asking.queries.nodes import Aggregate, Call, Output, TableName
from discreet.errors import DiscreetError, UnsupportedQuery
from queries.bank import BANK


def doubling(levels, both="SELECT age FROM {0} UNION ALL SELECT age FROM {0}"):
    steps = [f"a{level + 1} AS ({both.format(f'a{level}')})" for level in range(levels)]
    first = "a0 AS (SELECT person, age FROM accounts)"
    return f"WITH {', '.join([first, *steps])} SELECT COUNT(*) AS n FROM a{levels}"


def between(levels):
    text = "active"
    for _ in range(levels):
        text = f"({text}) BETWEEN FALSE AND TRUE"
    return f"SELECT COUNT(*) AS n FROM accounts WHERE {text}"


def chosen(levels):
    text = "age"
    for _ in range(levels):
        text = f"CASE {text} WHEN 1 THEN 2 WHEN 3 THEN 4 WHEN 5 THEN 6 ELSE 7 END"
    return f"SELECT COUNT(*) AS n FROM accounts WHERE {text} = 1"


def released(levels):
    text = "SELECT COUNT(*) AS n FROM accounts"
    for level in range(levels):
        text = f"SELECT n + n AS n FROM ({text}) AS s{level}"
    return text


JOINED = "SELECT l.person, l.age FROM {0} AS l JOIN {0} AS r ON l.person = r.person"
GROWING = {
    "unions": doubling,
    "joins": lambda levels: doubling(levels, JOINED),
    "between": between,
    "case": chosen,
    "one key twice": lambda levels: "SELECT COUNT(*) AS n FROM accounts GROUP BY "
    + ", ".join([between(levels).partition("WHERE")[2]] * 2),
    "sets": lambda levels: "SELECT COUNT(*) AS n FROM accounts GROUP BY "
    + ", ".join(["CUBE(city, active, age, children, opened, id)"] * levels),
}  # fmt: skip


def refusal(question, **terms):
    with pytest.raises(UnsupportedQuery) as caught:
        plan_asked(question, BANK, **(terms or {"epsilon": 1}))
    return caught.value.fields["reason"], caught.value.message


@pytest.mark.parametrize("levels", [14, 20, 40])
@pytest.mark.parametrize("kind", GROWING)
def test_what_doubles_is_refused_at_once(kind, levels):
    before = time.process_time()
    reason, message = refusal(GROWING[kind](levels))
    assert time.process_time() - before < 1  # milliseconds; written out it would take seconds to centuries
    assert reason in ("too_long", "too_many_tables", "grouping_sets", "too_deep")
    assert "must" in message


def test_what_doubles_after_the_noise_is_computed_level_by_level():
    before = time.process_time()
    (plan,) = plan_asked(released(40), BANK, epsilon=1)
    assert plan.text == "SELECT COUNT(*) AS n FROM accounts"
    assert time.process_time() - before < 3


def test_without_the_limit_it_would_be_written_out(monkeypatch):
    monkeypatch.setattr(nodes, "MOST_NODES", 10**12)
    monkeypatch.setattr(nodes, "MOST_TABLES", 10**12)
    plan_asked(doubling(3), BANK, epsilon=1)
    assert nodes.size_of(read_sql(doubling(20))).tables == 2**20


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM accounts WHERE " + " OR ".join(f"age = {n}" for n in range(200)),
        "SELECT COUNT(*) AS n FROM accounts WHERE " + " AND ".join(f"age > {n}" for n in range(200)),
        "SELECT SUM(age" + " + 1" * 300 + ") AS n FROM accounts",
        "WITH a0 AS (SELECT age FROM accounts), "
        + ", ".join(f"a{n + 1} AS (SELECT age FROM a{n})" for n in range(99))
        + " SELECT COUNT(*) AS n FROM a99",
    ],
)
def test_what_no_engine_could_read_is_refused_before_it_is_charged(text):
    assert refusal(text)[0] == "too_deep"


def test_the_deepest_questions_are_answered(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"person": range(50), "age": [40] * 50})
    options = {"unit": "person", "budget": {"epsilon": 9}, "bounds": {"age": (0, 100)}}
    curator = dp.Curator.open(frame, name="people", ledger=tmp_path / "l", **options)
    chain = " OR ".join(f"age = {n}" for n in range(92))
    both = " AND ".join(f"age > {n}" for n in range(92))
    nested = ", ".join(
        f"a{n + 1} AS (SELECT age, age = {n} AS b FROM a{n} WHERE age > {n})" for n in range(23)
    )
    for text in (
        f"SELECT COUNT(*) AS n FROM people WHERE {chain}",
        f"SELECT COUNT(*) AS n FROM people WHERE {both}",
        f"WITH a0 AS (SELECT age FROM people), {nested} SELECT COUNT(*) AS n FROM a23",
    ):
        assert curator.ask(text, epsilon=1).rows


def grown(step, times):
    term = dp.column("age")
    for _ in range(times):
        term = step(term)


@pytest.mark.parametrize("step", [lambda term: term + term, lambda term: term + 1])
def test_a_builder_is_stopped_while_it_grows(step):
    with pytest.raises(UnsupportedQuery, match=r"must (have|nest) at most"):
        grown(step, 20_000)


def test_a_tree_is_measured_before_it_is_walked():
    node = Literal(1)
    for _ in range(100_000):
        node = Call("add", (node, node))
    output = Output("n", Aggregate("sum", node))
    assert refusal(Select((output,), TableName("accounts", "accounts")))[0] == "too_long"


def test_labels_are_tried_a_limited_number_of_times():
    keys = ", ".join(f"(age * 700 + children * 3 + {n}) // 9 % 50 AS k{n}" for n in range(200))
    before = time.process_time()
    reason, message = refusal(f"SELECT SUM(age) AS n FROM (SELECT age, {keys} FROM accounts) AS s")
    assert reason == "labels"
    assert "300,000" in message
    assert time.process_time() - before < 20


NUMBERS = [  # what stands in the question, the reason
    ("QUANTILE(age, 1e-700000)", "quantile"),
    ("QUANTILE(age, 1e-9999999)", "quantile"),
    ("QUANTILE(age, 1e-400)", "quantile"),
    ("QUANTILE(age, 1e400)", "quantile"),
    (f"QUANTILE(age, 0.{'5' * 19})", "quantile"),
    (f"QUANTILE(age, 0.{'5' * 19_000})", "number"),
    (f"SUM(age + {'0' * 6_000})", "number"),
    (f"SUM(age + 0.{'0' * 6_000}1)", "number"),
    ("SUM(age + 1e400)", "number"),
    ("COUNT(DATE '2020-01-01' + INTERVAL '²' DAY)", "interval"),
    ("COUNT(DATE '2020-01-01' + INTERVAL '٣' DAY)", "interval"),
]


@pytest.mark.parametrize(("text", "reason"), NUMBERS)
def test_a_number_is_looked_at_before_it_is_made(text, reason):
    before = time.process_time()
    assert refusal(f"SELECT {text} AS n FROM accounts")[0] == reason
    assert time.process_time() - before < 0.5


@pytest.mark.parametrize("digits", ["²", "٣"])
def test_a_limit_is_written_in_plain_digits(digits):
    assert refusal(f"SELECT COUNT(*) AS n FROM accounts LIMIT '{digits}'")[0] == "limit"


@pytest.mark.parametrize(
    "build",
    [
        lambda: dp.column("age") + 10**5000,
        lambda: dp.column("age") + 10**400 < 3,
        lambda: dp.Curator.table(None, "accounts").quantile("age", 10**-300),
        lambda: dp.Curator.table(None, "accounts").quantile("age", float("nan")),
        lambda: dp.Curator.table(None, "accounts").count().limit("three"),
        lambda: dp.Curator.table(None, "accounts").count().limit(-1),
        lambda: dp.Curator.table(None, "accounts").count().limit(2.5),
    ],
)
def test_numbers_of_the_builder_pass_the_same_check(build):
    with pytest.raises(DiscreetError):
        plan_asked(dp.Curator.table(None, "accounts").where(build()).count(), BANK, epsilon=1)
