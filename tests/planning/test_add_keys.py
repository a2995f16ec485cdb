"""Private keys beside a count: one draw shows a key and is its count, for the share of both."""

from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.asking.answers import Answer, Receipt
from discreet.asking.planning import ExactTable, RowCount, Sum, UnitCount, plan_asked
from discreet.asking.release import release_invented
from discreet.kernel.mechanisms import CountedKeys, KeySelection, Laplace
from planning.frozen import plan_of
from queries.bank import BANK

DELTA = Fraction(1, 10**6)
PEOPLE = "SELECT job, COUNT(DISTINCT person) AS n FROM accounts GROUP BY job"
ROWS = "SELECT job, COUNT(*) AS n FROM accounts GROUP BY job"
REPLACE = replace(BANK, relation="replace")
RHO = replace(BANK, budget=(("rho", Fraction(1)), ("delta", DELTA)))
MU = replace(BANK, budget=(("mu", Fraction(1)),))
DRAWS, FEWEST = 2000, 1840  # as in test_estimate: error rate below 1e-9


def set_of(text, policy=BANK, **price):
    (each,) = plan_of(text, policy, **({"epsilon": 1, "delta": DELTA} | price)).sets
    return each


def test_one_draw_has_the_whole_price_of_keys_and_count():
    each = set_of(PEOPLE)
    (step,) = each.columns
    assert each.keys_stage is step
    assert step.mechanism == CountedKeys(epsilon=1, delta=DELTA, max_groups=3)
    assert each.loss.delta(epsilon=1) <= DELTA


def test_rows_show_their_key_with_a_delta_for_all_of_a_persons_rows():
    (step,) = set_of(ROWS).columns
    assert step.mechanism == CountedKeys(epsilon=1, delta=DELTA, max_groups=3, sensitivity=10)


def test_a_replaced_person_leaves_keys_and_enters_others():
    (step,) = set_of(PEOPLE, REPLACE).columns
    assert step.mechanism.scale == 6
    assert step.mechanism.relation == "replace"


def test_persons_show_the_keys_where_both_are_asked():
    text = "SELECT job, COUNT(*) AS rows, COUNT(DISTINCT person) AS n FROM accounts GROUP BY job"
    rows, people = (step.mechanism for step in set_of(text).columns)
    assert isinstance(rows, Laplace)
    assert rows.loss.epsilon(delta=0) == pytest.approx(1 / 3)
    assert people.epsilon == Fraction(2, 3)
    assert people.sensitivity == 1


def test_a_sum_beside_the_count_keeps_its_own_draw_and_its_share():
    each = set_of("SELECT job, SUM(age) AS s, COUNT(DISTINCT person) AS n FROM accounts GROUP BY job")
    total, people = (step.mechanism for step in each.columns)
    assert total.loss.epsilon(delta=0) == pytest.approx(1 / 3)
    assert (people.epsilon, people.delta) == (Fraction(2, 3), DELTA)
    assert each.keys_stage is each.columns[1]


def test_weights_of_the_count_are_kept():
    text = PEOPLE.replace("AS n", "AS n, SUM(age) AS s")
    (plan,) = plan_asked(text, BANK, epsilon=1, delta=DELTA, split={"n": 4})
    people, total = (step.mechanism for step in plan.sets[0].columns)
    assert people.epsilon == Fraction(5, 6)  # its weight 4 and the keys' 1, of 6
    assert total.loss.epsilon(delta=0) == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    "count", ["COUNT(*) FILTER (WHERE age > 30)", "COUNT(age)", "SUM(age)", "AVG(age)", "MEDIAN(age)"]
)
def test_a_number_that_leaves_out_somebody_shows_no_keys(count):
    each = set_of(f"SELECT job, {count} AS n FROM accounts GROUP BY job")
    assert isinstance(each.keys_stage.mechanism, KeySelection)
    assert each.keys_stage not in each.columns


def test_public_keys_have_no_threshold():
    each = set_of("SELECT city, COUNT(*) AS n FROM accounts GROUP BY city")
    assert (each.private, each.keys_stage) == (False, None)


