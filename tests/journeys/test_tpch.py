"""Tables that nobody here made: TPC-H's own SQL, privately, beside what plain DuckDB says.

Intervals are asked for at a confidence of 1 - 1e-12; there are fewer than 500 of them in this file, so a
right program raises an alarm with probability below 1e-9.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
from bench.tpch import QUESTIONS, make_tables, open_plain, open_tables

from discreet.asking.answers import Answer, Receipt
from discreet.asking.release import release_invented

SURE = 1 - Fraction(1, 10**12)
KEYS = {"pricing summary": 2, "revenue change": 0, "volume by nation": 1}  # columns that are keys
SALT = 11


@pytest.fixture(
    scope="module",
    params=[0.01, pytest.param(0.1, marks=pytest.mark.soak)],
    ids=lambda scale: f"scale {scale}",
)
def tables(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tpch")
    make_tables(folder, request.param)
    return folder


def by_group(names, rows, keys):
    return {
        tuple(row[name] for name in names[:keys]): {name: row[name] for name in names[keys:]} for row in rows
    }


def plainly(folder, text):
    """What DuckDB answers, and in how many rows of line items at most."""
    with open_plain(folder) as plain:
        found = plain.execute(text)
        names = [column[0] for column in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        (size,) = plain.execute("SELECT count(*) FROM lineitem").fetchone()
    return names, rows, size


def strays(answer, truth, keys, rounding=0.0):
    """The values of the truth that lie outside the answer's intervals, by column."""
    found = []
    for row, intervals in zip(answer.rows, answer.intervals, strict=True):
        group = tuple(row[name] for name in answer.columns[:keys])
        for name in answer.columns[keys:]:
            value = truth.get(group, {}).get(name, None if name.startswith("avg") else 0)
            inside = intervals[name].lower - rounding <= float(value or 0) <= intervals[name].upper + rounding
            if value is not None and not inside:
                found.append((group, name))
    return found


def asked(folder, text, tmp_path, *, max_rows):
    with open_tables(folder, max_groups=6, max_rows=max_rows, ledger=tmp_path / "tpch.ledger") as curator:
        return curator.ask(text, epsilon=10_000, confidence=SURE)


@pytest.mark.parametrize("name", QUESTIONS)
def test_with_limits_that_nobody_exceeds_the_answer_is_that_of_plain_sql(name, tables, tmp_path):
    names, rows, size = plainly(tables, QUESTIONS[name])
    answer = asked(tables, QUESTIONS[name], tmp_path, max_rows=200)
    assert list(answer.columns) == names
    rounding = size / 32  # a row is put on a multiple of 1/16 or finer
    assert strays(answer, by_group(names, rows, KEYS[name]), KEYS[name], rounding) == []


def test_that_comparison_would_see_customers_cut_short(tables, tmp_path):
    """The planted fault: five rows of a customer in a group where they have some forty."""
    name = "pricing summary"
    names, rows, size = plainly(tables, QUESTIONS[name])
    answer = asked(tables, QUESTIONS[name], tmp_path, max_rows=5)
    wrong = strays(answer, by_group(names, rows, 2), 2, size / 32)
    assert (("N", "O"), "sum_qty") in wrong
    assert (("N", "O"), "count_order") in wrong


@pytest.mark.parametrize("name", QUESTIONS)
def test_with_limits_that_bind_the_intervals_hold_the_bounded_truth(name, tables, tmp_path):
    with open_tables(tables, max_groups=2, max_rows=10, ledger=tmp_path / "tpch.ledger") as curator:
        plan = curator.explain(QUESTIONS[name], epsilon=1, confidence=SURE)
        engine = curator.resources.engine()
        released = release_invented(plan, lambda exact: engine.run(replace(exact, salt=SALT)))
        (each,) = plan.sets
        table = engine.run(replace(each.reads[0], salt=SALT))
    groups, totals = released[0].groups, dict(zip(table.groups, table.totals, strict=True))
    exact = tuple(tuple(totals[group][step.position] for step in each.columns) for group in groups)
    truth = Answer(plan, ((groups, exact),), Receipt({}))
    answer = Answer(plan, released, Receipt({}))
    assert strays(answer, by_group(truth.columns, truth.rows, KEYS[name]), KEYS[name], rounding=1e-6) == []


def test_a_line_item_is_the_customers_though_the_question_names_neither_order_nor_customer(tables, tmp_path):
    with open_tables(tables, max_groups=1, max_rows=1, ledger=tmp_path / "tpch.ledger") as curator:
        answer = curator.ask("select count(*) as n from lineitem", epsilon=10_000, confidence=SURE)
    with open_plain(tables) as plain:
        (customers,) = plain.execute("SELECT count(DISTINCT o_custkey) FROM orders").fetchone()
    assert customers in answer.intervals[0]["n"]
