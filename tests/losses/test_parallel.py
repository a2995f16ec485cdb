"""Parallel composition against joint channels: every person in one part, every choice of parts."""

import math
from fractions import Fraction as F
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp
from discreet.kernel.losses import (
    approximate,
    channel,
    discrete_laplace,
    gaussian,
    laplace,
    parallel,
    pure,
    zcdp,
)

EPSILONS = [0.0, 0.2, 0.7, 1.5]


def delta(p, q, epsilon):
    """Σ (p − e^ε·q)₊ over the joint outcomes, straight from the definition."""
    from math import exp, fsum

    return fsum(max(0.0, float(a) - exp(epsilon) * float(b)) for a, b in zip(p, q, strict=True))


def joint(*rows):
    """The law of independent releases."""
    found = [F(1)]
    for row in rows:
        found = [a * b for a, b in product(found, row)]
    return found


def rows(size):
    weights = st.lists(st.integers(1, 9), min_size=size, max_size=size)
    return weights.map(lambda numbers: tuple(F(n, sum(numbers)) for n in numbers))


channels = st.tuples(rows(3), rows(3))  # the part with the person, and without


@settings(max_examples=40, deadline=None)
@given(channels, channels, rows(3))
def test_one_release_is_the_worst_joint_law_over_where_the_person_is(first, second, others):
    loss = parallel([channel(first), channel(second)])
    for epsilon in EPSILONS:
        truth = 0.0
        for with_person, without in (first, second):
            laws = joint(with_person, others), joint(without, others)  # the other part answers the same
            truth = max(truth, delta(*laws, epsilon), delta(*laws[::-1], epsilon))
        interval = loss.delta_interval(epsilon=epsilon)
        assert interval.lower - 1e-12 <= truth <= interval.upper + 1e-12


@settings(max_examples=15, deadline=None)
@given(channels, channels)
def test_two_releases_cover_every_pair_of_parts_also_chosen_by_the_first_answer(first, second):
    loss = 2 * parallel([channel(first), channel(second)])
    parts = (first, second)
    for epsilon in (0.0, 0.5):
        bound = loss.delta(epsilon=epsilon)
        for start, *choice in product(range(2), repeat=4):  # a second part for each of three first answers
            p = [a * b for i, a in enumerate(parts[start][0]) for b in parts[choice[i]][0]]
            q = [a * b for i, a in enumerate(parts[start][1]) for b in parts[choice[i]][1]]
            assert max(delta(p, q, epsilon), delta(q, p, epsilon)) <= bound + 1e-12


def test_the_sum_would_be_too_dear_and_one_part_alone_too_cheap():
    a, b = gaussian(sigma=2), laplace(scale=1)
    both = parallel([a, b])
    for delta_ in (1e-9, 1e-2, 0.3):
        epsilon = both.epsilon(delta=delta_)
        assert epsilon == max(a.epsilon(delta=delta_), b.epsilon(delta=delta_))
        assert epsilon < (a + b).epsilon(delta=delta_)
    assert a.epsilon(delta=1e-2) < b.epsilon(delta=1e-2)  # a planted "always the first part" would fail here
    assert a.epsilon(delta=1e-9) > b.epsilon(delta=1e-9)  # and "always the second" here


def test_what_another_part_covers_is_left_out():
    assert parallel([laplace(scale=1), laplace(scale=2)]) == laplace(scale=1)
    assert parallel([gaussian(sigma=1), 2 * gaussian(sigma=2)]) == gaussian(sigma=1)
    assert parallel([pure(epsilon=1), discrete_laplace(scale=2)]) == pure(epsilon=1)
    assert parallel([3 * laplace(scale=1), 2 * laplace(scale=1), 0 * laplace(scale=1)]) == 3 * laplace(
        scale=1
    )


def test_a_part_that_may_fail_is_covered_by_none_that_never_does():
    leak = channel([[F(3, 5), F(3, 10), F(1, 10)], [F(1, 2), F(1, 2), F(0)]])  # a loss of ln 1.2, or all
    for small in (
        approximate(epsilon=0.5, delta=1e-3),
        approximate(epsilon=0.2, delta=1e-3).for_group(2),
        leak,
    ):
        for both in (parallel([pure(epsilon=1), small]), parallel([small, pure(epsilon=1)])):
            assert both.delta(epsilon=1) >= small.delta_interval(epsilon=1).lower >= 1e-3 * (1 - 1e-12)
            assert both.epsilon(delta=0) == math.inf
    assert leak.delta(epsilon=1) == pytest.approx(0.1)


def test_every_notion_takes_the_greatest_part():
    a, b = zcdp(rho=0.1), laplace(scale=2)
    both = parallel([a, b])
    assert both.rho == max(a.rho, b.rho)
    assert both.renyi(4) == max(a.renyi(4), b.renyi(4))
    assert (5 * both).rho >= 5 * max(a.rho, b.rho) * (1 - 1e-15)
    assert parallel([laplace(scale=2), discrete_laplace(scale=1)]).epsilon(delta=0) == 1
    tight = (10 * parallel([gaussian(sigma=1), b])).epsilon_interval(delta=1e-6)
    assert tight.upper <= 1.01 * tight.lower


def test_parts_have_no_order_and_json_is_exact():
    a, b = 2 * laplace(scale=3) + gaussian(sigma=5), pure(epsilon=0.1)
    both = parallel([a, b])
    assert both == parallel([b, a]) == parallel([b, a, a])
    assert dp.PrivacyLoss.from_json(both.to_json()) == both
    assert dp.losses.read_loss(repr(both)) == both
    assert dp.losses.read_loss("3 * parallel(laplace(scale=3), gaussian(sigma=1)) + pure(epsilon=1)").epsilon(
        delta=1e-6
    )


def test_only_add_remove_has_parts():
    with pytest.raises(dp.InvalidParameter, match="must be under add/remove, got replace"):
        parallel([laplace(scale=1, relation="replace")])
    with pytest.raises(dp.InvalidParameter, match="one or more losses"):
        parallel([])


def test_why_replacing_is_refused_who_moves_changes_two_parts():
    first, second = (F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))  # with the person, without: both parts alike
    moved = joint(first, second), joint(second, first)  # from the one part into the other
    assert delta(*moved, 0.5) > channel([first, second]).delta(epsilon=0.5) + 0.1
