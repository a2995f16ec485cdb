"""Every error term of the contour is needed: leave one out, and the truth falls outside."""

import math
from fractions import Fraction as F

import pytest
from flint import acb, arb

from discreet.kernel.losses import contour as contour_module
from discreet.kernel.losses.continuous import GaussianPair, LaplacePair, gaussian_delta
from discreet.kernel.losses.contour import Contour, Folded
from discreet.kernel.losses.lattice import DiscreteGaussianPair, steps_pair
from discreet.kernel.losses.nodes import Balls, Nodes
from discreet.kernel.losses.pair import Atoms
from discreet.kernel.losses.sampled_gaussian import SampledGaussianPair
from discreet.kernel.losses.sampled_weight import Weight
from discreet.kernel.losses.solvers import Binomial
from discreet.kernel.numerics import working_precision


@pytest.fixture(autouse=True)
def _precisely():
    with working_precision(128):
        yield


def surely_outside(ends, truth):
    return bool(ends[0] > truth or truth > ends[1])


def holds(ends, truth):
    return not surely_outside(ends, truth) and float(ends[0].rad()) < 1e-3


@pytest.mark.parametrize("side", ["_falling", "_rising"])
def test_without_the_aliases_the_lower_end_is_too_high(monkeypatch, side):
    window = arb(4) if side == "_falling" else arb(2)
    theta = 2.0 if side == "_rising" else 0.5
    line = Contour([(GaussianPair(F(1)), 1)], theta=theta, window=window, last=200)
    epsilon = arb(1)
    truth = gaussian_delta(arb(1), epsilon)
    assert holds(line.bounds(epsilon, theta / 2, theta * 2), truth)
    monkeypatch.setattr(contour_module, "_falling", lambda *_: arb(0))
    monkeypatch.setattr(contour_module, "_rising", lambda *_: arb(0))
    assert surely_outside(line.bounds(epsilon, theta / 2, theta * 2), truth)


def test_without_the_nodes_beyond_the_last_the_ends_miss():
    epsilon = arb(0.5)
    for last in (8, 20, 60):
        pair = LaplacePair(F(1))
        line = Contour([(pair, 1)], theta=3.0, window=arb(20), last=last)
        truth = pair.delta(epsilon)
        assert holds(line.bounds(epsilon, 1.0, 6.0), truth)
        line.cut = arb(0)
        assert surely_outside(line.bounds(epsilon, 1.0, 6.0), truth)


@pytest.mark.parametrize(("count", "last"), [(1, 300), (1, 40), (30, 60)])
def test_a_fold_with_nodes_left_out_holds_the_whole_fold_and_without_their_bound_misses(count, last):
    pair, epsilon = steps_pair(F(1, 1000), 500), arb(0.3 * math.sqrt(count) + 0.0003)
    whole = Folded([(pair, count)], theta=3.0, lattice=pair.lattice(), last=6000)
    truth = whole.total(epsilon)
    part = Folded([(pair, count)], theta=3.0, lattice=pair.lattice(), last=last, most=6000)
    assert part.cut < 0.1
    assert whole.cut == 0
    assert (part.total(epsilon) + (-part.cut).union(part.cut)).contains(truth)
    assert not part.total(epsilon).overlaps(truth)  # the planted fault


def test_two_lattices_of_which_one_is_finer_keep_the_bound_of_nodes_left_out():
    parts = [(steps_pair(F(1, 1000), 500), 2), (steps_pair(F(3, 1000), 200), 1)]
    lattice = contour_module.common_lattice(parts)
    whole = Folded(parts, theta=3.0, lattice=lattice, last=6000)
    for last in (50, 500, 2500):  # before and beyond the half period of the coarser
        part = Folded(parts, theta=3.0, lattice=lattice, last=last, most=6000)
        apart = part.total(arb(0.4)) - whole.total(arb(0.4))
        assert part.cut.upper() + apart.rad() > abs(apart.mid())


