import math
import sys
from fractions import Fraction

from flint import arb
from hypothesis import given, strategies as st

from discreet.kernel.numerics import (
    ball,
    largest_power_of_two,
    round_down,
    round_up,
    state_down,
    state_up,
    stated,
)


@given(st.fractions())
def test_the_two_roundings_enclose_and_are_neighbours(value):
    low, high = round_down(value), round_up(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert high == low or math.nextafter(low, math.inf) == high


def test_a_ball_is_rounded_outside():
    third = ball(Fraction(1, 3))
    assert Fraction(round_down(third)) < Fraction(1, 3) < Fraction(round_up(third))


def test_what_is_unknown_is_bounded_by_infinity():
    assert round_up(arb("nan")) == math.inf
    assert round_down(arb("nan")) == -math.inf


def test_huge_numbers_stay_on_their_side():
    huge = Fraction(10**400)
    assert round_up(huge) == math.inf
    assert round_down(huge) == math.nextafter(math.inf, 0)
    assert round_down(-huge) == -math.inf


@given(st.fractions(min_value=Fraction(1, 10**30)))
def test_the_largest_power_of_two_is_at_most_twice_too_small(limit):
    power = largest_power_of_two(limit)
    assert power <= limit < 2 * power


def test_a_ball_far_below_or_above_every_float_is_rounded_at_once():
    tiny, huge = (-ball(10**15)).exp(), ball(10**15).exp()
    assert (round_down(tiny), round_up(tiny)) == (0.0, 5e-324)
    assert (round_down(-tiny), round_up(-tiny)) == (-5e-324, 0.0)
    assert (round_down(huge), round_up(huge)) == (sys.float_info.max, math.inf)


@given(st.fractions(min_value=0))
def test_a_stated_answer_is_safe_as_a_float_and_as_the_decimal_it_prints(value):
    low, high = state_down(value), state_up(value)
    assert max(Fraction(low), Fraction(repr(low))) <= value <= stated(high) <= Fraction(high)
    assert high <= math.nextafter(round_up(value), math.inf)
    assert low >= math.nextafter(round_down(value), -math.inf)


def test_a_stated_answer_keeps_a_decimal_that_is_exact():
    assert (state_down(Fraction(1, 2)), state_up(Fraction(1, 10)), state_up(0)) == (0.5, 0.1, 0.0)
    assert state_up(arb("nan")) == math.inf
