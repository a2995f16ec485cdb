"""One limit for each unit: what is answered, what is promised, and neighbours that look alike.

With noise frozen every stage is compared on neighbours with earlier outputs held fixed, at its own share;
faults planted in weights and masses show.
"""

import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

import discreet as dp
from discreet.apps.auditing.replay import Replay
from discreet.asking.engines import MemoryEngine
from discreet.asking.planning import Limit
from discreet.asking.planning.clamping import Clamped
from discreet.asking.planning.limit_estimators import LimitFacts
from discreet.asking.planning.limit_stages import AddNoiseToAll, ChooseLimit, Limited, finding_part, ladder
from discreet.asking.planning.spill import MeasureSpill
from discreet.asking.planning.weights import Excess
from discreet.asking.policy import from_arguments, from_toml
from discreet.errors import InternalError
from discreet.kernel.plan import Released

POLICY = """
[dataset]
id = "visits"
relation = "{relation}"
budget = {budget}
[tables.visits]
unit = "person"
limit = {limit}
[tables.visits.columns]
person = {{ type = "integer" }}
ward = {{ type = "text"{keys} }}
cost = {{ type = "number", bounds = [0, 1000] }}
change = {{ type = "integer", bounds = [-50, 100] }}
"""
PUBLIC = ', keys = ["a", "b", "c"]'
PURE, ZERO, GAUSS = "{ epsilon = 1, delta = 1e-6 }", "{ rho = 1, delta = 1e-6 }", "{ mu = 1 }"
BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward"
MEANS = "SELECT ward, AVG(cost) AS m, VARIANCE(change) AS v, SUM(change) AS s FROM visits GROUP BY ward"
FILTERS = (
    "SELECT ward, COUNT(*) FILTER (WHERE cost > 10) AS some, COUNT(cost) AS known, "
    "COUNT(DISTINCT person) AS people FROM visits GROUP BY ward"
)
SETS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((ward), ())"
SEVERAL = (
    "SELECT ward, SUM(cost) AS s, SUM(change) AS t, AVG(cost) AS m, AVG(change) AS d "
    "FROM visits GROUP BY ward"
)
QUESTIONS = (BY_WARD, MEANS, FILTERS, SETS)


def policy_of(*, relation="add/remove", budget=PURE, limit='"auto"', keys=PUBLIC):
    return from_toml(POLICY.format(relation=relation, budget=budget, limit=limit, keys=keys))


def price_of(budget):
    return {"epsilon": 0.1} if budget == PURE else {"rho": 0.01}


@pytest.mark.slow
@pytest.mark.parametrize(
    "terms",
    [
        {},
        {"keys": ""},
        {"relation": "replace"},
        {"budget": ZERO},
        {"budget": ZERO, "relation": "replace", "limit": "3"},
        {"budget": GAUSS, "limit": "3"},
    ],
    ids=str,
)
def test_every_stage_replays_alike_on_neighbours(terms):
    with Replay(QUESTIONS, policy=policy_of(**terms), engine="memory") as stage:
        for question in QUESTIONS:
            report = stage.run(question, **price_of(terms.get("budget", PURE)))
            assert not report.violated, report
            assert report.answered == report.pairs


def no_limit(self, norm):
    return self.one


