"""Questions under a limit, enumerated: every outcome on all small neighbours under both relations.

Each stage is compared at its own share of the price with the outputs of earlier ones held fixed, where no
slack of another hides a fault, and then all stages together. Weights have one bit here, so that outcomes can
be listed; what bits there are in questions changes no step of the proof (docs/theory/weights.md).
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.asking.planning import Excess, Limit
from discreet.asking.planning.choices import ChooseLabel
from discreet.asking.planning.limit_stages import AddNoiseToAll, ChooseLimit, CountAbove, finding_part
from discreet.asking.planning.stages import AddNoise, SelectKeys
from discreet.kernel.mechanisms import KeySelection, Ladder, PermuteAndFlip
from discreet.kernel.plan import Output, Released
from planning.frozen import plan_of
from planning.small_people import (
    NOTHING,
    Small,
    choice_law,
    hockey_stick,
    keys_law,
    law_of,
    loss_of,
    name_all,
    name_rows,
    neighbours,
    people_of,
    policy_of,
    stages_of,
    up,
    weigh,
)

COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
FILTERS = "SELECT ward, COUNT(*) FILTER (WHERE score > 0) AS some, COUNT(*) AS n FROM visits GROUP BY ward"
MEANS = "SELECT AVG(score) AS m FROM visits"
SPREADS = "SELECT VARIANCE(score) AS v FROM visits"
WARDS = [("a", 0), ("b", 0)]
FILTERED = [("a", 0), ("a", 2), ("b", 2)]
SCORES = [("a", 0), ("a", 1), ("a", 2)]
FAR = [("a", 3), ("a", 40), ("a", 100)]
BY_WARD = "SELECT ward, AVG(score) AS m FROM visits GROUP BY ward"
APART = [("a", 100), ("b", 100), ("b", 40)]
CROWD = ((("a", 0), ("a", 2), ("b", 2)),) * 30  # lifts what is above a rung to the level where rungs differ
RELATIONS = ["add/remove", "replace"]
EPSILONS = [Fraction(7, 10), Fraction(4)]  # of the question: its stages have shares below 1, and above


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Weights of one bit, and three rungs."""
    monkeypatch.setattr(Limit, "of", classmethod(lambda cls, most: cls(most, 1)))
    monkeypatch.setattr("discreet.asking.planning.limit_units._MOST_ROWS", 3)


def first_of(question, policy, epsilon, **price):
    return plan_of(question, policy, epsilon=epsilon, **price).sets[0].stages


def outputs_of(stage):
    """What later stages may depend on: every rung, every set of keys; of noise they use nothing."""
    if isinstance(stage.mechanism, Ladder):
        rungs = getattr(stage, "rungs", range(stage.mechanism.rungs))
        return [Output(numbers=(each,) * len(getattr(stage, "cells", (0,)))) for each in rungs]
    if isinstance(stage, AddNoise):  # which groups hold enough units for an end of their own
        return [Output(numbers=each) for each in ((0, 0), (0, 2**80), (2**80, 2**80))]
    if isinstance(stage.mechanism, KeySelection):
        return [Output(groups=each) for each in ((), (("a",),), (("b",),), (("a",), ("b",)))]
    return [Output(numbers=(0, 0))]


def walk(stages, released=NOTHING, own=None):
    """Yield every draw that the stages may become, with what was released before it and all epsilons."""
    stages, own = stages_of(stages, released), own or []
    if not stages:
        yield None, released, own
        return
    yield stages[0], released, own
    for output in outputs_of(stages[0]):
        spent = [*own, float(stages[0].loss.epsilon(delta=0.5))]
        yield from walk(stages[1:], released.then(output), spent)


