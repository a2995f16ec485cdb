"""What an attacker gains: against the best test of two finite laws, found by looking at every outcome."""

import math
import random
from itertools import pairwise

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.kernel import losses
from discreet.kernel.losses import questions, trade_off as module, work

ALPHAS = (0.001, 0.05, 0.3, 0.7)


def discrete_laplace(scale, far=400):
    x = np.arange(-far, far + 1)
    masses = np.exp(-np.abs(x) / scale)
    return masses / masses.sum(), np.exp(-np.abs(x - 1) / scale) / masses.sum()


def response(epsilon, values):
    stay = math.exp(epsilon) / (math.exp(epsilon) + values - 1)
    other = (1 - stay) / (values - 1)
    first, second = np.full(values, other), np.full(values, other)
    first[0] = second[1] = stay
    return first, second


def normal(sigma, cells=20_000):
    edges = np.linspace(-12 * sigma, 12 * sigma + 1, cells + 1)
    masses = [np.diff([math.erfc(-(x - m) / sigma / math.sqrt(2)) / 2 for x in edges]) for m in (0, 1)]
    return masses[0], masses[1]


def repeated(pair, count):
    first, second = pair
    for _ in range(count - 1):
        first, second = np.outer(first, pair[0]).ravel(), np.outer(second, pair[1]).ravel()
    return first, second


def sampled(pair, rate):
    absent, present = pair
    return absent, (1 - rate) * absent + rate * present


# the loss, and the laws with and without the person
LAWS = (
    [(losses.discrete_laplace(scale=s), discrete_laplace(s)) for s in (0.5, 1, 2, 5, 10, 20)]
    + [(losses.randomized_response(epsilon=e, values=k), response(e, k)) for e in (0.1, 1, 3) for k in (2, 5)]
    + [
        (k * losses.randomized_response(epsilon=e), repeated(response(e, 2), k))
        for e in (0.3, 1)
        for k in (2, 5, 9)
    ]
    + [(losses.gaussian(sigma=s), normal(s)) for s in (0.5, 1, 3, 10)]
    + [(losses.gaussian(sigma=s).sampled(q), sampled(normal(s), q)) for s in (0.7, 2) for q in (0.01, 0.2)]
    + [
        (losses.discrete_laplace(scale=s).sampled(q), sampled(discrete_laplace(s), q))
        for s in (1, 5)
        for q in (0.05, 0.5)
    ]
)


def least_miss(pair, alpha):
    """The least miss at this false alarm that both directions allow; its corners are likelihood ratios."""
    first, second = pair
    seen = (first > 1e-30) & (second > 1e-30)
    ratios = np.concatenate([first[seen] / second[seen], second[seen] / first[seen], [1.0]])
    ratios = np.sort(ratios[(ratios > 1e-6) & (ratios < 1e6)])

    def value(gamma):
        delta = max(np.maximum(p - gamma * q, 0).sum() for p, q in ((first, second), (second, first)))
        return 1 - delta - gamma * alpha

    stride = len(ratios) // 300 + 1  # all of them near the best of a few, as the value is concave
    best = stride * int(np.argmax([value(gamma) for gamma in ratios[::stride]]))
    return max(0.0, *map(value, ratios[max(best - stride, 0) : best + stride + 1]))


def test_there_are_thirty_losses():
    assert len(LAWS) == 30


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "pair"), LAWS, ids=lambda part: str(part)[:60])
def test_the_trade_off_is_that_of_the_best_test(loss, pair):
    for alpha in ALPHAS:
        found, truth = loss.trade_off(alpha), least_miss(pair, alpha)
        slack = 1e-9 + 1e-6 * truth  # of the oracle's floats, and of its cells
        assert found.lower <= truth + slack
        assert truth <= found.upper + 5e-4
        assert found.upper - found.lower <= 2e-3


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "pair"), LAWS, ids=lambda part: str(part)[:60])
def test_chances_are_never_below_those_of_the_best_attacker(loss, pair):
    found, (absent, present) = dp.risk(loss), pair
    for prior in (0.02, 0.5, 0.9):
        right = max(
            np.maximum(prior * p, (1 - prior) * q).sum() for p, q in ((absent, present), (present, absent))
        )
        assert right * (1 - 1e-9) <= found.guess(prior) <= right + 1e-4
    assert 0.5 * np.abs(absent - present).sum() <= found.advantage * (1 + 1e-9)
    for alarm in (0.01, 0.2):
        hit = 1 - least_miss(pair, alarm)
        assert hit <= found.hit(alarm) + 1e-6
        assert found.posterior(alarm) <= found.worst_posterior()


def test_whom_an_attacker_picks_among_many():
    """Each of m people would make the law of one answer likelier: the best pick is the likeliest person."""
    epsilon, people = 1.0, 7
    numbers = np.random.default_rng()
    stay = math.exp(epsilon) / (1 + math.exp(epsilon))
    rounds = 200_000
    bits = numbers.random((rounds, people)) > stay  # everyone absent says 0 mostly
    bits[:, 0] = numbers.random(rounds) < stay  # the one who is in says 1 mostly
    ties = numbers.random((rounds, people))
    picked = np.argmax(bits + ties / 2, axis=1) == 0
    assert picked.mean() - 6 * 0.5 / math.sqrt(rounds) <= dp.risk(losses.pure(epsilon=epsilon)).among(people)


def test_a_loss_without_a_largest_value_says_so():
    found = dp.risk(losses.gaussian(sigma=5))
    assert found.worst_posterior() == 1
    assert "no largest value" in str(found)
    assert "no largest value" not in str(dp.risk(losses.laplace(scale=5)))


def test_a_trade_off_that_promises_a_little_too_much_is_seen(monkeypatch):
    loss, pair = next(item for item in LAWS if "sampled" in str(item[0]))

    class Careless(module._TradeOff):
        def value(self, epsilon):
            low, high = super().value(epsilon)
            return 1.001 * low, high

    monkeypatch.setattr(module, "_TradeOff", Careless)
    assert any(loss.trade_off(alpha).lower > least_miss(pair, alpha) + 1e-6 for alpha in ALPHAS)


def test_ends_hold_at_random_points_and_fall_with_the_false_alarms():
    numbers = random.Random(19)
    loss = 3 * losses.laplace(scale=2) + losses.gaussian(sigma=3)
    found = [loss.trade_off(alpha) for alpha in sorted(round(numbers.random(), 3) for _ in range(8))]
    assert all(a.upper >= b.lower for a, b in pairwise(found))


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_chances_must_be_chances(wrong):
    with pytest.raises(InvalidParameter):
        losses.pure(epsilon=1).trade_off(wrong)
    with pytest.raises(InvalidParameter):
        dp.risk(losses.pure(epsilon=1)).guess(wrong)


@pytest.mark.slow
def test_a_trade_off_has_as_much_work_as_a_question():
    loss = 587 * losses.laplace(scale=0.131, sensitivity=60).sampled(0.0001)
    before = work.done()
    assert 0.83 < loss.trade_off(0.1).lower < 0.9
    assert work.done() - before <= questions.ALLOWED
