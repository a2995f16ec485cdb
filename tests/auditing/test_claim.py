from fractions import Fraction

import pytest

import discreet as dp
from discreet.apps.auditing.claim import Claim


def test_a_number_is_a_pure_epsilon():
    assert Claim.read(0.1).points == ((0.1, Fraction(0)),)


def test_a_notion_is_tested_at_its_own_delta():
    points = {delta: epsilon for epsilon, delta in Claim.read(dp.ApproxDP(1, 0.0123)).points}
    assert points[Fraction("0.0123")] == pytest.approx(1)
    assert min(points) == Fraction("0.0123")


def test_a_curve_gives_many_points_each_smaller_than_the_last():
    epsilons = [epsilon for epsilon, _ in Claim.read(dp.GDP(1)).points]
    assert len(epsilons) > 8
    assert epsilons == sorted(epsilons, reverse=True)


def test_certified_rates_refute_the_point_they_exceed_most():
    finding = Claim.read(dp.GDP(1)).judge(Fraction(9, 10), Fraction(1, 100))
    assert finding.excess > 0
    assert finding.delta > 0


def test_rates_that_a_gaussian_allows_refute_nothing():
    # For mu = 1 the event {x > 1/2} has probabilities 0.6915 and 0.3085.
    assert Claim.read(dp.GDP(1)).judge(Fraction(6914, 10000), Fraction(3086, 10000)).excess <= 0
    assert Claim.read(dp.GDP(0.98)).judge(Fraction(6914, 10000), Fraction(3086, 10000)).excess > 0


@pytest.mark.parametrize("claim", [-1, float("nan"), "1", True])
def test_what_is_no_claim_is_refused(claim):
    with pytest.raises(dp.InvalidParameter):
        Claim.read(claim)


def test_a_claim_survives_json():
    claim = Claim.read(dp.ZCDP(0.5))
    assert Claim.from_json(claim.to_json()) == claim
