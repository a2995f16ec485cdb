"""Laplace noise that is cut off: its curve against the sum over every outcome, at every move."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

import discreet as dp
from discreet.kernel.accounting import Account
from discreet.kernel.losses import (
    PrivacyLoss,
    approximate,
    discrete_laplace,
    lattice,
    questions,
    truncated_laplace,
)
from oracles import grid_curves
from oracles.mechanism_laws import cut_laplace

CASES = [  # scale, sensitivity, most: one step, few, many; with ends half cut off, or wholly; nothing shared
    (F(2), 1, 9),
    (F(1, 3), 1, 1),
    (F(5), 3, 3),
    (F(5), 3, 20),
    (F(5), 7, 4),
    (F(5), 8, 4),
    (F(5), 9, 4),
    (F(40), 80, 300),
    (F(40), 90, 60),
]
PRICES = [F(0), F(1, 10), F(1, 2), F(1), F(2), F(5)]


def lost(noise, move, epsilon):
    """Σ (p − e^ε·q)₊ over outcomes."""
    grown = math.exp(epsilon)
    return math.fsum(max(0.0, float(p) - grown * float(noise.get(x - move, 0))) for x, p in noise.items())


@pytest.mark.parametrize(("scale", "sensitivity", "most"), CASES)
def test_it_costs_the_sum_over_its_worst_move(scale, sensitivity, most):
    loss = truncated_laplace(scale=scale, sensitivity=sensitivity, most=most)
    noise = cut_laplace(scale, most)
    for epsilon in PRICES:
        found = loss.delta_interval(epsilon=epsilon)
        truth = max(
            lost(noise, way * move, epsilon)
            for move in range(1, min(sensitivity, 2 * most + 1) + 1)
            for way in (1, -1)
        )
        assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
        assert found.width <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("case", [(F(5), 3, 60), (F(40), 100, 700)], ids=["few", "many"])
@pytest.mark.parametrize("count", [2, 30])
def test_composed_it_costs_what_a_plain_sum_over_a_grid_says(case, count):
    scale, sensitivity, most = case
    loss = count * truncated_laplace(scale=scale, sensitivity=sensitivity, most=most)
    noise, ratio = cut_laplace(scale, most), 1 / float(scale)
    atoms, failure = {}, 0.0
    for x, mass in noise.items():
        if x - sensitivity in noise:
            value = (abs(x - sensitivity) - abs(x)) * ratio
            atoms[value] = atoms.get(value, 0.0) + float(mass)
        else:
            failure += float(mass)
    law = grid_curves.Law(np.zeros_like, min(atoms), max(atoms), tuple(atoms.items()))
    for epsilon in (0.3 * sensitivity * ratio, 0.7 * sensitivity * ratio * math.sqrt(count)):
        tilt = grid_curves.saddle([(law, count)], epsilon)
        low, high = grid_curves.delta_bracket([(law, count)], epsilon, tilt)
        found, outright = loss.delta_interval(epsilon=F(epsilon)), -math.expm1(count * math.log1p(-failure))
        assert found.lower <= (high + outright) * (1 + 1e-6)
        assert found.upper >= (low + outright) * (1 - 1e-6)
        assert found.width <= 1e-3 * found.upper


@pytest.mark.parametrize(("scale", "sensitivity", "most"), CASES)
def test_it_never_costs_more_than_its_guarantee_alone(scale, sensitivity, most):
    one = truncated_laplace(scale=scale, sensitivity=sensitivity, most=most)
    (family,) = [term.family for term in one.terms]
    epsilon, delta = family.rational_largest(0), family.failure_at_most(0)
    if epsilon and delta < 1:
        known = approximate(epsilon=epsilon, delta=delta)
        for count, target in ((1, F(1, 2)), (5, F(1, 10))):
            assert (count * one).delta(epsilon=target) <= (count * known).delta(epsilon=target) * (1 + 1e-9)
    assert PrivacyLoss.from_json(one.to_json()) == one


def test_noise_that_is_hardly_cut_off_costs_what_whole_noise_does():
    for sensitivity in (3, 100):
        cut = 20 * truncated_laplace(scale=50, sensitivity=sensitivity, most=20_000)
        whole = 20 * discrete_laplace(scale=50, sensitivity=sensitivity)
        assert cut.epsilon(delta=1e-6) == pytest.approx(whole.epsilon(delta=1e-6), rel=1e-3)


def test_few_and_many_steps_are_one_law(monkeypatch):
    plan = 40 * truncated_laplace(scale=60, sensitivity=150, most=1000) + 3 * discrete_laplace(scale=2)
    series = plan.epsilon_interval(delta=1e-3)
    monkeypatch.setattr(lattice, "MOST_ATOMS", 1000)
    monkeypatch.setattr(questions, "epsilon_interval", questions.epsilon_interval.__wrapped__)
    atoms = plan.epsilon_interval(delta=1e-3)
    assert max(series.lower, atoms.lower) <= min(series.upper, atoms.upper)
    assert series.width <= 1e-3 * series.upper


def test_a_larger_group_is_a_larger_move():
    one = truncated_laplace(scale=10, sensitivity=2, most=50)
    assert one.for_group(3) == truncated_laplace(scale=10, sensitivity=6, most=50)
    assert one.for_group(51).delta(epsilon=1) == 1  # 102 apart, nothing is shared
    assert one.for_group(50).delta(epsilon=1) < 1


def test_counted_keys_cost_the_curve_of_their_noise():
    keys = dp.CountedKeys(epsilon=100, delta=1e-6, max_groups=200, sensitivity=5)
    noise = truncated_laplace(scale=keys.scale, sensitivity=5, most=keys.threshold)
    assert keys.loss == 200 * noise
    guarantee = 200 * approximate(epsilon=F(1, 2), delta=F(1, 200 * 10**6))
    assert keys.loss.epsilon(delta=1e-5) < 0.95 * guarantee.epsilon(delta=1e-5)
    assert keys.loss.delta(epsilon=100) <= 1e-6


def test_an_account_that_adds_up_takes_what_was_asked_for_and_no_more():
    keys = dp.CountedKeys(epsilon=1, delta=1e-6, max_groups=3, sensitivity=2)
    account = Account(dp.ApproxDP(1, 1e-6))
    account.charge(keys.loss)
    assert account.remaining.epsilon == 0
    with pytest.raises(dp.BudgetExceeded):
        account.charge(keys.loss)


@pytest.mark.parametrize("wrong", [{"scale": 0}, {"sensitivity": 0}, {"most": -1}, {"most": 1.5}])
def test_what_is_no_such_noise_is_refused(wrong):
    with pytest.raises(dp.InvalidParameter):
        truncated_laplace(**{"scale": 1, "sensitivity": 1, "most": 5, **wrong})
