"""What every family has by default holds in both directions."""

import math

import pytest

import discreet as dp

# Two rows of probabilities: the second direction is the worse one in the first case, the first in the second.
SKEWED = ([0.75, 0.25], [0.5, 0.5])


def divergence(p, q, order):
    """The Rényi divergence of two finite laws."""
    if order == 1:
        return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
    return math.log(sum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)


@pytest.mark.parametrize("rows", [SKEWED, SKEWED[::-1]])
def test_rho_covers_every_order_in_both_directions(rows):
    loss = dp.losses.channel(rows)
    worst = max(
        divergence(p, q, order) / order for p, q in (rows, rows[::-1]) for order in (1, 1.5, 2, 4, 16, 64)
    )
    assert loss.rho >= worst
    assert loss.epsilon(delta=0) == pytest.approx(math.log(2))


@pytest.mark.parametrize("relation", ["replace", "local"])
def test_a_sample_is_refused_where_nobody_is_added_or_removed(relation):
    with pytest.raises(dp.InvalidParameter, match="add/remove"):
        dp.PureDP(1, relation).loss.sampled(0.5)


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_one_choice_of_a_bounded_range_is_as_far_as_its_worst_pair(epsilon):
    """The total variation of two points e^ε apart in odds, placed best: tanh(ε/4)."""
    assert dp.losses.bounded_range(epsilon=epsilon).delta(epsilon=0) == pytest.approx(math.tanh(epsilon / 4))
