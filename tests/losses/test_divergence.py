import math
from fractions import Fraction as F
from itertools import chain, combinations

import pytest
from hypothesis import given, settings, strategies as st

import discreet as dp


def brute_force(p, q, delta):
    """The definition: every event."""
    size = len(p)
    every = chain.from_iterable(combinations(range(size), r) for r in range(1, size + 1))
    values = [((sum(p[i] for i in s) - delta), sum(q[i] for i in s)) for s in every]
    return max(math.log(above / below) if below else math.inf for above, below in values if above > 0)


def laws(size):
    weights = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    return weights.map(lambda numbers: [F(n, sum(numbers)) for n in numbers])


@settings(deadline=None)
@given(laws(4), laws(4), st.sampled_from([F(0), F(1, 10), F(1, 2)]))
def test_the_divergence_is_the_worst_of_all_events(p, q, delta):
    assert dp.approx_max_divergence(p, q, delta) == pytest.approx(brute_force(p, q, delta), abs=1e-12)


@settings(deadline=None)
@given(laws(3), laws(3))
def test_it_is_never_below_the_truth_and_agrees_with_the_loss(p, q):
    worst = max(dp.max_divergence(p, q), dp.max_divergence(q, p))
    assert worst >= brute_force(p, q, 0) - 1e-15
    loss = dp.losses.channel([p, q])
    assert worst == pytest.approx(loss.epsilon(delta=0), abs=1e-12)


def test_an_outcome_of_one_law_alone_is_infinitely_far():
    assert dp.max_divergence([1, 0], [0, 1]) == math.inf
    assert dp.approx_max_divergence([0.9, 0.1], [1, 0], 0.2) < 0  # all that is left after δ


def test_laws_are_checked():
    with pytest.raises(dp.InvalidParameter, match="must each sum to 1"):
        dp.max_divergence([0.5, 0.4], [0.5, 0.5])
    with pytest.raises(dp.InvalidParameter, match="sequences of one length"):
        dp.max_divergence([1], [0.5, 0.5])
