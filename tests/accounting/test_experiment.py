from collections import Counter
from fractions import Fraction as F
from itertools import pairwise

import pytest

import discreet as dp
from discreet.kernel.accounting import Experiment, Round

RESPONSE = Round([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)])


def always(chosen, rounds, **more):
    return Experiment(adversary=lambda coins, answers: chosen, rounds=rounds, **more)


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_repeating_one_mechanism_is_its_composed_loss(rounds):
    loss = rounds * dp.RandomizedResponse(truth=0.75, relation="add/remove").loss
    for epsilon in (0, 0.5, 1.5):
        assert always(RESPONSE, rounds).delta(epsilon=epsilon) == pytest.approx(loss.delta(epsilon=epsilon))


def test_the_views_of_each_world_are_a_law():
    game = always(RESPONSE, 3, coins=(F(1, 3), F(2, 3)))
    seen = list(game.views())
    assert len(seen) == 2 * 8
    assert [sum(view.probabilities[world] for view in seen) for world in (0, 1)] == [1, 1]


@pytest.mark.slow
def test_plays_follow_the_law_of_their_world():
    """Within 7 standard errors: a false alarm in less than 10⁻⁹ of runs; the other world is 200 away."""
    game, plays = always(RESPONSE, 3), 4000
    for world in (0, 1):
        counts = Counter(game.play(world).answers for _ in range(plays))
        for view in game.views():
            p = float(view.probabilities[world])
            assert abs(counts[view.answers] - plays * p) <= 7 * (plays * p * (1 - p)) ** 0.5 + 1


def test_an_answer_of_one_world_alone_is_an_infinite_loss():
    reveal = Round([1, 0], [0, 1])
    assert [view.loss for view in always(reveal, 1).views()] == [float("inf"), float("-inf")]
    assert always(reveal, 1).delta(epsilon=100) == 1


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.5])
def test_the_worse_of_both_worlds_counts(epsilon):
    half, more = [F(1, 2), F(1, 2)], [F(9, 10), F(1, 10)]
    deltas = [always(Round(*laws), 2).delta(epsilon=epsilon) for laws in ((half, more), (more, half))]
    loss = 2 * dp.losses.channel([half, more])
    assert deltas == pytest.approx([loss.delta(epsilon=epsilon)] * 2)


def test_delta_falls_as_epsilon_grows():
    deltas = [always(RESPONSE, 4).delta(epsilon=e) for e in (0, 1, 2, 3, 4)]
    assert all(a >= b for a, b in pairwise(deltas))


def test_laws_and_coins_are_checked():
    with pytest.raises(dp.InvalidParameter, match="two laws over the same answers"):
        Round([0.5, 0.5], [0.5, 0.4])
    with pytest.raises(dp.InvalidParameter, match="coins must sum to 1"):
        always(RESPONSE, 1, coins=(0.5, 0.4)).delta(epsilon=0)
