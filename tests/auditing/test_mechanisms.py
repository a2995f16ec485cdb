"""Every mechanism of discreet is audited: sampled by its examples, enumerated where its law is finite."""

import math
from collections import Counter

import pytest

import discreet as dp
from discreet.apps.auditing.targets import read_mechanism
from discreet.kernel.mechanisms import ALL
from discreet.kernel.mechanisms.mechanism import as_outcome
from discreet.kernel.randomness import fresh_source

EXAMPLES = [
    pytest.param(kind(**case.parameters), case.neighbours, id=f"{kind.__name__}-{number}")
    for kind in ALL
    for number, case in enumerate(kind.examples())
]
ENUMERATED = [
    dp.AboveThreshold(epsilon=1, threshold=0, step=1),
    dp.CountedKeys(epsilon=1, delta=0.01),
    dp.DiscreteGaussian(sigma=2, sensitivity=1),
    dp.Exponential(epsilon=1, sensitivity=1),
    dp.Gaussian(sigma=2, sensitivity=1),
    dp.KeySelection(epsilon=1, delta=0.01),
    dp.Laplace(epsilon=1, sensitivity=1),
    dp.NoisyMax(epsilon=1, sensitivity=1, step=1),
    dp.NumericSparse(epsilon=1, threshold=0, step=1),
    dp.PermuteAndFlip(epsilon=1, sensitivity=1),
    dp.Quantile(epsilon=1, bounds=(0, 10), step=1),
    dp.RandomizedResponse(epsilon=1),
    dp.Sparse(epsilon=2, threshold=1, count=2, step=1),
    dp.Staircase(epsilon=1, sensitivity=4),
    dp.TopK(epsilon=1, sensitivity=1, count=2),
]
# A mechanism that is not in this list is audited as its first example.
ENUMERATED += [
    kind(**kind.examples()[0].parameters)
    for kind in ALL
    if kind.__name__ not in {type(mechanism).__name__ for mechanism in ENUMERATED}
]
LOCAL = [
    dp.local.choice(values=["a", "b", "c"], epsilon=1),
    dp.local.choice(values=range(10), epsilon=1),
    dp.local.ProjectiveChoice(values=range(10), epsilon=1, field=3),
    dp.local.ProjectiveChoice(values=range(10), epsilon=2, field=4),
    dp.local.distribution(bounds=(0, 15), epsilon=1, bins=16),
    dp.local.number(bounds=(0, 15), epsilon=1),
    dp.local.number(bounds=(0, 15), epsilon=4),
    dp.local.number(bounds=(0, 15), epsilon=1, noise="laplace"),
]
SAMPLED = [  # whose lattice is too fine to enumerate, or whose law has no finite form here
    dp.NoisyMax(epsilon=1, sensitivity=1),
    dp.NumericSparse(epsilon=1, threshold=0),
    dp.Quantile(epsilon=1, bounds=(0, 10)),
    dp.TopK(epsilon=1, sensitivity=1, count=2, method="one shot"),
]


def name(mechanism):
    return type(mechanism).__name__


def drawing(mechanism):
    """The kernel's way to release, as a target."""
    source = fresh_source()

    def target(data, n):
        return [as_outcome(mechanism.draw(data, source)) for _ in range(n)]

    return target


@pytest.mark.parametrize(("mechanism", "pair"), EXAMPLES)
def test_what_is_sampled_keeps_the_stated_loss(mechanism, pair):
    # False alarms: below 1e-12 each. Power: see the gallery, whose faults are found at such sizes.
    report = dp.audit(
        drawing(mechanism), claim=mechanism.loss, neighbours=pair, samples=1000, confidence=1 - 1e-12
    )
    assert not report.violated, report


@pytest.mark.soak
@pytest.mark.parametrize(("mechanism", "pair"), EXAMPLES)
def test_what_is_sampled_keeps_the_stated_loss_at_length(mechanism, pair):
    report = dp.audit(
        drawing(mechanism), claim=mechanism.loss, neighbours=pair, confidence=1 - 1e-9, seconds=60
    )
    assert not report.violated, report


@pytest.mark.parametrize("mechanism", [*ENUMERATED, *LOCAL], ids=name)
def test_a_finite_law_is_verified_exactly_and_a_smaller_claim_refuted(mechanism):
    report = dp.audit(mechanism, claim=mechanism.loss, samples=200)
    assert (report.method, report.verdict) == ("exact", "not refuted"), report
    less = 0.9 * report.lower_bound
    false = dp.ApproxDP(less, report.delta) if report.delta else less
    assert dp.audit(mechanism, claim=false).violated


@pytest.mark.parametrize("mechanism", SAMPLED, ids=name)
def test_the_others_are_sampled_as_users_call_them(mechanism):
    report = dp.audit(mechanism, claim=mechanism.loss, samples=300)
    assert (report.method, report.verdict) == ("sampled", "not refuted"), report


def test_every_mechanism_is_enumerated_and_so_is_every_local_protocol():
    assert {name(mechanism) for mechanism in ENUMERATED} == {kind.__name__ for kind in ALL}
    protocols = {known for known in dp.local.__all__ if hasattr(getattr(dp.local, known), "randomize")}
    protocols -= {"Questions"}  # of several protocols: see tests/local/test_client.py
    assert {name(mechanism) for mechanism in LOCAL} == protocols


COUNTED = [
    dp.CountedKeys(epsilon=2, delta=0.1, sensitivity=2),
    dp.NoisyMax(epsilon=2, sensitivity=1, step=1),
    dp.NoisyMax(epsilon=2, sensitivity=1, step=1, scores="monotone"),
    dp.Quantile(epsilon=2, quantile=0.75, bounds=(0, 4), step=1, relation="replace"),
    dp.Quantile(epsilon=2, bounds=(0, 4), step=1, max_rows=2),
    dp.TopK(epsilon=2, sensitivity=1, count=2),
    *LOCAL[:7],
]


@pytest.mark.parametrize("mechanism", COUNTED, ids=name)
def test_the_auditors_own_law_is_the_one_that_is_sampled(mechanism):
    # Rates lie within 7 standard errors of the law: a false alarm has probability below 1e-11 per outcome.
    audited, n = read_mechanism(mechanism), 4000
    for data in audited.pairs[-1]:
        law = {str(outcome): float(p.mid()) for outcome, p in audited.law(data).items()}
        assert sum(law.values()) == pytest.approx(1)
        found = Counter(_as_text(output) for output in audited.target(data, n))
        assert set(found) <= {_as_text(outcome) for outcome in law}
        for outcome, p in law.items():
            assert abs(found[_as_text(outcome)] - n * p) <= 7 * math.sqrt(n * p * (1 - p)) + 7


def _as_text(output):
    """A set, a list and a single value alike."""
    return str(output).replace("'", "").strip("[]()").rstrip(",")


def test_something_that_cannot_be_sampled_is_refused():
    class Odd:
        loss = dp.PureDP(1).loss

    with pytest.raises(dp.InvalidParameter, match="Wrap it"):
        dp.audit(Odd(), claim=1)
