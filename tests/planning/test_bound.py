import datetime

import pytest

from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import RowCount, Sum, Tally, UnitCount, plan_exact
from discreet.asking.policy import from_arguments, from_toml
from discreet.asking.queries import read_question
from discreet.errors import UnsupportedQuery
from discreet.kernel.plan import Released
from planning.frozen import plan_of
from queries.bank import BANK


def plan(text):
    return plan_exact(read_question(text, BANK), salt=5)


def test_sum_count_and_average_of_a_column_share_their_numbers():
    (plans,) = plan("SELECT SUM(debt) AS s, COUNT(debt) AS c, AVG(debt) AS a FROM accounts")
    assert [type(each) for each in plans.plans[0].measures] == [Sum, RowCount]
    assert [part.measures for part in plans.parts] == [(0,), (1,), (0, 1)]


def test_the_average_counts_what_is_averaged_under_the_same_filter():
    (plans,) = plan("SELECT AVG(debt) FILTER (WHERE active) AS a FROM accounts")
    total, count = plans.plans[0].measures
    assert count.argument == total.argument
    assert count.condition == total.condition is not None


def test_the_variance_is_counted_around_the_middle_of_the_range():
    (plans,) = plan("SELECT VARIANCE(age) AS v FROM accounts")
    squares, total, count = plans.plans[0].measures
    assert (squares.power, squares.centre, total.power, total.centre) == (2, 60, 1, 60)
    assert count == RowCount(None, total.argument)


def test_tallies_have_plans_of_their_own():
    (plans,) = plan("SELECT MEDIAN(debt) AS m, COUNT(*) AS n, MODE(city) AS c FROM accounts")
    assert [each.tally is None for each in plans.plans] == [True, False, False]
    assert [part.plan for part in plans.parts] == [1, 0, 2]
    assert isinstance(plans.plans[2].tally, Tally)
    assert plans.plans[2].tally.labels == ("Ottawa", "Toronto", "Québec")


def test_found_keys_always_count_their_units():
    (plans,) = plan("SELECT job, MEDIAN(debt) AS m FROM accounts GROUP BY job")
    assert plans.units is not None
    assert plans.plans[0].measures[plans.units.measures[0]] == UnitCount()
    (public,) = plan("SELECT city, COUNT(*) AS n FROM accounts GROUP BY city")
    assert public.units is None


def test_each_grouping_set_is_planned_for_itself():
    plans = plan("SELECT city, active, COUNT(*) AS n FROM accounts GROUP BY ROLLUP (city, active)")
    assert [len(each.plans[0].labels) for each in plans] == [6, 3, 1]
    assert [each.plans[0].max_groups for each in plans] == [3, 3, 1]


def test_missing_bounds_are_refused_with_the_place():
    with pytest.raises(UnsupportedQuery) as caught:
        plan("SELECT SUM(income) AS s FROM accounts")
    assert caught.value.fields["reason"] == "no_bounds"
    assert caught.value.fields["place"] == [7, 17]


@pytest.mark.parametrize("aggregate", ["MIN", "MAX"])
def test_the_first_and_last_of_days_without_bounds_are_refused_with_what_to_declare(aggregate):
    """Any day before the first is as good an answer as another: most are centuries away."""
    declared = r'seen = \{ bounds = \["2020-01-01", .*--bounds seen=2020'
    with pytest.raises(UnsupportedQuery, match=declared) as caught:
        plan(f"SELECT {aggregate}(seen) AS m FROM accounts")
    assert caught.value.fields["reason"] == "no_bounds"
    declared = r"income = \{ bounds = \[0, 1000\] \} .*--bounds income=0:1000"
    with pytest.raises(UnsupportedQuery, match=declared):
        plan(f"SELECT {aggregate}(income) AS m FROM accounts")
    plan("SELECT MEDIAN(seen) AS m FROM accounts")  # the middle is where the data is


def test_the_bounds_of_times_are_those_of_their_days():
    stated = from_arguments(
        sources={"t": None}, id="t", unit="person", budget={"epsilon": 1}, max_rows=1,
        types={"seen": "timestamp", "person": "text"},
        bounds={"seen": (datetime.date(2020, 1, 1), datetime.date(2020, 12, 31))},
    )  # fmt: skip
    (plans,) = plan_exact(read_question("SELECT MIN(seen) AS m FROM t", stated), salt=1)
    lattice = plans.plans[0].tally.lattice
    first = datetime.date.min.toordinal()
    assert lattice.lowest * lattice.step == datetime.date(2020, 1, 1).toordinal() - first
    assert lattice.highest * lattice.step == datetime.date(2020, 12, 31).toordinal() - first


def test_too_many_groups_are_refused():
    with pytest.raises(UnsupportedQuery) as caught:
        plan("SELECT age, children, opened, COUNT(*) AS n FROM accounts GROUP BY age, children, opened")
    assert caught.value.fields["reason"] == "groups"