def test_without_the_radii_of_rounding_the_ends_miss():
    with working_precision(30):
        parts = [(GaussianPair(F(1, 4)), 7)]
        line = Contour(parts, theta=2.0, window=arb(40), last=120, arithmetic=Balls)
        low, high = line.bounds(arb(3), 1.0, 4.0)
    truth = gaussian_delta(arb(7) / 4, arb(3))
    assert holds((low, high), truth)
    assert surely_outside((low.mid(), high.mid()), truth)


@pytest.mark.parametrize("term", ["values", "turns"])
def test_without_the_rounding_of_floats_the_ends_miss(monkeypatch, term):
    pair = LaplacePair(F(1, 10))
    truth = Contour([(pair, 5000)], theta=0.6, window=arb(80), last=200, arithmetic=Balls)
    line = Contour([(pair, 5000)], theta=0.6, window=arb(80), last=200)
    for epsilon in (arb(40), arb(43.25), arb(47)):
        exactly = truth.total(epsilon)
        assert holds((line.total(epsilon).lower(), line.total(epsilon).upper()), exactly)
    if term == "values":
        line.weights = Nodes(line.weights.values, 0 * line.weights.error)
    else:
        for name in ("nodes.PRODUCT", "nodes.UNIT", "continuous.UNIT"):
            monkeypatch.setattr(f"discreet.kernel.losses.{name}", 0.0)
        line = Contour([(pair, 5000)], theta=0.6, window=arb(80), last=200)
    missed = [not line.total(arb(e)).overlaps(truth.total(arb(e))) for e in (40, 43.25, 47)]
    assert any(missed)


def test_without_the_rules_error_a_sampled_moment_is_wrong(monkeypatch):
    monkeypatch.setattr("discreet.kernel.losses.sampled_gaussian.GOOD", 3.0)
    rough = SampledGaussianPair(F(1), F(1, 10), 0).moment(acb(1))
    exact = 1 + arb(1).expm1() / 100  # E[w²] = 1 + q²(e^(μ²) − 1)
    assert rough.real.overlaps(exact)
    assert not rough.real.mid().overlaps(exact)
    assert abs(float(rough.real.mid() - exact)) > 1e-15


def direct_moment(power, *, mu=1, rate=10, reach=16):
    """E[w^power] by a long sum on the real line."""
    total, step = acb(0), arb(1) / 64
    for i in range(-64 * reach, 64 * (reach + 30)):
        v = step * i
        weight = 1 + (mu * v - arb(mu) ** 2 / 2).expm1() / rate
        total += (power * weight.log() - v**2 / 2).exp() * step / (2 * arb.pi()).sqrt()
    return total


@pytest.mark.parametrize(("direction", "theta"), [(0, 1), (0, 12), (1, -2), (1, 1), (1, 300)])
def test_without_the_tails_beyond_its_last_nodes_a_sampled_moment_is_wrong(monkeypatch, direction, theta):
    exact = direct_moment(acb(1 + theta if direction == 0 else -theta)).real
    middle = {12: 12, 300: -4}.get(theta, 0)  # about where the mass is
    cut = (middle - 3.0, middle + 4.0)
    monkeypatch.setattr(Weight, "range", lambda *_: cut)  # the tails are cut off early
    assert SampledGaussianPair(F(1), F(1, 10), direction).moment(acb(theta)).real.overlaps(exact)
    monkeypatch.setattr(Weight, "tails", lambda *_: arb(0))  # the planted fault
    assert not SampledGaussianPair(F(1), F(1, 10), direction).moment(acb(theta)).real.overlaps(exact)


@pytest.mark.parametrize(
    ("direction", "z"), [(0, acb(2, 3)), (1, acb(2, 3)), (0, acb(20, 9)), (1, acb(5000, 3000))]
)
def test_moments_of_a_sampled_gaussian_hold_those_of_a_direct_sum(direction, z):
    total = direct_moment(1 + z if direction == 0 else -z)
    moment = SampledGaussianPair(F(1), F(1, 10), direction).moment(z)
    whole = SampledGaussianPair(F(1), F(1, 10), direction).moment(acb(z.real)).real
    assert moment.overlaps(total)
    assert float(moment.real.rad() / whole) < 1e-16


