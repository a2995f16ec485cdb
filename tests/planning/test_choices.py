from dataclasses import replace
from fractions import Fraction

import pytest

from discreet.kernel.mechanisms import Exponential, PermuteAndFlip, Quantile
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


def test_a_choice_says_how_sure_it_is_in_rows():
    columns = "MODE(city) AS top, MEDIAN(age) AS middle, MIN(age) AS least, MAX(age) + 1 AS more"
    plan = plan_of(f"SELECT {columns} FROM accounts", BANK, epsilon=1)
    top, middle, least = plan.choice_notes()  # what is computed from a choice has none
    mode = plan_of(TOP, BANK, epsilon=Fraction(1, 4)).sets[0].columns[0].error(Fraction(95, 100))
    assert top == f"top: no other label has more than {int(mode):,} rows more, with 95% confidence"
    assert middle.startswith("middle: at most ")
    assert middle.endswith(" rows between it and the exact one, where values differ, with 95% confidence")
    assert least.endswith(" rows below it, with 95% confidence")
    found = [int(line.split("at most ")[1].split()[0].replace(",", "")) for line in (middle, least)]
    assert found[1] == pytest.approx(found[0], abs=1)  # an end errs by as many ranks as the middle


@pytest.mark.parametrize("q", [0, 1])
def test_so_many_rows_lie_beyond_an_end_in_no_more_than_one_of_twenty(q):
    """400 draws: 61 or more misses have probability below 1e-9 if one in twenty is missed; a claim of half
    the rows would be missed far more often (the planted fault)."""
    values, claim = list(range(300)), Quantile(epsilon=0.5, quantile=q, bounds=(0, 299), step=1)
    error = claim.rank_error()
    beyond = [point if q == 0 else 299 - point for point in claim.sample(values, 400)]
    assert sum(each > error for each in beyond) < 61
    assert sum(each > error / 8 for each in beyond) > 61
