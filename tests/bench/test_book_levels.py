"""The two other ways to publish levels err as the bench says, and the book of even levels errs less."""

import numpy as np
import pytest
from bench.book_levels import RHO, bottom_up, top_down

from discreet.asking.planning.trees import Tree

TREE = Tree((np.array([3]), np.array([1, 3, 2]), np.array([2, 1, 4, 1, 1, 3])))
TIMES = 40_000  # a variance is right within 0.0071 of itself, one standard error: 0.05 is 7 of them


def test_bottom_up_errs_as_is_said():
    leaves = np.random.default_rng().normal(scale=(1 / (2 * float(RHO))) ** 0.5, size=(TIMES, TREE.sizes[-1]))
    drawn = [leaves]
    for level in range(2, -1, -1):
        drawn.insert(0, TREE.add_up(level, drawn[0]))
    for each, said in zip(drawn, bottom_up(TREE), strict=True):
        assert each.var(axis=0) == pytest.approx(said, rel=0.05)


def test_top_down_errs_as_is_said():
    scale = (len(TREE.sizes) / (2 * float(RHO))) ** 0.5
    generator = np.random.default_rng()
    settled = generator.normal(scale=scale, size=(TIMES, 1))
    said = top_down(TREE)
    assert settled.var(axis=0) == pytest.approx(said[0], rel=0.05)
    for level, family in enumerate(TREE.families):
        own = generator.normal(scale=scale, size=(TIMES, TREE.sizes[level + 1]))
        missing = settled - TREE.add_up(level, own)
        settled = own + TREE.spread(level, missing / family)
        assert settled.var(axis=0) == pytest.approx(said[level + 1], rel=0.05)


def test_levels_at_even_shares_err_less_when_estimated_both_ways():
    even = [2 * float(RHO) / len(TREE.sizes)] * len(TREE.sizes)
    for both, down in zip(TREE.variances(even), top_down(TREE), strict=True):
        assert (both <= down + 1e-12).all()
