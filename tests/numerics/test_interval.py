import math

import pytest

from discreet.errors import InternalError
from discreet.kernel.numerics import Estimate, Interval


@pytest.mark.parametrize("ends", [(2, 1), (math.nan, 1), (0, math.nan)])
def test_an_interval_has_ordered_ends(ends):
    with pytest.raises(InternalError):
        Interval(*ends)


def test_an_interval_holds_its_ends_and_nothing_beyond():
    ends = Interval(1, 2)
    assert all(value in ends for value in (1, 1.5, 2))
    assert not any(value in ends for value in (math.nextafter(1, 0), math.nextafter(2, 3), math.nan))
    assert 3 in Interval(3, 3)


def test_an_estimate_reads_well():
    assert str(Estimate(0.5, 0.1, Interval(0.3, 0.7))) == "0.5 (95% interval 0.3 to 0.7)"
