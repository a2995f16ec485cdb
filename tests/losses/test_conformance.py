"""Every family x every notion: repeating is composing, noise never hurts, converting never loses safety."""

import math
from fractions import Fraction as F
from itertools import product

import pytest
from flint import arb
from hypothesis import assume, given, settings, strategies as st

import discreet as dp
from discreet.kernel.losses import (
    REGISTRY,
    approximate,
    bounded_range,
    channel,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    lattice,
    parallel,
    pure,
    questions,
    randomized_response,
    sampled,
    staircase,
    truncated_laplace,
    zcdp,
)
from discreet.kernel.losses.family import Term
from discreet.kernel.numerics import working_precision

# family -> (a loss, the same with more noise)
FAMILIES = {
    "laplace": (laplace(scale=10), laplace(scale=11)),
    "gaussian": (gaussian(sigma=3), gaussian(sigma=4)),
    "discrete_laplace": (
        discrete_laplace(scale=10, sensitivity=3),
        discrete_laplace(scale=12, sensitivity=3),
    ),
    "truncated_laplace": (
        truncated_laplace(scale=10, sensitivity=3, most=200),
        truncated_laplace(scale=11, sensitivity=3, most=220),
    ),
    "discrete_gaussian": (discrete_gaussian(sigma=3), discrete_gaussian(sigma=4)),
    "bounded_range": (bounded_range(epsilon=0.5), bounded_range(epsilon=0.4)),
    "staircase": (
        staircase(epsilon=0.5, stairs=5, width=2),
        staircase(epsilon=0.4, stairs=5, width=2),
    ),
    "randomized_response": (
        randomized_response(epsilon=1, values=4),
        randomized_response(epsilon=0.9, values=4),
    ),
    "channel": (channel([[0.75, 0.25], [0.5, 0.5]]), channel([[0.7, 0.3], [0.5, 0.5]])),
    "pure": (pure(epsilon=0.2), pure(epsilon=0.1)),
    "approximate": (approximate(epsilon=0.2, delta=1e-9), approximate(epsilon=0.1, delta=1e-9)),
    "zcdp": (zcdp(rho=0.02), zcdp(rho=0.01)),
    "renyi": (dp.RenyiDP(8, 0.2).loss, dp.RenyiDP(8, 0.1).loss),
    "sampled": (gaussian(sigma=1).sampled(0.1), gaussian(sigma=2).sampled(0.1)),
    "best_of": (gaussian(sigma=5).best_of(10), gaussian(sigma=6).best_of(10)),
    "parallel": (
        parallel([pure(epsilon=0.2), channel([[0.75, 0.25], [0.5, 0.5]])]),
        parallel([pure(epsilon=0.1), channel([[0.7, 0.3], [0.5, 0.5]])]),
    ),
    "drawn": (
        gaussian(sigma=3, relation="replace").drawn(batch=10, of=100),
        gaussian(sigma=4, relation="replace").drawn(batch=10, of=100),
    ),
    "exchanged": (
        gaussian(sigma=1).sampled(0.1).under_replace(),
        gaussian(sigma=2).sampled(0.1).under_replace(),
    ),
    "group": (
        channel([[0.75, 0.25], [0.5, 0.5]]).for_group(2),
        channel([[0.7, 0.3], [0.5, 0.5]]).for_group(2),
    ),
}
SAMPLES = {"drawn", "exchanged"}  # a curve of theirs takes a second of the processor
MARKED = [pytest.param(name, marks=pytest.mark.slow) if name in SAMPLES else name for name in FAMILIES]
NOTIONS = {
    "epsilon at 1e-6": lambda loss: loss.epsilon(delta=1e-6),
    "delta at 1": lambda loss: loss.delta(epsilon=1),
    "pure": lambda loss: loss.epsilon(delta=0),
    "rho": lambda loss: loss.rho,
    "mu": lambda loss: loss.mu,
    "renyi": lambda loss: loss.renyi(4),
}


def test_every_family_is_here():
    assert set(FAMILIES) == set(REGISTRY)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("family", MARKED)
def test_repeating_is_composing_and_never_cheaper_than_once(family, notion):
    one, ask = FAMILIES[family][0], NOTIONS[notion]
    assert 5 * one == one + one + one + one + one
    assert ask(5 * one) == ask(sum([one] * 5))
    assert ask(5 * one) > ask(one) or ask(one) in (math.inf, 0.0)


