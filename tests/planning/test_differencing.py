"""One person more or less moves what every mechanism is given by at most what it was calibrated to."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from discreet.engines import MemoryEngine
from discreet.errors import DiscreetError
from discreet.mechanisms import Laplace, Quantile
from engines.people import tables
from planning.frozen import inputs, plan_of
from queries.bank import BANK
from queries.test_read import ACCEPTED

REPLACE = replace(BANK, relation="replace")
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def without(rows, person):
    """The tables without one person; rows that led to them lead to nobody."""
    left = {name: [dict(row) for row in each] for name, each in rows.items()}
    left["accounts"] = [row for row in left["accounts"] if row["person"] != person]
    left["visits"] = [row for row in left["visits"] if row["visitor"] != person]
    return left


def moved(one, other):
    return [abs(one.get(group, 0) - other.get(group, 0)) for group in {*one, *other}]


def check_noise(step, one, other):
    differences = moved(one, other)
    if isinstance(step.noise, Laplace):
        assert sum(differences) <= step.noise.sensitivity
    else:
        assert sum(each * each for each in differences) <= step.noise.sensitivity**2


def check_choice(step, one, other):
    """At most `groups` tallies change; counts of labels by at most the sensitivity, values by max_rows in
    all.
    """
    changed = [(one.get(group, {}), other.get(group, {})) for group in {*one, *other}]
    changed = [(a, b) for a, b in changed if dict(a) != dict(b)]
    assert len(changed) <= step.groups
    most = step.chooser.max_rows if isinstance(step.chooser, Quantile) else step.chooser.sensitivity
    swap = 1 if step.chooser.relation == "add/remove" else 2
    for a, b in changed:
        assert sum(abs(a.get(value, 0) - b.get(value, 0)) for value in {*a, *b}) <= most * swap


def compare(plan, rows, others, salt):
    first = inputs(plan, MemoryEngine(plan.policy, rows), salt)
    second = inputs(plan, MemoryEngine(plan.policy, others), salt)
    for each, (noised, tallied), (noised_too, tallied_too) in zip(plan.sets, first, second, strict=True):
        for step, one, other in zip(each.noises, noised, noised_too, strict=True):
            check_noise(step, one, other)
        for step, one, other in zip(each.choices, tallied, tallied_too, strict=True):
            check_choice(step, one, other)


def plan_or_none(text, policy):
    try:
        return plan_of(text, policy, epsilon=1, delta=Fraction(1, 10**6))
    except DiscreetError:
        return None


@given(
    rows=tables(), texts=st.lists(st.sampled_from(ACCEPTED), min_size=6, max_size=6), salt=st.integers(0, 99)
)
@settings(max_examples=40, **QUIET)
def test_removing_a_person_moves_no_input_beyond_its_sensitivity(rows, texts, salt):
    people = {row["person"] for row in rows["accounts"]} | {row["visitor"] for row in rows["visits"]}
    person = next(iter(sorted(people - {None})), None)
    for text in texts:
        plan = plan_or_none(text, BANK)
        if plan is not None and "survey" not in text:
            compare(plan, rows, without(rows, person), salt)


@given(rows=tables(), others=tables(), texts=st.lists(st.sampled_from(ACCEPTED), min_size=6, max_size=6))
@settings(max_examples=40, **QUIET)
def test_replacing_a_person_moves_no_input_beyond_its_sensitivity(rows, others, texts):
    changed = without(rows, 1)
    offset = 1000  # ids of the new person's accounts differ from all others
    for row in others["accounts"]:
        changed["accounts"].append({**row, "person": 1, "id": row["id"] + offset})
    changed["visits"] += [{**row, "visitor": 1} for row in others["visits"]]
    for text in texts:
        plan = plan_or_none(text, REPLACE)
        if plan is not None and "survey" not in text:
            compare(plan, rows, changed, 7)


def test_every_golden_question_can_be_planned_or_says_why():
    refused = [text for text in ACCEPTED if plan_or_none(text, BANK) is None]
    assert len(refused) < len(ACCEPTED) / 10


def test_a_halved_sensitivity_is_noticed():
    plan = plan_of("SELECT city, SUM(debt) AS s FROM accounts GROUP BY city", epsilon=1)
    (each,) = plan.sets
    weak = replace(
        each.noises[0], noise=Laplace(epsilon=1, sensitivity=each.noises[0].noise.sensitivity / 2, step=1)
    )
    broken = replace(plan, sets=(replace(each, noises=(weak,)),))
    row = {"person": 1, "debt": 1e7, "city": "Ottawa"}
    rows = [
        {**row, "id": index, "city": city} for index, city in enumerate(["Ottawa", "Toronto", "Québec"] * 10)
    ]
    data = {"accounts": rows, "visits": [], "payments": [], "survey": [], "cities": [], "regions": []}
    compare(plan, data, without(data, 1), 3)
    with pytest.raises(AssertionError):
        compare(broken, data, without(data, 1), 3)
