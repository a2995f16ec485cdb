"""Where values of a mean end: groups with ends of their own, and values enlarged to one range."""

import math
from dataclasses import replace
from fractions import Fraction

import pandas
import pytest

import discreet as dp
from discreet.asking.planning import Bernstein, ExactPlan, Lattice, Limit
from discreet.asking.planning.clamping import OWN, AfterOwnEnds, AfterWeights, ChooseEnd, Clamped
from discreet.asking.planning.scaling import enlarge
from discreet.asking.queries import Key, Name, evaluate
from discreet.asking.release import rehearse_draws
from discreet.kernel.mechanisms.ladder import ONE
from discreet.kernel.plan import Output, Released

LOW, HIGH = -8, 1016
KEY, VALUE = Name("k", type="text"), {kind: Name("x", type=kind) for kind in ("integer", "number")}
LABELS = (("a",), ("b",), (None,))
SHIFTS = (3, 0, 7)


def measure_of(kind):
    lattice = Lattice.over((Fraction(LOW), Fraction(HIGH)), kind)
    return Bernstein(VALUE[kind], lattice)


def enlarged(measure, label, value):
    plan = ExactPlan(
        rows=None, keys=(Key(KEY, None),), labels=LABELS, measures=(measure,), tally=None,
        max_groups=1, max_rows=1, each_row=False, salt=0,
    )  # fmt: skip
    row = {"k": label, "x": value}
    return evaluate(enlarge(measure, plan, SHIFTS).argument, lambda column: row[column.name])


