"""Counting in a fixed decimal unit."""

from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from discreet.errors import InvalidParameter
from discreet.kernel.accounting.units import (
    ONE,
    Total,
    decimal_text,
    from_units,
    root_down,
    root_up,
    units_down,
    units_up,
)

NUMBERS = st.integers(0, 10**63)


@given(NUMBERS)
def test_a_decimal_is_exact_and_is_read_back(units):
    getcontext().prec = 80
    text = decimal_text(units)
    assert Decimal(text) == Decimal(units) / Decimal(ONE)
    assert Total.from_json([text, "0", "0"]) == Total(units)


@pytest.mark.parametrize(
    "text", ["", "nan", "1e3", "-1", "01", "1.", "1.0", ".5", " 1", "1/2", "٣", "1_0", "0." + "1" * 49]
)
def test_only_the_plain_decimal_is_read(text):
    with pytest.raises(ValueError, match="plain decimal"):
        Total.from_json([text, "0", "0"])


@given(st.fractions(0, 10**6))
def test_costs_round_up_and_limits_down(value):
    assert from_units(units_down(value)) <= value <= from_units(units_up(value))
    assert units_up(value) - units_down(value) <= 1


@given(st.integers(0, 10**60))
def test_roots_enclose(square):
    assert from_units(root_down(square)) ** 2 <= from_units(square) <= from_units(root_up(square)) ** 2
    assert root_up(square) - root_down(square) <= 1


@pytest.mark.parametrize("value", [Fraction(-1), Fraction(10**16)])
def test_what_does_not_fit_is_refused(value):
    with pytest.raises(InvalidParameter):
        units_up(value)
