"""The law of a cell's noise equals dense algebra, and its reach what simulation shows."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.asking.answers.consistent import estimate_tables
from discreet.asking.planning import WeightedReach
from discreet.asking.planning.book_noise import noise_for
from discreet.asking.planning.cell_law import CellLaw, terms_of
from discreet.asking.planning.marginals import Workload
from discreet.asking.planning.price import Share

ONE = 1 << 12
SIZES = (2, 3, 4)
WORKLOAD = Workload.of_order(SIZES, 1, 2)
LAPLACE = noise_for(WORKLOAD, "sum", Share(epsilon=Fraction(1)), WeightedReach(ONE, signed=False), ONE)
GAUSSIAN = noise_for(WORKLOAD, "sum", Share(rho=Fraction(1)), WeightedReach(ONE, signed=False), ONE)


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_coefficients_are_those_of_the_estimate(noise):
    shapes = {columns: [SIZES[each] for each in columns] for columns in noise.mechanisms}
    for table in [*WORKLOAD.tables, ()]:
        found = {}
        for measured, shape in shapes.items():
            for place in np.ndindex(*shape):
                impulse = {columns: np.zeros(other) for columns, other in shapes.items()}
                impulse[measured][place] = 1.0
                cell = estimate_tables(noise.design, impulse)[table][(0,) * len(table)]
                found.setdefault(measured, []).append(round(float(cell), 12))
        for measured, cells in found.items():
            terms = [each for each in terms_of(noise, table) if each.table == measured]
            told = [round(each.coefficient, 12) for each in terms for _ in range(each.times)]
            np.testing.assert_allclose(sorted(told), sorted(cells), atol=1e-11)
        law = CellLaw.of(noise, table)
        total = sum(each.times * each.coefficient**2 * noise.variances[each.table]
                    for each in terms_of(noise, table))  # fmt: skip
        assert total == pytest.approx(law.variance, rel=1e-9)


@pytest.mark.slow
def test_one_laplace_and_two_have_the_reach_of_their_closed_forms():
    one = CellLaw(2.0, np.array([1.0]), np.array([1.0]))
    assert one.reach(Fraction(19, 20)) == pytest.approx(-np.log(0.05), rel=2e-6)
    two = CellLaw(4.0, np.array([1.0]), np.array([2.0]))  # P(|sum| > x) = (1 + x/2)·exp(-x)
    reach = two.reach(Fraction(19, 20))
    assert (1 + reach / 2) * np.exp(-reach) == pytest.approx(0.05, rel=2e-5)
    assert one.coverage(3.0) <= 1 - np.exp(-3.0)


def test_the_reach_keeps_its_confidence_by_simulation():
    # 2·10⁵ draws: the share outside is within 5 of its standard errors of 0.05 (two-sided 6e-7 for each of 6
    # tables), and the normal reach, which leaves out 0.0435 to 0.049, would be told apart for one column.
    random, draws = np.random.default_rng(6), 200_000
    for table in WORKLOAD.tables:
        total = np.zeros(draws)
        for each in terms_of(LAPLACE, table):
            scale = (LAPLACE.variances[each.table] / 2) ** 0.5 * each.coefficient
            # A sum of n Laplaces is the difference of two gammas of shape n.
            total += scale * (random.gamma(each.times, size=draws) - random.gamma(each.times, size=draws))
        outside = float((np.abs(total) > CellLaw.of(LAPLACE, table).reach(Fraction(19, 20))).mean())
        assert abs(outside - 0.05) < 5 * (0.05 * 0.95 / draws) ** 0.5


def test_gaussian_reach_is_the_normal_quantile():
    law = CellLaw.of(GAUSSIAN, (0,))
    assert law.reach(Fraction(19, 20)) == pytest.approx(1.959964 * law.variance**0.5, rel=1e-6)


def test_a_confidence_near_one_has_a_bound_that_is_safe_and_near():
    one = CellLaw(2.0, np.array([1.0]), np.array([1.0]))
    for outside in (Fraction(1, 10**7), Fraction(1, 10**12), Fraction(1, 2**99)):
        truth = -np.log(float(outside))
        assert truth <= one.reach(1 - outside) < 1.3 * truth
    gaussian = CellLaw.of(GAUSSIAN, (0,))
    assert gaussian.reach(1 - Fraction(1, 2**99)) == pytest.approx(11.6 * gaussian.variance**0.5, rel=0.1)
    for table in WORKLOAD.tables:
        law = CellLaw.of(LAPLACE, table)
        near, far = law.reach(1 - Fraction(2, 10**6)), law.reach(1 - Fraction(1, 2 * 10**6))
        assert near < far < 1.4 * near
