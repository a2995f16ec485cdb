"""Every number of the public names goes through one check: garbage is refused by a discreet error.

For each name of the registry and each of its numbers, every value of VALUES is tried in its place. What
comes of it is an object that can be described, or an error of discreet: nothing from inside, and no waiting.
"""

import math
import signal
from contextlib import contextmanager, suppress
from decimal import Decimal

import pytest

import discreet as dp
from discreet.kernel.losses import exponential_nonadaptive, shuffled, shuffled_closed_form

VALUES = [
    None,
    "1",
    True,
    math.nan,
    math.inf,
    -math.inf,
    -1,
    0,
    10**400,
    10**4000,
    Decimal("1e999999"),
    Decimal("NaN"),
    1j,
    object(),
    [],
]
SECONDS = 30  # for one call, of which most take a thousandth

LOSS = dp.Laplace(epsilon=1, sensitivity=1).loss + dp.Gaussian(sigma=3, sensitivity=1).loss
BITS, NUMBERS = [1, 0, 1, 1], [1.5, 2.5, 9.0]
COUNT = {"epsilon": 1, "delta": 1e-6, "confidence": 0.9, "population": 1000}
SPARSE = {"epsilon": 1, "threshold": 5, "sensitivity": 1}
CHOICE = {"epsilon": 1, "sensitivity": 1}
BOUND = {"candidates": 10, "optimal": 2, "confidence": 0.9}
WINDOW = dp.local.number(bounds=(0, 15), epsilon=1)
NOISY = dp.local.number(bounds=(0, 15), epsilon=1, noise="laplace")
LETTERS = dp.local.choice(values="abc", epsilon=1)
KEYS = dp.CountedKeys(epsilon=1, delta=1e-6)


def bounded(function, **fixed):
    """A function of `low` and `high` in the place of `bounds`."""
    return lambda low, high, **given: function(bounds=(low, high), **fixed, **given)


