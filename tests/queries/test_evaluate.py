import datetime
import math

import pytest

from discreet.asking.queries import Call, Literal, evaluate
from discreet.asking.queries.evaluate import LENIENT, STRICT
from discreet.asking.queries.functions import FUNCTIONS


def value(function, *arguments):
    return evaluate(Call(function, tuple(map(Literal, arguments))), lambda name: None)


def test_every_allowed_function_has_a_meaning_and_no_other():
    assert set(FUNCTIONS) == (set(STRICT) | set(LENIENT)) - {"date_of"}  # of released numbers alone


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        ("divide", (1, 0), None),
        ("divide", (1, 4), 0.25),
        ("divide_whole", (-7, 2), -3),
        ("divide_whole", (-(2**63), -1), 2**63),
        ("divide_whole", (7, 0), None),
        ("modulo", (-7, 2), -1),
        ("modulo", (7, -2), 1),
        ("modulo", (7, 0), None),
        ("add", (math.inf, -math.inf), None),
        ("multiply", (0.0, math.inf), None),
        ("multiply", (1e308, 10.0), math.inf),
        ("subtract", (datetime.date(2020, 3, 1), datetime.date(2020, 2, 1)), 29),
        ("round", (0.49999999999999994,), 0.0),
        ("round", (-2.5,), -3.0),
        ("to_integer", (2.5,), 2),
        ("to_integer", (3.5,), 4),
        ("to_integer", (9.3e18,), None),
        ("to_integer", ("٣",), None),
        ("to_integer", ("1e3",), None),
        ("to_integer", (" 1",), None),
        ("to_integer", ("+0012",), 12),
        ("to_number", ("1e999",), None),
        ("to_number", ("nan",), None),
        ("to_number", ("1_0",), None),
        ("to_number", (".5",), 0.5),
        ("to_boolean", ("yes",), None),
        ("to_date", ("2020-02-30",), None),
        ("to_date", ("0000-01-01",), None),
        ("to_timestamp", ("2020-01-01 24:00:00",), None),
        ("to_timestamp", ("2020-01-01T01:02:03.5",), datetime.datetime(2020, 1, 1, 1, 2, 3, 500000)),
        ("lower", ("ÀB",), "Àb"),
        ("length", ("🦆é",), 2),
        ("substr", ("héllo", 2, 2), "él"),
        ("like", ("a\nb", "a%b"), True),
        ("like", ("a.b", "a_b"), True),
        ("like", ("axb", "a.b"), False),
        ("width_bucket", (-1.0, 0.0, 10.0, 5), 0),
        ("width_bucket", (9.999999999999998, 0.0, 10.0, 5), 5),
        ("width_bucket", (10.0, 0.0, 10.0, 5), 6),
        ("in", (None, 1, 2), None),
        ("in", (3, 1, 2), False),
        ("equal", (2**53 + 1, float(2**53)), True),
        ("and", (None, False), False),
        ("or", (None, True), True),
        ("and", (None, True), None),
        ("dow", (datetime.date(2020, 1, 5),), 0),
        ("isodow", (datetime.date(2020, 1, 5),), 7),
        ("trunc_week", (datetime.date(1, 1, 3),), datetime.date(1, 1, 1)),
        ("trunc_quarter", (datetime.datetime(2020, 5, 5, 1, 2),), datetime.datetime(2020, 4, 1)),
        ("trunc_hour", (datetime.datetime(2020, 5, 5, 1, 2),), datetime.datetime(2020, 5, 5, 1)),
        ("sign", (-0.5,), -1),
        ("coalesce", (None, None, 3), 3),
    ],
)
def test_functions_are_total_and_mean_what_the_guide_says(function, arguments, expected):
    found = value(function, *arguments)
    assert (found, type(found)) == (expected, type(expected))
