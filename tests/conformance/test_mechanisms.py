"""What every mechanism promises, checked for all of them from the registry.

The laws come from tests/oracles, written from the definitions. Draws are real; a correct mechanism fails with
probability below 1e-11 for each test (chi-square). Power: a law at total variation distance 0.15 from the
stated one is found but for a probability below 1e-6; each test also refuses a fault that is planted in it.
"""

import json
import math
from collections import Counter

import pytest
from scipy.stats import chi2

from discreet import InvalidParameter, PrivacyLoss
from discreet.losses import pure
from discreet.mechanisms import ALL
from discreet.randomness import fresh_source
from oracles import laws, mechanism_laws as oracle

EXAMPLES = [
    pytest.param(example, id=f"{kind.__name__}-{i}")
    for kind in ALL
    for i, example in enumerate(kind.examples())
]
DRAWS = 4000
EPSILONS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
CUT = 1e-9  # what the oracles leave out of infinite tails, times the number of terms


def fits(draws, law):
    """Whether draws pass the chi-square test of a law; rare outcomes are put together."""
    seen = Counter(draws)
    common = {outcome: float(p) for outcome, p in law.items() if float(p) * DRAWS >= laws.LEAST_EXPECTED}
    rest = max(0.0, 1 - math.fsum(common.values()))
    cells = [(seen[outcome], p) for outcome, p in common.items()]
    others = DRAWS - sum(count for count, _ in cells)
    if rest * DRAWS >= 10:
        cells.append((others, rest))
    elif others > 60:  # expected below 10: beyond 60 lies less than 1e-25
        return False
    statistic = sum((count - p * DRAWS) ** 2 / (p * DRAWS) for count, p in cells)
    return statistic < chi2.isf(laws.ALARM, max(1, len(cells) - 1))


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_law_that_is_sampled_is_the_law_that_is_stated(example):
    value, other = example.neighbours
    source = fresh_source()
    draws = [example.draw(value, source) for _ in range(DRAWS)]
    assert fits(draws, oracle.law(example.mechanism, value))
    planted = oracle.law(example.mechanism, other)
    assert not fits(draws, planted), "the test has no power against the neighbour's law"


def exceeds(example, loss):
    """The first ε at which the stated law loses more than `loss` says, or None."""
    p, q = (oracle.law(example.mechanism, value) for value in example.neighbours)
    for epsilon in EPSILONS:
        real = max(oracle.hockey_stick(p, q, epsilon), oracle.hockey_stick(q, p, epsilon))
        if real > loss.delta(epsilon=epsilon) + CUT:
            return epsilon
    return None


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_loss_of_the_law_is_at_most_the_loss_that_is_charged(example):
    assert exceeds(example, example.mechanism.loss) is None
    assert exceeds(example, pure(epsilon=0.01)) is not None, "the test has no power"


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_loss_is_stored_and_read_back_exactly(example):
    loss = example.mechanism.loss
    assert PrivacyLoss.from_json(json.dumps(loss.to_json())) == loss


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_description_is_text_without_a_value_of_the_data(example):
    assert len(example.mechanism.describe()) > 20


PARAMETERS = {
    "AboveThreshold": {"epsilon": 1, "threshold": 5, "sensitivity": 1},
    "CountedKeys": {"epsilon": 1, "delta": 1e-6, "max_groups": 2, "sensitivity": 3},
    "DiscreteGaussian": {"sigma": 2, "sensitivity": 1},
    "Exponential": {"epsilon": 1, "sensitivity": 1},
    "Gaussian": {"sigma": 2, "sensitivity": 1},
    "KeySelection": {"epsilon": 1, "delta": 1e-6, "max_groups": 2, "threshold": 1},
    "Laplace": {"epsilon": 1, "sensitivity": 1},
    "NoisyMax": {"epsilon": 1, "sensitivity": 1},
    "NumericSparse": {"epsilon": 1, "threshold": 5, "sensitivity": 1, "count": 2},
    "PermuteAndFlip": {"epsilon": 1, "sensitivity": 1},
    "Quantile": {"epsilon": 1, "quantile": 0.5, "bounds": (0, 1)},
    "RandomizedResponse": {"epsilon": 1},
    "Sparse": {"epsilon": 1, "threshold": 5, "sensitivity": 1, "count": 2, "delta": 1e-6},
    "Staircase": {"epsilon": 1, "sensitivity": 1},
    "TopK": {"epsilon": 1, "sensitivity": 1, "count": 2},
}
GARBAGE = (math.nan, math.inf, -math.inf, True, "1", [1], 1e400)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_no_parameter_takes_garbage(kind):
    good = PARAMETERS[kind.__name__]
    kind(**good)
    for name in good:
        for bad in GARBAGE:
            with pytest.raises(InvalidParameter):
                kind(**{**good, name: bad})


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("epsilon", [0, -1, 2**-61, 10001])
def test_no_price_is_nothing_negative_tiny_or_absurd(kind, epsilon):
    good = PARAMETERS[kind.__name__]
    if "epsilon" in good:
        with pytest.raises(InvalidParameter):
            kind(**{**good, "epsilon": epsilon})


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_numbers_are_given_by_name_only(kind):
    with pytest.raises(TypeError):
        kind(1, 1, 1)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_unknown_relation_is_refused(kind):
    with pytest.raises(InvalidParameter):
        kind(**PARAMETERS[kind.__name__], relation="neighbour")