# name -> (what is called, good numbers by their names)
MECHANISMS = {
    "Laplace": (dp.Laplace, {"epsilon": 1, "sensitivity": 1, "step": 1, "dimension": 2}),
    "Laplace of scale": (dp.Laplace, {"scale": 3, "sensitivity": 0.5, "step": 0.25}),
    "Gaussian": (dp.Gaussian, {"epsilon": 1, "delta": 1e-6, "sensitivity": 1, "step": 1, "dimension": 2}),
    "Gaussian of sigma": (dp.Gaussian, {"sigma": 3, "sensitivity": 1.5}),
    "DiscreteGaussian": (dp.DiscreteGaussian, {"rho": 1, "sensitivity": 1, "step": 1, "dimension": 2}),
    "DiscreteGaussian of sigma": (dp.DiscreteGaussian, {"sigma": 3, "sensitivity": 1}),
    "Staircase": (dp.Staircase, {"epsilon": 1, "sensitivity": 4, "step": 1, "width": 2, "dimension": 1}),
    "Exponential": (dp.Exponential, CHOICE),
    "PermuteAndFlip": (dp.PermuteAndFlip, CHOICE),
    "NoisyMax": (dp.NoisyMax, {**CHOICE, "step": 0.5}),
    "TopK": (dp.TopK, {**CHOICE, "count": 2}),
    "KeySelection": (dp.KeySelection, {"epsilon": 1, "delta": 1e-6, "max_groups": 2}),
    "CountedKeys": (dp.CountedKeys, {"epsilon": 1, "delta": 1e-6, "sensitivity": 2, "max_groups": 2}),
    "Quantile": (
        bounded(dp.Quantile),
        {"epsilon": 1, "quantile": 0.5, "step": 1, "max_rows": 2, "low": 0, "high": 9},
    ),
    "RandomizedResponse": (dp.RandomizedResponse, {"epsilon": 1}),
    "RandomizedResponse of truth": (dp.RandomizedResponse, {"truth": 0.75}),
    "RandomizedResponse.coin": (dp.RandomizedResponse.coin, {"s": 2}),
    "RandomizedResponse.linear": (dp.RandomizedResponse.linear, {"epsilon": 1}),
    "RandomizedResponse.quadratic": (dp.RandomizedResponse.quadratic, {"epsilon": 1}),
    "AboveThreshold": (dp.AboveThreshold, SPARSE),
    "Sparse": (dp.Sparse, {**SPARSE, "count": 2, "delta": 1e-6}),
    "NumericSparse": (dp.NumericSparse, {**SPARSE, "count": 2, "delta": 1e-6}),
    "local.choice": (lambda **given: dp.local.choice(values="abc", **given), {"epsilon": 1}),
    "local.number": (bounded(dp.local.number), {"epsilon": 1, "low": 0, "high": 15}),
    "local.number, laplace": (
        bounded(dp.local.number, noise="laplace"),
        {"epsilon": 1, "low": 0, "high": 15},
    ),
}
METHODS = {
    "Laplace.error": (dp.Laplace(**CHOICE).error, {"confidence": 0.9, "dimension": 3}),
    "Laplace.interval": (dp.Laplace(**CHOICE).interval, {"value": 3, "confidence": 0.9}),
    "Staircase.error": (dp.Staircase(**CHOICE).error, {"confidence": 0.9, "dimension": 3}),
    "CountedKeys.error": (KEYS.error, {"confidence": 0.9, "dimension": 3}),
    "CountedKeys.interval": (KEYS.interval, {"value": 500, "confidence": 0.9}),
    "Exponential.utility_bound": (dp.Exponential(**CHOICE).utility_bound, BOUND),
    "PermuteAndFlip.utility_bound": (dp.PermuteAndFlip(**CHOICE).utility_bound, BOUND),
    "Quantile.rank_error": (dp.Quantile(epsilon=1, bounds=(0, 9), step=1).rank_error, {"confidence": 0.9}),
    "RandomizedResponse.estimate": (
        lambda **given: dp.RandomizedResponse(epsilon=1).estimate(BITS, **given),
        {"confidence": 0.9},
    ),
    "RandomizedResponse.expected": (dp.RandomizedResponse(epsilon=1).expected, {"share": 0.3}),
    "Choice.estimate": (lambda **given: LETTERS.estimate(["a", "b"], **given), {"confidence": 0.9}),
    "WindowNumber.estimate": (
        lambda **given: WINDOW.estimate(WINDOW.randomize([3, 4]), **given),
        {"confidence": 0.9},
    ),
    "LaplaceNumber.estimate": (
        lambda **given: NOISY.estimate(NOISY.randomize([3, 4]), **given),
        {"confidence": 0.9},
    ),
    "Choice.compare": (LETTERS.compare, {"people": 100}),
    "WindowNumber.compare": (WINDOW.compare, {"people": 100}),
    "LaplaceNumber.compare": (NOISY.compare, {"people": 100}),
}
LOSSES = {
    "PureDP": (dp.PureDP, {"epsilon": 1}),
    "ApproxDP": (dp.ApproxDP, {"epsilon": 1, "delta": 1e-6}),
    "ZCDP": (dp.ZCDP, {"rho": 1, "delta": 1e-6}),
    "GDP": (dp.GDP, {"mu": 1}),
    "RenyiDP": (dp.RenyiDP, {"order": 2, "epsilon": 1}),
    "losses.laplace": (dp.losses.laplace, {"scale": 2, "sensitivity": 1}),
    "losses.gaussian": (dp.losses.gaussian, {"sigma": 2, "sensitivity": 1}),
    "losses.discrete_laplace": (dp.losses.discrete_laplace, {"scale": 2, "sensitivity": 1}),
    "losses.discrete_gaussian": (dp.losses.discrete_gaussian, {"sigma": 2, "sensitivity": 1}),
    "losses.pure": (dp.losses.pure, {"epsilon": 1}),
    "losses.approximate": (dp.losses.approximate, {"epsilon": 1, "delta": 1e-6}),
    "losses.bounded_range": (dp.losses.bounded_range, {"epsilon": 1}),
    "losses.randomized_response": (dp.losses.randomized_response, {"epsilon": 1, "values": 3}),
    "losses.zcdp": (dp.losses.zcdp, {"rho": 1, "delta": 1e-6}),
    "losses.channel": (lambda p, q: dp.losses.channel([[p, q], [q, p]]), {"p": 0.75, "q": 0.25}),
    "losses.exponential_nonadaptive": (exponential_nonadaptive, {"epsilon": 1, "times": 3, "delta": 1e-6}),
    "losses.shuffled": (shuffled, {"epsilon": 1, "people": 100, "delta": 1e-6}),
    "losses.shuffled_closed_form": (shuffled_closed_form, {"epsilon": 0.1, "people": 1000, "delta": 1e-3}),
    "PrivacyLoss.epsilon": (LOSS.epsilon, {"delta": 1e-6}),
    "PrivacyLoss.epsilon_interval": (LOSS.epsilon_interval, {"delta": 1e-6, "width": 1e-3}),
    "PrivacyLoss.delta": (LOSS.delta, {"epsilon": 1}),
    "PrivacyLoss.delta_interval": (LOSS.delta_interval, {"epsilon": 1}),
    "PrivacyLoss.renyi": (LOSS.renyi, {"order": 2}),
    "PrivacyLoss.for_group": (LOSS.for_group, {"size": 2}),
    "PrivacyLoss.sampled": (LOSS.sampled, {"rate": 0.1}),
    "compose_basic": (lambda e, d: dp.compose_basic([(e, d), (1, 0)]), {"e": 1, "d": 1e-6}),
    "compose_advanced": (dp.compose_advanced, {"epsilon": 1, "delta": 1e-6, "times": 3, "slack": 1e-6}),
    "compose_optimal": (
        lambda e, d, slack: dp.compose_optimal([(e, d), (1, 0)], slack=slack),
        {"e": 1, "d": 1e-6, "slack": 1e-6},
    ),
    "max_divergence": (lambda p, q: dp.max_divergence([p, q], [q, p]), {"p": 0.75, "q": 0.25}),
    "approx_max_divergence": (
        lambda p, delta: dp.approx_max_divergence([p, 0.25], [0.25, p], delta),
        {"p": 0.75, "delta": 0.1},
    ),
    "accounting.Odometer": (dp.accounting.Odometer, {"delta": 1e-6, "around": 1}),
    "accounting.Round": (lambda p, q: dp.accounting.Round([p, q], [q, p]), {"p": 0.75, "q": 0.25}),
}
STATISTICS = {
    "count": (lambda **given: dp.count(BITS, **given), COUNT),
    "proportion": (lambda **given: dp.proportion(BITS, **given), COUNT),
    "bounded_sum": (
        bounded(dp.bounded_sum, values=NUMBERS),
        {**COUNT, "low": 0, "high": 9},
    ),
    "mean": (bounded(dp.mean, values=NUMBERS), {**COUNT, "low": 0, "high": 9}),
    "variance": (
        bounded(dp.variance, values=NUMBERS),
        {**COUNT, "low": 0, "high": 9},
    ),
    "quantile": (
        bounded(dp.quantile, values=NUMBERS),
        {"epsilon": 1, "quantile": 0.5, "step": 1, "low": 0, "high": 9},
    ),
    "histogram": (lambda **given: dp.histogram("abca", keys="abc", **given), COUNT),
    "histogram of edges": (
        lambda edge, **given: dp.histogram(NUMBERS, edges=[0, edge, 9], **given),
        {"edge": 3, "epsilon": 1},
    ),
}
REGISTRY = {**MECHANISMS, **METHODS, **LOSSES, **STATISTICS}
CASES = [(name, number) for name, (_, good) in REGISTRY.items() for number in good]


