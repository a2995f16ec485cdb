from fractions import Fraction

import numpy as np
import pytest

import discreet as dp


@pytest.mark.parametrize("value", [51, [1, 2, [3]], np.zeros((2, 3), dtype=np.int64)], ids=type)
def test_a_release_has_the_type_and_shape_of_its_value(value):
    released = dp.Laplace(scale=10, sensitivity=1).release(value)
    assert type(released) is type(value)
    assert np.shape(released) == np.shape(value) if not isinstance(value, list) else len(released) == 3


def test_the_price_fixes_the_scale():
    assert dp.Laplace(epsilon=0.1, sensitivity=3).scale == 30
    assert dp.Laplace(epsilon=0.1, sensitivity=3).loss.epsilon(delta=0) == 0.1


def test_the_default_step_is_fine_for_fractional_sensitivity():
    assert dp.Laplace(scale=10, sensitivity=0.5).step == Fraction(1, 2**17)
    assert dp.Laplace(scale=10, sensitivity=2).step == 1
