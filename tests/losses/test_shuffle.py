"""Shuffled reports: the bound against the exact law of shuffled randomised responses, and by brute force."""

import math
from fractions import Fraction as F

import mpmath
import pytest
from flint import arb

import discreet as dp
from discreet.kernel.losses.shuffle import Clones
from discreet.kernel.numerics import working_precision


def number_of_ones(bits, truth):
    """The exact law of the number of ones among randomised responses to these bits."""
    law = [F(1)]
    for bit in bits:
        one = truth if bit else 1 - truth
        law = [a * (1 - one) + b * one for a, b in zip([*law, F(0)], [F(0), *law], strict=True)]
    return law


def delta(p, q, ratio):
    return sum((max(a - ratio * b, F(0)) for a, b in zip(p, q, strict=True)), F(0))


@pytest.mark.parametrize("people", [1, 2, 5, 12])
@pytest.mark.parametrize("truth", [F(3, 5), F(3, 4), F(9, 10)])
def test_randomised_response_loses_no_more_than_is_said(people, truth):
    local = math.log(truth / (1 - truth)) * (1 + 1e-12)
    for failure in (0.2, 0.01, 1e-4):
        epsilon = dp.losses.shuffled(epsilon=local, people=people, delta=failure).epsilon
        ratio = F(math.exp(epsilon)) * (1 + F(1, 10**12))
        for ones in range(people):
            others = [1] * ones + [0] * (people - 1 - ones)
            laws = number_of_ones([1, *others], truth), number_of_ones([0, *others], truth)
            assert max(delta(*laws, ratio), delta(*laws[::-1], ratio)) <= failure * (1 + 1e-9)


def counted(local, people, epsilon):
    """δ of the clones, by summing over every C, A and B."""
    with mpmath.workdps(40):
        share, truth = mpmath.exp(-local), 1 / (1 + mpmath.exp(-local))
        p, q = {}, {}
        for c in range(people):
            weight = mpmath.binomial(people - 1, c) * share**c * (1 - share) ** (people - 1 - c)
            for a in range(c + 1):
                mass = weight * mpmath.binomial(c, a) / mpmath.mpf(2) ** c
                for b, chance in ((1, truth), (0, 1 - truth)):
                    p[c, a + b] = p.get((c, a + b), 0) + mass * chance
                    q[c, a + 1 - b] = q.get((c, a + 1 - b), 0) + mass * chance
        return sum(max(p.get(x, 0) - mpmath.exp(epsilon) * q.get(x, 0), 0) for x in {*p, *q})


@pytest.mark.slow
@pytest.mark.parametrize(("local", "people"), [(1, 1), (1, 2), (1, 40), (2, 60), (0.3, 25)])
def test_the_fast_sum_is_the_slow_one(local, people):
    for epsilon in (0, 0.01, 0.125, 0.29):
        with working_precision(192):
            low, high = Clones(F(str(local)), people, F(1, 10**30)).bounds(arb(epsilon))
        truth = counted(mpmath.mpf(local), people, epsilon)
        assert float(low) * (1 - 1e-12) <= truth <= float(high) * (1 + 1e-12)
        assert float(high - low) < 1e-25


def test_numbers_of_clones_left_out_are_counted(monkeypatch):
    clones = Clones(F(1), 400, F(1, 10))  # a wide tail, so that much is left out
    with working_precision(192):
        low, high = clones.bounds(arb(0.25))
        full = Clones(F(1), 400, F(1, 10**30)).bounds(arb(0.25))
        assert low < full[0]
        assert full[1] < high
        monkeypatch.setattr(Clones, "_range", lambda self: (140, 150, arb(0)))  # the planted fault
        assert clones.bounds(arb(0.25))[1] < full[0]


def test_more_people_hide_better_and_the_formula_is_never_better():
    found = [dp.losses.shuffled(epsilon=1, people=n, delta=1e-6).epsilon for n in (10, 10**2, 10**3, 10**4)]
    assert found == sorted(found, reverse=True)
    assert 0.99 < found[0] <= 1
    closed = dp.losses.shuffled_closed_form(epsilon=1, people=10**4, delta=1e-6)
    assert found[-1] < closed.epsilon < 1
    with mpmath.workdps(30):
        e = mpmath.e
        formula = mpmath.log(
            1 + (e - 1) / (e + 1) * (8 * mpmath.sqrt(e * mpmath.log(4e6) / 10**4) + 8 * e / 10**4)
        )
    assert 0 <= float(closed.epsilon) - formula < 1e-12
    assert closed.relation == "replace"


def test_outside_its_condition_the_formula_is_refused():
    with pytest.raises(dp.InvalidParameter, match="people must be at least"):
        dp.losses.shuffled_closed_form(epsilon=1, people=500, delta=1e-6)
    with pytest.raises(dp.InvalidParameter, match="delta must be > 0"):
        dp.losses.shuffled(epsilon=1, people=500, delta=0)