@pytest.mark.parametrize("theta", [5000.0, 1e6])
def test_high_frequencies_of_a_steep_sample_keep_a_bound_that_falls(theta):
    pair, at = SampledGaussianPair(F(1), F(1, 100), 1), arb(theta)
    whole = pair.moment(acb(at)).real
    for start in (theta / 4, theta, 4 * theta):
        bound = pair.decay(at, arb(start))
        for factor in (1.0, 1.3, 5.0):
            assert abs(pair.moment(acb(at, start * factor))) <= bound * (1 + arb(2) ** -60)
    assert bound < whole / 4
    assert pair.weight._best_line(-theta, 4 * theta, pair.about_log_moment(theta))[2]  # by the sum over cells


def test_a_sum_over_cells_without_what_lies_left_of_them_is_below_the_integral():
    pair, theta = SampledGaussianPair(F(1), F(1, 100), 1), arb(5000)
    exact = pair.moment(acb(theta)).real
    low, high = pair.weight.range(-5000.0, 40.0)
    for start, end in ((low, high), (low, -6.0), (-4.0, high), (-2.0, high)):
        assert exact < pair.weight._over(-theta, arb(0), arb(0), (start, end), 96)
    rest = pair.weight._falling(-theta, acb(-2), 1)  # the planted fault leaves it out
    assert not exact < pair.weight._over(-theta, arb(0), arb(0), (-2.0, high), 96) - rest


PAIRS = {
    "laplace": lambda: LaplacePair(F(1, 3)),
    "gaussian": lambda: GaussianPair(F(1, 4)),
    "few steps": lambda: steps_pair(F(1, 10), 3),
    "many steps": lambda: steps_pair(F(1, 100), 200),
    "discrete gaussian": lambda: DiscreteGaussianPair(F(4), 1),
    "narrow discrete gaussian": lambda: DiscreteGaussianPair(F(1, 2), 2),
    "sampled, remove": lambda: SampledGaussianPair(F(1), F(1, 10), 0),
    "sampled, add": lambda: SampledGaussianPair(F(1), F(1, 10), 1),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("theta", [0.3, 4.0])
def test_high_frequencies_keep_their_bound(name, theta):
    pair = PAIRS[name]()
    half = math.inf if pair.period() is None else float(pair.period().mid()) / 2
    for start in (0.5, 3.0, 20.0):
        bound = pair.decay(arb(theta), arb(start))
        for factor in (1.0, 1.1, 2.0, 7.3, 31.0):
            if start * factor < half:
                assert abs(pair.moment(acb(theta, start * factor))) <= bound * (1 + arb(2) ** -60)


@pytest.mark.parametrize("name", PAIRS)
def test_one_use_by_the_contour_is_the_closed_curve(name):
    pair = PAIRS[name]()
    if pair.lattice() is not None:
        line = Folded([(pair, 1)], theta=2.0, lattice=pair.lattice(), last=300)
    else:
        line = Contour([(pair, 1)], theta=2.0, window=arb(40), last=2000)
    for epsilon in (arb(0.0625), arb(0.125), arb(0.25)):
        assert holds(line.bounds(epsilon, 1.0, 4.0), pair.delta(epsilon))


def test_a_folded_contour_is_the_binomial_sum():
    half = 1 / (1 + (-arb(0.25)).exp())
    pair = Atoms([(arb(0.25), half), (-arb(0.25), 1 - half)], lattice=(F(1, 4), F(1, 2)))
    line = Folded([(pair, 50)], theta=1.0, lattice=(F(25, 2), F(1, 2)), last=60)
    for epsilon in (arb(0.5), arb(1), arb(3.125), arb(7)):
        exact, _ = Binomial((pair, 50)).bounds(epsilon)
        low, high = line.bounds(epsilon, 0.5, 2.0)
        assert holds((low, high), exact)
        assert high - low < 1e-9
