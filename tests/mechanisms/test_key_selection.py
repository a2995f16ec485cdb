import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from discreet.kernel.losses import approximate
from oracles import mechanism_laws as oracle

PRICES = st.tuples(
    st.fractions(Fraction(1, 50), 8, max_denominator=50), st.fractions(Fraction(1, 10**6), Fraction(9, 10))
).filter(lambda price: price[1] > 0)


@settings(max_examples=60, deadline=None)
@given(PRICES, st.integers(0, 60), st.integers(1, 3))
def test_the_closed_form_is_the_recursion(price, persons, threshold):
    epsilon, delta = price
    selection = dp.KeySelection(epsilon=epsilon, delta=delta, threshold=threshold)
    keep = oracle.key_selection(selection, persons)[True]
    assert selection.probability(persons) == pytest.approx(float(keep), rel=1e-12, abs=1e-300)
    assert (persons >= selection.always) == (keep == 1 or 1 - keep < 1e-50)


@settings(max_examples=60, deadline=None)
@given(PRICES)
def test_one_person_more_or_less_is_within_epsilon_and_delta_and_no_larger_probability_would_be(price):
    epsilon, delta = price
    selection = dp.KeySelection(epsilon=epsilon, delta=delta)
    grow, failure = math.exp(epsilon), float(delta)
    keep = [selection.probability(n) for n in range(min(selection.always + 2, 200))]
    for before, after in pairwise(keep):
        assert after <= grow * before + failure + 1e-12
        assert 1 - before <= grow * (1 - after) + failure + 1e-12
        more = after + 1e-6  # the planted fault: a little more than optimal breaks one of the two
        broken = more > grow * before + failure or 1 - before > grow * (1 - more) + failure or more > 1
        assert broken


def test_a_person_with_several_keys_splits_the_price():
    one, three = (dp.KeySelection(epsilon=3, delta=3e-6, max_groups=k) for k in (1, 3))
    assert three.probability(1) == pytest.approx(1e-6)
    assert three.probability(2) == dp.KeySelection(epsilon=1, delta=1e-6).probability(2)
    assert three.loss.epsilon(delta=3e-6) <= 3
    assert one.always < three.always


def test_a_replaced_person_leaves_some_keys_and_enters_as_many():
    replaced = dp.KeySelection(epsilon=2, delta=2e-6, relation="replace")
    assert replaced.probability(1) == pytest.approx(1e-6)
    assert replaced.probability(2) == dp.KeySelection(epsilon=1, delta=1e-6).probability(2)
    assert replaced.loss.relation == "replace"
    assert replaced.loss.epsilon(delta=2e-6) <= 2
    worst = approximate(epsilon=2, delta=2e-6)  # the planted fault: one key's price for both
    assert worst.epsilon(delta=2e-6) < (2 * worst).epsilon(delta=2e-6)


def test_singletons_appear_no_more_often_than_delta():
    selection = dp.KeySelection(epsilon=1, delta=0.01)
    kept = selection.select({f"key {i}": 1 for i in range(20000)})
    assert 200 - 7.5 * math.sqrt(200) < len(kept) < 200 + 7.5 * math.sqrt(200)  # < 1e-12 each


def test_every_key_has_a_coin_of_its_own():
    selection = dp.KeySelection(epsilon=1, delta=0.3)
    kept = np.array([len(selection.select(dict.fromkeys(range(20), 1))) for _ in range(300)])
    assert kept.var() < 20 * 0.3 * 0.7 * 3  # one coin for all would give a variance of 84


def test_large_keys_are_always_kept_and_empty_ones_never():
    selection = dp.KeySelection(epsilon=1, delta=1e-6, threshold=5)
    assert selection.select({"big": 10**30, "empty": 0, "small": 4}) == ["big"]
    assert selection.always == 28 + 4


@pytest.mark.parametrize("persons", [-1, 1.5, True, "3", math.nan, None])
def test_counts_are_whole_numbers_of_persons(persons):
    with pytest.raises(dp.InvalidParameter):
        dp.KeySelection(epsilon=1, delta=1e-6).select({"key": persons})


def test_selection_needs_a_delta():
    with pytest.raises(dp.InvalidParameter, match="public keys"):
        dp.KeySelection(epsilon=1, delta=0)


def test_at_one_half_the_two_branches_meet():
    selection = dp.KeySelection(epsilon=0.01, delta=0.5)
    assert (selection.probability(1), selection.probability(2), selection.always) == (0.5, 1.0, 2)
