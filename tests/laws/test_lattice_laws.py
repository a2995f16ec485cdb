"""What is derived from a law's tails agrees with its closed forms, and with the noise that is drawn."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.kernel.laws import (
    DiscreteGaussianLaw,
    GaussianLaw,
    LaplaceLaw,
    LatticeLaw,
    StaircaseLaw,
    TruncatedLaplaceLaw,
)
from discreet.kernel.numerics import ball, working_precision
from discreet.kernel.randomness import fresh_source

LAWS = [
    LaplaceLaw(Fraction(3)),
    LaplaceLaw(Fraction(1, 3), Fraction(1, 4)),
    TruncatedLaplaceLaw(Fraction(3), most=7),
    GaussianLaw(Fraction(5, 2)),
    GaussianLaw(Fraction(1, 3)),
    DiscreteGaussianLaw(Fraction(1, 3)),
    DiscreteGaussianLaw(Fraction(5)),
    StaircaseLaw(Fraction(1), stairs=4, width=2, step=Fraction(1, 2)),
]
WHOLE = np.arange(-400, 401)
each_law = pytest.mark.parametrize("law", LAWS, ids=repr)


@each_law
def test_masses_add_up_to_one_and_to_the_variance(law):
    masses = np.exp(law.log_masses(WHOLE))
    assert math.fsum(masses) == pytest.approx(1, abs=1e-12)
    assert math.fsum(masses * (WHOLE * float(law.step)) ** 2) == pytest.approx(law.variance, rel=1e-9)


@each_law
def test_tails_are_sums_of_masses(law):
    with working_precision(160):
        for k in (-5, 0, 1, 6):
            above = sum((law.mass(j) for j in range(k, 300)), ball(0))
            assert float(abs(law.tail(k) - above)) < 1e-20


@each_law
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20), Fraction(10**6 - 1, 10**6)])
def test_a_quantile_in_closed_form_is_the_one_that_is_searched_for(law, confidence):
    with working_precision(256):
        closed, searched = law.quantile(ball(confidence)), LatticeLaw.quantile(law, ball(confidence))
    bounded = isinstance(law, DiscreteGaussianLaw)  # by the continuous Gaussian, which may be a step wider
    assert searched <= closed <= searched + bounded


@each_law
def test_what_is_drawn_has_the_stated_masses(law):
    """Each count within 7 standard errors, and 7 more if rare: false alarms below 1e-9 in all. Power: a
    mass that is off by 10 standard errors, here 0.011 of one near 1/4, is missed with probability 0.001."""
    size = 200_000
    noise = law.draw(fresh_source(), size)
    for k, mass in zip(range(-9, 10), np.exp(law.log_masses(np.arange(-9, 10))), strict=True):
        assert abs((noise == k).sum() - size * mass) <= 7 * math.sqrt(size * mass * (1 - mass)) + 7


@each_law
def test_the_loss_covers_the_blocks_that_it_is_for(law):
    """δ(ε) of the listed law, shifted by one step or stair, is never above the loss, and reaches half."""
    moved = getattr(law, "stairs", 1)
    first, second = (law.blocks(at, first=0, last=moved) for at in (0, moved))
    loss = law.loss(moved * law.step, "add/remove")
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        real = sum(max(0.0, float(p) - math.exp(epsilon) * float(second[k])) for k, p in first.items())
        assert real <= loss.delta(epsilon=epsilon) + 1e-12
    at_zero = sum(max(0.0, float(p) - float(second[k])) for k, p in first.items())
    assert at_zero > loss.delta(epsilon=0.0) / 2
