"""Plans that were made before are given for equal asks alone: every term of an ask counts."""

import json
from functools import lru_cache, partial

import pytest

from discreet.apps.server import request_bodies
from discreet.apps.server.limits import Limits
from discreet.apps.server.policy_in_force import make_plans
from discreet.apps.server.request_bodies import TERMS, read_ask
from discreet.asking.curator import Curator
from server.running import promptly, write_policy

PUBLIC = "SELECT SUM(debt) AS s, COUNT(*) AS n FROM town"
PRIVATE = "SELECT shop, SUM(debt) AS s, COUNT(*) AS n FROM town GROUP BY shop"
# Asks that differ in one term, and have other plans.
PAIRS = {
    "epsilon": (PUBLIC, {"epsilon": 0.1}, {"epsilon": 0.2}),
    "delta": (PRIVATE, {"epsilon": 0.1, "delta": 1e-9}, {"epsilon": 0.1, "delta": 1e-7}),
    "rho": (PUBLIC, {"rho": 0.1}, {"rho": 0.2}),
    "within": (PUBLIC, {"within": {"n": 50}}, {"within": {"n": 60}}),
    "confidence": (PUBLIC, {"epsilon": 0.1, "confidence": 0.5}, {"epsilon": 0.1, "confidence": 0.99}),
    "bounds": (PUBLIC, {"epsilon": 0.1}, {"epsilon": 0.1, "bounds": "auto"}),
    "split": (
        PUBLIC,
        {"epsilon": 0.1, "split": {"s": 1, "n": 3}},
        {"epsilon": 0.1, "split": {"s": 3, "n": 1}},
    ),
    "limit": (
        PUBLIC,
        {"epsilon": 0.1, "limit": {"s": 200, "n": 3}},
        {"epsilon": 0.1, "limit": {"s": 300, "n": 3}},
    ),
}


@pytest.fixture
def curator(tmp_path, request):
    path = write_policy(tmp_path)
    if request.node.callspec.params.get("term") == "limit":  # which only tables with a limit take
        path.write_text(path.read_text().replace("max_groups = 2", 'limit = "auto"'))
    with Curator.from_policy(path) as opened:
        yield opened


def through_one_cache(curator, term):
    """The plans of a pair, given by one cache and made by themselves."""
    sql, *pair = PAIRS[term]
    asked = [read_ask(json.dumps({"sql": sql, **terms}).encode(), Limits()) for terms in pair]
    plans = lru_cache(partial(make_plans, curator))
    return [plans(ask) for ask in asked], [curator.explain(ask.questions, **ask.terms) for ask in asked]


@pytest.mark.parametrize("term", TERMS)
def test_asks_that_differ_in_one_term_have_plans_of_their_own(curator, term):
    given, made = through_one_cache(curator, term)
    assert given == made
    assert given[0] != given[1]


@pytest.mark.parametrize("term", TERMS)
def test_a_term_that_does_not_count_is_seen(curator, monkeypatch, term):
    """A planted fault: the asks of the cache are told apart by all terms but this one."""
    sql, *pair = PAIRS[term]
    asked = [read_ask(json.dumps({"sql": sql, **terms}).encode(), Limits()) for terms in pair]
    monkeypatch.setattr(request_bodies, "TERMS", tuple(each for each in TERMS if each != term))
    plans = lru_cache(partial(make_plans, curator))
    first, second = (plans(ask) for ask in asked)
    assert first == second


def test_two_confidences_of_one_question_have_intervals_of_their_own(tmp_path):
    with promptly(write_policy(tmp_path)) as town:
        wide = []
        for confidence in (0.5, 0.99):
            reply = town.ask("SELECT COUNT(*) AS n FROM town", epsilon=0.1, confidence=confidence).json
            low, high = reply["intervals"][0]["n"]
            assert reply["confidence"] == confidence
            wide.append(high - low)
        assert wide[1] > 3 * wide[0]  # Laplace noise: ln(100) against ln(2), whatever was drawn
