import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.kernel.mechanisms.lattice import Lattice, choose_step

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


WHOLE = st.integers(-(2**63), 2**63 - 1)


def saturated(number):
    return min(max(number, -(2**63)), 2**63 - 1)


@given(st.lists(st.tuples(WHOLE, NOISE), min_size=1, max_size=6), STEPS)
def test_whole_numbers_never_wrap(pairs, step):
    values, noise = map(list, zip(*pairs, strict=True))
    expected = [nearest((nearest(v, step) + n) * step, 1) for v, n in pairs]
    lattice = Lattice(step)
    wholes = np.array(values, dtype=np.int64)
    assert lattice.add(wholes, draws(noise)).tolist() == [saturated(number) for number in expected]
    assert lattice.add(wholes.astype(object), draws(noise)).tolist() == expected
    assert Lattice(step, wide=True).add(wholes, draws(noise)).tolist() == expected
    assert lattice.add(values, draws(noise)) == expected
    assert lattice.add(values[0], draws(noise)) == expected[0]


DTYPES = [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64, object]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@given(data=st.data(), step=st.sampled_from([Fraction(2) ** e for e in (-1000, -70, -40, -20, -1, 0, 3, 61)]))
def test_the_type_of_an_array_tells_nothing_of_its_values(dtype, data, step):
    kind = np.dtype(dtype)
    if kind.kind == "f" and step >= 1:
        return
    if kind.kind == "f":
        numbers = st.floats(allow_nan=False, allow_infinity=False, width=8 * kind.itemsize)
    else:
        ends = (-(2**90), 2**90) if kind.kind == "O" else (np.iinfo(kind).min, np.iinfo(kind).max)
        numbers = st.sampled_from(ends) | st.integers(*ends)
    pairs = data.draw(st.lists(st.tuples(numbers, NOISE), min_size=1, max_size=4))
    values, noise = map(list, zip(*pairs, strict=True))
    for wide in (False, True):
        released = Lattice(step, wide=wide).add(np.array(values, dtype=kind), draws(noise))
        expected = object if kind.kind == "O" or (wide and kind.kind != "f") else np.int64
        assert released.dtype == (np.float64 if kind.kind == "f" else expected)


@pytest.mark.parametrize("bits", [0, 20, 30, 40, 50])
def test_neighbours_at_the_edge_of_the_fast_path_have_one_type(bits):
    room = 2 ** (62 - bits)
    noise = dp.Laplace(epsilon=0.1, sensitivity=1, step=Fraction(1, 2**bits), dimension=1)
    kinds = {noise.release(np.array([true] * 50)).dtype for true in (room - 1, room, -room)}
    assert kinds == {np.dtype(np.int64)}


def test_warnings_depend_on_types_alone():
    fine = Lattice(Fraction(1, 4))
    assert [fine.moves_several([true, 1]) for true in (1, 2**80)] == [False, False]
    assert [fine.moves_several([true, 1]) for true in (1.0, 2.0**80)] == [True, True]
    assert fine.moves_several([1, [2.5, []], 3])
    assert not fine.moves_several([[2.5]])
    assert not fine.moves_several(np.array([2**80, 1], dtype=object))


@given(FLOATS, FLOATS, FINE)
def test_rounding_moves_values_apart_by_less_than_a_step(x, y, step):
    lattice = Lattice(step)
    moved = abs(lattice._round(x) - lattice._round(y))
    assert moved <= math.ceil(abs(Fraction(x) - Fraction(y)) / step)


def ways_to_round(lattice):
    """What becomes of a list of floats without noise: one by one, in a list, and in an array."""
    silent = lambda size: 0 if size is None else np.zeros(size, dtype=np.int64)  # noqa: E731
    return (
        lambda values: [lattice.add(value, silent) for value in values],
        lambda values: lattice.add(values, silent),
        lambda values: lattice.add(np.array(values), silent).tolist(),
    )


def assert_ties_go_up(first, count, exponent):
    """Halves of a step, neighbours one step apart, stay one step apart."""
    step = math.ldexp(1.0, exponent)
    ties = [(first + k + 0.5) * step for k in range(count)]
    for rounded in ways_to_round(Lattice(Fraction(2) ** exponent)):
        assert rounded(ties) == [(first + k + 1) * step for k in range(count)]


@given(st.integers(-(2**40), 2**40), st.integers(2, 9), st.integers(-900, -1))
def test_halves_of_a_step_are_rounded_up_alone_and_in_arrays(first, count, exponent):
    assert_ties_go_up(first, count, exponent)


@pytest.mark.parametrize("fault", [np.rint, np.trunc, lambda x: np.ceil(x - 0.5)])
def test_arrays_rounded_by_another_rule_are_found(fault, monkeypatch):
    # The planted faults: half to even moves 1/2 and 3/2, one step apart, two steps apart.
    def rounded(lattice, values):
        return fault(values * 2.0**-lattice.exponent).astype(np.int64)

    monkeypatch.setattr(Lattice, "_round_floats", rounded)
    with pytest.raises(AssertionError):
        assert_ties_go_up(-3, 6, -2)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_arrays_of_whole_numbers_keep_their_shape(dtype):
    released = Lattice(Fraction(1)).add(np.ones((2, 3), dtype=dtype), draws([1, 2, 3, 4, 5, 6]))
    assert released.tolist() == [[2, 3, 4], [5, 6, 7]]


def test_huge_unsigned_numbers_are_cut_off_or_exact_as_python_s_ints():
    values = np.array([2**64 - 1], dtype=np.uint64)
    assert Lattice(Fraction(1)).add(values, draws([5])).tolist() == [2**63 - 1]
    assert Lattice(Fraction(1)).add(values.astype(object), draws([5])).tolist() == [2**64 + 4]


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
