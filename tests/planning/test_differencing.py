"""One person more or less moves what every mechanism is given by at most what it was calibrated to, and
nothing else that shows."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from discreet.apps.auditing.frozen import Call
from discreet.apps.auditing.people import literals_of
from discreet.apps.auditing.replay import Replay, measure_moves
from discreet.asking.planning import plan_asked
from discreet.asking.queries import read_sql
from discreet.errors import DiscreetError
from discreet.kernel.mechanisms import Laplace
from discreet.testing import neighbouring
from engines.questions import questions
from planning.frozen import plan_of
from queries.asked import NUMERIC, SOURCES, asked
from queries.bank import BANK
from queries.sources import joined_questions
from queries.test_read import ACCEPTED

REPLACE = replace(BANK, relation="replace")
QUIET = {  # a failure names its question: shrinking it would take minutes
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate],
}
LITERALS = literals_of(map(read_sql, ACCEPTED))
SOME = st.lists(st.sampled_from(ACCEPTED), min_size=6, max_size=6)


def check(policy, pair, texts):
    with Replay(texts, policy=policy, engine="memory", neighbours=[pair]) as stage:
        for text in texts:
            if plan_or_none(text, policy) is not None:
                report = stage.run(text, epsilon=1, delta=Fraction(1, 10**6))
                assert report.verdict == "not refuted", report
                assert report.answered == report.pairs


def plan_or_none(text, policy):
    try:
        return plan_asked(text, policy, epsilon=1, delta=Fraction(1, 10**6))[0]
    except DiscreetError:
        return None


@pytest.mark.slow
@given(pair=neighbouring(BANK, LITERALS), texts=SOME)
@settings(max_examples=40, **QUIET)
def test_removing_a_person_moves_no_input_beyond_its_sensitivity(pair, texts):
    check(BANK, pair, texts)


@pytest.mark.slow
@given(pair=neighbouring(REPLACE, LITERALS), texts=SOME)
@settings(max_examples=40, **QUIET)
def test_replacing_a_person_moves_no_input_beyond_its_sensitivity(pair, texts):
    check(REPLACE, pair, texts)


GENERATED = st.lists(st.one_of(asked(), asked(), joined_questions(), questions(1)), min_size=6, max_size=6)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [BANK, REPLACE], ids=["removing", "replacing"])
@given(data=st.data(), texts=GENERATED)
@settings(max_examples=15, **QUIET)
def test_generated_questions_are_moved_by_no_more_than_their_sensitivity(policy, data, texts):
    check(policy, data.draw(neighbouring(policy, LITERALS)), texts)


@pytest.mark.soak
@pytest.mark.parametrize("policy", [BANK, REPLACE], ids=["removing", "replacing"])
@given(data=st.data(), texts=GENERATED)
@settings(max_examples=1000, **QUIET)
def test_many_generated_questions_are_moved_by_no_more_than_their_sensitivity(policy, data, texts):
    check(policy, data.draw(neighbouring(policy, LITERALS)), texts)


def test_every_generated_source_and_aggregate_can_be_asked():
    for source, (columns, labels) in SOURCES.items():
        for name in NUMERIC:
            texts = [f"SELECT {name}({column}) AS o FROM {source}" for column in columns]
            assert any(plan_or_none(text, BANK) for text in texts), (source, name)
        texts = [f"SELECT {label} AS k, COUNT(*) AS n FROM {source} GROUP BY {label}" for label in labels]
        assert all(plan_or_none(text, BANK) for text in texts), source


def test_every_golden_question_can_be_planned_or_says_why():
    refused = [text for text in ACCEPTED if plan_or_none(text, BANK) is None]
    assert len(refused) < len(ACCEPTED) / 10


@pytest.mark.parametrize("part", [1, Fraction(1, 2)])
def test_a_halved_sensitivity_is_noticed(part):
    plan = plan_of("SELECT city, SUM(debt) AS s FROM accounts GROUP BY city", epsilon=1)
    (each,) = plan.sets
    (step,) = each.columns
    weak = Laplace(epsilon=1, sensitivity=step.mechanism.sensitivity * part, step=1)
    given = replace(plan, sets=(replace(each, stages=(replace(step, mechanism=weak),)),))
    place, most = (0, 0), int(step.mechanism.sensitivity) // 3
    (move,) = measure_moves(given, [Call(place, (most,) * 3, 1)], [Call(place, (0, 0, 0), 2)])
    assert move.part == 1 / part
