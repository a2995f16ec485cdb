"""Every mechanism x every notion: what repeating, adding noise, converting and storing must keep."""

import json
import math
from fractions import Fraction as F

import pytest

import discreet as dp
from discreet.kernel.mechanisms import ALL

# mechanism -> its parameters, and the same with more noise
MECHANISMS = {
    "AboveThreshold": ({"epsilon": 1, "threshold": 5}, {"epsilon": 0.5}),
    "CountedKeys": ({"epsilon": 1, "delta": 1e-6, "max_groups": 2}, {"epsilon": 0.5, "delta": 5e-7}),
    "DiscreteGaussian": ({"sigma": 2, "sensitivity": 1}, {"sigma": 3}),
    "Exponential": ({"epsilon": 1, "sensitivity": 1}, {"epsilon": 0.5}),
    "Gaussian": ({"sigma": 2, "sensitivity": 1}, {"sigma": 3}),
    "KeySelection": ({"epsilon": 1, "delta": 1e-6, "max_groups": 2, "threshold": 1}, {"epsilon": 0.5}),
    "Laplace": ({"scale": 2, "sensitivity": 1}, {"scale": 3}),
    "NoisyMax": ({"epsilon": 1, "sensitivity": 1}, {"epsilon": 0.5}),
    "NumericSparse": ({"epsilon": 1, "threshold": 5, "count": 2}, {"epsilon": 0.5}),
    "PermuteAndFlip": ({"epsilon": 1, "sensitivity": 1}, {"epsilon": 0.5}),
    "Quantile": ({"epsilon": 1, "quantile": 0.5, "bounds": (0, 1)}, {"epsilon": 0.5}),
    "RandomizedResponse": ({"epsilon": 1}, {"epsilon": 0.5}),
    "Sparse": ({"epsilon": 1, "threshold": 5, "count": 2, "delta": 1e-6}, {"epsilon": 0.5}),
    "Staircase": ({"epsilon": 1, "sensitivity": 1}, {"epsilon": 0.5}),
    "TopK": ({"epsilon": 1, "sensitivity": 1, "count": 2}, {"epsilon": 0.5}),
}
NOTIONS = {
    "epsilon": lambda loss: loss.epsilon(delta=1e-5),
    "delta": lambda loss: loss.delta(epsilon=1),
    "pure": lambda loss: loss.epsilon(delta=0),
    "rho": lambda loss: loss.rho,
    "mu": lambda loss: loss.mu,
    "renyi": lambda loss: loss.renyi(4),
}


NOISIER = {"epsilon": F(1, 2), "scale": F(3, 2), "sigma": F(3, 2)}


def parameters_of(kind):
    """Those of the table, else of the first example; and the same with more noise."""
    if kind.__name__ in MECHANISMS:
        return MECHANISMS[kind.__name__]
    given = kind.examples()[0].parameters
    return given, {name: F(given[name]) * factor for name, factor in NOISIER.items() if name in given}


def loss_of(kind, *, noise="as given"):
    given, more = parameters_of(kind)
    return kind(**(given if noise == "as given" else given | more)).loss


each_mechanism = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)


@each_mechanism
def test_every_mechanism_has_parameters_that_say_how_much_noise_there_is(kind):
    given, more = parameters_of(kind)
    assert more
    assert set(more) <= set(given)


def forgets_its_count(loss, times):
    """The planted fault: repeating changes nothing."""
    return loss


def repeats(ask, loss, repeat):
    """Whether repeating is adding up, and costs more than once."""
    once, three = ask(loss), ask(repeat(loss, 3))
    return three == ask(loss + loss + loss) and (three > once or once in (0.0, 1.0, math.inf))


@each_mechanism
@pytest.mark.parametrize("notion", NOTIONS)
def test_repeating_is_adding_up_and_a_forgotten_count_is_found(kind, notion):
    loss, ask = loss_of(kind), NOTIONS[notion]
    assert repeats(ask, loss, lambda loss, times: times * loss)
    if 0 < ask(loss) < ask(3 * loss):
        assert not repeats(ask, loss, forgets_its_count)


@each_mechanism
def test_some_notion_finds_a_forgotten_count(kind):
    loss = loss_of(kind)
    assert any(not repeats(ask, loss, forgets_its_count) for ask in NOTIONS.values())


@each_mechanism
@pytest.mark.parametrize("notion", NOTIONS)
def test_more_noise_never_costs_more(kind, notion):
    assert NOTIONS[notion](loss_of(kind, noise="more")) <= NOTIONS[notion](loss_of(kind))


@each_mechanism
def test_converting_never_loses_safety(kind):
    loss = 2 * loss_of(kind)
    attained = loss.epsilon_interval(delta=1e-5).lower
    promises = [dp.PureDP(F(pure))] if (pure := loss.epsilon(delta=0)) < math.inf else []
    promises += [dp.ZCDP(F(loss.rho))] if loss.rho < math.inf else []
    promises += [dp.GDP(F(loss.mu))] if loss.mu < math.inf else []
    promises += [dp.RenyiDP(4, F(renyi))] if (renyi := loss.renyi(4)) < math.inf else []
    if (epsilon := loss.epsilon(delta=1e-5)) < math.inf:
        promises.append(dp.ApproxDP(F(epsilon), 1e-5))
    assert promises
    for promise in promises:
        assert promise.loss.epsilon(delta=1e-5) >= attained


@each_mechanism
def test_storing_keeps_the_loss_exactly(kind):
    loss = 3 * loss_of(kind) + loss_of(kind).for_group(2)
    assert dp.PrivacyLoss.from_json(json.dumps(loss.to_json())) == loss
