"""The odometer never falls behind, at no moment."""

import math
from fractions import Fraction

import pytest

from discreet.errors import InvalidParameter
from discreet.kernel.accounting import Odometer
from discreet.kernel.losses import ZCDP, ApproxDP, PureDP, gaussian, laplace


def charged(count, epsilon, **options):
    odometer = Odometer(**options)
    for _ in range(count):
        odometer.charge(PureDP(epsilon))
    return odometer.reading


def test_few_charges_cost_their_sum():
    assert charged(3, 0.1, delta=1e-6) == ApproxDP(Fraction(3, 10), 1e-6)


def test_many_charges_cost_what_the_mixture_bound_says():
    twice = 2 * math.log(1e6)
    spread = 1 / (math.floor(twice + math.log(1 + twice)) + 1)
    wide = 1 + spread
    bound = math.sqrt(2 * wide * math.log(math.sqrt(wide / spread) * 1e6)) + 0.5
    assert float(charged(10_000, 0.01, delta=1e-6).epsilon) == pytest.approx(bound, rel=1e-12)


def test_the_reading_stays_above_a_filter_that_knew_when_to_stop():
    squares = 1.0
    filtered = math.sqrt(2 * math.log(1e6) * squares) + squares / 2
    reading = float(charged(10_000, 0.01, delta=1e-6).epsilon)
    assert filtered < reading < 1.25 * filtered


def worst_crossing(step, rounds, readings):
    """Pr[L exceeds the reading at some moment] for randomised response of one epsilon, exactly."""
    truth = 1 / (1 + math.exp(-step))
    alive, crossed = {0: 1.0}, 0.0
    for number in range(1, rounds + 1):
        after = {}
        for loss, mass in alive.items():
            after[loss + 1] = after.get(loss + 1, 0) + mass * truth
            after[loss - 1] = after.get(loss - 1, 0) + mass * (1 - truth)
        alive = {loss: mass for loss, mass in after.items() if loss * step <= readings[number] + 1e-12}
        crossed += sum(mass for loss, mass in after.items() if loss not in alive)
    return crossed


def test_the_loss_stays_below_the_reading_at_every_moment_at_once():
    odometer, readings = Odometer(delta=1e-2, around=0.5), {}
    for number in range(1, 301):
        odometer.charge(PureDP(0.1))
        readings[number] = float(odometer.reading.epsilon)
    assert 0 < worst_crossing(0.1, 300, readings) <= 1e-2
    halved = {number: reading / 2 for number, reading in readings.items()}  # the planted fault
    assert worst_crossing(0.1, 300, halved) > 1e-2


def test_deltas_add():
    odometer = Odometer(delta=1e-6)
    odometer.charge(ApproxDP(0.1, 1e-7))
    odometer.charge(laplace(scale=10, sensitivity=1))
    assert odometer.reading == ApproxDP(Fraction(2, 10), Fraction(11, 10**7))


@pytest.mark.parametrize("charge", [0.1, ZCDP(0.1), gaussian(sigma=1, sensitivity=1), None, True])
def test_what_has_no_epsilon_is_refused(charge):
    with pytest.raises(InvalidParameter):
        Odometer(delta=1e-6).charge(charge)


@pytest.mark.parametrize("options", [{"delta": 0}, {"delta": 1}, {"delta": 0.1, "around": 0}])
def test_a_delta_and_a_place_are_needed(options):
    with pytest.raises(InvalidParameter):
        Odometer(**options)
