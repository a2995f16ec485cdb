"""Totals that add up: exactly, close to what was released, and nearer to the truth."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.asking.answers import Answer, Receipt
from discreet.asking.answers.adding_up import add_up
from discreet.asking.engines import MemoryEngine
from discreet.asking.policy import from_toml
from planning.frozen import plan_of
from queries.bank import BANK

SALES = from_toml(
    """
[dataset]
id = "sales"
version = "1"
budget = { epsilon = 1, delta = 1e-6 }
[tables.sales]
each_row = true
[tables.sales.columns]
city = { type = "text", keys = ["Ottawa", "Toronto", "Québec"] }
active = { type = "boolean" }
debt = { type = "number", bounds = [0, 10000000] }
age = { type = "integer", bounds = [0, 120] }
"""
)
ROWS = "FROM sales WHERE city IN ('Ottawa', 'Toronto', 'Québec') AND active IS NOT NULL"
SQL = f"SELECT city, active, COUNT(*) AS n, SUM(debt) AS s {ROWS} GROUP BY CUBE (city, active)"
PLAN = plan_of(SQL, SALES, epsilon=1)
SIZES = [len(each.reads[0].labels) for each in PLAN.sets]


def released(numbers):
    found, start = [], 0
    for each, size in zip(PLAN.sets, SIZES, strict=True):
        rows = tuple(tuple(int(number) for number in row) for row in numbers[start : start + size])
        found.append((each.reads[0].labels, rows))
        start += size
    return tuple(found)


def answer_of(numbers):
    return Answer(PLAN, released(numbers), Receipt.of(PLAN, charge=1, remaining=PLAN.price))


def truth(generator):
    """Whole numbers that add up, in the order of the sets."""
    finest = next(index for index, each in enumerate(PLAN.sets) if len(each.keys) == 2)
    labels = PLAN.sets[finest].reads[0].labels
    cells = {label: generator.integers(0, 1000, 2) for label in labels}
    rows = []
    for each in PLAN.sets:
        for group in each.reads[0].labels:
            inside = [
                cell for label, cell in cells.items() if tuple(label[key] for key in each.keys) == group
            ]
            rows.append(np.sum(inside, axis=0))
    return np.array(rows)


def test_every_total_is_the_sum_of_its_parts():
    generator = np.random.default_rng(7)
    answer = answer_of(truth(generator) + generator.integers(-90, 90, (sum(SIZES), 2))).adding_up()
    rows = answer.rows
    for name in ("n", "s"):
        cells = [row for row in rows if row["city"] is not None and row["active"] is not None]
        for row in rows:
            parts = [
                cell[name]
                for cell in cells
                if row["city"] in (None, cell["city"]) and row["active"] in (None, cell["active"])
            ]
            assert row[name] == pytest.approx(sum(parts), rel=1e-12)


def test_what_adds_up_already_is_left_alone():
    numbers = truth(np.random.default_rng(8))
    assert add_up(PLAN.sets, released(numbers)) == released(numbers)


def test_the_adjusted_numbers_are_the_weighted_least_squares():
    generator = np.random.default_rng(9)
    numbers = truth(generator) + generator.integers(-50, 50, (sum(SIZES), 2))
    finest = next(index for index, each in enumerate(PLAN.sets) if len(each.keys) == 2)
    labels = PLAN.sets[finest].reads[0].labels
    design, weights = [], []
    for each in PLAN.sets:
        for group in each.reads[0].labels:
            design.append([float(tuple(label[key] for key in each.keys) == group) for label in labels])
            weights.append(1 / np.sqrt(each.columns[0].mechanism.variance))
    matrix, weights = np.array(design), np.array(weights)
    best, *_ = np.linalg.lstsq(matrix * weights[:, None], numbers[:, 0] * weights, rcond=None)
    adjusted = [row[0] for row in add_up(PLAN.sets, released(numbers))[finest][1]]
    assert np.abs(best - adjusted).max() <= 0.5 + 1e-6


def test_adding_up_brings_the_finest_groups_nearer_to_the_truth():
    # 400 rounds of Gaussian noise: the mean squared error of the finest cells falls by more than
    # a quarter; that it would fall by less than a twentieth has a probability below 1e-9.
    generator = np.random.default_rng()
    before = after = 0.0
    finest = next(index for index, each in enumerate(PLAN.sets) if len(each.keys) == 2)
    start = sum(SIZES[:finest])
    for _ in range(400):
        exact = truth(generator)
        noisy = exact + np.rint(generator.normal(0, 500, exact.shape)).astype(int)
        fitted = np.array(add_up(PLAN.sets, released(noisy))[finest][1])
        cells = slice(start, start + SIZES[finest])
        before += float(((noisy[cells] - exact[cells]) ** 2).mean())
        after += float(((fitted - exact[cells]) ** 2).mean())
    assert after < 0.95 * before


def answered(sql, policy):
    """The answer to a question, all of it 0: whether it may add up does not depend on numbers."""
    plan = plan_of(sql, policy, epsilon=1)
    numbers = tuple(
        (each.reads[0].labels, ((0,) * len(each.columns),) * len(each.reads[0].labels)) for each in plan.sets
    )
    return Answer(plan, numbers, Receipt.of(plan, charge=1, remaining=plan.price))


ONE, TWO = (
    replace(BANK, tables=(replace(BANK.tables[0], max_groups=1, max_rows=rows), *BANK.tables[1:]))
    for rows in (1, 2)
)
STAGE = "CASE WHEN age < 30 THEN 'young' ELSE 'old' END"


@pytest.mark.parametrize(
    "key",
    [
        f"{STAGE} AS k FROM sales",
        "age IS NULL AS k FROM sales",
        "city AS k FROM sales WHERE city IN ('Ottawa', 'Toronto')",
        "city AS k FROM sales WHERE age > 3 AND city = 'Ottawa'",
        "active AS k FROM sales WHERE active IS NOT NULL",
        "age >= 65 AS k FROM sales WHERE age IS NOT NULL",
        "age >= 65 AS k FROM sales WHERE (age >= 65) IS NOT NULL",
    ],
)
def test_totals_add_up_where_every_row_has_a_label(key):
    select, _, rest = key.partition(" FROM ")
    answered(
        f"SELECT {select}, COUNT(*) AS n, SUM(debt) AS s FROM {rest} GROUP BY ROLLUP (k)", SALES
    ).adding_up()


@pytest.mark.parametrize(
    "key",
    [
        "city AS k FROM sales",
        "city AS k FROM sales WHERE city IS NOT NULL",
        "city AS k FROM sales WHERE city IN ('Ottawa', 'Elsewhere')",
        "city AS k FROM sales WHERE city IN ('Ottawa') OR age > 3",
        "active AS k FROM sales",
        "age >= 65 AS k FROM sales",
        "age >= 65 AS k FROM sales WHERE debt IS NOT NULL",
        "age AS k FROM sales WHERE age IS NOT NULL",
        "CASE WHEN age < 30 THEN city ELSE 'Ottawa' END AS k FROM sales",
    ],
)
def test_rows_that_only_totals_count_are_a_reason_to_refuse(key):
    select, _, rest = key.partition(" FROM ")
    asked = answered(f"SELECT {select}, COUNT(*) AS n FROM {rest} GROUP BY ROLLUP (k)", SALES)
    with pytest.raises(dp.InvalidParameter, match="another label"):
        asked.adding_up()


def test_a_key_that_every_set_has_needs_no_cover():
    sql = f"SELECT city, {STAGE} AS k, COUNT(*) AS n FROM sales GROUP BY GROUPING SETS ((city, k), (city))"
    answered(sql, SALES).adding_up()


@pytest.mark.parametrize("policy", [BANK, TWO])
def test_rows_of_a_unit_that_are_limited_in_each_set_are_a_reason_to_refuse(policy):
    with pytest.raises(dp.InvalidParameter, match="the same rows"):
        answered(f"SELECT {STAGE} AS k, COUNT(*) AS n FROM accounts GROUP BY ROLLUP (k)", policy).adding_up()


def test_units_of_one_row_are_counted_alike_in_every_set_but_not_added_up():
    answered(f"SELECT {STAGE} AS k, COUNT(*) AS n FROM accounts GROUP BY ROLLUP (k)", ONE).adding_up()
    for other in ("SUM(debt)", "COUNT(job)", "COUNT(*) FILTER (WHERE active)"):
        asked = answered(f"SELECT {STAGE} AS k, {other} AS n FROM accounts GROUP BY ROLLUP (k)", ONE)
        with pytest.raises(dp.InvalidParameter, match="the same rows"):
            asked.adding_up()


@pytest.mark.parametrize(("rows", "agree"), [(ROWS, True), ("FROM sales", False)])
def test_exact_totals_are_sums_where_they_may_add_up_and_not_where_that_is_refused(rows, agree):
    sold = [
        {"city": city, "active": active, "debt": 1.0, "age": None}
        for city in ("Ottawa", "Toronto", "Elsewhere", None)
        for active in (True, False, None)
    ]
    plan = plan_of(
        f"SELECT city, active, COUNT(*) AS n {rows} GROUP BY CUBE (city, active)", SALES, epsilon=1
    )
    engine = MemoryEngine(SALES, {"sales": sold})
    found = {each.keys: sum(total for (total,) in engine.run(each.reads[0]).totals) for each in plan.sets}
    assert (len(set(found.values())) == 1) is agree


def test_intervals_stay_those_of_what_was_released():
    generator = np.random.default_rng(10)
    raw = answer_of(truth(generator) + generator.integers(-90, 90, (sum(SIZES), 2)))
    adjusted = raw.adding_up()
    assert adjusted.raw is raw
    assert adjusted.intervals == raw.intervals
    assert "totals add up" in str(adjusted)
    assert raw.rows != adjusted.rows
    assert Fraction(adjusted.plan.confidence) == raw.plan.confidence


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT city, COUNT(*) AS n FROM accounts GROUP BY city",
        "SELECT city, active, COUNT(*) AS n FROM accounts GROUP BY GROUPING SETS ((city), (active))",
    ],
)
def test_sets_without_a_finest_one_are_refused(sql):
    plan = plan_of(sql, epsilon=1)
    numbers = tuple((each.reads[0].labels, tuple((0,) for _ in each.reads[0].labels)) for each in plan.sets)
    answer = Answer(plan, numbers, Receipt.of(plan, charge=1, remaining=plan.price))
    with pytest.raises(dp.InvalidParameter, match="add up"):
        answer.adding_up()
