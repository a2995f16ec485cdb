"""The noise of a book costs the price, whole, and Laplace shares are near the best there are."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.asking.planning import WeightedReach
from discreet.asking.planning.book_noise import laplace_shares, noise_for
from discreet.asking.planning.marginals import Workload
from discreet.asking.planning.price import Share

ONE = 1 << 12
REACH = WeightedReach(3 * ONE, signed=False)
SHARES = [Share(rho=Fraction(1, 3)), Share(epsilon=Fraction(2)), Share(Fraction(1), Fraction(1, 10**5))]


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("relation", ["add/remove", "replace"])
def test_all_mechanisms_together_cost_the_price_and_no_more(share, relation):
    noise = noise_for(Workload.of_order((3, 4, 5), 1, 2), "sum", share,
                      WeightedReach(3 * ONE, signed=False, relation=relation), ONE)  # fmt: skip
    first, *rest = (each.loss for each in noise.mechanisms.values())
    loss = sum(rest, first)
    if share.rho is not None:
        assert share.rho * (1 - Fraction(1, 10**9)) < Fraction(loss.rho) <= share.rho
    else:
        assert 0.999 * share.epsilon < Fraction(loss.epsilon(delta=share.delta)) <= share.epsilon
    reach = math.sqrt(2) if relation == "replace" and not noise.laplace else 1 + (relation == "replace")
    for each in noise.mechanisms.values():
        assert float(each.sensitivity) == pytest.approx(3 * ONE * reach, rel=1e-9)


def test_shares_are_those_of_the_mechanisms():
    noise = noise_for(Workload.of_order((3, 4, 5), 2), "sum", SHARES[0], REACH, ONE)
    for columns, part in noise.design.shares.items():
        assert float(part) == pytest.approx(1 / noise.variances[columns] / noise.precision, rel=1e-12)
    assert sum(noise.design.shares.values()) == 1


def test_separate_tables_get_shares_of_epsilon_by_the_third_root_of_their_cells():
    parts, _ = laplace_shares(Workload((2, 54), {(0,): Fraction(1), (1,): Fraction(1)}))
    # One column tells of the other only by the total: nearly the separate optimum, 1 : 3.
    assert float(parts[(1,)] / parts[(0,)]) == pytest.approx(3, rel=0.2)


def test_no_shares_of_epsilon_nearby_are_better():
    workload = Workload.of_order((3, 4, 2), 1, 2)
    parts, excess = laplace_shares(workload)
    wanted = workload.weights @ workload.spread

    def value(shares):
        return float((wanted / (workload.within @ shares**2)).sum())

    base = np.array([float(parts.get(each, 0)) for each in workload.sets])
    random = np.random.default_rng(4)
    for _ in range(2000):
        other = np.abs(base + random.normal(0, 0.01, base.size) * (random.random(base.size) < 0.5))
        assert value(other / other.sum()) > value(base) * (1 - 1e-3)
    assert excess > 0


def test_the_bound_on_laplace_designs_holds_for_random_ones():
    workload = Workload.of_order((3, 4, 2), 1, 2)
    parts, excess = laplace_shares(workload)
    wanted = workload.weights @ workload.spread
    base = np.array([float(parts.get(each, 0)) for each in workload.sets])
    lower = float((wanted / (workload.within @ base**2)).sum()) / (1 + excess)
    random = np.random.default_rng(5)
    for _ in range(2000):
        shares = random.dirichlet(np.full(base.size, 0.3))
        assert float((wanted / (workload.within @ shares**2)).sum()) > lower