def test_a_planted_loss_that_forgets_its_count_fails():
    class Forgetful(dp.PrivacyLoss):
        def __mul__(self, count):
            return dp.PrivacyLoss(tuple(Term(term.family) for term in self.terms), self.relation)

        __rmul__ = __mul__

    one = Forgetful(laplace(scale=10).terms)
    assert not (5 * one).epsilon(delta=1e-6) > one.epsilon(delta=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_more_noise_never_costs_more(family, notion):
    less, more = FAMILIES[family]
    assert NOTIONS[notion](3 * more) <= NOTIONS[notion](3 * less)


@pytest.mark.parametrize("family", MARKED)
def test_converting_never_loses_safety(family):
    loss = 4 * FAMILIES[family][0]
    exact = loss.epsilon_interval(delta=1e-6)
    assert 0 <= exact.lower <= exact.upper
    if loss.rho < math.inf:
        assert dp.ZCDP(F(loss.rho)).loss.epsilon(delta=1e-6) >= exact.lower
    if loss.mu < math.inf:
        assert dp.GDP(F(loss.mu)).loss.epsilon(delta=1e-6) >= exact.lower
    if loss.renyi(8) < math.inf:
        assert dp.RenyiDP(8, F(loss.renyi(8))).loss.epsilon(delta=1e-6) >= exact.lower
    if exact.upper < math.inf:
        assert loss.delta_interval(epsilon=F(exact.upper)).lower <= 1e-6


LONG = {
    "many steps cut off": truncated_laplace(scale=10, sensitivity=100, most=400),
    "few steps cut off": truncated_laplace(scale=10, sensitivity=40, most=45),
    "all but the middle": truncated_laplace(scale=10, sensitivity=150, most=110),
    "many steps": discrete_laplace(scale=10, sensitivity=100),
    "a long discrete Gaussian": discrete_gaussian(sigma=20, sensitivity=100),
    "a quiet sample": gaussian(sigma=1).sampled(0.001),
}
PLACES = (-40, -11, -10, -3, -0.7, -1e-3, 0, 0.3, 4)


@pytest.mark.parametrize("family", [*MARKED, *LONG])
def test_a_curve_is_whole_below_zero_too(family):
    """δ(ε) >= 1 − e^ε, by all outcomes together; and an exact law's two directions mirror each other there.

    Samples, dots and chains ask pairs at ε < 0, down to below the least loss.
    """
    (term,) = (LONG | {name: pair[0] for name, pair in FAMILIES.items()})[family].terms
    with working_precision(128):
        for direction, place in product((0, 1), PLACES):
            pair, epsilon = term.family.dominating(direction), arb(place)
            if pair is None:
                continue
            delta, tiny = pair.delta(epsilon), arb(2) ** -80
            assert delta + tiny >= 1 - epsilon.exp()
            if term.family.exact:
                mirrored = term.family.dominating(1 - direction).delta(-epsilon)
                assert abs(1 - epsilon.exp() * (1 - mirrored) - delta) < tiny * (1 + epsilon.exp())


def test_many_steps_on_a_sample_cost_what_few_steps_do(monkeypatch):
    """The same law, by a series and atom by atom."""
    plan = 200 * discrete_laplace(scale=1000, sensitivity=2000).sampled(0.03)
    series = plan.epsilon_interval(delta=1e-5)
    monkeypatch.setattr(lattice, "MOST_ATOMS", 3000)
    monkeypatch.setattr(questions, "epsilon_interval", questions.epsilon_interval.__wrapped__)
    monkeypatch.setattr(sampled, "pairs", sampled.pairs.__wrapped__)
    atoms = plan.epsilon_interval(delta=1e-5)
    assert max(series.lower, atoms.lower) <= min(series.upper, atoms.upper)


@pytest.mark.parametrize("family", MARKED)
def test_adding_never_costs_less_whatever_the_order(family):
    one = 3 * FAMILIES[family][0]
    more = gaussian(sigma=5, relation=one.relation)
    assert (one + more).epsilon(delta=1e-6) == (more + one).epsilon(delta=1e-6) >= one.epsilon(delta=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_positive_loss_never_answers_zero_or_nothing(family):
    for delta in (1e-30, 1e-6, 0.5, 0.999):
        epsilon = FAMILIES[family][0].epsilon(delta=delta)
        assert epsilon > 0
        assert not math.isnan(epsilon)


def test_int_float_and_fraction_parameters_are_one():
    assert laplace(scale=10) == laplace(scale=10.0) == laplace(scale=F(10))
    assert (100 * gaussian(sigma=2).sampled(0.5)).epsilon(delta=1e-6) == (
        100 * gaussian(sigma=2.0).sampled(F(1, 2))
    ).epsilon(delta=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 30), st.integers(1, 30), st.sampled_from([0.05, 0.3, 1.0]), st.sampled_from([1e-3, 1e-8])
)
def test_mixtures_lie_between_their_parts_and_their_sum(first, second, epsilon, delta):
    a, b = first * pure(epsilon=epsilon), second * laplace(scale=7)
    both = (a + b).epsilon_interval(delta=delta)
    assert both.upper >= max(part.epsilon_interval(delta=delta).lower for part in (a, b))
    assert both.lower <= a.epsilon(delta=delta / 2) + b.epsilon(delta=delta / 2)


@pytest.mark.slow
def test_a_shared_sample_differs_from_two_samples():
    a, b = gaussian(sigma=1), laplace(scale=2)
    shared, apart = (a + b).sampled(0.1), a.sampled(0.1) + b.sampled(0.1)
    assert shared != apart
    assert shared.epsilon_interval(delta=1e-6).lower > apart.epsilon_interval(delta=1e-6).lower
    with pytest.raises(dp.InvalidParameter, match="add/remove"):
        laplace(scale=1, relation="replace").sampled(0.5)


def test_sampling_a_finite_law_is_its_closed_form():
    loss = pure(epsilon=1).sampled(0.1)
    assert loss.epsilon(delta=0) == pytest.approx(math.log(1 + 0.1 * math.expm1(1)), rel=1e-12)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(FAMILIES)),
    st.sampled_from(sorted(FAMILIES)),
    st.integers(1, 6),
    st.sampled_from([1e-2, 1e-6, 1e-15]),
)
def test_adding_a_release_never_makes_a_plan_cheaper_than_what_is_proved(first, second, count, delta):
    """The truth grows with every release, so an upper end is never below the lower one of a shorter plan."""
    shorter, more = count * FAMILIES[first][0], FAMILIES[second][0]
    assume(shorter.relation == more.relation)
    longer = shorter + more
    before, after = (plan.epsilon_interval(delta=delta) for plan in (shorter, longer))
    assert after.upper >= before.lower
    exact = all(term.family.exact for term in longer.terms)
    if exact and before.upper < math.inf:  # where the interval closes, also in the number that is answered
        assert after.upper >= before.upper - max(1e-3 * before.upper, 1e-6)


