"""Never under, and close: intervals against values that were found another way."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from flint import arb
from mpmath import mp, mpf

from discreet.kernel.losses import (
    PrivacyLoss,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    laplace,
    pure,
    questions,
    read_loss,
)
from discreet.kernel.losses.extremes import parts_of
from discreet.kernel.numerics import Interval, ball, working_precision
from oracles import arb_checker, loss_curves

REFERENCES = json.loads(Path(__file__).with_name("references.json").read_text())
WAYS = ("remove", "add")
COUNTS, DELTAS = (1, 10, 100, 10000), ("1e-3", "1e-6", "1e-10", "1e-15", "1e-20", "1e-30")
SAMPLED = "sampled(gaussian(sigma=1), rate=0.01)"
ALIKE = (
    "laplace(scale=10)",
    "gaussian(sigma=2)",
    "randomized_response(epsilon=0.1)",
    "discrete_laplace(scale=10)",
)


def name(row):
    return f"{row['count']} * {row['loss']} at {row['delta']} {row.get('direction', '')}"


def check(interval, truth, digits, count):
    """The interval holds the reference, and is narrow."""
    known = Fraction(1, 10**digits)
    assert interval.lower <= truth * (1 + known)
    assert truth * (1 - known) <= interval.upper
    limit = 1e-8 * float(truth) if count >= 1000 else max(1e-3 * float(truth), 1e-6)
    assert interval.width <= limit


@pytest.mark.slow
@pytest.mark.parametrize("row", REFERENCES, ids=name)
def test_the_interval_holds_the_reference_and_is_narrow_in_each_direction(row):
    loss, delta = row["count"] * read_loss(row["loss"]), float(row["delta"])
    truth, digits = Fraction(row["epsilon"]), row.get("digits", 28)
    for way in [row["direction"]] if "direction" in row else WAYS:
        check(loss.distribution(way).epsilon_interval(delta=delta), truth, digits, row["count"])
    if row.get("direction") != "add":  # removing a person is the worse direction of a sample
        check(loss.epsilon_interval(delta=delta), truth, digits, row["count"])


def test_the_references_are_complete():
    wanted = {(law, count, delta, None) for law in ALIKE for count in COUNTS for delta in DELTAS}
    wanted |= {(SAMPLED, count, delta, way) for count in COUNTS for delta in DELTAS for way in WAYS}
    found = {(row["loss"], row["count"], row["delta"], row.get("direction")) for row in REFERENCES}
    assert wanted <= found


@pytest.mark.slow
@pytest.mark.parametrize(("count", "delta"), [(2, 1e-25), (5, 1e-12), (5, 1e-30), (10, 1e-12), (20, 1e-25)])
def test_few_samples_far_out_agree_with_sums_in_loss_space(count, delta):
    interval = (count * gaussian(sigma=1).sampled(0.01)).distribution("add").epsilon_interval(delta=delta)
    check_between(
        interval,
        delta,
        lambda e: loss_curves.few_sampled_gaussians_added(count, Fraction(1, 100), e, points=1000),
    )


@pytest.mark.parametrize("delta", [1e-6, 1e-20])
def test_a_thousand_fine_lattices_are_narrow_and_lie_among_what_they_approach(delta):
    fine = (1000 * discrete_laplace(scale=2**20, sensitivity=104857)).epsilon_interval(delta=delta)
    less, more = ((1000 * laplace(scale=1, sensitivity=s)).epsilon(delta=delta) for s in (0.09999, 0.1))
    assert fine.width <= 1e-8 * fine.upper
    assert less < fine.lower < fine.upper < more


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("sigma", "rate", "delta"), [(99, "0.011", 1e-6), (99, "0.011", 1e-20), (5, "0.2", 1e-12)]
)
def test_two_samples_agree_with_an_integral_over_one(way, sigma, rate, delta, monkeypatch):
    monkeypatch.setattr(mp, "dps", 40)
    interval = (
        (2 * gaussian(sigma=sigma).sampled(float(rate))).distribution(way).epsilon_interval(delta=delta)
    )
    check_between(interval, delta, lambda e: loss_curves.two_sampled_gaussians(sigma, rate, way, e))


def check_between(interval, delta, curve):
    """Just below the interval the curve is above δ, just above it below; and the interval is narrow."""
    assert interval.width <= max(1e-3 * interval.upper, 1e-6)
    assert interval.lower > 0
    assert curve(interval.lower * (1 - 1e-9)) > delta > curve(interval.upper * (1 + 1e-9))


@pytest.mark.soak
@pytest.mark.parametrize("count", [3, 10])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_a_sampled_gaussian_agrees_with_a_rounded_grid_in_both_directions(count, delta):
    loss = count * gaussian(sigma=1).sampled(0.05)
    interval = loss.epsilon_interval(delta=delta)
    assert interval.width <= max(1e-3 * interval.upper, 1e-6)
    brackets = {}
    for direction in ("remove", "add"):
        law = loss_curves.sampled_gaussian_law(1.0, 0.05, direction)
        for end in interval:
            brackets[direction, end] = loss_curves.rounded_grid(*law, count, end, step=1e-4)
    # at the lower end some direction exceeds δ, at the upper end none does, up to the grid's own width
    assert max(brackets[d, interval.lower][1] for d in ("remove", "add")) >= delta
    assert all(brackets[d, interval.upper][0] <= delta for d in ("remove", "add"))


@pytest.mark.soak
def test_two_sampled_gaussians_are_an_integral_over_one():
    import mpmath

    one = gaussian(sigma=1).sampled(0.1)
    epsilon = 0.5

    def inner(x):  # δ of one use, by removing, at what the first loss x leaves
        left = mpmath.exp(epsilon - x)
        c = (left - mpf("0.9")) / mpf("0.1")
        return 1 - left if c <= 0 else mpf("0.1") * loss_curves.gaussian(1, 1, mpmath.log(c))

    def outer(v):
        weight = 1 + mpf("0.1") * mpmath.expm1(v - mpf("0.5"))
        return mpmath.npdf(v) * weight * inner(mpmath.log(weight))

    truth = mpmath.quad(outer, [-12, -6, -3, 0, 1, 2, 3, 4, 5, 6, 8, 12])
    interval = (2 * one).delta_interval(epsilon=epsilon)
    assert interval.lower <= truth * (1 + 1e-12)
    assert truth * (1 - 1e-12) <= interval.upper
    assert interval.width < 1e-3 * float(truth)


@pytest.mark.slow
def test_delta_intervals_hold_the_exact_curves(monkeypatch):
    monkeypatch.setattr(mp, "dps", 60)
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        for loss, truth in (
            (10 * laplace(scale=10), loss_curves.laplace(10, mpf(1) / 10, epsilon)),
            (7 * gaussian(sigma=2), loss_curves.gaussian(7, mpf(1) / 2, epsilon)),
            (9 * pure(epsilon=0.1), loss_curves.randomised_response(9, mpf(1) / 10, epsilon)),
        ):
            interval = loss.delta_interval(epsilon=epsilon)
            assert interval.lower <= truth * (1 + mpf(10) ** -15)
            assert truth * (1 - mpf(10) ** -15) <= interval.upper


# a law of discreet, and the same for the checker
LAWS = [
    *((laplace(scale=b), arb_checker.Laplace(Fraction(1, b))) for b in (3, 10, 30)),
    *((gaussian(sigma=b), arb_checker.Gaussian(Fraction(1, b))) for b in (2, 5, 20)),
    *((pure(epsilon=Fraction(1, b)), arb_checker.Steps(b, 1)) for b in (20, 5, 1)),
    *(
        (discrete_laplace(scale=b, sensitivity=shift), arb_checker.Steps(b, shift))
        for b, shift in ((5, 1), (5, 2), (20, 5))
    ),
]


def random_plan(draw):
    """A plan and its laws; without a Gaussian, Laplaces come alone and often, as few have closed forms."""
    chosen = draw.sample(LAWS, k=draw.choice([1, 2, 3]))
    smooth = any(isinstance(law, arb_checker.Gaussian) for _, law in chosen)
    if not smooth and any(isinstance(law, arb_checker.Laplace) for _, law in chosen):
        chosen = [(loss, law) for loss, law in chosen if isinstance(law, arb_checker.Laplace)]
    plan, laws = PrivacyLoss(), {}
    for loss, law in chosen:
        few = smooth or isinstance(law, arb_checker.Steps)
        count = draw.choice([2, 10, 100, 1000]) if few else 1000
        laws[law] = laws.get(law, 0) + count  # pure and discrete Laplace can be one and the same law
        plan += count * loss
    return plan, laws


def check_ends(plan, laws, delta):
    """Prove both ends again, in 256 bits and by code that shares nothing with discreet's."""
    interval = plan.epsilon_interval(delta=delta)
    target, good = Fraction(repr(delta)), max(interval.width / interval.upper / 20, 1e-14)
    with working_precision(256):
        limit = ball(target)
        assert interval.lower == 0 or arb_checker.delta(laws, Fraction(interval.lower), good=good) > limit
        assert arb_checker.delta(laws, Fraction(interval.upper), good=good) <= limit


