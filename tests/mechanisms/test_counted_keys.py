"""One draw for a key and its count: the loss by enumeration, intervals by exact coverage."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from oracles.counted_keys import worst
from oracles.mechanism_laws import cut_laplace

PRICES = st.tuples(
    st.fractions(Fraction(1, 4), 8, max_denominator=20),
    st.fractions(Fraction(1, 10**9), Fraction(9, 10)).filter(bool),
    st.integers(1, 4),
    st.integers(1, 3),
)
SMALL = [  # epsilon, delta, max_groups, sensitivity
    (1, Fraction(1, 20), 1, 1),
    (2, Fraction(1, 20), 1, 3),
    (3, Fraction(1, 10), 2, 1),
    (6, Fraction(1, 10), 2, 2),
]


def counted(epsilon, delta, groups, rows):
    return dp.CountedKeys(epsilon=epsilon, delta=delta, max_groups=groups, sensitivity=rows)


@settings(max_examples=60, deadline=None)
@given(PRICES)
def test_the_threshold_is_the_least_whose_upper_end_has_so_little_probability(price):
    epsilon, delta, groups, rows = price
    mechanism = counted(*price)

    def upper_end(most):
        weights = [math.exp(-abs(x) / mechanism.scale) for x in range(-most, most + 1)]
        return math.fsum(weights[-rows:]) / math.fsum(weights)

    k = mechanism.threshold
    assert mechanism.scale == groups * rows / epsilon
    assert upper_end(k) <= float(delta / groups) * (1 + 1e-12)
    assert k == rows or upper_end(k - 1) > float(delta / groups) * (1 - 1e-12)


@pytest.mark.parametrize("price", SMALL)
def test_no_person_changes_more_than_is_charged(price):
    epsilon, delta, groups, rows = price
    mechanism = counted(*price)
    noise = cut_laplace(mechanism.scale, mechanism.threshold)
    lost = worst(noise, mechanism.threshold, epsilon=float(epsilon), groups=groups, rows=rows)
    assert lost <= mechanism.loss.delta(epsilon=epsilon) + 1e-12
    # Rounded up so that its printed decimal, too, is not below the truth.
    assert mechanism.loss.delta(epsilon=epsilon) <= math.nextafter(delta, 1)


@pytest.mark.parametrize("price", SMALL)
def test_a_threshold_one_lower_is_found(price):
    epsilon, delta, groups, rows = price
    mechanism = counted(*price)
    lower = mechanism.threshold - 1
    planted = cut_laplace(mechanism.scale, lower)
    assert worst(planted, lower, epsilon=float(epsilon), groups=groups, rows=rows) > delta
    whole = cut_laplace(mechanism.scale, mechanism.threshold)  # cut off as it should be, but shown earlier
    assert worst(whole, lower, epsilon=float(epsilon), groups=groups, rows=rows) > delta


def test_a_delta_for_one_key_where_a_person_holds_two_is_found():
    alone = counted(1, Fraction(1, 10), 1, 1)
    noise = cut_laplace(alone.scale, alone.threshold)
    assert worst(noise, alone.threshold, epsilon=1, groups=1, rows=1) <= Fraction(1, 10)
    assert worst(noise, alone.threshold, epsilon=2, groups=2, rows=1) > Fraction(1, 10)


def test_a_count_of_one_where_a_person_has_three_rows_is_found():
    person = counted(1, Fraction(1, 20), 1, 1)
    noise = cut_laplace(3 * person.scale, person.threshold)
    assert worst(noise, person.threshold, epsilon=1, groups=1, rows=3) > Fraction(1, 20)


def test_noise_that_is_not_cut_off_is_found_where_absent_keys_are_not_drawn_for():
    mechanism = counted(Fraction(1, 4), Fraction(1, 100), 1, 1)
    uncut = cut_laplace(mechanism.scale, 160)
    assert worst(uncut, mechanism.threshold, epsilon=0.25, groups=1, rows=1) > Fraction(1, 100)


@pytest.mark.parametrize("price", [*SMALL, (1, 1e-6, 1, 1), (Fraction(1, 2), 1e-3, 1, 3)])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)])
def test_the_interval_of_a_shown_count_covers_as_often_as_it_says(price, confidence):
    mechanism = counted(*price)
    k = mechanism.threshold
    noise = {x: float(p) for x, p in cut_laplace(mechanism.scale, k).items()}
    ends = {value: mechanism.between(value, confidence) for value in range(k + 1, 4 * k + 8)}
    for count in range(1, 3 * k + 6):
        assert covered(noise, k, count, ends) >= confidence - Fraction(1, 10**12)
        reach = int(mechanism.error(confidence=confidence))
        blind = {value: (value - reach, value + reach) for value in ends}  # the planted fault
        if count == 1 and reach < k:
            assert covered(noise, k, count, blind) < confidence
    assert all(low <= value <= high for value, (low, high) in ends.items())


def covered(noise, threshold, count, ends):
    shown = {count + x: p for x, p in noise.items() if count + x > threshold}
    inside = [p for value, p in shown.items() if ends[value][0] <= count <= ends[value][1]]
    return math.fsum(inside) / math.fsum(shown.values())


@pytest.mark.parametrize("price", SMALL)
def test_an_interval_is_all_counts_that_take_the_value_for_likely_and_no_others(price):
    mechanism, allowed = counted(*price), 0.05
    k = mechanism.threshold
    noise = {x: float(p) for x, p in cut_laplace(mechanism.scale, k).items()}

    def takes(count, value):
        shown = {count + x: p for x, p in noise.items() if count + x > k}
        further = [p for y, p in shown.items() if abs(y - count) >= abs(value - count)]
        return value in shown and math.fsum(further) > allowed * math.fsum(shown.values())

    for value in range(k + 1, 4 * k + 4):
        found = [count for count in range(1, value + k + 2) if takes(count, value)]
        assert mechanism.between(value, Fraction(95, 100)) == (found[0], found[-1])
        assert len(found) == found[-1] - found[0] + 1


def test_far_above_the_threshold_the_interval_is_that_of_the_noise():
    mechanism = counted(1, 1e-6, 1, 1)
    assert mechanism.interval(1000) == dp.Interval(997, 1003)
    assert mechanism.interval(15) == dp.Interval(1, 18)  # the least that is shown: it may be one person's
    assert mechanism.error() <= dp.Laplace(epsilon=1, sensitivity=1).error()


@settings(max_examples=40, deadline=None)
@given(PRICES, st.integers(5, 300))
def test_keys_of_persons_are_shown_as_often_as_by_a_selection_of_half_the_price(price, persons):
    epsilon, delta, groups, _ = price
    delta = min(delta, Fraction(1, 1000))
    one = counted(epsilon, delta, groups, 1)
    two = dp.KeySelection(epsilon=epsilon / 2, delta=delta, max_groups=groups)
    assert one.probability(persons) >= two.probability(persons) * (1 - 1e-12)
    assert one.always <= two.always


def test_keys_that_nobody_has_are_never_shown_and_large_ones_always():
    mechanism = counted(1, Fraction(1, 2), 1, 1)
    for _ in range(200):
        assert mechanism.release({"empty": 0, "large": mechanism.always}).keys() == {"large"}
    assert mechanism.probability(0) == 0
    assert mechanism.probability(mechanism.always) == 1 > mechanism.probability(mechanism.always - 1)


def test_singletons_are_shown_no_more_often_than_delta():
    mechanism = counted(1, 0.05, 1, 1)
    shown = mechanism.release(dict.fromkeys(range(20_000), 1))
    expected = 20_000 * mechanism.probability(1)
    assert mechanism.probability(1) <= 0.05
    assert abs(len(shown) - expected) < 7.5 * math.sqrt(expected)  # probability below 1e-12
    assert set(shown.values()) == {mechanism.threshold + 1}


@pytest.mark.parametrize("epsilon", [Fraction(3, 2**60), 10_000])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 0.9])
@pytest.mark.parametrize("rows", [1, 10**12])
def test_every_price_can_be_drawn_and_read(epsilon, delta, rows):
    mechanism = counted(epsilon, delta, 3, rows)
    (value,) = mechanism.release({"key": 10**40}).values()
    assert abs(value - 10**40) <= mechanism.threshold
    low, high = mechanism.between(mechanism.threshold + 1, Fraction(95, 100))
    assert 1 <= low <= mechanism.threshold + 1 <= high
    # Rounded up so that its printed decimal, too, is not below the truth.
    assert mechanism.loss.delta(epsilon=epsilon) <= math.nextafter(delta, 1)


@pytest.mark.parametrize("count", [-1, 1.5, True, "3", math.nan, None])
def test_counts_are_whole_numbers(count):
    with pytest.raises(dp.InvalidParameter):
        counted(1, 1e-6, 1, 1).release({"key": count})


def test_what_cannot_have_been_shown_has_no_interval():
    mechanism = counted(1, 1e-6, 1, 1)
    with pytest.raises(dp.InvalidParameter, match="threshold"):
        mechanism.interval(mechanism.threshold)


def test_without_delta_there_are_no_private_keys():
    with pytest.raises(dp.InvalidParameter, match="public keys"):
        dp.CountedKeys(epsilon=1, delta=0)


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize(("epsilon", "sensitivity", "keys"), [(1, 1, 1), (0.5, 3, 4), (6, 1, 2)])
def test_the_guarantee_in_epsilon_and_delta_is_above_the_curve(epsilon, sensitivity, keys, relation):
    counted = dp.CountedKeys(
        epsilon=epsilon, delta=1e-6, sensitivity=sensitivity, max_groups=keys, relation=relation
    )
    assert counted.guarantee.epsilon(delta=1e-6) <= epsilon
    for at in (0, epsilon / 3, epsilon * 0.9, epsilon, 2 * epsilon):
        curve, stated = (each.delta_interval(epsilon=at) for each in (counted.loss, counted.guarantee))
        assert curve.lower <= stated.upper
