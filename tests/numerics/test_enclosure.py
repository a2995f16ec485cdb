from fractions import Fraction

import pytest
from flint import ctx

from discreet.errors import InternalError
from discreet.numerics import ball, certified_floor, certified_sign, enclosure, working_precision


def test_precision_is_raised_until_the_floor_is_decided():
    near = Fraction(10**200 + 1, 10**200)
    assert certified_floor(lambda: ball(near)) == 1
    assert certified_floor(lambda: ball(near) - ball(Fraction(2, 10**200))) == 0


def test_an_equality_is_not_decided_for_ever(monkeypatch):
    monkeypatch.setattr(enclosure, "MOST_BITS", 1024)
    with pytest.raises(InternalError):
        certified_sign(lambda: ball(2).sqrt() ** 2 - 2)


def test_the_process_precision_is_left_alone():
    before = ctx.prec
    with working_precision(before + 77):
        assert ctx.prec == before + 77
    assert ctx.prec == before