def check_random_plans(count):
    import random

    draw = random.Random(7)  # choosing test cases, not noise
    for _ in range(count):
        check_ends(*random_plan(draw), 10.0 ** -draw.choice([3, 6, 12, 30]))


def test_eight_random_ends_are_proved_again_by_another_code():
    check_random_plans(4)


@pytest.mark.soak
def test_two_hundred_random_ends_are_proved_again_by_another_code():
    check_random_plans(100)


def whole_gaussians(variance, shift, count):
    """Discrete Gaussians for discreet, and for the checker."""
    return (
        count * discrete_gaussian(sigma=math.isqrt(variance), sensitivity=shift),
        {arb_checker.DiscreteGaussian(Fraction(variance), shift): count},
    )


@pytest.mark.parametrize(
    ("variance", "shift", "count", "delta"),
    [(1, 1, 3, 1e-30), (4, 1, 10, 1e-6), (4, 3, 7, 1e-12), (25, 2, 20, 1e-20)],
)
def test_ends_of_discrete_gaussians_are_proved_again_by_another_code(variance, shift, count, delta):
    check_ends(*whole_gaussians(variance, shift, count), delta)


def test_ends_of_discrete_gaussians_among_discrete_laplaces_are_proved_again_by_another_code():
    plan, laws = whole_gaussians(4, 1, 5)
    steps = {arb_checker.Steps(8, 3): 10}
    check_ends(plan + 10 * discrete_laplace(scale=8, sensitivity=3), laws | steps, 1e-9)