KNOWN = """
[dataset]
id = "known"
budget = { epsilon = 1 }
[tables.t]
unit = "person"
max_groups = 1
[tables.t.columns]
x = { type = "number", bounds = [0, 10], nullable = false }
k = { type = "integer", bounds = [0, 9], nullable = false }
z = { type = "number", bounds = [0, 10] }
[public.p]
key = "k"
[public.p.columns]
k = { type = "integer" }
w = { type = "number", bounds = [0, 1], nullable = false }
"""


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("SELECT AVG(x) AS a, COUNT(*) AS n FROM t", 2),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t", 3),
        ("SELECT AVG(x * 2 + 1) AS a, COUNT(x) AS n, COUNT(*) AS m FROM t", 2),
        ("SELECT AVG(x / 3) AS a, COUNT(*) AS n FROM t", 2),
        ("SELECT AVG(x / x) AS a, COUNT(*) AS n FROM t", None),
        ("SELECT COUNT(x / x) AS a, COUNT(*) AS n FROM t", 2),
        ("SELECT COUNT(x - x) AS a, COUNT(*) AS n FROM t", 2),
        ("SELECT AVG(k * k - k) AS a, COUNT(*) AS n FROM t", 2),
        ("SELECT AVG(COALESCE(z, 0)) AS a, COUNT(*) AS n FROM t", 2),
        ("SELECT AVG(CASE WHEN z > 5 THEN 1 ELSE 0 END) AS a, COUNT(*) AS n FROM t", 2),
        ("SELECT AVG(CASE WHEN z > 5 THEN 1 END) AS a, COUNT(*) AS n FROM t", 3),
        ("SELECT AVG(x) FILTER (WHERE z > 5) AS a, COUNT(*) FILTER (WHERE z > 5) AS n FROM t", 2),
        ("SELECT AVG(x) FILTER (WHERE z > 5) AS a, COUNT(*) AS n FROM t", 3),
        ("SELECT AVG(z) FILTER (WHERE z > 5) AS a, COUNT(*) FILTER (WHERE z > 5) AS n FROM t", 2),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE z > 5", 2),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE z + 1 IN (3, 4)", 2),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE z IS NOT NULL AND k > 3", 2),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE NOT (z > 5)", 2),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE z > 5 OR z < 3", 2),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE z > 5 OR k > 3", 3),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE NOT (z > 5 AND k > 3)", 3),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE COALESCE(z, 9) > 5", 3),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE (z IS NULL) = FALSE", 3),
        ("SELECT AVG(z) AS a, COUNT(*) AS n FROM t WHERE CASE WHEN z > 5 THEN FALSE ELSE TRUE END", 3),
        ("SELECT AVG(w) AS a, COUNT(*) AS n FROM t LEFT JOIN p ON t.k = p.k WHERE w > 0", 2),
        ("SELECT AVG(w) AS a, COUNT(*) AS n FROM t JOIN p ON t.k = p.k", 2),
        ("SELECT AVG(w) AS a, COUNT(*) AS n FROM t LEFT JOIN p ON t.k = p.k", 3),
        ("SELECT COUNT(person) AS a, COUNT(*) AS n FROM t", 1),
        ("SELECT AVG(y) AS a, COUNT(*) AS n FROM (SELECT x AS y FROM t UNION ALL SELECT x FROM t) AS u", 2),
        ("SELECT AVG(y) AS a, COUNT(*) AS n FROM (SELECT x AS y FROM t UNION ALL SELECT z FROM t) AS u", 3),
        ("SELECT SUM(x) / 2 AS a, SUM(x) AS b, AVG(x) AS c FROM t", 2),
        ("SELECT AVG(z) AS a, VARIANCE(z) AS v, STDDEV(z) AS s, COUNT(z) AS n FROM t", 3),
        ("SELECT AVG(x) AS a, VARIANCE(x) AS v, COUNT(*) AS n FROM t", 3),
    ],
)
def test_what_is_the_same_number_is_paid_for_once(text, numbers):
    policy = from_toml(KNOWN).with_schema({"t": {"person": "integer"}})
    question = read_question(text, policy)
    if numbers is None:
        with pytest.raises(UnsupportedQuery):
            plan_exact(question, salt=0)
        return
    plan = plan_of(text, policy, epsilon=1)
    assert len(plan.sets[0].columns) == numbers
    assert len(plan.sets[0].reads[0].measures) == numbers


@pytest.mark.parametrize("value", [None, float("nan"), 0.0, 1500.0, 1e9])
@pytest.mark.parametrize(
    "asked", ["AVG(x) AS a", "AVG(x) AS a, VARIANCE(x) AS v", "AVG(x) AS a, SUM(x) AS s"]
)
def test_a_broken_promise_of_values_moves_no_number_further(asked, value):
    policy = from_toml(KNOWN.replace("[0, 10], nullable", "[1000, 2000], nullable"))
    policy = policy.with_schema({"t": {"person": "integer"}})
    (each,) = plan_of(f"SELECT {asked}, COUNT(*) AS n FROM t", policy, epsilon=1).sets
    rows = {"t": [{"person": 1, "x": value, "k": 1, "z": 1.0}], "p": []}
    table = MemoryEngine(policy, rows).run(each.reads[0])
    for step in each.columns:
        assert abs(step.take([table], Released())[0]) <= step.mechanism.sensitivity
