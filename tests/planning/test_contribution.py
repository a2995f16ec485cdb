"""How far one unit moves the numbers of all groups: the formulas against every neighbour there is."""

import itertools
import math
from fractions import Fraction

import pytest

from discreet.asking.planning import Contribution


def parts(groups, labels, low, high):
    """Every way to be in at most so many of the labels, the part of each lying at an end."""
    inside = (min(0, low), 0, max(0, high), low, high)
    for part in itertools.product(sorted(set(inside)), repeat=labels):
        if sum(number != 0 for number in part) <= groups:
            yield part


def farthest(groups, labels, low, high, relation):
    """The largest l1 and squared l2 distances between what two neighbours give."""
    every = list(parts(groups, labels, low, high))
    others = every if relation == "replace" else [(0,) * labels]
    moves = [tuple(a - b for a, b in zip(one, other, strict=True)) for one in every for other in others]
    return max(sum(map(abs, move)) for move in moves), max(sum(n * n for n in move) for move in moves)


def contribution_of(groups, labels, low, high, relation):
    return Contribution(groups, max(abs(low), abs(high)), max(0, high) - min(0, low), relation, labels)


ENDS = [(0, 1), (-3, 3), (-1, 3), (-2, 3), (-3, 0), (2, 3)]


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
@pytest.mark.parametrize("ends", ENDS)
def test_the_reach_is_exactly_as_far_as_some_neighbour_is(ends, relation):
    for groups, labels in itertools.product((1, 2, 3), repeat=2):
        total, squares = farthest(groups, labels, *ends, relation)
        reach = contribution_of(groups, labels, *ends, relation)
        assert reach.total == total
        assert Fraction(squares) <= reach.distance**2 <= Fraction(squares) * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_a_reach_that_forgets_a_group_is_noticed(relation):
    total, _ = farthest(2, 3, 0, 5, relation)
    assert contribution_of(1, 3, 0, 5, relation).total < total


def test_more_groups_than_labels_cost_no_more():
    few, many = (Contribution(groups, 10, 10, "replace", labels=4) for groups in (4, 1000))
    assert (few.total, few.distance, few.moved) == (many.total, many.distance, many.moved) == (40, 20, 4)


def test_unknown_labels_cost_as_much_as_any():
    unknown, plenty = Contribution(3, 2, 3, "replace"), Contribution(3, 2, 3, "replace", labels=1000)
    assert (unknown.total, unknown.distance) == (plenty.total, plenty.distance)
    assert math.isclose(unknown.distance, math.sqrt(max(6 * 4, 3 * 9)))
