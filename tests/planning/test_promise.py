"""Nothing is drawn that was not promised before the charge: on every way into the data."""

import math
from dataclasses import replace
from fractions import Fraction

import pandas
import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from discreet.asking.planning import plan_asked, with_bounds
from discreet.asking.planning.planner import AfterBounds
from discreet.asking.policy import from_arguments
from discreet.asking.query_run import QueryRun
from discreet.errors import InternalError
from discreet.kernel.losses import approximate, pure
from discreet.kernel.mechanisms import (
    CountedKeys,
    Exponential,
    Gaussian,
    KeySelection,
    Laplace,
    PermuteAndFlip,
    Quantile,
    Sparse,
)
from planning.planted import COUNT, PLANTED, SUM, gaussian, half, noise
from server.running import promptly, write_policy

DRAWS = (
    *((kind, "draw") for kind in (Laplace, Gaussian, CountedKeys, KeySelection, PermuteAndFlip, Exponential)),
    (Quantile, "draw_tally"),
)


def open_table(folder, *, relation="add/remove", budget=None, **declared):
    frame = pandas.DataFrame(
        [(p, "abc"[p % 3], f"s{p % 3}", p % 7, "xyz"[p % 3]) for p in range(600)],
        columns=["person", "city", "shop", "x", "y"],
    )
    keys = {"city": ["a", "b", "c"], "y": ["x", "y", "z"]}
    declared = {"bounds": {"x": (0, 6)}, "keys": keys, "max_groups": 1, **declared}
    return dp.Curator.open(
        frame, name="t", unit="person", relation=relation, budget=budget or dp.ApproxDP(50, 1e-3),
        ledger=folder / "t.ledger", **declared,
    )  # fmt: skip


@pytest.fixture
def drawn(monkeypatch):
    """What was drawn: the names of the mechanisms that were used."""
    names = []
    for kind, method in DRAWS:
        real = getattr(kind, method)

        def use(self, *given, real=real):
            names.append(type(self).__name__)
            return real(self, *given)

        monkeypatch.setattr(kind, method, use)
    return names


def change_after_charge(monkeypatch, change):
    real = QueryRun.run

    def run(self, *given):
        self.plans = tuple(map(change, self.plans))
        return real(self, *given)

    monkeypatch.setattr(QueryRun, "run", run)


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("name", PLANTED)
def test_a_plan_that_was_changed_after_its_charge_is_stopped_before_a_draw(
    tmp_path, monkeypatch, drawn, name, relation
):
    sql, change = PLANTED[name]
    with open_table(tmp_path, relation=relation) as curator:
        curator.ask(sql, epsilon=1, delta=1e-5)
        assert drawn  # unchanged it runs
        drawn.clear()
        change_after_charge(monkeypatch, change)
        with pytest.raises(InternalError, match="more than was charged"):
            curator.ask(sql, epsilon=2, delta=1e-5)
        assert not drawn


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_a_list_is_stopped_before_the_first_draw_of_any_question(tmp_path, monkeypatch, drawn, relation):
    with open_table(tmp_path, relation=relation) as curator:
        halved = noise(half)
        change_after_charge(monkeypatch, lambda plan: halved(plan) if "SUM" in plan.text else plan)
        with pytest.raises(InternalError, match="more than was charged"):
            curator.ask([COUNT, SUM], epsilon=2)
        assert not drawn


