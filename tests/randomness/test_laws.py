"""The samplers against their stated laws and against slow oracles, with power shown by planted faults.

A chi-square test of 10^6 draws on about 60 bins sees a scale that is wrong by 2 % with probability above
1 - 10^-9: its noncentrality is about 0.02² · 10^6 = 400, for a threshold near 150. False alarms: 10^-11 each.
"""

from fractions import Fraction

import numpy as np
import pytest

from discreet.kernel.randomness import (
    discrete_gaussian,
    discrete_laplace,
    fresh_source,
    geometric,
    rounded_gaussian,
)
from oracles import laws, noise as slow
from oracles.stated import SCALES, VANISHING

SIZE = 10**6
FEWER = 10**5  # draws where results are Python ints
LAWS = {
    "geometric": (geometric, slow.geometric, laws.geometric_below),
    "discrete Laplace": (discrete_laplace, slow.discrete_laplace, laws.laplace_below),
    "discrete Gaussian": (discrete_gaussian, slow.discrete_gaussian, laws.discrete_gaussian_below),
    "rounded Gaussian": (rounded_gaussian, slow.rounded_gaussian, laws.rounded_gaussian_below),
}
every_law = pytest.mark.parametrize("law", LAWS)
every_scale = pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):.3g}")


def draw(law, scale, size=SIZE):
    size = size if scale < 2**50 else min(size, FEWER)
    return LAWS[law][0](fresh_source(), scale, size)


@pytest.mark.slow
@every_law
@every_scale
def test_many_draws_have_the_stated_law(law, scale):
    assert laws.fits(draw(law, scale), LAWS[law][2], scale)


@pytest.mark.slow
@every_law
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(31), Fraction(1000)], ids=str)
def test_single_draws_have_the_stated_law(law, scale):
    sampler, _, below = LAWS[law]
    assert laws.fits([sampler(fresh_source(), scale) for _ in range(10_000)], below, scale)


@pytest.mark.slow
@every_law
@every_scale
def test_the_slow_oracle_agrees(law, scale):
    _, oracle, below = LAWS[law]
    few, many = (600, 3000) if law == "rounded Gaussian" else (1500, 10_000)  # as the oracle's speed allows
    size = few if scale > 2 or scale == VANISHING else many
    some = [oracle(scale) for _ in range(size)]
    assert laws.agree(some, draw(law, scale, 10**5), below, scale)


@pytest.mark.soak
@every_law
@every_scale
def test_the_slow_oracle_agrees_in_many_draws(law, scale):
    _, oracle, below = LAWS[law]
    some = [oracle(scale) for _ in range(20_000)]
    assert laws.fits(some, below, scale)
    assert laws.agree(some, draw(law, scale), below, scale)


@pytest.mark.slow
@every_law
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(1000), 10**6 + Fraction(1, 7)], ids=str)
@pytest.mark.parametrize("error", [Fraction(98, 100), Fraction(102, 100)], ids=str)
def test_a_scale_off_by_two_percent_is_seen(law, scale, error):
    assert not laws.fits(draw(law, scale * error), LAWS[law][2], scale)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 5)], ids=str)
def test_a_fair_sign_on_a_geometric_size_is_seen(scale):
    size = draw("geometric", scale)
    negative = fresh_source().words(SIZE) >> np.uint64(63) == 1
    assert not laws.fits(np.where(negative, ~size, size), laws.laplace_below, scale)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [Fraction(7, 5), Fraction(1000)], ids=str)
def test_a_sign_that_counts_zero_twice_is_seen(scale):
    size = draw("geometric", scale, 10**7 if scale > 10 else SIZE)
    negative = fresh_source().words(size.size) >> np.uint64(63) == 1
    doubled = np.where(negative, -size, size)
    assert (
        abs(np.count_nonzero(doubled == 0) / doubled.size - _zero(scale))
        > 8 * (_zero(scale) / doubled.size) ** 0.5
    )
    honest = draw("discrete Laplace", scale, size.size)
    assert (
        abs(np.count_nonzero(honest == 0) / honest.size - _zero(scale))
        < 8 * (_zero(scale) / honest.size) ** 0.5
    )


def _zero(scale):
    return float(laws.laplace_below(1, scale) - laws.laplace_below(0, scale))


@pytest.mark.slow
@every_law
@pytest.mark.parametrize("scale", [Fraction(10), Fraction(1000)], ids=str)
def test_a_cut_tail_is_seen(law, scale):
    draws = draw(law, scale)
    reach = int(scale * (3 if "Gaussian" in law else 6))  # 10^-3 or more of the law lies beyond
    assert not laws.fits(np.clip(draws, -reach, reach), LAWS[law][2], scale)
