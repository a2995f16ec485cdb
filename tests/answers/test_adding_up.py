"""Totals that add up: exactly, close to what was released, and nearer to the truth."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.answers import Answer, Receipt
from discreet.answers.adding_up import add_up
from planning.frozen import plan_of
from queries.bank import BANK

SQL = "SELECT city, active, COUNT(*) AS n, SUM(debt) AS s FROM accounts GROUP BY CUBE (city, active)"
ALIKE = replace(BANK, tables=tuple(replace(table, max_groups=1) for table in BANK.tables))
PLAN = plan_of(SQL, ALIKE, epsilon=1)
SIZES = [len(each.exact.plans[0].labels) for each in PLAN.sets]


def released(numbers):
    found, start = [], 0
    for each, size in zip(PLAN.sets, SIZES, strict=True):
        rows = tuple(tuple(int(number) for number in row) for row in numbers[start : start + size])
        found.append((each.exact.plans[0].labels, rows))
        start += size
    return tuple(found)


def answer_of(numbers):
    return Answer(PLAN, released(numbers), Receipt.of(PLAN, charge=1, remaining=PLAN.price))


def truth(generator):
    """Whole numbers that add up, in the order of the sets."""
    finest = next(index for index, each in enumerate(PLAN.sets) if len(each.keys) == 2)
    labels = PLAN.sets[finest].exact.plans[0].labels
    cells = {label: generator.integers(0, 1000, 2) for label in labels}
    rows = []
    for each in PLAN.sets:
        for group in each.exact.plans[0].labels:
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
    labels = PLAN.sets[finest].exact.plans[0].labels
    design, weights = [], []
    for each in PLAN.sets:
        for group in each.exact.plans[0].labels:
            design.append([float(tuple(label[key] for key in each.keys) == group) for label in labels])
            weights.append(1 / np.sqrt(each.noises[0].noise.variance))
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


def test_a_total_that_is_of_fewer_rows_does_not_pull_its_parts():
    sql = "SELECT city, COUNT(*) AS n FROM accounts GROUP BY ROLLUP (city)"
    plan = plan_of(sql, epsilon=1)  # a unit may be in three cities with ten rows each: ten rows of all
    parts, total = plan.sets
    given = (
        (parts.exact.plans[0].labels, ((900,), (800,), (700,))),
        (total.exact.plans[0].labels, ((1000,),)),
    )
    (_, fitted), (_, whole) = add_up(plan.sets, given)
    assert fitted == ((900,), (800,), (700,))
    assert whole == ((2400,),)


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
    numbers = tuple(
        (each.exact.plans[0].labels, tuple((0,) for _ in each.exact.plans[0].labels)) for each in plan.sets
    )
    answer = Answer(plan, numbers, Receipt.of(plan, charge=1, remaining=plan.price))
    with pytest.raises(dp.InvalidParameter, match="add up"):
        answer.adding_up()
