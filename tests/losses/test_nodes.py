"""Values at the nodes in floating point hold those in balls, and their errors are needed."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from flint import acb, arb

from discreet.kernel.losses.bounded_range import BoundedRangePair
from discreet.kernel.losses.continuous import GaussianPair, LaplacePair
from discreet.kernel.losses.lattice import steps_pair
from discreet.kernel.losses.nodes import Grid, Nodes
from discreet.kernel.losses.pair import Atoms
from discreet.kernel.losses.sampled_gaussian import SampledGaussianPair
from discreet.kernel.losses.truncated import TruncatedLaplace
from discreet.kernel.numerics import working_precision

PAIRS = {
    "laplace": lambda: LaplacePair(F(1, 3)),
    "gaussian": lambda: GaussianPair(F(1, 4)),
    "wide gaussian": lambda: GaussianPair(F(10**6)),
    "narrow gaussian": lambda: GaussianPair(F(1, 10**8)),
    "bounded range": lambda: BoundedRangePair(F(1, 2)),
    "small bounded range": lambda: BoundedRangePair(F(1, 10**9)),
    "large bounded range": lambda: BoundedRangePair(F(300)),
    "many steps": lambda: steps_pair(F(1, 100), 200),
    "many fine steps": lambda: steps_pair(F(1, 2**20), 2**20),
    "many large steps": lambda: steps_pair(F(3), 100),
    "cut off": lambda: TruncatedLaplace(F(100), 200, 600).witness(0),
    "cut off near": lambda: TruncatedLaplace(F(10), 100, 90).witness(0),
    "sampled gaussian": lambda: SampledGaussianPair(F(1), F(1, 10), 0),
    "gaussian, added": lambda: SampledGaussianPair(F(4), F(1, 1000), 1),
    "atoms": lambda: Atoms([(arb(i) / 7 - 3, arb(1) / 60) for i in range(60)]),
}
SUMMED = ("sampled gaussian", "gaussian, added", "atoms")  # over many masses
GRIDS = [(0.3, 0.1), (4.0, 3.0), (1e4, 50.0), (1e-3, 0.01)]  # tilt and spacing


@pytest.fixture(autouse=True)
def _precisely():
    with working_precision(128):
        yield


def gaps(pair, theta, spacing):
    """For each node: how far the float is from the ball, and the error it admits."""
    grid = Grid(arb(theta), arb(spacing), 60)
    fast, balls = pair.nodes(grid), pair.balls(grid).values
    return [
        (abs(acb(complex(value)) - ball), float(error))
        for value, error, ball in zip(fast.values, fast.error, balls, strict=True)
    ]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(("theta", "spacing"), GRIDS)
def test_floats_are_within_their_error_of_the_balls_and_good(name, theta, spacing):
    for gap, error in gaps(PAIRS[name](), theta, spacing):
        assert gap <= arb(error)
        assert error < (1e-10 if name in SUMMED else 1e-13)


@pytest.mark.parametrize("name", ["gaussian", "bounded range", "many steps", "sampled gaussian", "atoms"])
def test_without_their_errors_the_floats_are_wrong(name):
    assert any(gap > 0 for gap, _ in gaps(PAIRS[name](), 0.3, 0.1))


def exactly(nodes):
    """The floats as balls without a radius."""
    return [acb(complex(value)) for value in nodes.values]


def circle(size, radius=1.0):
    """Complex floats all around, known without an error."""
    values = np.array([radius * complex(math.cos(j), math.sin(j)) for j in range(size)])
    return Nodes(values, np.zeros(size))


def assert_within(nodes, truths):
    for value, error, truth in zip(exactly(nodes), nodes.error, truths, strict=True):
        assert abs(value - truth) <= arb(float(error))


def test_a_product_counts_its_own_rounding_and_the_errors_of_both():
    one, two = circle(400), circle(400, 0.7)
    truths = [a * b for a, b in zip(exactly(one), exactly(two), strict=True)]
    assert_within(one * two, truths)
    assert any(abs(value - truth) > 0 for value, truth in zip(exactly(one * two), truths, strict=True))
    # the truth as far away as is admitted, outwards: nothing is left over
    off = 1e-9
    far = Nodes(one.values, np.full(400, off)) * Nodes(two.values, np.full(400, off))
    outwards = [a + off * a / abs(a) for a in exactly(one)], [b + off * b / abs(b) for b in exactly(two)]
    assert_within(far, [a * b for a, b in zip(*outwards, strict=True)])


@pytest.mark.parametrize("count", [2, 3, 64, 1000, 4095, 65536])
def test_a_power_counts_the_error_of_every_factor(count):
    one = circle(400)
    assert_within(one.power(count), [value**count for value in exactly(one)])
    off = 1e-9
    far = Nodes(one.values, np.full(400, off)).power(count)
    assert_within(far, [(value + off * value / abs(value)) ** count for value in exactly(one)])
