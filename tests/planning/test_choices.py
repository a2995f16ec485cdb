from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.kernel.mechanisms import Exponential, PermuteAndFlip
from planning.frozen import plan_of
from queries.bank import BANK

TOP = "SELECT MODE(city) AS top FROM accounts"
ZCDP = replace(BANK, budget=(("rho", Fraction(1)),))
PURE = replace(BANK, budget=(("epsilon", Fraction(1)),))


def chooser(policy, **price):
    (step,) = plan_of(TOP, policy, **price).sets[0].columns
    return step.mechanism


@pytest.mark.parametrize("policy", [BANK, PURE])
def test_where_epsilons_are_added_up_a_mode_is_chosen_by_permute_and_flip(policy):
    assert isinstance(chooser(policy, epsilon=1), PermuteAndFlip)
    assert plan_of(TOP, policy, epsilon=1).loss.epsilon(delta=0) == 1


def test_a_price_in_rho_takes_the_exponential_mechanism_which_it_charges_less():
    found = chooser(ZCDP, rho=Fraction(1, 8))
    assert isinstance(found, Exponential)
    assert found.epsilon > Fraction(999, 1000)  # permute-and-flip would only get 1/2 for it
    assert plan_of(TOP, ZCDP, rho=Fraction(1, 8)).loss.rho <= 1 / 8


def test_a_budget_in_rho_takes_it_at_a_price_in_epsilon_too():
    assert isinstance(chooser(ZCDP, epsilon=1), Exponential)


def test_a_mode_errs_less_than_by_the_exponential_mechanism_at_the_same_price():
    found = chooser(BANK, epsilon=1)
    older = Exponential(epsilon=1, sensitivity=found.sensitivity, scores=found.scores)
    assert found.utility_bound(candidates=12) < older.utility_bound(candidates=12)
