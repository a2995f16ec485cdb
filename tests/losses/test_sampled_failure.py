"""Losses that may fail, sampled: against the laws of both data sets, atom by atom."""

import math
from fractions import Fraction as F

import pytest
from hypothesis import given, settings, strategies as st

from discreet.kernel.losses import approximate, sampled
from discreet.kernel.losses.pair import Atoms


def worst_laws(epsilon, delta):
    """With and without a person: the outcomes of the worst (ε, δ)-DP mechanism."""
    truth, lie = (1 - delta) / (1 + math.exp(-epsilon)), (1 - delta) / (1 + math.exp(epsilon))
    return [truth, lie, delta, 0.0], [lie, truth, 0.0, delta]


def sampled_laws(epsilon, delta, rate):
    with_person, without = worst_laws(epsilon, delta)
    seen = [rate * p + (1 - rate) * q for p, q in zip(with_person, without, strict=True)]
    return seen, without


def hockey_stick(laws, count, epsilon):
    """δ(ε) of so many independent releases, in both directions: the sum over all outcomes."""
    both = [[1.0], [1.0]]
    for law in [laws] * count:
        both = [[a * b for a in old for b in new] for old, new in zip(both, law, strict=True)]
    limit = math.exp(epsilon)
    return max(
        math.fsum(max(p - limit * q, 0.0) for p, q in zip(one, other, strict=True))
        for one, other in (both, both[::-1])
    )


def assert_the_truth_is_enclosed(price, delta, rate, count, epsilon):
    loss = count * approximate(epsilon=price, delta=delta).sampled(rate)
    truth = hockey_stick(sampled_laws(float(price), float(delta), float(rate)), count, float(epsilon))
    found = loss.delta_interval(epsilon=epsilon)
    assert found.lower * (1 - 1e-9) - 1e-13 <= truth <= found.upper * (1 + 1e-9) + 1e-13


RATES = st.fractions(F(1, 100), 1, max_denominator=100)
DELTAS = st.sampled_from([F(1, 10**6), F(1, 1000), F(1, 10), F(1, 2)])


@settings(max_examples=25)
@given(st.fractions(F(1, 10), 3, max_denominator=10), DELTAS, RATES, st.integers(1, 4),
       st.fractions(0, 6, max_denominator=4))  # fmt: skip
def test_a_failure_is_sampled_as_often_as_a_person_is(price, delta, rate, count, epsilon):
    assert_the_truth_is_enclosed(price, delta, rate, count, epsilon)


@pytest.fixture
def fresh_pairs():
    sampled.pairs.cache_clear()
    yield
    sampled.pairs.cache_clear()


@pytest.mark.usefixtures("fresh_pairs")
def test_a_failure_that_is_sampled_at_the_squared_rate_is_found(monkeypatch):
    right = sampled._mix

    def squared(law, rate, direction):
        mixed = right(law, rate, direction)
        lost = mixed.failure()
        return mixed if direction == 1 else Atoms(mixed.atoms, failure=rate * lost)

    monkeypatch.setattr(sampled, "_mix", squared)
    for name in ("failure", "rational_failure"):
        real = getattr(sampled.Sampled, name)
        monkeypatch.setattr(sampled.Sampled, name, lambda law, way, real=real: law.rate * real(law, way))
    with pytest.raises(AssertionError):
        assert_the_truth_is_enclosed(F(1), F(1, 1000), F(1, 10), 2, F(5))
