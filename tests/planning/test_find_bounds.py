"""Missing bounds: found privately, at a price fixed before, and remembered with the answer."""

import math
from fractions import Fraction

import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.asking.engines import DuckDBEngine, MemoryEngine
from discreet.asking.planning import plan_asked
from discreet.asking.planning.draft import FALLBACK, PART
from planning.frozen import plan_of
from queries.bank import BANK


def opened(folder, values, kind="number", **more):
    rows = [(f"p{index}", value) for index, value in enumerate(values)]
    frame = pandas.DataFrame(rows, columns=["person", "x"])
    declared = {"unit": "person", "budget": {"epsilon": 100}, "types": {"x": kind}, **more}
    return dp.Curator.open(frame, name="t", ledger=folder / "t.ledger", **declared)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([300.0] * 2000 + [900.0] * 2000, (256, 1024)),
        ([-5.0] * 2000 + [5.0] * 2000, (-8, 8)),
        ([0.0] * 4000, (-(2.0**-20), 2.0**-20)),
        ([3] * 4000, (2, 4)),
        ([0] * 4000, (-1, 1)),
        ([1.0] * 4000 + [math.inf, math.nan, 1e300, -(2.0**70)], (1, 2)),
        ([1.0], FALLBACK),  # too few people to see
    ],
)
def test_bounds_are_powers_of_two_around_what_many_people_have(tmp_path, values, bounds):
    # An empty bin is taken for a full one with probability 1e-3, so five rounds must not all fail: 1e-15.
    kind = "integer" if isinstance(values[0], int) else "number"
    with opened(tmp_path, values, kind, max_rows=1) as curator:
        answers = [curator.ask("SELECT SUM(x) AS s FROM t", epsilon=8 + n, bounds="auto") for n in range(5)]
    assert any(answer.plan.search.found == (bounds,) for answer in answers)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "terms", "bounds"),
    [
        ([300.0] * 4000, {}, (0, 8 * 512)),
        ([-5.0] * 2000 + [5.0] * 2000, {}, (-64, 64)),
        ([-300.0] * 4000, {}, (-8 * 512, 0)),
        ([0] * 2000 + [3] * 2000, {}, (0, 32)),  # no sum of values >= 0 is taken for a signed one
        ([3 * 2**60] * 4000, {}, (0, 2**62)),  # where bins end
        ([1.0], {}, FALLBACK),
        ([300.0] * 4000, {"limit": 1}, (256, 512)),  # a declared limit is in rows of the largest value
        ([300.0] * 4000, {"relation": "replace"}, (256, 512)),  # where no range of a mean is narrowed
    ],
)
def test_where_limits_are_found_bounds_have_room_for_the_few_beyond(tmp_path, values, terms, bounds):
    kind = "integer" if isinstance(values[0], int) else "number"
    with opened(tmp_path, values, kind, **terms) as curator:
        answers = [curator.ask("SELECT SUM(x) AS s FROM t", epsilon=8 + n, bounds="auto") for n in range(5)]
    assert any(answer.plan.search.found == (bounds,) for answer in answers)


@pytest.mark.slow
def test_few_people_beyond_the_bins_that_show_are_not_cut(tmp_path):
    """Twenty people in a bin do not show at this price, and hold a tenth of the sum: bounds at the last full
    bin err by 0.09. With room one answer errs by 0.05 with a probability under 1e-3, so five of nine do with
    one under 1e-12."""
    values = [100.0] * 2000 + [200.0, 400.0, 800.0] * 20
    with opened(tmp_path, values) as curator:
        asked = [
            curator.ask("SELECT SUM(x) AS s FROM t", epsilon=2 + n / 1000, bounds="auto") for n in range(9)
        ]
    assert np.median([abs(each.rows[0]["s"] - sum(values)) / sum(values) for each in asked]) < 0.05


def test_the_price_is_fixed_before_and_charged_whole(tmp_path):
    with opened(tmp_path, [300.0] * 4000) as curator:
        plan = curator.explain("SELECT AVG(x) AS m FROM t", epsilon=1, bounds="auto")
        assert plan.price == dp.PureDP(1)
        assert plan.errors == {"m": None}
        assert "found privately with 1/4 of the price" in str(plan)
        answer = curator.ask("SELECT AVG(x) AS m FROM t", epsilon=1, bounds="auto")
        assert curator.remaining.epsilon == 99
        assert "Bounds found: [0, 4,096]" in str(answer.receipt)
        assert answer.intervals[0]["m"].lower <= 300 <= answer.intervals[0]["m"].upper + 5