def test_a_search_that_draws_more_is_stopped(tmp_path, monkeypatch, drawn):
    def change(plan):
        stages = tuple(replace(stage, mechanism=half(stage.mechanism)) for stage in plan.search.stages)
        return replace(plan, search=replace(plan.search, stages=stages))

    with open_table(tmp_path, bounds={}, types={"x": "integer"}) as curator:
        change_after_charge(monkeypatch, change)
        with pytest.raises(InternalError, match="more than was charged"):
            curator.ask(SUM, epsilon=2, bounds="auto")
        assert not drawn


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("fault", ["Gaussian for Laplace", "half the noise of a sum", "a wider range"])
def test_what_follows_a_search_is_stopped_unless_the_promise_covers_it(
    tmp_path, monkeypatch, drawn, fault, relation
):
    _, change = PLANTED[fault]
    real = AfterBounds.plan_with
    monkeypatch.setattr(AfterBounds, "plan_with", lambda self, found: change(real(self, found)))
    with open_table(tmp_path, bounds={}, types={"x": "integer"}, relation=relation) as curator:
        with pytest.raises(InternalError, match="more than was charged"):
            curator.ask(SUM, epsilon=2, bounds="auto")
        assert drawn == ["Laplace"]  # the search alone


def test_a_delta_that_may_be_spent_after_a_search_is_charged_before_it(tmp_path):
    """At low confidence both kinds of noise err by nothing on the stand-in bounds; on real ones Gaussian
    noise would win, with any delta that was asked for."""
    sql, terms = SUM, {"epsilon": 0.1, "delta": 0.999999999, "confidence": 0.01, "bounds": "auto"}
    with open_table(tmp_path, bounds={}, types={"x": "integer"}, budget=dp.PureDP(1)) as curator:
        assert curator.explain(sql, **terms).price == dp.ApproxDP(0.1, 0.999999999)
        with pytest.raises((dp.BudgetExceeded, dp.InvalidParameter)):
            curator.ask(sql, **terms)
        assert curator.remaining == dp.PureDP(1)
        assert curator.ask(sql, epsilon=0.1, bounds="auto").receipt.facts["price"] == {"epsilon": "0.1"}


def test_an_honest_delta_of_a_search_is_charged_as_the_receipt_says(tmp_path):
    terms = {"epsilon": 3, "delta": 1e-6, "bounds": "auto"}
    sql = "SELECT city, SUM(x) AS s FROM t GROUP BY city"
    with open_table(tmp_path, bounds={}, types={"x": "integer"}, max_groups=9) as curator:
        before = curator.remaining
        answer = curator.ask(sql, **terms)
        assert answer.receipt.facts["price"] == {"epsilon": "3", "delta": "1e-06"}
        assert (before.epsilon - curator.remaining.epsilon, before.delta - curator.remaining.delta) == (
            3,
            Fraction(1, 10**6),
        )


def test_a_watch_that_would_cost_more_is_stopped_before_it_reads(tmp_path):
    with open_table(tmp_path) as curator:
        watch = curator.watch(threshold=100, epsilon=1)
        assert watch.test(COUNT)
        sharper = curator.watch(threshold=100, epsilon=1, count=2)
        sharper._stream = Sparse(threshold=0, epsilon=2, count=2)
        with pytest.raises(InternalError, match="more than was charged"):
            sharper.test(COUNT)


def test_over_rest_a_changed_plan_is_the_constant_error_and_an_unpaid_delta_is_refused(tmp_path, monkeypatch):
    with promptly(write_policy(tmp_path, epsilon=3)) as served:
        terms = {"epsilon": 0.1, "delta": 0.9, "confidence": 0.01, "bounds": "auto"}
        refused = served.ask("SELECT SUM(person) AS s FROM town", **terms)
        assert (refused.status, refused.code) == (409, "budget_exceeded")
        change_after_charge(monkeypatch, noise(gaussian))
        stopped = served.ask("SELECT COUNT(*) AS n FROM town", epsilon=0.1)
        assert (stopped.status, stopped.code) == (503, "engine_failure")


BOUNDS = st.tuples(st.integers(-(2**62), 2**62), st.integers(0, 62)).map(
    lambda ends: (Fraction(ends[0]), Fraction(ends[0] + 2 ** ends[1]))
)


