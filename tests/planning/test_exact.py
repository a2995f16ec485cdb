import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from discreet.asking.planning import Lattice, Sum
from discreet.asking.queries import Name

MOST = Fraction(sys.float_info.max)
BOUNDS = st.tuples(
    st.fractions(-(10**9), 10**9, max_denominator=1000),
    st.fractions(Fraction(1, 100), 10**6, max_denominator=100),
).map(lambda pair: (pair[0], pair[0] + pair[1]))


@pytest.mark.slow
@settings(deadline=None)
@given(bounds=BOUNDS)
def test_the_step_is_the_largest_power_of_two_that_cuts_the_range_finely(bounds):
    lattice = Lattice.over(bounds, "number")
    assert math.log2(lattice.step).is_integer()
    finest = (bounds[1] - bounds[0]) / 2**20
    farthest = max(map(abs, bounds))
    assert farthest / 2**51 <= lattice.step <= max(finest, farthest / 2**50)


@pytest.mark.slow
@settings(deadline=None)
@given(bounds=BOUNDS, value=st.one_of(st.floats(allow_nan=False), st.floats(-1e6, 1e6)))
def test_a_value_never_leaves_its_lattice_and_order_is_kept(bounds, value):
    lattice = Lattice.over(bounds, "number")
    steps = lattice.place(value)
    assert lattice.lowest <= steps <= lattice.highest
    assert lattice.place(math.nextafter(value, math.inf)) >= steps
    if bounds[0] <= value <= bounds[1]:
        assert abs(steps * lattice.step - Fraction(value)) <= lattice.step


@pytest.mark.parametrize("make", [Lattice.over, Lattice.coarse])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 120), (-7, 7), (5, 6), (-(2**40), 3), (-(2**63), 2**63 - 1), (0, 3 * 2**70)]
)
def test_a_whole_number_beyond_its_bounds_is_the_nearer_bound(make, low, high):
    lattice = make((Fraction(low), Fraction(high)), "integer")
    for far in (1, 2, 10**3, 2**64, 10**30):
        assert lattice.place(low - far) == lattice.place(low) == lattice.lowest
        assert lattice.place(high + far) == lattice.place(high) == lattice.highest
    for share in range(101):
        value = low + (high - low) * share // 100
        assert abs(lattice.place(value) * lattice.step - value) <= lattice.step / 2


def test_integers_are_their_own_lattice():
    lattice = Lattice.over((Fraction(-(2**63)), Fraction(2**63 - 1)), "integer")
    assert (lattice.step, lattice.place(2**62 + 1), lattice.place(None)) == (1, 2**62 + 1, None)


@pytest.mark.parametrize("far", [2**63, 2**63 + 1, 2**64, 3 * 2**70, 10**38 - 1])
def test_no_row_is_farther_from_zero_than_64_bits_hold(far):
    lattice = Lattice.over((Fraction(-far), Fraction(far)), "integer")
    assert 2**62 <= lattice.largest <= 2**63
    assert (lattice.place(-far), lattice.place(far)) == (lattice.lowest, lattice.highest)


def test_squares_of_wide_integers_are_counted_in_coarser_steps():
    lattice = Lattice.coarse((Fraction(0), Fraction(2**62)), "integer")
    assert lattice.width <= 2**21
    assert Lattice.coarse((Fraction(0), Fraction(120)), "integer").step == 1


@pytest.mark.parametrize(("power", "centre", "largest"), [(1, 0, 120), (1, 60, 60), (2, 60, 3600)])
def test_the_most_a_row_moves_is_counted_from_the_centre(power, centre, largest):
    lattice = Lattice.over((Fraction(0), Fraction(120)), "integer")
    assert Sum(Name("age"), lattice, power=power, centre=centre).largest == largest


def test_odd_widths_are_not_rounded_down():
    lattice = Lattice.over((Fraction(0), Fraction(121)), "integer")
    assert Sum(Name("age"), lattice, centre=60).largest == 61


@settings(deadline=None)
@given(
    far=st.floats(0, exclude_min=True, allow_infinity=False),
    width=st.integers(0, 60),
    sign=st.sampled_from([1, -1]),
    value=st.one_of(st.floats(allow_nan=False), st.integers(-3, 3)),
)
def test_clamping_a_number_before_or_after_it_is_on_the_lattice_is_the_same(far, width, sign, value):
    bounds = tuple(sorted(sign * Fraction(far) * part for part in (1 - Fraction(1, 2**width), 1)))
    lattice = Lattice.over(bounds, "number")
    if isinstance(value, int):  # about the two ends
        value = float(max(min(bounds[value % 2] + value * lattice.step / 2, MOST), -MOST))
    scaled = value * float(1 / lattice.step) + 0.5
    steps = (
        lattice.highest
        if scaled == math.inf
        else lattice.lowest
        if scaled == -math.inf
        else math.floor(scaled)
    )
    assert lattice.place(value) == min(max(steps, lattice.lowest), lattice.highest)