@contextmanager
def patience(seconds):
    """Raise where it takes longer."""

    def late(signum, frame):
        raise TimeoutError("the call did not end")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def look_at(made):
    """What users do with what they made; all of it may be refused, none of it may break."""
    for look in (
        lambda: repr(made),
        lambda: made.describe(),  # noqa: PLW0108 (it may have none)
        lambda: made.loss.epsilon(delta=1e-6),
        lambda: made.variance,
        lambda: made.error(confidence=0.9),
    ):
        with suppress(AttributeError, dp.DiscreetError):
            look()


def outcome(call, given):
    """None, or what was raised from inside."""
    try:
        with patience(SECONDS):
            look_at(call(**given))
    except dp.DiscreetError:
        return None
    except Exception as broken:  # noqa: BLE001 (whatever it is, it should not have come out)
        return broken
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_number_is_taken_or_refused(name, number):
    call, good = REGISTRY[name]
    call(**good)
    broken = {
        repr(value)[:30]: found for value in VALUES if (found := outcome(call, {**good, number: value}))
    }
    assert not broken


@pytest.mark.parametrize("notion", [dp.PureDP, dp.GDP, dp.ZCDP])
def test_a_notion_knows_its_relation(notion):
    with pytest.raises(dp.InvalidParameter, match="relation must be one of"):
        notion(1, relation="foo")


@pytest.mark.parametrize("confidence", [0, 1])
@pytest.mark.parametrize("name", [name for name, (_, good) in METHODS.items() if "confidence" in good])
def test_no_confidence_is_nothing_or_certain(name, confidence):
    call, good = METHODS[name]
    with pytest.raises(dp.InvalidParameter, match="confidence"):
        call(**{**good, "confidence": confidence})


@pytest.mark.parametrize("width", [0, -1, math.nan, "1", None])
def test_an_interval_has_a_width(width):
    with pytest.raises(dp.InvalidParameter, match="width"):
        LOSS.epsilon_interval(delta=1e-6, width=width)
