"""What a curve is at least, without a contour: each floor holds, and each is needed."""

from fractions import Fraction as F

import pytest
from flint import arb

import discreet as dp
from discreet.kernel.losses import discrete_laplace, gaussian, laplace, questions
from discreet.kernel.losses.continuous import LaplacePair
from discreet.kernel.losses.extremes import delta_floor, epsilon_floor, finite_mass, parts_of
from discreet.kernel.losses.lattice import steps_pair
from discreet.kernel.losses.pair import Atoms
from discreet.kernel.numerics import ball, working_precision


@pytest.fixture(autouse=True)
def _precisely():
    with working_precision(128):
        yield


def test_near_the_largest_loss_the_top_atom_closes_the_interval(monkeypatch):
    one_way = (10 * laplace(scale=10)).distribution()
    assert one_way.epsilon_interval(delta=1e-10).width <= 1e-6
    monkeypatch.setattr(questions, "epsilon_floor", lambda *_: 0.0)
    monkeypatch.setattr(questions, "CLOSER", (1.0,))  # or else a second contour finds it
    assert one_way.epsilon_interval(delta=1e-10).width > 0.5


PAIRS = {
    "laplace": lambda: LaplacePair(F(1, 3)),
    "few steps": lambda: steps_pair(F(1, 10), 3),
    "many steps": lambda: steps_pair(F(1, 100), 200),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("delta", [F(1, 10), F(1, 3), F(1, 10**9)])
def test_the_top_atom_never_says_more_than_the_curve(name, delta):
    pair = PAIRS[name]()
    floor = epsilon_floor([(pair, 1)], ball(delta))
    below = arb(floor) - arb(2) ** -40
    assert floor == 0 or pair.delta(below) > ball(delta)  # at the floor the curve has not yet fallen to δ
    top, mass = pair.top_atom()
    assert not pair.delta(top - arb(2) ** -20) < mass * -(-(arb(2) ** -20)).expm1()


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("epsilon", [0, 0.01, 0.2])
def test_what_both_laws_share_never_says_more_than_the_curve(name, epsilon):
    pair = PAIRS[name]()
    assert not delta_floor([(pair, 1)], arb(epsilon)) > pair.delta(arb(epsilon))


def test_a_law_that_lost_some_mass_has_a_lower_floor():
    whole = Atoms([(arb(50), arb(1))])
    part = Atoms([(arb(50), arb(0.75))])
    assert float(finite_mass([(part, 2)])) == 0.5625
    assert delta_floor([(part, 2)], arb(1)) < 0.5625
    assert delta_floor([(whole, 2)], arb(1)) > 0.99


@pytest.mark.parametrize(
    "loss",
    [5000 * laplace(scale=1, sensitivity=50), 100_000 * discrete_laplace(scale=1, sensitivity=900)],
    ids=repr,
)
def test_far_below_the_losses_delta_is_one_at_both_ends(loss):
    interval = loss.delta_interval(epsilon=1)
    assert 1 - 1e-11 < interval.lower <= interval.upper <= 1


PLANS = [
    10 * laplace(scale=1).sampled(0.1),
    2 * dp.losses.channel([[0.75, 0.25], [0.5, 0.5]]).for_group(2),
    2 * dp.losses.parallel([laplace(scale=2), gaussian(sigma=3)]),
    20 * dp.losses.bounded_range(epsilon=0.5) + gaussian(sigma=1),
]


@pytest.mark.slow
@pytest.mark.parametrize("loss", PLANS, ids=repr)
@pytest.mark.parametrize("epsilon", [0.0625, 1.0, 4.0])
def test_what_is_attained_is_never_above_what_is_promised(loss, epsilon):
    """The interval would hide this: its lower end is never put above its upper one."""
    for direction in (0, 1):
        low, high = questions.delta_ends(loss.terms, direction, arb(epsilon))
        assert not low > high
        assert parts_of(loss.terms, direction, "witness")


def test_many_chances_to_fail_are_added_up_at_once():
    loss = 500_000 * dp.ApproxDP(0.001, 1e-9).loss
    assert loss.distribution().failure == pytest.approx(5e-4, rel=1e-3)
    assert loss.epsilon(delta=1e-3) < loss.epsilon(delta=0.0006) < float("inf")
    assert loss.epsilon(delta=1e-4) == float("inf")