def worst_stage(
    question, policy, rows, *, epsilon, others=1, most=3, crowd=CROWD, rule=None, persons=(), **price
):
    """The largest loss of each kind of stage on all neighbours, over its own share of the price.

    People have up to `most` of the rows each, or are one of `persons`.
    """
    small, found, people = Small(policy, rule), {}, [*people_of(rows, most), *persons]
    pairs = [*neighbours(people, policy.relation, others=others)]
    pairs += neighbours(people, policy.relation, others=0, crowd=crowd)
    for stage, released, own in walk(first_of(question, policy, epsilon, **price)):
        if stage is None:
            assert sum(own) <= float(epsilon) * (1 + 1e-12)
            continue
        if isinstance(stage, SelectKeys):
            continue
        share = float(stage.loss.epsilon(delta=0))
        for pair in pairs:
            one, other = (small.given(stage, table, released) for table in pair)
            loss = 0.0 if one == other else loss_of(stage, one, other)
            kind = type(stage).__name__
            found[kind] = max(found.get(kind, 0), loss / share)
    return found


CASES = {
    "counts": (COUNTS, WARDS, 3),
    "filters": (FILTERS, FILTERED, 2),
    "means": (MEANS, SCORES, 2),
    "spreads": (SPREADS, SCORES, 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("case", CASES)
def test_no_stage_loses_more_than_its_own_share(case, relation, epsilon):
    question, rows, most = CASES[case]
    worst = worst_stage(question, policy_of(relation=relation), rows, epsilon=epsilon, most=most)
    assert max(worst.values()) <= 1 + 1e-9
    assert min(worst.values()) > 0.9  # each is used up by some pair
    found = {"ChooseLimit", "CountAbove"} if case in ("counts", "filters") else set()
    assert set(worst) == {"AddNoiseToAll"} | found


@pytest.fixture
def many(monkeypatch):
    """Two groups are many, so that what lies above the limit is measured; in eighths of a unit."""
    monkeypatch.setattr("discreet.asking.planning.limit_stages.PLAIN", 1)
    monkeypatch.setattr("discreet.asking.planning.spill._BITS", 3)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_measuring_what_lies_above_a_limit_loses_its_own_share(relation, epsilon, many):
    heavy = [("a", 0)] * 12  # four times the highest rung
    worst = worst_stage(COUNTS, policy_of(relation=relation), WARDS, epsilon=epsilon, persons=[tuple(heavy)])
    assert max(worst.values()) <= 1 + 1e-9
    assert set(worst) == {"ChooseLimit", "CountAbove", "MeasureSpill", "AddNoiseToAll"}
    assert min(worst.values()) > 0.9


@pytest.mark.parametrize("fault", ["without end", "rounded after"])
def test_a_fault_in_what_lies_above_a_limit_is_found(fault, many, monkeypatch):
    if fault == "without end":
        monkeypatch.setattr(
            Excess, "of", lambda self, norm: max(norm - self.start, 0) * self.one // self.span
        )
    else:
        monkeypatch.setattr(Excess, "of", lambda self, norm: min(norm, self.span + 1) * self.one // self.span)
    heavy = tuple([("a", 0)] * 12)
    worst = worst_stage(COUNTS, policy_of(), WARDS, epsilon=4, others=0, persons=[heavy])
    assert worst["MeasureSpill"] > 1.1


def test_the_end_of_a_range_loses_no_more_than_its_share():
    worst = worst_stage(
        MEANS, policy_of(most=100), FAR, epsilon=Fraction(4), most=2, crowd=((("a", 100),),) * 9
    )
    assert max(worst.values()) <= 1 + 1e-9
    assert min(worst.values()) > 0.9
    assert set(worst) == {"ChooseEnd", "AddNoiseToAll"}


@pytest.mark.slow
def test_ends_of_groups_lose_no_more_than_their_share_together():
    """A unit in both groups moves the choices of both, each by its part."""
    crowd = ((("a", 100),),) * 9 + ((("b", 100),),) * 9
    worst = worst_stage(BY_WARD, policy_of(most=100), APART, epsilon=Fraction(4), most=2, crowd=crowd)
    assert max(worst.values()) <= 1 + 1e-9
    assert min(worst.values()) > 0.9
    assert set(worst) == {"ChooseEnd", "AddNoise", "AddNoiseToAll"}


def test_a_whole_unit_in_each_group_is_found():
    """The fault: a unit's norm is that of its fullest group, so that its parts add up to two."""
    crowd = ((("a", 100),),) * 9 + ((("b", 100),),) * 9
    worst = worst_stage(
        BY_WARD, policy_of(most=100), APART, epsilon=Fraction(4), others=0, crowd=crowd, rule=other_groups
    )
    assert worst["ChooseEnd"] > 1.1
    assert worst["AddNoise"] > 1.1


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_ladders_of_accounts_in_rho_have_a_bounded_range(relation, epsilon):
    """All losses of a choice lie within one epsilon of each other, which is what rho charges."""
    ladder = Ladder(epsilon=epsilon, rungs=3, level=1, method="exponential", relation=relation)
    small = Small(policy_of(relation=relation))
    stage = next(each for each, *_ in walk(first_of(COUNTS, small.policy, epsilon)))
    found = 0
    for pair in neighbours(people_of(WARDS, 3), relation, others=1):
        one, other = (choice_law(ladder, small.given(stage, table, Released())) for table in pair)
        losses = np.log(one / other)
        found = max(found, max(losses) - min(losses))
    assert 0.9 * epsilon < found <= epsilon * (1 + 1e-9)


def test_the_rule_of_these_tests_is_that_of_the_engine():
    """What the faults are planted in, without a fault."""
    policy, plans = policy_of(), []
    for question in (COUNTS, FILTERS, MEANS):
        plans += [plan for stage, *_ in walk(first_of(question, policy, 1)) if stage for plan in stage.reads]
    naive, rule = Small(policy), Small(policy, weigh)
    for plan, (table, _) in itertools.product(
        plans, neighbours(people_of(FILTERED, 2), "add/remove", others=1)
    ):
        assert naive.run(plan, table) == rule.run(plan, table)


def without_the_first(parts):
    """A norm under another filter: the first measure is left out."""
    return sum(sum(part[1:]) for part in parts.values())


def of_the_fullest_group(parts):
    return max(map(sum, parts.values()), default=0)


def ceiling(plan, table):
    return weigh(plan, table, divide=up)


def other_filter(plan, table):
    return weigh(plan, table, norm=without_the_first)


def other_groups(plan, table):
    return weigh(plan, table, norm=of_the_fullest_group)


WEIGHT_FAULTS = [
    ("counts", ceiling),
    ("counts", other_groups),
    ("filters", other_filter),
    ("means", ceiling),
    ("means", other_filter),
]


@pytest.mark.parametrize(("case", "rule"), WEIGHT_FAULTS)
def test_a_fault_in_weights_is_found_in_the_stage_that_it_is_in(case, rule):
    question, rows, _ = CASES[case]
    assert worst_stage(question, policy_of(), rows, epsilon=1, others=0, rule=rule)["AddNoiseToAll"] > 1.1


def plant(monkeypatch, where, **changes):
    """Make a stage with another mechanism than it promises: what its own loss says stays."""
    made = where.__init__

    def init(self, *args, **kwargs):
        made(self, *args, **kwargs)
        honest = self.mechanism
        object.__setattr__(self, "mechanism", changed(honest, **changes))
        object.__setattr__(self, "promised", honest.loss)

    monkeypatch.setattr(where, "__init__", init)
    monkeypatch.setattr(where, "loss", property(lambda self: self.promised))


def changed(mechanism, *, louder=None):
    return replace(mechanism, scale=mechanism.scale / louder)


@pytest.mark.parametrize("where", [CountAbove, AddNoiseToAll])
def test_noise_for_another_share_is_found(where, monkeypatch):
    """Noise of the question's epsilon in place of the stage's own: less than one, so no slack hides it."""
    plant(monkeypatch, where, louder=Fraction(101, 100))
    worst = worst_stage(COUNTS, policy_of(), WARDS, epsilon=Fraction(7, 10))
    assert worst[where.__name__] == pytest.approx(1.01)


def test_a_part_of_a_mass_that_has_no_end_is_found(monkeypatch):
    monkeypatch.setattr(Excess, "of", lambda self, norm: max(norm - self.start, 0) * self.one // self.span)
    assert worst_stage(COUNTS, policy_of(), WARDS, epsilon=4, others=0)["ChooseLimit"] > 1.1


def delta_of_keys(epsilon, delta, *, relation="add/remove", rule=None, most=2):
    """The largest δ at the selection's own epsilon over its own delta, on all neighbours."""
    policy = policy_of(relation=relation, keys="")
    small = Small(policy, rule)
    stage = first_of(COUNTS, policy, epsilon, delta=delta)[0]
    assert isinstance(stage, SelectKeys)
    share, found = float(stage.mechanism.epsilon), 0.0
    for pair in neighbours(people_of(WARDS, most), relation, others=3):
        given = (small.given(stage, table, Released()) for table in pair)
        p, q = (np.array([mass for _, mass in keys_law(stage.mechanism, each)]) for each in given)
        found = max(found, hockey_stick(p, q, share))
    return found / float(delta)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_keys_by_people_keep_their_own_delta(epsilon, relation):
    least = 0.9 if relation == "add/remove" else 0.4  # a replaced person leaves one key and enters another
    assert least < delta_of_keys(epsilon, Fraction(1, 10), relation=relation) <= 1 + 1e-9


@pytest.mark.parametrize("rule", [name_rows, name_all])
def test_keys_by_rows_or_by_all_keys_of_a_person_are_found(rule):
    assert delta_of_keys(1, Fraction(1, 100), rule=rule) > 1.5


@pytest.mark.parametrize("relation", RELATIONS)
def test_after_keys_were_shown_every_stage_keeps_its_share(relation):
    """For every set of keys: the norm is over the shown ones, and so is how many they are."""
    worst = worst_stage(COUNTS, policy_of(relation=relation, keys=""), WARDS, epsilon=4, most=2, delta=0.1)
    assert max(worst.values()) <= 1 + 1e-9
    assert min(worst.values()) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("question", [COUNTS, MEANS])
def test_end_to_end_no_pair_exceeds_the_price(question, relation, epsilon):
    policy = policy_of(relation=relation)
    small, stages = Small(policy), first_of(question, policy, epsilon)
    rows, most, grid = (WARDS, 2, (-1, 9)) if question == COUNTS else (SCORES, 2, (-1, 13))
    worst = 0.0
    for pair in neighbours(people_of(rows, most), relation, others=1):
        one, other = (law_of(small, stages, table, grid) for table in pair)
        assert one.sum() == pytest.approx(1)
        worst = max(worst, np.max(np.abs(np.log(one / other))))
    assert 0.5 * epsilon < worst <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
def test_end_to_end_with_keys_in_the_data_no_pair_exceeds_the_price(relation):
    epsilon, delta = Fraction(2), Fraction(1, 20)
    policy = policy_of(relation=relation, keys="")
    small, stages = Small(policy), first_of(COUNTS, policy, epsilon, delta=delta)
    worst = 0.0
    for pair in neighbours(people_of(WARDS, 2), relation, others=1):
        one, other = (law_of(small, stages, table, (-1, 9)) for table in pair)
        worst = max(worst, hockey_stick(one, other, float(epsilon)))
    assert 0.2 * delta < worst <= delta * (1 + 1e-9)


def test_a_choice_of_labels_that_is_taken_for_monotone_under_replace_is_stopped():
    """No fault for a ladder, but one for MODE: a replaced person raises one label and lowers another."""
    policy = policy_of(relation="replace")
    (stage,) = first_of("SELECT MODE(ward) AS w FROM visits", policy, 1)
    assert isinstance(stage, ChooseLabel)
    assert stage.mechanism.scores == "general"
    taken = PermuteAndFlip(epsilon=1, sensitivity=1, scores="monotone")
    assert not replace(stage, mechanism=taken).fits("replace")
    laws = [[float(taken.law(scores)[place]) for place in (0, 1)] for scores in ((1, 0), (0, 1))]
    assert math.log(laws[0][0] / laws[1][0]) > 1.2


def test_the_share_of_finding_a_limit_is_that_of_public_groups():
    """Three groups are declared: the share, the level and the noise know three, whatever is in them."""
    stages = [stage for stage, *_ in walk(first_of(COUNTS, policy_of(), 1)) if stage]
    assert isinstance(stages[0], ChooseLimit)
    assert float(stages[0].loss.epsilon(delta=0)) == pytest.approx(float(finding_part(2)))