def rounded_up(self, norm):
    return -(-self.total // max(norm, self.most))


def of_other_rows(self, norm):
    return self.total // max(norm - 1, self.most)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [no_limit, rounded_up, of_other_rows])
def test_a_fault_in_the_weights_is_found(weight, monkeypatch):
    monkeypatch.setattr(Limit, "weight", weight)
    with Replay([BY_WARD], policy=policy_of(limit="3"), engine="memory") as stage:
        assert stage.run(BY_WARD, epsilon=0.1).violated


def test_a_part_of_the_mass_that_is_not_cut_is_found(monkeypatch):
    monkeypatch.setattr(Excess, "of", lambda self, norm: max(norm - self.start, 0) * self.one // self.span)
    with Replay([BY_WARD], policy=policy_of(), engine="memory") as stage:
        assert stage.run(BY_WARD, epsilon=0.1).violated


ROWS = [(person, "abc"[(person + turn) % 3], 10.0 * (turn + 1), turn) for person in range(400)
        for turn in range(1 + person % 4)]  # fmt: skip


@pytest.fixture
def opened(tmp_path):
    import pandas

    def open_visits(name="visits", **terms):
        frame = pandas.DataFrame(ROWS, columns=["person", "ward", "cost", "change"])
        told = {"unit": "person", "budget": {"epsilon": 10**4, "delta": 1e-3}, "limit": "auto"}
        told |= {"bounds": {"cost": (0, 1000), "change": (-50, 100)}, "keys": {"ward": list("abc")}}
        return dp.Curator.open(frame, name=name, ledger=tmp_path / f"{name}.ledger", **(told | terms))

    return open_visits


def truth(ward, value=lambda row: 1):
    return sum(value(row) for row in ROWS if row[1] == ward)


@pytest.mark.parametrize("terms", [{}, {"limit": 4}, {"keys": {}}, {"relation": "replace"}], ids=str)
def test_at_a_high_price_counts_and_sums_are_the_real_ones(terms, opened):
    answer = opened(**terms).ask(BY_WARD, epsilon=2000)
    assert [row["ward"] for row in answer.rows] == ["a", "b", "c"]
    for row, ends in zip(answer.rows, answer.intervals, strict=True):
        count, total = truth(row["ward"]), truth(row["ward"], lambda each: each[2])
        assert row["n"] == pytest.approx(count, abs=3)
        assert row["s"] == pytest.approx(total, rel=0.02)
        assert ends["n"].lower <= row["n"] <= ends["n"].upper


def test_means_weigh_each_unit_once_and_bounds_are_narrowed(opened):
    question = "SELECT AVG(cost) AS m, VARIANCE(cost) AS v, STDDEV(cost) AS d FROM visits"
    row = opened().ask(question, epsilon=2000).rows[0]
    weights = [1 / (1 + person % 4) for person, *_ in ROWS]
    mean = sum(w * cost for w, (_, _, cost, _) in zip(weights, ROWS, strict=True)) / 400
    square = sum(w * (cost - mean) ** 2 for w, (_, _, cost, _) in zip(weights, ROWS, strict=True)) / 399
    assert row["m"] == pytest.approx(mean, rel=0.02)
    assert row["v"] == pytest.approx(square, rel=0.1)
    assert row["d"] == pytest.approx(math.sqrt(square), rel=0.05)


def test_an_answer_says_what_its_limit_cut_everywhere(opened):
    curator = opened()
    answer = curator.ask(BY_WARD, epsilon=2000)
    (rows, cost) = answer.notes
    found = re.search(r"at most (\d+) to the number of rows", rows)
    assert found is not None
    assert 4 <= int(found[1]) <= 8  # nobody has more than 4 rows; the search is noisy
    assert "about 0% of units are above" in rows
    assert rows in str(answer)
    assert json.loads(json.dumps(answer.to_json()))["notes"] == [rows, cost]
    assert any(found[0] in line for line in answer.receipt.facts["plan"])
    again = curator.ask(BY_WARD, epsilon=2000)
    assert not again.charged
    assert (again.rows, again.intervals, again.notes) == (answer.rows, answer.intervals, answer.notes)


def test_fixed_limits_say_so_too(opened):
    answer = opened(limit=None, max_rows=1).ask(BY_WARD, epsilon=1)
    assert answer.notes == ("at most 1 row of a unit in 1 group: rows beyond are not in these numbers",)
    each = opened("rows", limit=None, unit=dp.each_row).ask(BY_WARD.replace("visits", "rows"), epsilon=1)
    assert each.notes == ()


def test_a_declared_limit_scales_units_above_it(opened):
    answer = opened(limit=2).ask("SELECT COUNT(*) AS n FROM visits", epsilon=2000)
    assert answer.rows[0]["n"] == pytest.approx(sum(min(2, 1 + person % 4) for person in range(400)), abs=3)
    assert "about 50% of units are above" in answer.notes[0]


def test_the_plan_tells_an_error_as_a_multiple_of_the_limit_and_nothing_of_the_data(opened):
    plan = opened().explain(BY_WARD, epsilon=0.5)
    assert plan.errors == {"n": None, "s": None}
    assert any("times the limit that is found" in line for line in plan.sentences())
    assert plan.price == dp.PureDP(0.5)
    known = opened("known", limit=4).explain(BY_WARD.replace("visits", "known"), epsilon=0.5)
    assert known.errors["n"] == pytest.approx(4 * math.log(20) / (0.25 * 0.95), rel=1e-3)


def test_within_needs_a_limit_that_is_known(opened):
    with pytest.raises(dp.UnsupportedQuery, match="Declare it"):
        opened().explain("SELECT COUNT(*) AS n FROM visits", within=50)
    plan = opened("known", limit=4).explain("SELECT COUNT(*) AS n FROM known", within=50)
    assert plan.errors["n"] <= 50


def test_what_needs_chosen_rows_is_bounded_as_before(opened):
    for question in (
        "SELECT MEDIAN(cost) AS m, COUNT(*) AS n FROM visits",
        "SELECT MODE(ward) AS w FROM visits",
    ):
        assert not opened().explain(question, epsilon=1).weighs
    assert not opened("mu", budget={"mu": 1}).explain("SELECT COUNT(*) AS n FROM mu", rho=0.1).weighs


def test_what_does_not_know_limits_refuses_them(opened):
    with pytest.raises(dp.InvalidParameter, match="add up"):
        opened().ask(SETS, epsilon=1).adding_up()


@pytest.mark.parametrize("limit", ["auto", 2])
def test_a_dry_run_shows_what_a_limit_takes_away(limit, opened):
    counts = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    tried = opened(limit=limit).dry_run(counts, epsilon=50, people=400, rows=12)
    cells = tried.cells
    assert cells
    for cell in cells:
        assert cell.bounded <= cell.every_row
        assert abs(cell.released - cell.bounded) <= 20 * (12 if limit == "auto" else limit)
    full, kept = (sum(getattr(cell, part) for cell in cells) for part in ("every_row", "bounded"))
    assert full > 0
    assert kept <= 400 * 2 + 1 or limit == "auto"
    assert kept >= full / 2 or limit == 2


def test_tables_may_have_limits_of_their_own():
    policy = from_arguments(
        sources={"a": None, "b": None},
        id="two",
        unit={"a": "person", "b": "person"},
        budget={"epsilon": 1},
        limit={"a": "auto"},
        max_rows={"b": 3},
    )
    assert [(each.limit, each.max_groups, each.max_rows) for each in policy.tables] == [
        ("auto", 1, 1),
        (None, 1, 3),
    ]
    with pytest.raises(dp.InvalidParameter, match="limit must name private tables"):
        from_arguments(sources={"a": None}, id="one", unit="person", budget={"epsilon": 1}, limit={"c": 4})


@pytest.mark.parametrize("limit", [0, -1, 2**31, 1.5, True, "four"])
def test_a_limit_that_is_no_number_of_rows_is_refused(limit, opened):
    with pytest.raises(dp.InvalidParameter, match="limit of table"):
        opened(limit=limit)


def test_noise_that_is_too_small_for_the_limit_is_not_drawn(opened, monkeypatch):
    right = Limited.noise
    monkeypatch.setattr(Limited, "noise", lambda self, limit, groups: right(self, max(1, limit // 2), groups))
    with pytest.raises(InternalError, match="cost more"):
        opened(limit=4).ask(BY_WARD, epsilon=1)


def test_a_price_beyond_the_promise_is_not_drawn(opened, monkeypatch):
    monkeypatch.setattr("discreet.asking.planning.limit_stages.CUT", Fraction(-1, 20))
    curator = opened()
    with pytest.raises(dp.DiscreetError):
        curator.ask(BY_WARD, epsilon=1)


def test_nobody_and_no_group_shown_are_answered(opened, tmp_path):
    import pandas

    empty = pandas.DataFrame({"person": [1], "ward": ["a"], "cost": [1.0]})
    told = {"unit": "person", "budget": {"epsilon": 10, "delta": 1e-6}, "bounds": {"cost": (0, 10)}}
    curator = dp.Curator.open(empty, name="e", ledger=tmp_path / "e.ledger", limit="auto", **told)
    answer = curator.ask("SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM e GROUP BY ward", epsilon=1)
    assert answer.rows == ()  # but with probability 1e-6
    alone = curator.ask("SELECT COUNT(*) AS n, AVG(cost) AS m FROM e WHERE cost > 5", epsilon=1)
    assert len(alone.rows) == 1


def test_the_stages_of_a_limit_are_those_that_were_promised(opened):
    (each,) = opened().explain(BY_WARD, epsilon=1).sets
    limited = each.limited[0]
    labels = limited.plan.labels
    choose, under = limited.ready(None)
    assert isinstance(choose, ChooseLimit)
    assert choose.mechanism.level == Fraction(3, 4) / limited.parts(3, 3)[1].epsilon
    assert choose.loss.epsilon(delta=0) == pytest.approx(
        float(limited.share.epsilon * finding_part(len(labels)))
    )
    count, noise = limited.under(16)
    assert isinstance(noise, AddNoiseToAll)
    assert noise.mechanism.sensitivity == Limit.of(16).total
    assert not AddNoiseToAll(0, 0, noise.plan, noise.mechanism, (), counted=0).fits("replace")
    spent = sum(float(stage.loss.epsilon(delta=0)) for stage in (choose, count, noise))
    assert spent == pytest.approx(float(limited.share.epsilon))
    assert under.price == dp.PureDP(limited.share.epsilon * (1 - finding_part(3)))


def test_ladders_have_half_octaves():
    rungs = ladder(1, 2**20)
    assert rungs[:9] == (1, 2, 3, 4, 6, 8, 11, 16, 23)
    assert all(b <= 2 * a for a, b in pairwise(rungs))
    assert rungs[-1] >= 2**20
    assert ladder(1000, 1000) == (1000,)


def test_the_end_of_a_range_is_not_chosen_under_replace(opened):
    (each,) = opened().explain("SELECT AVG(cost) AS m FROM visits", epsilon=1).sets
    choose, _ = each.limited[0].ready(Released())
    assert choose.fits("add/remove")
    under_replace = replace(choose.mechanism, relation="replace")
    assert not replace(choose, mechanism=under_replace).fits("replace")
    (other,) = opened("b", relation="replace").explain("SELECT AVG(cost) AS m FROM b", epsilon=1).sets
    assert not any(isinstance(stage, Clamped) for stage in other.stages)


def test_the_interval_of_a_count_is_as_wide_as_its_noise(opened):
    answer = opened(limit=4).ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    ends = answer.intervals[0]["n"]
    assert ends.width / 2 == pytest.approx(4 * math.log(20) / 0.95, abs=1)


def test_keys_and_numbers_share_the_price(opened):
    plan = opened(keys={}).explain(BY_WARD, epsilon=1)
    assert plan.loss.epsilon(delta=float(plan.share.delta)) <= 1
    assert plan.loss.delta(epsilon=1) <= float(plan.share.delta) * (1 + 1e-9)


MANY = list("abcdefghijklmnopqrst")
WIDE = "SELECT ward, COUNT(*) AS n FROM {} GROUP BY ward"


def test_where_most_are_above_a_limit_no_upper_end_is_claimed(opened):
    """Three of four have more than one row: under a limit of 1 the number is a lower end, and says so."""
    answer = opened(limit=1).ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=2000)
    assert "most units are" in answer.notes[0]
    for row, ends in zip(answer.rows, answer.intervals, strict=True):
        assert ends["n"].lower <= row["n"] < truth(row["ward"]) < ends["n"].upper == math.inf
    assert "or more)" in str(answer)
    json.dumps(answer.to_json(), allow_nan=False)
    assert answer.to_json()["intervals"][0]["n"][1] is None
    assert answer.to_csv().splitlines()[-1].endswith(",inf")


def test_a_signed_sum_that_most_are_cut_in_has_no_ends(opened):
    curator = opened(limit=1, bounds={"change": (-1, 1)})
    answer = curator.ask("SELECT SUM(2 * change + 1) AS s FROM visits", epsilon=2000)
    assert tuple(answer.intervals[0]["s"]) == (-math.inf, math.inf)
    assert "(ends unknown)" in str(answer)


def test_units_above_a_limit_count_only_beyond_the_noise():
    told = LimitFacts(Fraction(1), within=10, above=30)
    assert told.most_are_above(29.5)
    assert not told.most_are_above(30)
    assert not told._replace(within=31).most_are_above(0)


@pytest.fixture
def crowded(tmp_path):
    """Twenty wards; one person in ten has 60 rows, others have one."""
    import pandas

    rows = [
        (person, MANY[(person * 7 + turn) % 20]) for person in range(1500)
        for turn in range(60 if person % 10 == 0 else 1)
    ]  # fmt: skip
    told = {"unit": "person", "budget": {"epsilon": 10**4}, "keys": {"ward": MANY}}

    def open_crowd(name, **terms):
        frame = pandas.DataFrame(rows, columns=["person", "ward"])
        return dp.Curator.open(frame, name=name, ledger=tmp_path / f"{name}.ledger", **(told | terms))

    open_crowd.truth = {ward: sum(row[1] == ward for row in rows) for ward in MANY}
    return open_crowd


def test_upper_ends_of_many_groups_are_estimated_and_said_to_be(crowded):
    """A limit far below what some have: the plain upper end misses every cell, the estimated one holds."""
    answer = crowded("crowd", limit=20).ask(WIDE.format("crowd"), epsilon=50)
    assert any("upper ends are estimated" in note for note in answer.notes)
    for row, ends in zip(answer.rows, answer.intervals, strict=True):
        truth, plain = crowded.truth[row["ward"]], row["n"] + (row["n"] - ends["n"].lower)
        assert plain < truth
        assert ends["n"].lower <= truth <= ends["n"].upper


def test_few_groups_have_plain_intervals(crowded):
    answer = crowded("few", keys={"ward": MANY[:14]}).ask(WIDE.format("few"), epsilon=50)
    assert not any("estimated" in note for note in answer.notes)
    for row, ends in zip(answer.rows, answer.intervals, strict=True):
        assert row["n"] - ends["n"].lower == pytest.approx(ends["n"].upper - row["n"], abs=1)


def test_many_groups_pay_for_what_lies_above_the_limit(crowded):
    curator = crowded("paid")
    before = curator.remaining.epsilon
    answer = curator.ask(WIDE.format("paid"), epsilon=2)
    assert len(answer.rows) == 20
    assert before - curator.remaining.epsilon == 2


def test_noise_on_what_lies_above_a_limit_fits_one_whole_unit(crowded):
    (each,) = crowded("fit", limit=20).explain(WIDE.format("fit"), epsilon=1).sets
    (stage,) = (one for one in each.draws if isinstance(one, MeasureSpill))
    assert stage.fits("add/remove")
    assert not stage.fits("replace")
    half = replace(stage.mechanism, sensitivity=stage.mechanism.sensitivity / 2)
    assert not replace(stage, mechanism=half).fits("add/remove")


def test_signed_sums_have_no_proved_end_and_no_estimated_one(crowded):
    curator = crowded("signed", types={"person": "integer"}, bounds={"person": (-10, 10)})
    plan = curator.explain("SELECT ward, SUM(person) AS s FROM signed GROUP BY ward", epsilon=1)
    limited = plan.sets[0].limited[0]
    assert not limited.measures_spill(20)
    assert limited.parts(20, 20)[1].epsilon > Fraction(1, 2)


@pytest.mark.parametrize("declared", [{}, {"keys": {}}, {"limit": 3}], ids=str)
@pytest.mark.parametrize("question", [*QUESTIONS[:3], SEVERAL])
def test_as_many_passes_are_reckoned_as_the_engine_makes(declared, question, opened, monkeypatch):
    """A deadline and the work of one unit are reckoned by passes: each limit takes several."""
    made, real = [], MemoryEngine.run
    monkeypatch.setattr(MemoryEngine, "run", lambda self, plan: made.append(plan) or real(self, plan))
    answer = opened(engine="memory", **declared).ask(question, epsilon=100, delta=1e-5)
    assert 1 < len(made) <= answer.plan.work.passes
    assert len(made) <= answer.plan.passes


def test_where_nobody_says_how_many_rows_a_unit_has_each_row_takes_little(opened):
    """40,000 rows of one person at 50 us are late where a pass has two seconds."""
    folded = "ward"
    for place in range(12):
        folded = f"LOWER(REPLACE({folded}, '{place}', 'x'))"
    heavy = f"SELECT COUNT(*) AS n FROM visits WHERE {folded} = 'a'"
    with pytest.raises(dp.UnsupportedQuery, match="rows of one unit"):
        opened().explain(heavy, epsilon=1)
    assert opened("known", limit=None, max_rows=1).explain(heavy.replace("visits", "known"), epsilon=1).price
    assert (
        opened("covar").explain("SELECT COVAR_POP(cost, change) AS c FROM covar", epsilon=1).work.passes > 3
    )


def test_the_pass_over_what_lies_above_a_limit_is_reckoned_too(crowded, monkeypatch):
    made, real = [], MemoryEngine.run
    monkeypatch.setattr(MemoryEngine, "run", lambda self, plan: made.append(plan) or real(self, plan))
    plan = crowded("many", engine="memory").ask(WIDE.format("many"), epsilon=100).plan
    assert 3 < len(made) <= min(plan.passes, plan.work.passes)
