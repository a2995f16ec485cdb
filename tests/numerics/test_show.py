"""Printed numbers keep to their side, and a parameter that is printed short is printed exactly."""

from fractions import Fraction

from hypothesis import given, strategies as st

from discreet.kernel.numerics import readable, readable_up, short_down, short_up, show_exact

NUMBERS = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40)


def number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


@given(NUMBERS)
def test_spending_is_printed_above_and_what_is_left_below_within_six_digits(value):
    assert number(short_down(value)) <= value <= number(short_up(value))
    assert number(short_up(value)) - number(short_down(value)) <= value / 10**5


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_an_error_is_never_printed_smaller_than_it_is(value):
    assert number(readable_up(value)) >= Fraction(value)
    assert abs(number(readable(value)) - Fraction(value)) <= Fraction(value) / 10**5


@given(st.integers(-(10**9), 10**9), st.integers(1, 9999))
def test_a_parameter_is_printed_exactly(top, bottom):
    value = Fraction(top, bottom)
    shown = show_exact(value)
    is_long = len(str(value)) > 12
    assert number(shown) == value or (is_long and abs(number(shown) - value) <= abs(value) / 10**5)