@pytest.mark.parametrize("kind", VALUE)
@pytest.mark.parametrize(("label", "shift"), [("a", 3), ("b", 0), (None, 7), ("of no group", 0)])
def test_a_value_is_as_far_in_its_own_range_as_what_it_becomes_in_the_widest(kind, label, shift):
    measure, width = measure_of(kind), HIGH - LOW
    end = LOW + (width >> shift)
    for value in (LOW, LOW + 1, LOW + (width >> shift) // 2, end):
        part = Fraction(value - LOW, width >> shift)
        assert enlarged(measure, label, value) == LOW + part * width
    for beyond in (end + 1, HIGH, 10**12, 2**63 - 1):
        assert measure.lattice.place(enlarged(measure, label, beyond)) == measure.lattice.highest
    for below in (LOW - 1, -(2**63)):
        assert measure.lattice.place(enlarged(measure, label, below)) == measure.lattice.lowest
    assert enlarged(measure, label, None) is None


def test_ranges_that_are_alike_change_nothing():
    measure = measure_of("integer")
    assert enlarge(measure, None, (0, 0, 0)) is measure


MANY, WARDS = 3000, ("cards", "houses", "few")


@pytest.fixture(scope="module")
def visits():
    """Values of about a hundred in one ward, of about a million in another, and a ward of few people."""
    rows = [(n, "cards", 50 + n % 100) for n in range(MANY)]
    rows += [(n, "houses", 500_000 + 100 * n) for n in range(MANY)]
    rows += [(n, "few", 700_000) for n in range(9)]
    return pandas.DataFrame(rows, columns=["person", "ward", "cost"])


def opened(visits, tmp_path, **terms):
    told = {"unit": "person", "budget": 1000, "bounds": {"cost": (0, 2**24)}, "keys": {"ward": list(WARDS)}}
    return dp.Curator.open(visits, name="v", ledger=tmp_path / "v.ledger", **(told | terms))


BY_WARD = "SELECT ward, AVG(cost) AS m, STDDEV(cost) AS d FROM v GROUP BY ward"


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_group_of_small_values_is_not_drowned_by_another(engine, visits, tmp_path):
    """A common range errs by 60 in cards at this price: 2^20 / (0.3 * 3000 / 2) / 40."""
    question = "SELECT ward, AVG(cost) AS m FROM v GROUP BY ward"
    answer = opened(visits, tmp_path, engine=engine).ask(question, epsilon=40)
    found = {
        row["ward"]: (row["m"], ends["m"]) for row, ends in zip(answer.rows, answer.intervals, strict=True)
    }
    value, ends = found["cards"]
    assert value == pytest.approx(99.5, abs=2)
    assert ends.width < 10
    assert found["houses"][0] == pytest.approx(649_950, rel=0.02)
    assert found["few"][0] == pytest.approx(700_000, rel=0.2)  # the range of all: its units are too few
    assert found["few"][1].width > 1000 * ends.width
    assert "an end of each group" in answer.notes[0]


def test_variances_are_of_the_group_too(visits, tmp_path):
    answer = opened(visits, tmp_path).ask(BY_WARD, epsilon=400)
    deviations = {row["ward"]: row["d"] for row in answer.rows}
    assert deviations["cards"] == pytest.approx(math.sqrt((100**2 - 1) / 12), rel=0.1)
    assert deviations["houses"] == pytest.approx(86_600, rel=0.05)


def test_many_groups_have_one_range(visits, tmp_path):
    wards = [*WARDS, *map(str, range(70))]
    plan = opened(visits, tmp_path, keys={"ward": wards}).explain(BY_WARD, epsilon=1)
    choose, after = plan.sets[0].stages[0].ready(Released())
    assert choose.cells == (0,)
    top = after.ready(Released((Output(numbers=(12,)),)))
    assert not any(isinstance(each, AfterWeights) for each in top)


def stages_by_group(visits, tmp_path):
    (later, *_) = opened(visits, tmp_path).explain(BY_WARD, epsilon=1).sets[0].stages
    assert isinstance(later, Clamped)
    joint, after = later.ready(Released())
    told = Released((Output(numbers=(10,)),))
    weights, follow = after.ready(told)
    return later, joint, weights, follow, told


def test_what_follows_is_covered_by_what_was_promised(visits, tmp_path):
    later, joint, weights, follow, told = stages_by_group(visits, tmp_path)
    epsilon = later.price.epsilon
    for units in ((0, 0, 0), (2**80, 2**80, 0)):
        become = follow.ready(told.then(Output(numbers=units)))
        spent = [joint.loss, weights.loss, *(each.loss for each in become if hasattr(each, "loss"))]
        spent += [each.price.loss for each in become if not hasattr(each, "loss")]
        assert sum((each.epsilon(delta=0.0) for each in spent), 0.0) <= float(epsilon) * (1 + 1e-12)
        assert all(each.fits("add/remove") for each in become if isinstance(each, ChooseEnd))


def test_only_groups_of_enough_units_choose_an_end(visits, tmp_path):
    *_, follow, told = stages_by_group(visits, tmp_path)
    none, *_ = follow.ready(told.then(Output(numbers=(0, 0, 0))))
    assert not isinstance(none, ChooseEnd)
    choose, after = follow.ready(told.then(Output(numbers=(0, 2**80, 0))))
    assert (choose.cells, type(after)) == ((1,), AfterOwnEnds)
    (final,) = after.ready(told.then(Output(numbers=(0,))))
    assert final.shifts == (0, 9, 0)
    (final,) = after.ready(told.then(Output(numbers=(11,))))
    assert final.shifts == (0, 0, 0)  # less than an order of magnitude


def test_groups_that_overlap_or_a_price_without_room_for_rounding_do_not_fit(visits, tmp_path):
    later, _, _, follow, told = stages_by_group(visits, tmp_path)
    choose, _ = follow.ready(told.then(Output(numbers=(2**80, 2**80, 0))))
    assert choose.fits("add/remove")
    assert not replace(choose, cells=(0, 0)).fits("add/remove")
    assert not choose.fits("replace")
    assert choose.mechanism.epsilon == later.price.epsilon * OWN * Fraction(ONE, ONE + 1)
    assert choose.loss.epsilon(delta=0.0) == pytest.approx(float(later.price.epsilon * OWN), rel=1e-12)
    assert not replace(choose, plan=replace(choose.plan, limit=Limit.of(2))).fits("add/remove")


@pytest.mark.parametrize("price", [{"epsilon": 40}, {"rho": 40}])
@pytest.mark.parametrize(
    ("question", "percent"),
    [
        ("SELECT AVG(cost) AS m FROM v", {85}),
        ("SELECT ward, AVG(cost) AS m FROM v GROUP BY ward", {80, 86, 88}),
        ("SELECT ward, STDDEV(cost) AS m FROM v GROUP BY ward", {80, 86, 88}),
    ],
)
def test_intervals_are_as_wide_as_the_noise_that_was_drawn(question, percent, price, visits, tmp_path):
    """The fault: ends cost a part of the price, and intervals are those of all of it."""
    budget = {next(iter(price)): 10**4}
    with opened(visits, tmp_path, budget=budget) as curator:
        plan, engine = curator.explain(question, **price), curator.resources.engine()
        done, (outcome,), ran = rehearse_draws(plan, engine.run)
    (estimator,), noise = done.sets[0].estimators, ran[-1].draw.mechanism
    for row in outcome.numbers:
        parts = len(ran[-1].draw.plan.measures)
        each = 1 - Fraction(1, 100) / parts
        assert estimator._around(row, Fraction(99, 100)) == math.ceil(noise.error(confidence=each))
        assert row[parts + 1] in percent
    (tmp_path / "narrow").mkdir()
    narrow = opened(visits, tmp_path / "narrow", budget=budget, bounds={"cost": (0, 2)})
    with narrow as curator:
        _, (outcome,), _ = rehearse_draws(curator.explain(question, **price), curator.resources.engine().run)
    assert {row[-2] for row in outcome.numbers} == {100}


def test_what_is_said_of_noise_before_leaves_out_the_price_of_ends(visits, tmp_path):
    (line,) = [each for each in opened(visits, tmp_path).explain(BY_WARD, epsilon=1).sentences()
               if each.startswith("Noise")]  # fmt: skip
    assert line.split("deviation ")[1].startswith("1.76")  # √2 / 0.8


def test_a_unit_that_is_whole_in_two_groups_is_seen_by_audits(visits, tmp_path):
    *_, follow, told = stages_by_group(visits, tmp_path)
    choose, _ = follow.ready(told.then(Output(numbers=(2**80, 2**80, 0))))
    rungs = choose.mechanism.rungs
    half, whole, none = ((mass,) * (rungs - 1) + (0,) for mass in (ONE // 2, ONE, 0))
    for masses, part in (((half, half), 1), ((whole, none), 1), ((whole, whole), 2)):
        (move,) = choose.moves([masses[0] + masses[1]], [none + none], "ends")
        assert move.part == pytest.approx(part, rel=1e-5)