PLANTED = {
    "laplace and gaussian": (
        100 * laplace(scale=10) + gaussian(sigma=2),
        {arb_checker.Laplace(Fraction(1, 10)): 100, arb_checker.Gaussian(Fraction(1, 2)): 1},
    ),
    "discrete gaussian": whole_gaussians(4, 1, 10),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_checker_finds_an_end_that_is_off_by_a_millionth(monkeypatch, name):
    plan, laws = PLANTED[name]
    low, high = plan.epsilon_interval(delta=1e-6)
    for lower, upper in ((low * (1 + 1e-6), high * (1 + 1e-6)), (low * (1 - 1e-6), high * (1 - 1e-6))):
        off = Interval(lower, upper)
        monkeypatch.setattr(PrivacyLoss, "epsilon_interval", lambda self, off=off, **_: off)
        with pytest.raises(AssertionError):
            check_ends(plan, laws, 1e-6)


def test_bounded_range_answers_with_the_least_of_its_bounds():
    loss = 100 * read_loss("bounded_range(epsilon=0.5)")
    assert loss.epsilon(delta=1e-6) == pytest.approx(15.29, abs=0.01)  # by ρ = KL(ε)
    with working_precision(questions.BITS):
        pairs = parts_of(loss.terms, 0, "dominating")
        *_, dominating = questions._pair_epsilons(pairs, arb(10) ** -6, 1e-3, math.inf)
    assert dominating.upper == pytest.approx(16.90, abs=0.01)  # by the pair alone
    assert loss.epsilon_interval(delta=1e-6).lower > 14.0


@pytest.mark.slow
def test_a_sampled_laplace_of_many_uses_is_narrow():
    """Google's connect-the-dots says 1.2612 for the first."""
    ends = (100_000 * laplace(scale=1).sampled(0.001)).epsilon_interval(delta=1e-6)
    assert 1.2612 <= ends.upper < 1.2625
    assert ends.upper - ends.lower < 2e-3 * ends.upper
