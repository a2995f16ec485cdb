"""The least noise that keeps a target: enough under every notion, and hardly more."""

from fractions import Fraction

import pytest

from discreet import losses
from discreet.accounting.calibrate import calibrate, keeps
from discreet.errors import InvalidParameter
from discreet.losses import GDP, ZCDP, ApproxDP, PureDP, RenyiDP


def laplace(scale):
    return 3 * losses.laplace(scale=scale)


def gaussian(sigma):
    return 3 * losses.gaussian(sigma=sigma)


# Plans of three releases, their targets, and the least noise by hand.
CASES = {
    "epsilon": (laplace, PureDP(Fraction(1, 2)), 6.0),
    "rho": (gaussian, ZCDP(Fraction(1, 8)), 12**0.5),
    "mu": (gaussian, GDP(Fraction(1, 2)), 12**0.5),
    "renyi": (gaussian, RenyiDP(4, Fraction(1, 2)), 12**0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_the_least_noise_is_the_one_by_hand_and_keeps_the_target(name):
    plan, target, by_hand = CASES[name]
    found = calibrate(plan, target)
    assert keeps(plan(found), target)
    assert by_hand <= float(found) * (1 + 1e-15) <= by_hand * (1 + 2**-29)


def test_noise_for_an_epsilon_and_a_delta_keeps_both_and_less_does_not():
    target = ApproxDP(1, Fraction(1, 10**6))
    found = calibrate(gaussian, target)
    for noise, kept in ((found, True), (found * (1 - Fraction(1, 2**20)), False)):
        assert (gaussian(noise).delta(epsilon=1) <= target.delta) is kept
        assert keeps(gaussian(noise), target) is kept


def test_a_target_of_another_relation_or_with_a_failure_in_rho_is_refused():
    with pytest.raises(InvalidParameter, match="relation"):
        keeps(laplace(Fraction(1)), PureDP(1, relation="replace"))
    with pytest.raises(InvalidParameter, match="failure"):
        keeps(gaussian(Fraction(1)), ZCDP(1, Fraction(1, 10)))
