from fractions import Fraction

import pytest

from discreet.kernel.randomness import (
    discrete_gaussian,
    discrete_laplace,
    fresh_source,
    geometric,
    rounded_gaussian,
)

LAWS = [geometric, discrete_laplace, discrete_gaussian, rounded_gaussian]
SCALES = [Fraction(1, 2**40), Fraction(1, 3), Fraction(1), Fraction(1000), Fraction(2) ** 70]


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("law", LAWS)
def test_every_scale_gives_whole_numbers(law, scale):
    assert type(law(fresh_source(), scale)) is int
    many = law(fresh_source(), scale, 100)
    assert many.shape == (100,)
    assert all(value == int(value) for value in many)
