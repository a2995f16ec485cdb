import datetime
import math
from fractions import Fraction

import pytest

from discreet.asking.policy import Column
from discreet.errors import InvalidParameter


@pytest.mark.parametrize(
    ("promises", "kind"),
    [
        ({}, "text"),
        ({"bounds": (0, 10)}, "number"),
        ({"keys": ["a", "b"]}, "text"),
        ({"keys": [1, 2]}, "integer"),
        ({"keys": [1, 2.5]}, "number"),
        ({"keys": [True, False]}, "boolean"),
        ({"bounds": (datetime.date(2020, 1, 1), datetime.date(2021, 1, 1))}, "date"),
        ({"type": "integer", "bounds": (0, 10)}, "integer"),
    ],
)
def test_a_column_is_text_unless_something_says_otherwise(promises, kind):
    assert Column.read("x", **promises).type == kind


@pytest.mark.parametrize(
    "bounds", [(1, 0), (0, 0), (math.nan, 1), (-math.inf, math.inf), (0, True), ("0", 1), (0,), 5, (0, 1e301)]
)
def test_bounds_that_bound_nothing_are_refused(bounds):
    with pytest.raises(InvalidParameter):
        Column.read("x", type="number", bounds=bounds)


def test_a_float_bound_is_the_decimal_that_is_printed():
    assert Column.read("x", bounds=(0, 0.1)).bounds == (0, Fraction(1, 10))


@pytest.mark.parametrize("bounds", [(0, 2**63), (0.5, 3)])
def test_bounds_of_integers_are_whole_and_of_64_bits(bounds):
    with pytest.raises(InvalidParameter):
        Column.read("x", type="integer", bounds=bounds)


@pytest.mark.parametrize("keys", [[], ["a", "a"], "ab", [1, "a"], [None], 5])
def test_keys_are_different_values_of_the_column(keys):
    with pytest.raises(InvalidParameter):
        Column.read("x", keys=keys)


@pytest.mark.parametrize("kind", ["float", "int", "", 3, None.__class__])
def test_an_unknown_type_is_refused(kind):
    with pytest.raises(InvalidParameter):
        Column.read("x", type=kind)


def test_dates_are_read_from_text():
    column = Column.read("x", type="date", bounds=("2020-01-01", "2020-12-31"))
    assert column.bounds == (datetime.date(2020, 1, 1), datetime.date(2020, 12, 31))
    with pytest.raises(InvalidParameter):
        Column.read("x", type="date", bounds=("2020-01-01", "soon"))


def test_days_that_bound_times_are_whole():
    days = Column.read("x", bounds=("2020-01-01", "2020-12-31"))
    known = days.with_schema_type("timestamp")
    assert days.type == "date"
    assert known.bounds == (
        datetime.datetime(2020, 1, 1), datetime.datetime(2020, 12, 31, 23, 59, 59, 999_999)
    )  # fmt: skip


@pytest.mark.parametrize("promise", [{"nullable": 1}, {"missing": "NA"}, {"missing": [1]}])
def test_other_promises_are_checked(promise):
    with pytest.raises(InvalidParameter):
        Column.read("x", **promise)


def test_text_has_no_bounds():
    with pytest.raises(InvalidParameter, match="numbers or dates"):
        Column.read("x", type="text", bounds=(0, 1))
