"""COUNT(DISTINCT x): how many declared keys there are; a unit brings at most as many as it has rows."""

from dataclasses import replace
from fractions import Fraction

import pandas
import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import plan_asked
from discreet.kernel.plan import Released
from planning.frozen import plan_of
from queries.bank import BANK

SQL = "SELECT COUNT(DISTINCT city) AS cities FROM accounts"
BY_AGE = "SELECT active, COUNT(DISTINCT age) AS ages FROM accounts GROUP BY active"
EMPTY = {"visits": [], "payments": [], "survey": [], "cities": [], "regions": []}


def rows_of(*pairs):
    return {"accounts": [{"person": p, "id": i, "city": c, "age": a, "active": a % 2 == 0}
                         for i, (p, c, a) in enumerate(pairs)], **EMPTY}  # fmt: skip


def exactly(plan, rows, salt=3):
    (each,) = plan.sets
    step = each.columns[-1]
    table = MemoryEngine(BANK, rows).run(replace(step.plan, salt=salt))
    return dict(zip(step.plan.labels, step.take([table], Released()), strict=True))


def test_keys_are_counted_once_and_others_not_at_all():
    plan = plan_of(SQL, epsilon=1)
    rows = rows_of((1, "Ottawa", 3), (2, "Ottawa", 4), (3, "Québec", 5), (4, None, 6), (5, "Paris", 7))
    assert exactly(plan, rows) == {(): 2}
    assert exactly(plan, rows_of()) == {(): 0}


def test_a_unit_is_charged_for_all_its_rows():
    (each,) = plan_of(SQL, epsilon=1).sets
    assert each.columns[0].mechanism.sensitivity == 10  # max_rows of accounts
    (grouped,) = plan_of(BY_AGE, epsilon=1).sets
    assert grouped.columns[0].mechanism.sensitivity == 20  # in both groups


PEOPLE = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from(["Ottawa", "Toronto", "Québec", None]), st.integers(0, 120)),
    max_size=60,
)


@pytest.mark.slow
@given(pairs=PEOPLE, mine=st.lists(st.integers(0, 120), max_size=40), salt=st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_one_unit_moves_it_by_at_most_the_sensitivity(pairs, mine, salt):
    plan = plan_of(BY_AGE, epsilon=1)
    with_me = [*pairs, *((9, "Ottawa", age) for age in mine)]
    one, other = (exactly(plan, rows_of(*each), salt) for each in (pairs, with_me))
    moved = [abs(one[group] - other[group]) for group in one]
    assert sum(moved) <= plan.sets[0].columns[0].mechanism.sensitivity
    assert all(step <= 10 for step in moved)


def test_an_uncapped_unit_would_be_noticed():
    plan = plan_of(BY_AGE, epsilon=1)
    mine = rows_of(*((9, "Ottawa", age) for age in range(100)))
    different = {group: len({row["age"] for row in mine["accounts"] if row["active"] == group[0]})
                 for group in ((True,), (False,))}  # fmt: skip
    assert (
        sum(different.values()) > plan.sets[0].columns[0].mechanism.sensitivity
    )  # the planted fault: no bound
    assert sum(exactly(plan, mine).values()) <= plan.sets[0].columns[0].mechanism.sensitivity


def test_the_answer_has_an_error_and_an_interval(tmp_path):
    frame = pandas.DataFrame({"person": range(3000), "kind": ["card", "loan", "car"] * 1000})
    with dp.Curator.open(
        frame,
        name="t",
        unit="person",
        budget={"epsilon": 50},
        keys={"kind": ["card", "loan", "car", "boat"]},
        ledger=tmp_path / "t.ledger",
    ) as curator:
        answer = curator.ask("SELECT COUNT(DISTINCT kind) AS kinds, COUNT(*) AS n FROM t", epsilon=40)
        built = curator.explain(curator.table("t").count_distinct("kind", name="kinds"), epsilon=1)
    # At epsilon 20 a discrete Laplace number is off with probability below 1e-8.
    assert answer.rows[0]["kinds"] == 3
    assert answer.intervals[0]["kinds"].lower <= 3 <= answer.intervals[0]["kinds"].upper
    assert built.errors["kinds"] == pytest.approx(float(Fraction(3)))


def test_it_is_never_more_than_there_are_labels_nor_less_than_none():
    (plan,) = plan_asked(SQL, BANK, epsilon=0.01)
    (estimator,) = plan.sets[0].estimators
    assert estimator.number.error(Fraction(95, 100)) > 100
    seen = {estimator.value((number,)) for number in (-900, 2, 900)}
    assert seen == {0, 2, 3}
    assert tuple(estimator.interval((90_000,), Fraction(95, 100))) == (3.0, 3.0)
    assert tuple(estimator.interval((2,), Fraction(95, 100))) == (0.0, 3.0)
