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
from discreet.kernel.losses import pure
from discreet.kernel.mechanisms import ALL, Mechanism
from discreet.kernel.mechanisms.mechanism import as_outcome
from discreet.kernel.numerics import ball
from discreet.kernel.randomness import fresh_source
from oracles import laws, mechanism_laws as oracle

EXAMPLES = [
    pytest.param(kind(**case.parameters), case.neighbours, id=f"{kind.__name__}-{i}")
    for kind in ALL
    for i, case in enumerate(kind.examples())
]
each_example = pytest.mark.parametrize(("mechanism", "pair"), EXAMPLES)
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


@each_example
def test_the_law_that_is_sampled_is_the_law_that_is_stated(mechanism, pair):
    value, other = pair
    source = fresh_source()
    draws = [as_outcome(mechanism.draw(value, source)) for _ in range(DRAWS)]
    assert fits(draws, oracle.law(mechanism, value))
    planted = oracle.law(mechanism, other)
    assert not fits(draws, planted), "the test has no power against the neighbour's law"


@each_example
def test_the_finite_law_is_the_one_that_was_written_a_second_time(mechanism, pair):
    """Outcomes that were put together, at the ends of a lattice, have little probability here."""
    for value, other in (pair, pair[::-1]):
        law = mechanism.law(value)
        if law is None:
            continue
        stated = oracle.law(mechanism, value)
        assert float(sum(law.values(), ball(0))) == pytest.approx(1)
        assert distance(law, stated) < 1e-4
        assert distance(law, oracle.law(mechanism, other)) > 1e-2, "the test has no power"


def distance(law, other):
    """The total variation distance, but for outcomes that only one of them has."""
    shared = set(law) & set(other)
    rest = abs(sum(float(law[k]) for k in shared) - sum(float(other[k]) for k in shared))
    return sum(abs(float(law[k]) - float(other[k])) for k in shared) / 2 + rest


def exceeds(mechanism, pair, loss):
    """The first ε at which the stated law loses more than `loss` says, or None."""
    p, q = (oracle.law(mechanism, value) for value in pair)
    for epsilon in EPSILONS:
        real = max(oracle.hockey_stick(p, q, epsilon), oracle.hockey_stick(q, p, epsilon))
        if real > loss.delta(epsilon=epsilon) + CUT:
            return epsilon
    return None


@each_example
def test_the_loss_of_the_law_is_at_most_the_loss_that_is_charged(mechanism, pair):
    assert exceeds(mechanism, pair, mechanism.loss) is None
    assert exceeds(mechanism, pair, pure(epsilon=0.01)) is not None, "the test has no power"


@each_example
def test_a_mechanism_keeps_the_protocol(mechanism, pair):
    assert isinstance(mechanism, Mechanism)
    for first, second in mechanism.neighbours()[:2]:
        assert len(mechanism.sample(first, 2)) == len(mechanism.sample(second, 2)) == 2


@each_example
def test_the_loss_is_stored_and_read_back_exactly(mechanism, pair):
    loss = mechanism.loss
    assert PrivacyLoss.from_json(json.dumps(loss.to_json())) == loss


@each_example
def test_the_description_is_text_without_a_value_of_the_data(mechanism, pair):
    assert len(mechanism.describe()) > 20


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


def parameters_of(kind):
    """Parameters from the table, or those of the mechanism's first example."""
    return PARAMETERS.get(kind.__name__) or kind.examples()[0].parameters


GARBAGE = (math.nan, math.inf, -math.inf, True, "1", [1], 1e400)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_no_parameter_takes_garbage(kind):
    good = parameters_of(kind)
    kind(**good)
    for name in good:
        for bad in GARBAGE:
            with pytest.raises(InvalidParameter):
                kind(**{**good, name: bad})


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("epsilon", [0, -1, 2**-61, 10001])
def test_no_price_is_nothing_negative_tiny_or_absurd(kind, epsilon):
    good = parameters_of(kind)
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
        kind(**parameters_of(kind), relation="neighbour")
