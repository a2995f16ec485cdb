from fractions import Fraction

import pytest

import discreet as dp
from discreet.kernel.laws import show

MECHANISMS = [dp.Laplace(scale=10, sensitivity=1), dp.Gaussian(sigma=10, sensitivity=0.5)]


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, "high", True])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_a_confidence_lies_between_0_and_1(mechanism, confidence):
    with pytest.raises(dp.InvalidParameter):
        mechanism.error(confidence=confidence)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_more_numbers_or_more_confidence_need_a_wider_error(mechanism):
    errors = [
        mechanism.error(confidence=c, dimension=d) for c, d in ((0.5, 1), (0.9, 1), (0.9, 10), (0.999, 10))
    ]
    assert errors == sorted(set(errors))


def test_the_rounding_of_floats_counts_as_half_a_step():
    fine, coarse = (
        dp.Laplace(scale=Fraction(1, 2**60), sensitivity=0.5, step=step) for step in (2**-10, 0.5)
    )
    assert fine.error() == 2**-11
    assert coarse.error() == 0.25


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_an_interval_is_the_released_value_and_its_error(mechanism):
    low, high = mechanism.interval(8.0, confidence=0.9)
    assert high - 8.0 == 8.0 - low == mechanism.error(confidence=0.9)
    joint = mechanism.interval([8.0, 9.0], confidence=0.9)
    assert joint[1].width == 2 * mechanism.error(confidence=0.9, dimension=2)


def test_numbers_read_well():
    assert [show(Fraction(n)) for n in (3, Fraction(1, 4), Fraction(1, 3), Fraction(10**30, 3))] == [
        "3",
        "0.25",
        "1/3",
        "3.33333e+29",
    ]
