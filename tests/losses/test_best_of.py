"""The best of many runs: the law of the best, exactly, against the loss that is stated for it."""

import math
import random
from fractions import Fraction as F

import pytest

from discreet.errors import InvalidParameter
from discreet.kernel.losses import ApproxDP, PrivacyLoss, best_of, channel, gaussian, laplace, pure, read_loss

EPSILONS = (F(0), F(1, 10), F(1, 2), F(1), F(2))


def law_of_the_best(law, runs):
    """Outcomes from worst to best: Pr[best <= y] = E[F(y)^K] = F/r/(1 − (1 − 1/r)F), F = Pr[one run <= y]."""
    stop, total, before, found = 1 / F(runs), F(0), F(0), []
    for mass in law:
        total += mass
        below = stop * total / (1 - (1 - stop) * total)
        found.append(below - before)
        before = below
    return found


def delta(p, q, gamma):
    return sum(max(float(a) - gamma * float(b), 0.0) for a, b in zip(p, q, strict=True))


def random_laws(numbers, outcomes, spread):
    """Two laws over ranked outcomes, whose losses are at most about the spread."""
    first = [numbers.randint(1, 100) for _ in range(outcomes)]
    second = [F(a) * F(round(1000 * math.exp(numbers.uniform(-spread, spread)))) for a in first]
    return [F(a, sum(first)) for a in first], [b / sum(second) for b in second]


def cases():
    numbers = random.Random(2022)
    return [
        (random_laws(numbers, numbers.choice([2, 3, 8]), numbers.choice([0.05, 0.3, 1])), runs)
        for runs in (F(3, 2), 3, 20, 400)
        for _ in range(15)
    ]


def excess(pair, runs, loss):
    """By how much the true δ, in either order of the two laws, exceeds what is stated."""
    p, q = (law_of_the_best(law, runs) for law in pair)
    return max(
        delta(a, b, math.exp(e)) - loss.delta(epsilon=e) for a, b in ((p, q), (q, p)) for e in EPSILONS
    )


@pytest.mark.slow
@pytest.mark.parametrize(("pair", "runs"), cases())
def test_the_best_is_as_private_as_is_said(pair, runs):
    loss = channel([pair[0], pair[1]]).best_of(runs)
    assert excess(pair, runs, loss) <= 1e-12
    p, q = (law_of_the_best(law, runs) for law in pair)
    largest = max(abs(math.log(a / b)) for a, b in zip(p, q, strict=True))
    assert largest <= loss.epsilon(delta=0) * (1 + 1e-12)
    for order in (1.5, 2, 8):
        for a, b in ((p, q), (q, p)):
            moment = sum(float(x) * float(x / y) ** (order - 1) for x, y in zip(a, b, strict=True))
            assert math.log(moment) / (order - 1) <= loss.renyi(order) * (1 + 1e-9) + 1e-12


def test_the_price_of_one_run_would_not_cover_the_best():
    assert any(excess(pair, runs, channel([pair[0], pair[1]])) > 1e-3 for pair, runs in cases())


def test_without_the_price_of_choosing_the_moments_are_too_small(monkeypatch):
    """The second outcome is likelier in the first law, and what is better is rarer: three times its loss."""
    pair = [F(936, 1000), F(27, 1000), F(37, 1000)], [F(89, 100), F(1, 100), F(1, 10)]
    p, q = (law_of_the_best(law, 1000) for law in pair)
    truth = math.log(sum(float(x) * float(x / y) ** 49 for x, y in zip(p, q, strict=True))) / 49
    loss = channel(list(pair)).best_of(1000)
    assert truth <= loss.renyi(50)
    once, best = (max(abs(math.log(a / b)) for a, b in zip(*laws, strict=True)) for laws in (pair, (p, q)))
    assert 2.5 * once < best <= loss.epsilon(delta=0)  # so that twice would not do
    monkeypatch.setattr(best_of, "_chosen", lambda family, bits: 0)
    assert truth > loss.renyi(50)


def test_many_runs_cost_little_more_than_few():
    costs = [gaussian(sigma=5).best_of(runs).epsilon(delta=1e-6) for runs in (2, 10, 100, 10_000)]
    once = gaussian(sigma=5).epsilon(delta=1e-6)
    assert once < costs[0] < costs[1] < costs[2] < costs[3] < 4 * once
    assert (100 * gaussian(sigma=5)).epsilon(delta=1e-6) > 4 * costs[2]


def test_one_run_is_one_run_and_a_run_that_fails_is_refused():
    assert laplace(scale=2).best_of(1) == laplace(scale=2)
    assert PrivacyLoss().best_of(5) == PrivacyLoss()
    with pytest.raises(InvalidParameter, match="never fail"):
        ApproxDP(1, 1e-6).loss.best_of(5)
    with pytest.raises(InvalidParameter, match="runs"):
        pure(epsilon=1).best_of(0.5)


def test_it_is_read_back_from_words_and_json():
    loss = (3 * gaussian(sigma=5)).best_of(F(7, 2)) + laplace(scale=2)
    assert read_loss(str(loss)) == loss
    assert PrivacyLoss.from_json(loss.to_json()) == loss
