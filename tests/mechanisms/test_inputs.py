"""One rounding to steps for numbers, lists and arrays: ⌊x/step + 1/2⌋, halves upwards."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from discreet.kernel.mechanisms.inputs import all_to_steps, to_steps

STEPS = [Fraction(1, 4), Fraction(1), Fraction(2), Fraction(8)]


def halves(step):
    """Values on the middle between two steps, and just beside it."""
    middles = [float(step) * (k + 0.5) for k in range(-4, 4)]
    return [
        value for middle in middles for value in (np.nextafter(middle, -9), middle, np.nextafter(middle, 9))
    ]


@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("kind", [list, np.array])
def test_halves_go_up_one_by_one_and_together(step, kind):
    values = [float(value) for value in halves(step)]
    expected = [floor(Fraction(value) / step + Fraction(1, 2)) for value in values]
    assert [to_steps(value, step) for value in values] == expected
    assert all_to_steps(kind(values), step).tolist() == expected


@pytest.mark.parametrize("kind", [list, np.array])
def test_whole_numbers_on_a_coarse_step_go_up_too(kind):
    values = list(range(-20, 20))
    expected = [floor(Fraction(value, 8) + Fraction(1, 2)) for value in values]
    assert all_to_steps(kind(values), Fraction(8)).tolist() == expected
