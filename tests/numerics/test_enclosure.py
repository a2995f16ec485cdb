import os
import threading
from fractions import Fraction

import pytest
from flint import arb, ctx

from discreet.errors import InternalError
from discreet.kernel.numerics import (
    ball,
    certified_floor,
    certified_sign,
    interval,
    power,
    working_precision,
)


def test_precision_is_raised_until_the_floor_is_decided():
    near = Fraction(10**200 + 1, 10**200)
    assert certified_floor(lambda: ball(near)) == 1
    assert certified_floor(lambda: ball(near) - ball(Fraction(2, 10**200))) == 0


def test_an_equality_is_not_decided_for_ever(monkeypatch):
    monkeypatch.setattr(interval, "MOST_BITS", 1024)
    with pytest.raises(InternalError):
        certified_sign(lambda: ball(2).sqrt() ** 2 - 2)


def test_the_process_precision_is_left_alone():
    before = ctx.prec
    with working_precision(before + 77):
        assert ctx.prec == before + 77
    assert ctx.prec == before


def test_a_fork_waits_for_other_threads_and_can_decide():
    inside, done = threading.Event(), threading.Event()

    def hold():
        with working_precision(999):
            inside.set()
            done.wait(0.2)

    holder = threading.Thread(target=hold)
    holder.start()
    inside.wait()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        os._exit(0 if ctx.prec != 999 and certified_floor(lambda: ball(20).exp()) == 485165195 else 1)
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("count", [1, 2, 3, 8, 1001])
@pytest.mark.parametrize("middle", [0.0, 1e-40, -1e-40, 0.5, -0.5])
def test_a_whole_power_of_a_ball_around_0_is_a_ball(middle, count):
    wide = power(arb(middle, 1e-20), count)
    assert wide.is_finite()
    assert all(wide.contains(arb(middle + off) ** count) for off in (-1e-21, 1e-21))
