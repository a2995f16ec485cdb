import math
from dataclasses import dataclass
from fractions import Fraction

import pytest

from discreet.apps.pictures import trade_off


@dataclass
class Claim:
    text: str
    points: tuple


@dataclass
class Trial:
    first: tuple
    second: tuple


@dataclass
class Report:
    claim: Claim
    trials: tuple = ()
    verdict: str = "violated"
    lower_bound: float = 2.0
    claimed: float = 1.0
    delta: float = 0.0


CLAIM = Claim("epsilon = 1", ((1.0, Fraction(0)),))


def test_the_claims_curve_meets_the_diagonal_where_randomised_response_stands():
    curve = trade_off(Report(CLAIM)).to_json()["data"][0]
    nearest = min(zip(curve["x"], curve["y"], strict=True), key=lambda point: abs(point[0] - point[1]))
    assert nearest == pytest.approx((1 / (1 + math.e),) * 2, abs=0.005)


def test_an_attack_that_refutes_lies_below_the_claims_curve():
    report = Report(CLAIM, trials=(Trial(first=(900, 1000), second=(50, 1000)),))
    claimed, _, attacks = trade_off(report).to_json()["data"]
    alarm, miss = attacks["x"][0], attacks["y"][0]
    assert (alarm, miss) == pytest.approx((0.05, 0.1))
    allowed = dict(zip(claimed["x"], claimed["y"], strict=True))[0.05]
    assert miss < allowed


def test_a_claim_without_privacy_rules_nothing_out():
    curve = trade_off(Report(Claim("none", ((1000.0, Fraction(0)),)))).to_json()["data"][0]
    assert max(curve["y"][1:]) < 1e-9
