"""From a curve with two ends to an interval of epsilons: each end is proved by the right end of the curve."""

import math

import pytest

from discreet.kernel.losses.solvers import invert, invert_from_scratch
from discreet.kernel.numerics import ball, working_precision

OPEN = 0.1  # the ends of the curve are this share of it apart, on each side


def curve(epsilon):
    """Between 0.9 and 1.1 times e^(-2ε)."""
    value = (-2 * epsilon).exp()
    return value * (1 - OPEN), value * (1 + OPEN)


@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-9])
@pytest.mark.parametrize("start", ["scratch", "near"])
def test_each_end_is_proved_and_none_is_far(delta, start):
    with working_precision(128):
        target = ball(0) + delta
        if start == "scratch":
            found = invert_from_scratch(curve, target, ceiling=math.inf)
        else:
            found = invert(curve, target, near=-math.log(delta) / 2, slope=2.0, high=40.0)
        assert curve(ball(0) + found.upper)[1] <= target
        assert curve(ball(0) + found.lower)[0] > target
    exact = [(math.log(1 + side * OPEN) - math.log(delta)) / 2 for side in (-1, 1)]
    assert found.lower <= exact[0] <= exact[1] <= found.upper
    assert found.width < 1


def test_a_curve_that_never_falls_has_its_ceiling():
    with working_precision(128):
        found = invert_from_scratch(lambda epsilon: (ball(0), ball(1)), ball(0) + 1e-3, ceiling=7.0)
    assert found.upper == 7.0
