import json
import math
from fractions import Fraction

import pytest

import discreet as dp
from discreet.kernel.losses import (
    approximate,
    bounded_range,
    channel,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    parallel,
    pure,
    randomized_response,
    read_loss,
    zcdp,
)

LOSSES = [
    laplace(scale=10),
    gaussian(sigma=3, sensitivity=Fraction(1, 3)),
    discrete_laplace(scale=10, sensitivity=3),
    discrete_gaussian(sigma=5),
    bounded_range(epsilon=0.5),
    randomized_response(epsilon=1, values=4),
    channel([[0.75, 0.25], [0.5, 0.5]]),
    channel([[1, 0], [0.5, 0.5]], relation="replace"),
    pure(epsilon=0.1),
    approximate(epsilon=1, delta=1e-9),
    zcdp(rho=0.5, delta=1e-9),
    dp.RenyiDP(4, 0.5).loss,
    approximate(epsilon=1, delta=1e-9).for_group(3),
    channel([[0.75, 0.25], [0.5, 0.5]]).for_group(2),
    laplace(scale=2).sampled(0.25),
    (laplace(scale=2).sampled(0.25)).for_group(2),
    parallel([2 * laplace(scale=3) + gaussian(sigma=5), pure(epsilon=0.1)]),
    gaussian(sigma=2, relation="local"),
    channel([[0.75, 0.25], [0.5, 0.5]], relation="replace").for_group(2),
]


def test_addition_ignores_order_and_merges_equal_terms():
    a, b = laplace(scale=10), gaussian(sigma=2)
    assert a + b + a == 2 * a + b == sum([b, a, a])
    assert hash(a + b) == hash(b + a)
    assert repr(a + b + a) == ("gaussian(sigma=2, sensitivity=1) + 2 * laplace(scale=10, sensitivity=1)")


def test_ten_tenths_make_one():
    assert (10 * laplace(scale=10)).epsilon(delta=0) == 1.0


def test_losses_of_two_relations_do_not_mix():
    with pytest.raises(dp.InvalidParameter, match="relation"):
        laplace(scale=1) + laplace(scale=1, relation="replace")


@pytest.mark.parametrize("count", [True, 1.5, -1, "2"])
def test_only_whole_counts_repeat(count):
    with pytest.raises((TypeError, dp.InvalidParameter)):
        laplace(scale=1) * count


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_json_is_exact(loss):
    text = json.dumps((7 * loss + loss).to_json())
    assert dp.PrivacyLoss.from_json(text) == 8 * loss
    assert "." not in text.replace('"family"', "")  # rationals only


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_what_a_loss_prints_is_read_back(loss):
    assert read_loss(repr(7 * loss)) == 7 * loss
    mixed = loss + pure(epsilon=Fraction(1, 3), relation=loss.relation)
    assert read_loss(repr(mixed)) == mixed


@pytest.mark.parametrize(
    "text",
    ["laplace(scale=1, relation=1)", "laplace(scale=1) (nobody)", "parallel()", "parallel(1)", "(replace)"],
)
def test_what_no_loss_prints_is_refused(text):
    with pytest.raises(dp.InvalidParameter):
        read_loss(text)


def test_nothing_costs_nothing():
    nothing = 0 * laplace(scale=1)
    assert nothing.epsilon(delta=0) == nothing.delta(epsilon=0) == nothing.rho == nothing.mu == 0
    assert nothing + laplace(scale=1) == laplace(scale=1)


def test_a_notion_is_the_loss_it_names():
    assert dp.PureDP(0.5).loss.epsilon(delta=0) == 0.5
    assert dp.ApproxDP(0.5, 1e-6).loss.epsilon(delta=1e-6) == 0.5
    assert dp.ZCDP(0.5).loss.rho == 0.5
    assert dp.GDP(0.5).loss.mu == 0.5
    assert dp.RenyiDP(2, 0.5).loss.renyi(2) == 0.5
    assert dp.RenyiDP(2, 0.5).loss.renyi(3) == math.inf


@pytest.mark.parametrize("epsilon", [0.3, 0.01, 0.1])
def test_a_lattice_is_answered_at_an_epsilon_that_no_binary_fraction_is(epsilon):
    interval = (1000 * dp.PureDP(0.001).loss).delta_interval(epsilon=epsilon)
    p = 1 / (1 + math.exp(-0.001))
    exact = math.fsum(
        math.comb(1000, k)
        * p ** (1000 - k)
        * (1 - p) ** k
        * max(0.0, -math.expm1(epsilon - (1000 - 2 * k) * 0.001))
        for k in range(501)
    )
    assert interval.lower * (1 - 1e-9) <= exact <= interval.upper * (1 + 1e-9)
