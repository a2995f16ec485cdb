"""Pairs from a curve known at dots: one above, one below, and both near."""

from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb

import discreet as dp
from discreet.kernel.losses import gaussian, laplace, questions, sampled
from discreet.kernel.losses.continuous import LaplacePair
from discreet.kernel.losses.curve import _is_below, below_the_dots, connect_the_dots
from discreet.kernel.losses.sampled import Sampled
from discreet.kernel.numerics import ball, working_precision
from oracles import loss_curves


@pytest.fixture(autouse=True)
def _precisely():
    with working_precision(128):
        yield


@pytest.fixture
def through_dots(monkeypatch):
    """Answers of a sampled Gaussian as if nothing but its curve were known."""
    sampled.pairs.cache_clear()
    questions.epsilon_interval.cache_clear()
    monkeypatch.setattr(Sampled, "_mu_squared", lambda self: None)
    yield
    sampled.pairs.cache_clear()
    questions.epsilon_interval.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(("count", "rate"), [(10, 0.1), (100, 0.02)])
def test_through_dots_a_sampled_gaussian_holds_its_exact_answer_and_is_near(count, rate, request):
    one = gaussian(sigma=1).sampled(rate)
    exact = {way: (count * one).distribution(way).epsilon_interval(delta=1e-6) for way in ("remove", "add")}
    request.getfixturevalue("through_dots")
    for way, known in exact.items():
        found = (count * one).distribution(way).epsilon_interval(delta=1e-6)
        assert found.lower < known.lower < known.upper < found.upper
        assert found.width < 0.08 * known.upper


def laplace_points(size=40):
    """(ε, lower δ, upper δ) of a Laplace on a lattice, and that lattice."""
    pair, step = LaplacePair(F(1)), F(1, size // 4)
    grid = [ball(step * i - 2) for i in range(size + 1)]
    return pair, [(x, pair.delta(x), pair.delta(x)) for x in grid], (F(0), step)


def test_below_the_dots_is_below_everywhere_and_above_them_above():
    pair, points, lattice = laplace_points()
    low, high = below_the_dots(points, lattice), connect_the_dots([(x, d) for x, _, d in points], lattice)
    for i in range(-150, 240):
        epsilon = arb(i) / 100
        assert low.delta(epsilon) <= pair.delta(epsilon) + arb(2) ** -100
        assert high.delta(epsilon) >= pair.delta(epsilon) - arb(2) ** -100
        assert high.delta(epsilon) - low.delta(epsilon) < (
            0.02 if abs(i - 90) > 25 else 0.05
        )  # at 1 it has an atom


def test_chords_are_not_below_and_are_refused():
    _, points, lattice = laplace_points()
    chords = connect_the_dots([(x, d) for x, _, d in points], lattice)
    masses = {float(x): mass for x, mass in chords.atoms}
    below = below_the_dots(points, lattice)
    allowed = [(x.exp(), below.delta(x) + arb(2) ** -80, x) for x, _, _ in points]
    own = {float(x): mass for x, mass in below.atoms}
    assert _is_below([(own.get(float(dot[2]), arb(0)), dot) for dot in allowed])
    assert not _is_below([(masses.get(float(dot[2]), arb(0)), dot) for dot in allowed])


@pytest.mark.parametrize("bits", [8, 12, 16, 128])
def test_where_rounding_hides_which_dots_are_lowest_nothing_is_claimed(bits):
    """With few bits the slopes of neighbours are not told apart: dots are dropped, and chords rise above."""
    pair = LaplacePair(F(1))
    with working_precision(bits):
        _, points, lattice = laplace_points(400)
        low = below_the_dots(points, lattice)
    for i in range(-150, 240):
        epsilon = arb(i) / 100
        assert low.delta(epsilon) <= pair.delta(epsilon) + arb(2) ** -100


def mixed_law(way, rate):
    """(losses, probabilities) of a Laplace and a Gaussian on one sample, on a grid of both outputs."""
    x, y = np.linspace(-45, 46, 1821), np.linspace(-15, 16, 311)
    zero = np.exp(-np.abs(x) / 2)[:, None] * np.exp(-(y**2) / 8)
    one = np.exp(-np.abs(x - 1) / 2)[:, None] * np.exp(-((y - 1) ** 2) / 8)
    mixed = (1 - rate) * zero + rate * one
    first, second = (mixed, zero) if way == "remove" else (zero, mixed)
    return np.log(first / second).ravel(), (first / first.sum()).ravel()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["remove", "add"])
def test_composed_samples_of_a_mix_agree_with_a_rounded_grid_and_are_near(way):
    loss = 10 * (laplace(scale=2) + gaussian(sigma=2)).sampled(0.1)
    interval = loss.distribution(way).epsilon_interval(delta=1e-6)
    law = mixed_law(way, 0.1)
    assert interval.width < 0.01 * interval.upper
    assert loss_curves.rounded_grid(*law, 10, interval.lower, step=2e-4)[1] > 1e-6
    assert loss_curves.rounded_grid(*law, 10, interval.upper, step=2e-4)[0] < 1e-6


def test_a_group_reaches_as_far_as_its_worse_direction():
    loss = 10 * dp.losses.channel([[0.75, 0.25], [0.5, 0.5]]).for_group(2)
    interval = loss.epsilon_interval(delta=1e-6)
    assert interval.lower < interval.upper < 20 * np.log(2) + 1e-9
    alike = 10 * dp.losses.channel([[0.5, 0.5], [0.5, 0.5]]).for_group(2)
    assert alike.epsilon(delta=1e-6) < 1e-4
