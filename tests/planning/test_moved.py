"""What one unit moves, found by running plans on neighbours, against what they charge; both relations."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import contribution
from discreet.asking.policy import from_toml
from discreet.asking.queries import read_question
from discreet.asking.watching import Watch
from discreet.kernel.mechanisms import Laplace
from planning.frozen import plan_of

RELATIONS = ["add/remove", "replace"]
CITIES = ("a", "b", "c", "d")


def policy_of(relation, *, groups=1, rows=1, bounds=(-10, 10), kind="integer"):
    return from_toml(
        f"""
[dataset]
id = "t"
version = "1"
relation = "{relation}"
population = 1000
budget = {{ epsilon = 1 }}
[tables.t]
unit = "person"
max_groups = {groups}
max_rows = {rows}
[tables.t.columns]
person = {{ type = "integer" }}
x = {{ type = "{kind}", bounds = [{bounds[0]}, {bounds[1]}] }}
city = {{ type = "text", keys = {list(CITIES)} }}
"""
    )


def neighbours(relation, people):
    """Every pair of data sets in which one person, of these, is there and away, or there and another."""
    others = people if relation == "replace" else [[]]
    return itertools.product(people, others)


def in_cities(groups):
    """Persons in as many of the cities as they may be, with several values and numbers of rows."""
    for cities, x, rows in itertools.product(itertools.combinations(CITIES, groups), (3, -4), (1, 2)):
        yield [{"person": 1, "x": x, "city": city} for city in cities for _ in range(rows)]


# --- choices -------------------------------------------------------------------------------------------


def assert_choices_are_paid_for(function, relation, groups):
    policy = policy_of(relation, groups=groups, rows=2)
    plan = plan_of(f"SELECT city, {function} AS y FROM t GROUP BY city", policy, epsilon=1)
    (step,) = plan.sets[0].columns
    exact = step.plan
    moved = 0
    for one, other in neighbours(relation, list(in_cities(groups))):
        tallies = [MemoryEngine(policy, {"t": rows}).run(exact).tallies for rows in (one, other)]
        moved = max(moved, sum(dict(a) != dict(b) for a, b in zip(*tallies, strict=True)))
    assert step.times == moved, "the choices that a unit moves are not those that are paid for"
    assert step.times * step.mechanism.epsilon <= 1


CHOICES = ["MEDIAN(x)", "QUANTILE(x, 0.9)", "MIN(x)", "MAX(x)", "MODE(city)"]


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("function", CHOICES)
def test_every_choice_that_a_unit_moves_is_paid_for(function, relation, groups):
    assert_choices_are_paid_for(function, relation, groups)


@pytest.mark.parametrize("function", CHOICES)
def test_groups_that_are_left_and_entered_but_counted_once_are_found(function, monkeypatch):
    monkeypatch.setattr(contribution.Contribution, "moved", property(lambda reach: reach.groups))
    with pytest.raises(AssertionError, match="not those that are paid for"):
        assert_choices_are_paid_for(function, "replace", 1)


# --- sums ----------------------------------------------------------------------------------------------


def assert_sums_are_paid_for(function, relation, rows, bounds):
    """The farthest of all neighbours at the bounds is exactly as far as the noise is for."""
    policy = policy_of(relation, rows=rows, bounds=bounds)
    plan = plan_of(f"SELECT {function} AS y FROM t", policy, epsilon=1)
    exact = plan.sets[0].reads[0]
    values = {*bounds, *(sum(bounds) // 2 + half for half in (0, 1))}
    people = [[], *([{"person": 1, "x": x, "city": "a"}] * rows for x in sorted(values))]
    totals = [MemoryEngine(policy, {"t": person}).run(exact).totals[0] for person in people]
    pairs = list(itertools.product(totals, totals if relation == "replace" else totals[:1]))
    for step in plan.sets[0].columns:
        assert isinstance(step.mechanism, Laplace)
        moved = max(abs(one[step.position] - other[step.position]) for one, other in pairs)
        assert step.mechanism.sensitivity >= moved, "a unit moves a sum further than its noise is for"
        assert step.mechanism.sensitivity == max(moved, 1)


SUMS = ["COUNT(*)", "COUNT(x)", "COUNT(DISTINCT person)", "SUM(x)", "AVG(x)", "VARIANCE(x)"]
BOUNDS = st.tuples(st.integers(-50, 50), st.integers(1, 40)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@settings(max_examples=30)
@given(BOUNDS, st.integers(1, 3), st.sampled_from(SUMS), st.sampled_from(RELATIONS))
def test_every_sum_is_noised_for_the_farthest_neighbour(bounds, rows, function, relation):
    assert_sums_are_paid_for(function, relation, rows, bounds)


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_half_width_that_is_rounded_down_is_found(relation, monkeypatch):
    right = contribution._row

    def rounded_down(measure):
        low, high = right(measure)
        return (low, high) if measure.power == 2 else (-(-low // 1), min(high, (high - low) // 2))

    monkeypatch.setattr(contribution, "_row", rounded_down)
    with pytest.raises(AssertionError, match="further than its noise"):
        assert_sums_are_paid_for("AVG(x)", relation, 1, (0, 3))


# --- watches -------------------------------------------------------------------------------------------


class Recorder:
    """In the place of a sparse vector: keeps what it is asked to compare."""

    finished, loss = False, "as it was charged"

    def __init__(self, relation, sensitivity):
        self.relation, self.sensitivity, self.seen = relation, sensitivity, []

    def test(self, value):
        self.seen.append(value)
        return False


class NoBook:
    """Nobody counts what fails here."""

    def begin(self):
        return None

    def settle(self, entered):
        assert entered is None


def assert_watches_are_scaled(function, relation, bounds, *, sensitivity, rows=2, kind="integer"):
    policy = policy_of(relation, rows=rows, bounds=bounds, kind=kind)
    people = [[], *([{"person": 1, "x": x, "city": "a"}] * rows for x in bounds)]
    seen = []
    for person in people:
        recorder = Recorder(relation, Fraction(sensitivity))
        engine = MemoryEngine(policy, {"t": person})
        watch = Watch(
            recorder, 5, engine.run, lambda text: read_question(text, policy), book=NoBook(), most=1
        )
        watch.test(f"SELECT {function} AS y FROM t")
        seen += recorder.seen
    pairs = itertools.product(seen, seen if relation == "replace" else seen[:1])
    moved = max(abs(one - other) for one, other in pairs)
    assert moved <= sensitivity, "a unit moves what is compared by more than the stream's sensitivity"


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize(
    "function", ["COUNT(*)", "COUNT(x)", "COUNT(DISTINCT person)", "SUM(x)", "SUM(x * x)"]
)
@pytest.mark.parametrize("bounds", [(-10, 10), (0, 7), (-9, 2), (3, 8)])
def test_what_a_watch_compares_moves_by_its_sensitivity_at_most(function, relation, bounds, kind):
    for sensitivity in (1, 10, 1000):
        assert_watches_are_scaled(function, relation, bounds, sensitivity=sensitivity, kind=kind)


def test_a_watch_that_forgets_that_a_unit_may_be_replaced_is_found(monkeypatch):
    right = Watch._shrink

    def forgetful(watch, plan, step):
        relation, watch._stream.relation = watch._stream.relation, "add/remove"
        try:
            return right(watch, plan, step)
        finally:
            watch._stream.relation = relation

    monkeypatch.setattr(Watch, "_shrink", forgetful)
    with pytest.raises(AssertionError, match="more than the stream's sensitivity"):
        assert_watches_are_scaled("SUM(x)", "replace", (-10, 10), sensitivity=10)
