import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.kernel.numerics import exact, exact_delta, exact_epsilon, exact_whole

GARBAGE = [
    True,
    False,
    "1",
    "nan",
    b"1",
    None,
    [1],
    math.nan,
    math.inf,
    -math.inf,
    Decimal("NaN"),
    Decimal("Infinity"),
    1j,
]
GARBAGE += [np.float64("nan"), np.bool_(True), Decimal("1e5000"), Fraction(1, 3**2000)]


@pytest.mark.parametrize("value", GARBAGE, ids=repr)
def test_garbage_is_refused(value):
    with pytest.raises(InvalidParameter):
        exact(value, name="epsilon")


@pytest.mark.parametrize(
    "value", [0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1), np.float32(0.1)], ids=repr
)
def test_a_tenth_is_a_tenth_however_it_is_written(value):
    assert exact(value, name="epsilon") == Fraction(1, 10)


def test_integers_of_numpy_are_integers():
    assert exact(np.int64(2**62), name="n") == 2**62


@pytest.mark.parametrize("value", [0, -1, -0.0, 1e-320, 1e308, 10_001, Fraction(1, 2**61)])
def test_a_price_has_limits(value):
    with pytest.raises(InvalidParameter):
        exact_epsilon(value)


@pytest.mark.parametrize("value", [1, 1.0000001, -1e-9])
def test_delta_has_limits(value):
    with pytest.raises(InvalidParameter):
        exact_delta(value)


def test_a_count_is_whole():
    assert exact_whole(3.0, name="count") == 3
    with pytest.raises(InvalidParameter):
        exact_whole(2.5, name="count")
