from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from mpmath import mp, mpf

from discreet.kernel.randomness import envelope
from discreet.kernel.randomness.envelope import Curve, Point
from discreet.testing import Tape

WORDS = st.integers(0, 2**64 - 1)
CURVES = [
    Curve("linear", Fraction(32), 10, "whole"),
    Curve("linear", Fraction(401, 7), 40, "whole"),
    Curve("quadratic", Fraction(64), 8, "whole"),
    Curve("quadratic", Fraction(127), 20, "continuous"),
    Curve("quadratic", Fraction(64), -5, "continuous"),
]
curves = st.sampled_from(CURVES)


def exact_gap(curve, cell, place, height):
    """V · (1 - exp(-g₁)) - (1 - exp(-g)) and g₁ by the definition, at 300 bits."""
    mp.prec = 300
    inner = cell if cell >= 0 else ~cell
    if curve.places == "continuous":
        offset = mpf(place) / mpf(2) ** 64
    else:
        offset = mpf(place >> (64 - curve.width)) / mpf(2) ** curve.width
    offset = offset if cell >= 0 else 1 - offset
    near, far = _fall(curve, inner, offset), _fall(curve, inner, mpf(1))
    return mpf(height) / mpf(2) ** 64 * -mp.expm1(-far) + mp.expm1(-near), far


def _fall(curve, inner, offset):
    ratio = mpf(curve.ratio.numerator) / curve.ratio.denominator
    return offset / ratio if curve.shape == "linear" else offset * (2 * inner + offset) / (2 * ratio**2)


def cells_of(curve):
    reach = int((45 if curve.shape == "linear" else 9.5) * curve.ratio)
    return st.integers(~(reach - 1), reach - 1)


@given(curves.flatmap(lambda curve: st.tuples(st.just(curve), cells_of(curve))), WORDS, WORDS)
def test_the_float_error_stays_below_its_proved_bound(where, place, height):
    curve, cell = where
    inner = np.array([float(cell if cell >= 0 else ~cell)])
    offset = curve._float_offset(np.array([cell]), np.array([place], dtype=np.uint64))
    gap, margin = curve._float_gap(inner, offset, np.array([height * 2.0**-64]))
    truth, far = exact_gap(curve, cell, place, height)
    assert abs(mpf(float(gap[0])) - truth) < far * mpf(2) ** -41
    assert float(margin[0]) > far * mpf(2) ** -39


@given(curves.flatmap(lambda curve: st.tuples(st.just(curve), cells_of(curve))), WORDS, WORDS)
def test_what_is_decided_is_right_one_or_many_at_a_time(where, place, height):
    curve, cell = where
    sign = 1 if exact_gap(curve, cell, place, height)[0] > 0 else -1
    words = np.array([[place], [height]], dtype=np.uint64)
    many = curve.decide(np.array([cell]), words[0], words[1])[0]
    single = curve.decide_one(Point("wedge", cell, place, 64, height))
    assert {int(many), single} <= {0, sign}


def test_a_margin_of_nothing_would_decide_too_much(monkeypatch):
    # The planted fault: a point so near the curve that floats see it on the wrong side.
    curve, cell, place = CURVES[2], 600, 165 << 56
    truth, far = exact_gap(curve, cell, place, 0)
    edge = int(-truth / -mp.expm1(-far) * mpf(2) ** 64)
    signs = {height: exact_gap(curve, cell, place, height)[0] > 0 for height in range(edge - 600, edge + 600)}
    wrong = lambda: sum(  # noqa: E731
        bool(sure) and (sure > 0) != sign
        for height, sign in signs.items()
        for sure in [curve.decide_one(Point("wedge", cell, place, 64, height))]
    )
    assert wrong() == 0
    monkeypatch.setattr(envelope, "_MARGIN", 0.0)
    assert wrong() > 0


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_more_bits_settle_what_the_floats_leave_open(curve):
    truth, far = exact_gap(curve, 3, 5 << 61, 0)
    edge = int(-truth / -mp.expm1(-far) * mpf(2) ** 64)
    for height, kept in ((edge - 2**30, False), (edge + 2**30, True)):
        assert curve.settle(Tape([7] * 9), Point("wedge", 3, 5 << 61, 64, height)) is kept