def test_both_directions_of_a_sample_are_kept_apart():
    loss = 50 * gaussian(sigma=1).sampled(0.3)
    remove, add = (loss.distribution(way).epsilon_interval(delta=1e-6) for way in ("remove", "add"))
    assert add.upper < remove.lower
    assert loss.epsilon_interval(delta=1e-6).upper == remove.upper


@pytest.mark.parametrize("k", [2, 3, 10])
def test_n8_groups_stretch_noise_and_follow_the_chain_for_guarantees(k):
    assert laplace(scale=10).for_group(k) == laplace(scale=10, sensitivity=k)
    assert gaussian(sigma=2).for_group(k).mu == pytest.approx(k / 2)
    group = approximate(epsilon=0.1, delta=1e-9).for_group(k)
    tight = 1e-9 * math.expm1(0.1 * k) / math.expm1(0.1)
    assert tight <= k * math.exp(0.1 * (k - 1)) * 1e-9  # the textbook's formula, never smaller
    assert group.delta(epsilon=F(k, 10)) == pytest.approx(tight, rel=1e-9)


@pytest.mark.slow
def test_n9_n10_composition_theorems_are_never_below_the_exact_one():
    terms = [dp.ApproxDP(0.1, 0)] * 100
    basic, best = dp.compose_basic(terms), dp.compose_optimal(terms, slack=1e-6)
    advanced = dp.compose_advanced(epsilon=0.1, times=100, slack=1e-6)
    assert basic.epsilon == 10
    expected = 0.1 * math.sqrt(200 * math.log(1e6)) + 10 * math.expm1(0.1)
    assert float(advanced.epsilon) == pytest.approx(expected, rel=1e-12)
    assert advanced.epsilon >= F(expected) * (1 - F(1, 10**12))
    assert best.epsilon < advanced.epsilon < basic.epsilon
    many = dp.compose_optimal([dp.ApproxDP(0.01, 1e-12)] * 100_000, slack=1e-6)
    assert float(many.delta) == pytest.approx(1e-6 + 1e-7, rel=1e-5)
    assert 10 < float(many.epsilon) < 25
    mixed = dp.compose_optimal([(0.1, 0)] * 10 + [(0.2, 0)] * 5, slack=1e-4)
    assert float(mixed.epsilon) < 2


def test_n5_divergences_are_the_two_promises():
    p, q = [F(3, 8), F(3, 8), F(1, 8), F(1, 8)], [F(1, 4)] * 4
    assert dp.max_divergence(p, q) == pytest.approx(math.log(1.5))
    assert dp.max_divergence({"a": 1}, {"a": F(1, 2), "b": F(1, 2)}) == pytest.approx(math.log(2))
    assert dp.max_divergence({"a": F(1, 2), "b": F(1, 2)}, {"a": 1}) == math.inf
    assert dp.approx_max_divergence({"a": F(1, 2), "b": F(1, 2)}, {"a": 1}, 0.5) <= 0
    both = max(dp.approx_max_divergence(*rows, 0.1) for rows in ((p, q), (q, p)))
    assert channel([p, q]).delta(epsilon=F(both)) == pytest.approx(0.1, abs=1e-12)
    assert dp.approx_max_divergence(p, q, 0) == dp.max_divergence(p, q)


def test_n6_the_laplace_loss_variable_at_one():
    continuous = laplace(scale=1).distribution()
    assert continuous.atoms == ((1.0, 0.5), (-1.0, pytest.approx(math.exp(-1) / 2)))
    assert continuous.mean == pytest.approx(math.exp(-1), rel=1e-14)
    assert continuous.density(0.0) == pytest.approx(math.exp(-0.5) / 4)
    whole = discrete_laplace(scale=1).distribution()
    assert [round(mass, 3) for _, mass in whole.atoms] == [0.731, 0.269]
    assert round(whole.mean, 3) == 0.462
    for epsilon in (0.0, 0.3, 0.9):
        assert continuous.delta(epsilon) < continuous.tail(epsilon)
    assert continuous.tail(1) == 0