@settings(max_examples=60)
@given(
    found=BOUNDS,
    epsilon=st.sampled_from(["0.01", "0.3", "1", "3", "10", "100"]).map(Fraction),
    delta=st.sampled_from([0, Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 4)]),
    confidence=st.sampled_from([Fraction(1, 100), Fraction(1, 2), Fraction(19, 20)]),
    aggregate=st.sampled_from(["SUM(x)", "AVG(x)", "MEDIAN(x)", "SUM(x), AVG(x)", "VARIANCE(x), COUNT(*)"]),
    relation=st.sampled_from(["add/remove", "replace"]),
    measure=st.sampled_from(["epsilon", "rho"]),
)
def test_whatever_is_found_the_promise_covers_it(
    *, found, epsilon, delta, confidence, aggregate, relation, measure
):
    """No honest question is charged and then stopped."""
    budget = {"epsilon": Fraction(1000), "delta": Fraction(1, 2)} if measure == "epsilon" else {"rho": 1000}
    policy = policy_of(budget, relation)
    columns = ", ".join(f"{each} AS c{i}" for i, each in enumerate(aggregate.split(", ")))
    price = {"epsilon": epsilon, "delta": delta} if measure == "epsilon" else {"rho": epsilon}
    (plan,) = plan_asked(
        f"SELECT city, {columns} FROM t GROUP BY city", policy, confidence=confidence, bounds="auto", **price
    )
    finished = with_bounds(plan, (found,) * len(plan.search.stages))
    plan.promises[-1].check([stage for each in finished.sets for stage in each.stages])
    assert finished.loss == plan.loss
    assert finished.price == plan.price
    named = dp.ApproxDP(epsilon, delta).loss if measure == "epsilon" else dp.ZCDP(epsilon).loss
    if measure == "epsilon":  # search and rest together cost no more than was named
        assert plan.loss.delta(epsilon=epsilon) <= named.delta(epsilon=epsilon)
    else:
        assert plan.loss.rho <= named.rho


def policy_of(budget, relation):
    return from_arguments(
        id="t", sources={"t": None}, unit="person", budget=budget, relation=relation, max_groups=5,
        max_rows=3, types={"x": "integer"}, keys={"city": ["a", "b", "c"]},
    )  # fmt: skip


def test_a_stored_answer_is_read_by_the_noise_that_was_drawn_whatever_the_confidence(tmp_path):
    terms = {"epsilon": 0.1, "delta": 1e-4, "bounds": "auto"}
    sql = "SELECT city, SUM(x) AS s FROM t GROUP BY city"
    with open_table(tmp_path, bounds={}, types={"x": "integer"}, max_groups=9) as curator:
        first = curator.ask(sql, confidence=0.999, **terms)
        again = curator.ask(sql, confidence=0.01, **terms)
        noises = [
            [step.mechanism for each in answer.plan.sets for step in each.columns]
            for answer in (first, again)
        ]
        assert first.rows == again.rows
        assert noises[0] == noises[1]
        assert again.intervals[0]["s"].width < first.intervals[0]["s"].width


def test_the_worst_path_is_no_promise():
    """Randomised response of 0.1; then, by its answer, one of about 0.9 or a failure of 1e-6. On each path
    delta at epsilon 1 is 1e-6 and for all of it 1.475e-6: a stage that depends on what was released must be
    promised by one loss for both."""
    target, first = 1e-6, 0.1
    p = math.exp(first) / (1 + math.exp(first))

    def delta_of_two(second):  # of both responses, at epsilon 1: one outcome exceeds it
        q = math.exp(second) / (1 + math.exp(second))
        return p * q - math.e * (1 - p) * (1 - q)

    low, high = 0.9, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of_two(middle) < target else (low, middle)
    adaptive = delta_of_two(low) + (1 - p) * target
    assert adaptive == pytest.approx(1.475e-6, rel=1e-3)
    for path in (
        pure(epsilon=first) + pure(epsilon=low),
        pure(epsilon=first) + approximate(epsilon=1e-9, delta=target),
    ):
        assert path.delta(epsilon=1) <= target * (1 + 1e-6)
    promised = pure(epsilon=first) + dp.ApproxDP(low, target).loss
    assert promised.delta(epsilon=1) >= adaptive