def test_the_answer_is_found_again_with_its_bounds(tmp_path):
    sql = "SELECT SUM(x) AS s, MEDIAN(x) AS m FROM t"
    with opened(tmp_path, [300.0] * 4000) as curator:
        first = curator.ask(sql, epsilon=4, bounds="auto")
        again = curator.ask(sql, epsilon=4, bounds="auto")
        assert first.rows == again.rows
        assert first.intervals == again.intervals
        assert curator.remaining.epsilon == 96


def test_declared_bounds_leave_nothing_to_search_for():
    asked = "SELECT SUM(debt) AS s FROM accounts"
    (searched,) = plan_asked(asked, BANK, epsilon=1, bounds="auto")
    assert searched.search is None
    assert searched.loss == plan_of(asked, epsilon=1).loss


def test_without_being_asked_for_bounds_are_refused_and_with_within_too(tmp_path):
    with opened(tmp_path, [1.0]) as curator:
        with pytest.raises(dp.UnsupportedQuery):
            curator.ask("SELECT SUM(x) AS s FROM t", epsilon=1)
        for wrong in ({"within": 10, "bounds": "auto"}, {"epsilon": 1, "bounds": "yes"}):
            with pytest.raises(dp.InvalidParameter):
                curator.ask("SELECT SUM(x) AS s FROM t", **wrong)
        with pytest.raises(dp.InvalidParameter):
            curator.dry_run("SELECT SUM(x) AS s FROM t", epsilon=1, bounds="auto")
        assert curator.remaining.epsilon == 100


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 1}])
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_what_is_drawn_keeps_the_price(tmp_path, budget, relation):
    price = {"rho": 1} if "rho" in budget else budget
    with opened(tmp_path, [300.0] * 4000, budget=budget, relation=relation) as curator:
        answer = curator.ask("SELECT SUM(x) AS s, AVG(x * 2) AS m FROM t", **price, bounds="auto")
        drawn = [each.loss for each in (*answer.plan.search.stages, *answer.plan.sets)]
        real = sum(drawn[1:], drawn[0])
        if "rho" in budget:
            assert Fraction(real.rho) <= 1
        else:
            assert real.delta(epsilon=1) <= budget.get("delta", 0)
        searched = sum(
            (step.loss for step in answer.plan.search.stages[1:]), answer.plan.search.stages[0].loss
        )
        assert "rho" in budget or searched.epsilon(delta=0) <= PART * 1


def one_unit(rows):
    frame = pandas.DataFrame([("u", value) for value in rows], columns=["person", "x"])
    policy = dp.Curator.open(
        frame,
        name="t",
        unit="person",
        budget={"epsilon": 1},
        max_groups=3,
        max_rows=9,
        types={"x": "number", "person": "text"},
    ).policy
    (plan,) = plan_asked("SELECT SUM(x) AS s FROM t", policy, epsilon=1, bounds="auto")
    return plan.search.stages[0], policy, frame


@pytest.mark.slow
@pytest.mark.parametrize("rows", [[1.0, 1.0, 1.0], [1.0, 100.0, -1e6, 0.0], [math.nan], [math.inf, 5.0]])
def test_one_unit_moves_one_count_by_one(rows):
    step, policy, frame = one_unit(rows)
    counted = [total for (total,) in DuckDBEngine(policy, {"t": frame}).run(step.plan).totals]
    plain = [{"person": "u", "x": None if math.isnan(value) else value} for value in rows]
    reference = [total for (total,) in MemoryEngine(policy, {"t": plain}).run(step.plan).totals]
    assert sum(counted) == sum(reference) <= step.mechanism.sensitivity == 1
    assert set(counted) <= {0, 1}


@pytest.mark.slow
def test_every_value_lies_in_the_bin_that_its_edges_say():
    values = [*np.ldexp(1.0, np.arange(-22, 82)), 0.0, 0.75, 3.0, 1e6 - 1]
    values = [sign * value for value in values for sign in (1, -1)]
    for value in values:
        step, policy, _ = one_unit([value])
        engine = MemoryEngine(policy, {"t": [{"person": "u", "x": value}]})
        counts = [total for (total,) in engine.run(step.plan).totals]
        inside = [
            low <= Fraction(value) < high for low, high in zip(step.edges, step.edges[1:], strict=False)
        ]
        assert counts == [int(each) for each in inside]