@pytest.mark.parametrize(("policy", "price"), [(RHO, {"rho": 0.1}), (RHO, {}), (MU, {"rho": 0.1})])
def test_accounts_that_add_up_something_else_keep_two_draws(policy, price):
    given = {"epsilon": None, **price} if price else {}
    each = set_of(PEOPLE, policy, **given)
    assert isinstance(each.keys_stage.mechanism, KeySelection)
    assert each.keys_stage not in each.columns


def test_every_grouping_set_with_private_keys_has_one_draw():
    text = "SELECT city, job, COUNT(DISTINCT person) AS n FROM accounts GROUP BY ROLLUP (city, job)"
    plan = plan_of(text, epsilon=1, delta=DELTA)
    assert [each.keys_stage for each in plan.sets] == [
        each.columns[0] if each.private else None for each in plan.sets
    ]
    assert sorted(each.private for each in plan.sets) == [False, False, True]
    assert plan.loss.delta(epsilon=1) <= DELTA


@pytest.mark.parametrize("text", [PEOPLE, ROWS])
def test_the_count_errs_less_than_beside_a_selection_of_its_own(text):
    one = plan_of(text, epsilon=1, delta=DELTA)
    reach = one.sets[0].columns[0].mechanism.sensitivity * 3
    two = Laplace(epsilon=Fraction(1, 2), sensitivity=reach)  # half for the keys, as it would be
    assert one.errors["n"] <= 0.51 * two.error()


def test_an_error_to_keep_within_finds_the_price_of_the_one_draw():
    plan = plan_of(PEOPLE, within=20, delta=DELTA)
    assert plan.errors["n"] <= 20
    assert plan.sets[0].keys_stage is plan.sets[0].columns[0]
    less = plan_of(PEOPLE, epsilon=plan.share.epsilon * Fraction(9, 10), delta=DELTA)
    assert less.errors["n"] > 20


def test_the_plan_says_that_one_draw_serves_both():
    words = str(plan_of(ROWS, epsilon=1, delta=DELTA))
    assert "One draw shows them and answers the number of rows." in words
    assert "A key is shown if its noisy number exceeds" in words
    assert "Price: epsilon 1, delta 1e-06." in words


def table_of(numbers):
    """Any number of keys, each with the same exact numbers."""

    def run(plan):
        totals = tuple(numbers[type(each)] for each in plan.measures)
        return ExactTable(tuple((f"job {i}",) for i in range(numbers["keys"])), (totals,) * numbers["keys"])

    return run


def shown_rows(plan, persons, keys):
    numbers = {UnitCount: persons, RowCount: persons, Sum: 40 * persons, "keys": keys}
    return Answer(plan, release_invented(plan, table_of(numbers)), Receipt({}))


@pytest.mark.slow
@pytest.mark.parametrize("below", [0, 2])
def test_intervals_of_shown_counts_and_sums_cover_as_often_as_they_say(below):
    """2000 shown keys of a count at the threshold, or two scales below it, where one in fifteen is shown."""
    text = "SELECT job, COUNT(DISTINCT person) AS n, SUM(age) AS s FROM accounts GROUP BY job"
    plan = plan_of(text, epsilon=3, delta=DELTA)
    noise = plan.sets[0].columns[0].mechanism
    persons = noise.threshold - round(below * noise.scale)
    answer = shown_rows(plan, persons, int(1.3 * DRAWS / noise.probability(persons)))
    intervals = answer.intervals
    assert len(intervals) > DRAWS  # 1.3 as many are expected: fewer with probability below 1e-25
    for name, truth in (("n", persons), ("s", 40 * persons)):
        inside = sum(each[name].lower <= truth <= each[name].upper for each in intervals[:DRAWS])
        assert inside >= FEWEST
    reach = noise.error(confidence=Fraction(95, 100))
    blind = sum(abs(row["n"] - persons) <= reach for row in answer.rows[:DRAWS])  # the planted fault
    assert below == 0 or blind < FEWEST


def test_keys_of_one_person_are_not_shown_and_large_ones_are():
    plan = plan_of(PEOPLE, epsilon=1, delta=Fraction(1, 10**15))
    noise = plan.sets[0].columns[0].mechanism
    assert shown_rows(plan, 1, 1000).rows == ()  # but for a probability below 1e-12
    rows = shown_rows(plan, noise.always, 50).rows
    assert [row["job"] for row in rows] == [f"job {i}" for i in range(50)]
    assert all(row["n"] > noise.threshold for row in rows)
