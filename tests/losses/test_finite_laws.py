"""Finite laws, composed and sampled, against the sum over every outcome."""

from fractions import Fraction as F
from itertools import product
from math import prod

import mpmath
import pytest
from hypothesis import given, settings, strategies as st

from discreet.kernel.losses import channel, pure

# Outcomes of equal loss; what each of both rows shows and the other never does; both at once.
EQUAL = (F(1, 4), F(1, 4), F(1, 2)), (F(1, 8), F(1, 8), F(3, 4))
LEAKING = (F(3, 5), F(3, 10), F(1, 10), F(0)), (F(1, 5), F(7, 10), F(0), F(1, 10))
ONE_SIDED = (F(1, 2), F(2, 5), F(1, 10)), (F(1, 4), F(3, 4), F(0))
MIXED = (F(1, 10), F(1, 10), F(3, 10), F(1, 2), F(0)), (F(1, 5), F(1, 5), F(0), F(2, 5), F(1, 5))
LAWS = [EQUAL, LEAKING, ONE_SIDED, MIXED]
EPSILONS = [F(0), F(1, 10), F(1, 2), F(1), F(3)]


def greatest_delta(rows, rate, count, epsilon):
    """Σ (p − e^ε·q)₊ over every sequence of outcomes, the greater of both directions."""
    with_person, without = rows
    sampled = [(1 - rate) * q + rate * p for p, q in zip(with_person, without, strict=True)]
    laws = [[prod(outcome) for outcome in product(law, repeat=count)] for law in (sampled, without)]
    with mpmath.workdps(40):
        scale = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
        ways = [
            mpmath.fsum(max(mpmath.mpf(0), as_mpf(p) - scale * as_mpf(q)) for p, q in zip(*pair, strict=True))
            for pair in (laws, laws[::-1])
        ]
        return max(ways)


def as_mpf(value):
    return mpmath.mpf(value.numerator) / value.denominator


def check_holds(interval, truth):
    assert interval.lower <= truth <= interval.upper
    assert interval.width <= 1e-9


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("rows", [*LAWS, *(rows[::-1] for rows in LAWS)])
def test_delta_of_a_channel_is_the_sum_over_all_outcomes(rows, count):
    loss = count * channel(rows)
    for epsilon in EPSILONS:
        check_holds(loss.delta_interval(epsilon=epsilon), greatest_delta(rows, F(1), count, epsilon))


@pytest.mark.parametrize("rate", [F(1, 10), F(1, 2)])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("rows", [*LAWS, *(rows[::-1] for rows in LAWS)])
def test_delta_of_a_sampled_channel_is_the_sum_over_all_outcomes(rows, count, rate):
    loss = count * channel(rows).sampled(rate)
    for epsilon in EPSILONS:
        check_holds(loss.delta_interval(epsilon=epsilon), greatest_delta(rows, rate, count, epsilon))


def row(size):
    weights = st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(any)
    return weights.map(lambda numbers: tuple(F(n, sum(numbers)) for n in numbers))


@settings(max_examples=30, deadline=None)
@given(
    st.tuples(row(4), row(4)), st.sampled_from([F(1), F(1, 3)]), st.integers(1, 3), st.sampled_from(EPSILONS)
)
def test_generated_channels_agree_with_all_outcomes_too(rows, rate, count, epsilon):
    loss = channel(rows) if rate == 1 else channel(rows).sampled(rate)
    check_holds((count * loss).delta_interval(epsilon=epsilon), greatest_delta(rows, rate, count, epsilon))


def two_responses(first, second, epsilon):
    """δ of (count, ε₀) randomised responses of two kinds: Σ over how often each lies."""
    total, epsilon = mpmath.mpf(0), as_mpf(epsilon)
    laws = []
    for count, own in (first, second):
        one = as_mpf(own)
        truth = 1 / (1 + mpmath.exp(-one))
        laws.append(
            [
                (
                    (count - 2 * lies) * one,
                    mpmath.binomial(count, lies) * truth ** (count - lies) * (1 - truth) ** lies,
                )
                for lies in range(count + 1)
            ]
        )
    for (loss, mass), (more, share) in product(*laws):
        if loss + more > epsilon:
            total += mass * share * (1 - mpmath.exp(epsilon - loss - more))
    return total


@pytest.mark.slow
@pytest.mark.parametrize("first", [(51, F(1, 10)), (52, F(1, 10)), (101, F(1, 50))])
@pytest.mark.parametrize("second", [(51, F(3, 10)), (53, F(7, 30))])
def test_two_lattices_have_one_that_starts_at_the_sum_of_both_largest_losses(first, second):
    """So many are composed on a contour; its lattice is offset by a part of each law."""
    loss = sum((count * pure(epsilon=own) for count, own in (first, second)), 0 * pure(epsilon=1))
    with mpmath.workdps(40):
        for epsilon in (F(1), F(3), F(31, 10), F(16, 5), F(6)):
            check_holds(loss.delta_interval(epsilon=epsilon), two_responses(first, second, epsilon))
