from fractions import Fraction

import pytest
from hypothesis import given, strategies as st
from mpmath import mp, mpf

from discreet.kernel.randomness.source import exp_fixed


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=200), st.integers(1, 300))
def test_the_floor_agrees_with_another_library(exponent, bits):
    with mp.workprec(bits + 400):
        value = mp.exp(-mpf(exponent.numerator) / exponent.denominator) * mpf(2) ** bits
        assert exp_fixed(exponent, bits) == int(mp.floor(value))


@pytest.mark.parametrize("bits", [8, 64, 192])
@pytest.mark.parametrize("factor", [Fraction(1), Fraction(5, 3), Fraction(1, 1000)])
def test_an_exponential_is_zero_only_where_it_is_below_one_unit(bits, factor):
    with mp.workprec(bits + 400):
        for exponent in (Fraction(bits * percent, 100) for percent in range(1, 100)):
            value = mp.exp(-mpf(exponent.numerator) / exponent.denominator) * mpf(2) ** bits
            exact = int(mp.floor(value * factor.numerator / factor.denominator))
            assert exp_fixed(exponent, bits, factor) == exact


@pytest.mark.parametrize("exponent", [Fraction(2) ** 40, Fraction(2) ** 2000])
def test_a_vanishing_exponential_is_zero_at_once(exponent):
    assert exp_fixed(exponent, 10_000) == 0


def test_a_tiny_exponent_is_just_below_one():
    assert exp_fixed(Fraction(1, 2**2000), 64) == 2**64 - 1
