import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from discreet.errors import InvalidParameter
from discreet.mechanisms.lattice import Lattice, choose_step

STEPS = st.integers(-1060, 60).map(lambda e: Fraction(2) ** e)
FINE = st.integers(-1060, -1).map(lambda e: Fraction(2) ** e)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
NOISE = st.integers(-(2**61), 2**61) | st.integers(-(2**90), 2**90)


def draws(noise):
    """Noise that was fixed in advance, as the lattice asks for it."""
    fits = all(abs(extra) < 2**63 for extra in noise)
    return lambda size: noise[0] if size is None else np.array(noise, dtype=np.int64 if fits else object)


def nearest(value, step):
    return math.floor(Fraction(value) / step + Fraction(1, 2))


def as_float(number):
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number)


@given(st.lists(st.tuples(FLOATS, NOISE), min_size=1, max_size=6), FINE)
def test_floats_are_rounded_and_added_exactly(pairs, step):
    values, noise = map(list, zip(*pairs, strict=True))
    expected = [as_float((nearest(v, step) + n) * step) for v, n in pairs]
    lattice = Lattice(step)
    assert lattice.add(np.array(values), draws(noise)).tolist() == expected
    assert lattice.add(values, draws(noise)) == expected
    assert lattice.add(values[0], draws(noise)) == expected[0]


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), NOISE), min_size=1, max_size=6), STEPS)
def test_whole_numbers_never_wrap(pairs, step):
    values, noise = map(list, zip(*pairs, strict=True))
    expected = [nearest((nearest(v, step) + n) * step, 1) for v, n in pairs]
    lattice = Lattice(step)
    released = lattice.add(np.array(values, dtype=np.int64), draws(noise))
    assert [int(value) for value in released] == expected
    assert lattice.add(values, draws(noise)) == expected
    assert lattice.add(values[0], draws(noise)) == expected[0]


@given(FLOATS, FLOATS, FINE)
def test_rounding_moves_values_apart_by_less_than_a_step(x, y, step):
    lattice = Lattice(step)
    moved = abs(lattice._round(x) - lattice._round(y))
    assert moved <= math.ceil(abs(Fraction(x) - Fraction(y)) / step)


def test_rounding_half_to_even_would_move_values_further():
    # The planted fault: 1/2 and 3/2 differ by one step, half to even makes it two.
    assert round(1.5) - round(0.5) == 2
    lattice = Lattice(Fraction(1, 2))
    assert lattice._round(0.75) - lattice._round(0.25) == 1


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_arrays_of_whole_numbers_keep_their_shape(dtype):
    released = Lattice(Fraction(1)).add(np.ones((2, 3), dtype=dtype), draws([1, 2, 3, 4, 5, 6]))
    assert released.tolist() == [[2, 3, 4], [5, 6, 7]]


def test_huge_unsigned_numbers_are_exact():
    values = np.array([2**64 - 1], dtype=np.uint64)
    assert Lattice(Fraction(1)).add(values, draws([5])).tolist() == [2**64 + 4]


def test_lists_are_released_number_by_number_in_their_nesting():
    assert Lattice(Fraction(1, 4)).add([1, [2.5, []], 3], draws([4, 4, 4])) == [2, [3.5, []], 4]


@pytest.mark.parametrize("value", [[], np.zeros(0), np.zeros((0, 3), dtype=np.int64)], ids=str)
def test_nothing_is_released_as_nothing(value):
    assert np.shape(Lattice(Fraction(1, 4)).add(value, lambda size: np.zeros(size, np.int64))) == np.shape(
        value
    )


def test_the_values_given_are_left_alone():
    floats, whole = np.array([1.25]), np.array([3])
    Lattice(Fraction(1, 4)).add(floats, draws([1]))
    Lattice(Fraction(1)).add(whole, draws([1]))
    assert (floats[0], whole[0]) == (1.25, 3)


@pytest.mark.parametrize("value", [1.0, [1, 2.0], np.ones(2), np.float32(1)], ids=repr)
def test_floats_are_refused_on_a_whole_step(value):
    with pytest.raises(InvalidParameter, match="whole"):
        Lattice(Fraction(1)).add(value, draws([0, 0]))


@pytest.mark.parametrize("value", [math.nan, [0.0, math.inf], np.array([-math.inf]), [1, math.nan]], ids=repr)
def test_what_is_not_finite_is_refused_before_a_draw(value):
    with pytest.raises(InvalidParameter, match="finite"):
        Lattice(Fraction(1, 4)).add(value, lambda size: pytest.fail("noise was drawn"))


@pytest.mark.parametrize(
    "value",
    [True, [True], np.array([True]), "7919", ["7919"], None, 1j, np.array(["7919"]), {7919}, Fraction(1, 3)],
)
def test_other_things_are_refused_unquoted(value):
    with pytest.raises(InvalidParameter) as refused:
        Lattice(Fraction(1, 4)).add(value, draws([0]))
    assert "7919" not in str(refused.value)


def test_the_default_step_follows_sensitivity_and_scale():
    assert choose_step(None, scale=Fraction(10**9), sensitivity=Fraction(3)) == 1
    assert choose_step(None, scale=Fraction(2**20), sensitivity=Fraction(1, 2)) == 1
    assert choose_step(None, scale=Fraction(2**20 - 1), sensitivity=Fraction(1, 2)) == Fraction(1, 2)


@pytest.mark.parametrize("step", [3, 0.1, 0, -1, True, math.nan])
def test_a_step_is_a_power_of_two(step):
    with pytest.raises(InvalidParameter):
        choose_step(step, scale=Fraction(1), sensitivity=Fraction(1))
